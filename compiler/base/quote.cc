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
    } else if (IsUnseen(one.value)) {
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

std::string SeenJson(std::string_view json) {
  std::string seen;
  const auto escape = [&seen](char32_t unit) {
    std::array<char, 12> digits;
    (void)std::snprintf(digits.data(), digits.size(), "\\u%04x", static_cast<unsigned>(unit));
    seen += digits.data();
  };
  for (; !json.empty(); json.remove_prefix(DecodeUtf8(json).length)) {
    const CodePoint one = DecodeUtf8(json);
    if (one.value < 0x80 || !IsUnseen(one.value)) {
      seen += json.substr(0, one.length);
    } else if (one.value < 0x10000) {
      escape(one.value);
    } else {
      escape(0xD800 + ((one.value - 0x10000) >> 10));
      escape(0xDC00 + ((one.value - 0x10000) & 0x3FF));
    }
  }
  return seen;
}

}  // namespace wf::source
