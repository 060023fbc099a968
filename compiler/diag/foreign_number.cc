#include "compiler/diag/foreign_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>

namespace wf::diag {
namespace {

constexpr std::string_view kDecimal = "0123456789_", kHexadecimal = "0123456789abcdefABCDEF_";

// How long the stretch of `digits` is that begins at `from`.
size_t Stretch(std::string_view word, size_t from, std::string_view digits) {
  return std::min(word.find_first_not_of(digits, from), word.size()) - from;
}

// The base behind the `0` of `0b11`; 10: none is told.
int BaseOf(std::string_view word) {
  if (word.size() < 2 || word[0] != '0') return 10;
  switch (word[1]) {
    case 'b':
    case 'B':
      return 2;
    case 'o':
    case 'O':
      return 8;
    case 'x':
    case 'X':
      return 16;
    default:
      return 10;
  }
}

// Where the number at the head of `word` ends, which has a fraction and an exponent in decimal.
size_t EndOfNumber(std::string_view word, int base) {
  if (base != 10) return 2 + Stretch(word, 2, base == 16 ? kHexadecimal : kDecimal);
  size_t end = Stretch(word, 0, kDecimal);
  if (word.substr(end).starts_with(".")) end += 1 + Stretch(word, end + 1, kDecimal);
  if (end >= word.size() || (word[end] != 'e' && word[end] != 'E')) return end;
  const size_t exponent = Stretch(word, end + 1, kDecimal);
  return exponent == 0 ? end : end + 1 + exponent;
}

constexpr const char* kSuffix = "a number has no suffix: it takes the type that is wanted, or that of a call: `{}({})`";
constexpr const char* kBases = "numbers are written in decimal, or behind `0x` in hexadecimal: `{}`";

std::optional<uint64_t> ValueOf(std::string_view digits, int base) {
  std::string plain(digits);
  std::erase(plain, '_');
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value, base);
  return error == std::errc() && !plain.empty() && end == plain.data() + plain.size() ? std::optional(value) : std::nullopt;
}

// The type that a suffix of another language gives its number; empty: it is none.
std::string_view TypeOfSuffix(std::string_view suffix) {
  constexpr std::array<std::string_view, 12> kNumbers = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"};
  constexpr std::array<std::string_view, 13> kIntegers = {"u", "U", "l", "L", "ul", "UL", "ll", "LL", "ull", "ULL", "n", "isize", "usize"};
  if (const auto* const ours = std::ranges::find(kNumbers, suffix); ours != kNumbers.end()) return *ours;
  if (suffix == "f" || suffix == "F") return "f32";
  return std::ranges::find(kIntegers, suffix) != kIntegers.end() ? "i64" : "";
}

}  // namespace

std::optional<ForeignNumber> ReadForeignNumber(std::string_view word) {
  const int base = BaseOf(word);
  const size_t end = EndOfNumber(word, base);
  const std::string_view suffix = word.substr(end);
  std::string_view type = TypeOfSuffix(suffix);
  if (base == 10 && (suffix == "e" || suffix == "E"))
    return ForeignNumber{"an exponent without digits", "", "digits stand behind `e`: `1e3`"};
  if (type.empty() && !suffix.empty()) return std::nullopt;
  const auto value = base == 10 ? std::nullopt : ValueOf(word.substr(2, end - 2), base);
  const std::string_view has = base == 2 ? "the base 2" : base == 8 ? "the base 8" : "a large `X`";
  if (!value && base == 16) return std::nullopt;
  if (!value && base != 10) return ForeignNumber{has, "", fmt::format(kBases, "0x1f")};
  const std::string number(base == 16 ? fmt::format("0x{}", word.substr(2, end - 2))
                           : value    ? std::to_string(*value)
                                      : word.substr(0, end));
  if (!suffix.empty()) {
    if (type == "i64" && base == 10 && number.find_first_of(".eE") != std::string::npos) type = "f32";  // `1.0L`
    return ForeignNumber{"a suffix", "", fmt::format(kSuffix, type, number)};
  }
  if (word.starts_with("0X")) return ForeignNumber{has, number, "a number in hexadecimal begins with `0x`"};
  if (base != 2 && base != 8) return std::nullopt;
  return ForeignNumber{has, number, fmt::format(kBases, fmt::format("{}` or `{:#x}", *value, *value))};
}

}  // namespace wf::diag
