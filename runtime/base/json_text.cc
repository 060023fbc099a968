#include "runtime/base/json_text.h"

#include "runtime/base/text.h"

namespace wf::base {

JsonEscape EscapeJson(uint8_t byte) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (byte) {
    case '"':
    case '\\':
      return {{'\\', static_cast<char>(byte)}, 2};
    case '\n':
      return {{'\\', 'n'}, 2};
    case '\r':
      return {{'\\', 'r'}, 2};
    case '\t':
      return {{'\\', 't'}, 2};
    default:
      return {{'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]}, 6};
  }
}

std::string QuoteJson(std::string_view text) {
  std::string json = "\"";
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* const end = at + text.size();
  while (at < end) {
    const uint8_t* const bad = FindBadUtf8(at, end);
    for (; at < bad; ++at) {
      if (NeedsJsonEscape(*at)) {
        json += EscapeJson(*at).view();
      } else {
        json += static_cast<char>(*at);
      }
    }
    if (at < end) {
      json += "\xef\xbf\xbd";
      ++at;
    }
  }
  return json + '"';
}

}  // namespace wf::base
