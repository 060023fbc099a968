#include "runtime/base/json_text.h"

#include <algorithm>

#include "runtime/base/json_plain.h"
#include "runtime/base/text.h"

namespace wf::base {
namespace {

constexpr JsonEscape MadeEscape(uint8_t byte) {
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

}  // namespace

constexpr std::array<JsonEscape, 128> kJsonEscapes = [] {
  std::array<JsonEscape, 128> escapes{};
  for (size_t byte = 0; byte < escapes.size(); ++byte) escapes[byte] = MadeEscape(static_cast<uint8_t>(byte));
  return escapes;
}();

std::string QuoteJson(std::string_view text) {
  constexpr size_t kChunk = 64;
  std::string json = "\"";
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* const end = at + text.size();
  while (at < end) {
    const uint8_t* const bad = FindBadUtf8(at, end);
    while (at < bad) {
      uint8_t room[MostEscapedJson(kChunk)];
      const uint8_t* const stop = at + std::min<ptrdiff_t>(kChunk, bad - at);
      json.append(reinterpret_cast<const char*>(room), static_cast<size_t>(CopyEscapedJson(at, stop, room) - room));
      at = stop;
    }
    if (at < end) {
      json += "\xef\xbf\xbd";
      ++at;
    }
  }
  return json + '"';
}

std::string JsonBeforeValue(std::string_view name) { return "," + QuoteJson(name) + ":"; }

}  // namespace wf::base
