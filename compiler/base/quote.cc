#include "compiler/base/quote.h"

#include <array>
#include <cstdio>

#include "compiler/base/utf8.h"

namespace wf::source {

std::string Quote(std::string_view text, Braces braces) {
  std::string quoted = "\"";
  for (; !text.empty(); text.remove_prefix(DecodeUtf8(text).length)) {
    const CodePoint one = DecodeUtf8(text);
    const char c = text.front();
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n' || c == '\t' || c == '\r') {
      quoted += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
    } else if (one.value < 0x20 || one.value == 0x7F || TurnsDirection(one.value)) {
      std::array<char, 8> digits;
      (void)std::snprintf(digits.data(), digits.size(), "%X", static_cast<unsigned>(one.value));
      quoted.append("\\u{").append(digits.data()).append("}");
    } else {
      quoted += text.substr(0, one.length);
      if (braces == Braces::kDoubled && (c == '{' || c == '}')) quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace wf::source
