#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace wf::source {

// An integer as programs write it: `42`, `1_000`, `0x2a`. Nothing: it takes more than 64 bits, or has no digits.
inline std::optional<uint64_t> ReadWrittenInteger(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  const bool is_hex = text.starts_with("0x");
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + (is_hex ? 2 : 0), end, value, is_hex ? 16 : 10);
  return error == std::errc() && at == end ? std::optional<uint64_t>(value) : std::nullopt;
}

}  // namespace wf::source
