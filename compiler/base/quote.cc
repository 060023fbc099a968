#include "compiler/base/quote.h"

namespace wf::source {

std::string Quote(std::string_view text, Braces braces) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n' || c == '\t' || c == '\r') {
      quoted += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else if (byte < 0x20 || byte == 0x7F) {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      quoted += "\\u{";
      if (byte >= 16) quoted += kDigits[byte / 16];
      quoted += kDigits[byte % 16];
      quoted += '}';
    } else {
      quoted += c;
      if (braces == Braces::kDoubled && (c == '{' || c == '}')) quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace wf::source
