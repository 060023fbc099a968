#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace wf::base {

// Strings of JSON, as answers, logs, reports and diagnostics all write them.

// Whether a byte of UTF-8 stands there as an escape: what RFC 8259 asks for, and DEL, which is text neither to YAML nor to a terminal.
constexpr bool NeedsJsonEscape(uint8_t byte) { return byte < 0x20 || byte == '"' || byte == '\\' || byte == 0x7f; }

// What stands for such a byte.
struct JsonEscape {
  char text[7];  // of which six are used; with their count they are eight, copied at once
  uint8_t bytes;
  std::string_view view() const { return {text, bytes}; }
};
extern const std::array<JsonEscape, 128> kJsonEscapes;
inline const JsonEscape& EscapeJson(uint8_t byte) { return kJsonEscapes[byte]; }  // REQUIRES: NeedsJsonEscape

// In quotes; bytes that are not UTF-8 become U+FFFD.
std::string QuoteJson(std::string_view text);
std::string JsonBeforeValue(std::string_view name);  // of a member behind others: `,"name":`

}  // namespace wf::base
