#include "compiler/driver/xml.h"

#include <fmt/format.h>

namespace wf::driver {

std::string XmlText(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const std::string_view three = text.substr(i, 3);
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\t' || c == '\n' || c == '\r') {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += kReplacement;
    } else if (three == "\xef\xbf\xbe" || three == "\xef\xbf\xbf") {
      out += kReplacement;
      i += 2;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace wf::driver
