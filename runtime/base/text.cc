#include "runtime/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <functional>
#include <limits>

#include "runtime/base/ascii.h"

namespace wf::base {
namespace {

// Length of the well-formed sequence at `at`, 0 if there is none (RFC 3629: no surrogates, no overlong forms, at most U+10FFFF).
int SequenceLength(const uint8_t* at, const uint8_t* end) {
  const uint8_t lead = *at;
  if (lead < 0x80) return 1;
  const auto rest = end - at;
  const auto follows = [at](int i, uint8_t low = 0x80, uint8_t high = 0xbf) { return at[i] >= low && at[i] <= high; };
  if (lead >= 0xc2 && lead <= 0xdf) return rest >= 2 && follows(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    if (rest < 3) return 0;
    const uint8_t low = lead == 0xe0 ? 0xa0 : 0x80;
    const uint8_t high = lead == 0xed ? 0x9f : 0xbf;
    return follows(1, low, high) && follows(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    if (rest < 4) return 0;
    const uint8_t low = lead == 0xf0 ? 0x90 : 0x80;
    const uint8_t high = lead == 0xf4 ? 0x8f : 0xbf;
    return follows(1, low, high) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

// Edit distance with transpositions, of names that differ within a short part. Generated ones often begin alike.
template <typename Same>
size_t Distance(std::string_view a, std::string_view b, Same same) {
  constexpr size_t kMaxName = 64, kLongest = 256;
  if (std::max(a.size(), b.size()) > kLongest) return std::numeric_limits<size_t>::max();
  while (!a.empty() && !b.empty() && same(a.front(), b.front())) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && same(a.back(), b.back())) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  if (a.size() > kMaxName || b.size() > kMaxName) return std::numeric_limits<size_t>::max();
  std::array<std::array<size_t, kMaxName + 1>, 3> rows{};
  for (size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& up = rows[(i - 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

template <typename Same>
std::string_view NearestBy(std::string_view name, std::span<const std::string_view> candidates, Same same) {
  std::string_view best;
  size_t best_distance = std::min(std::max<size_t>(1, name.size() / 3) + 1, name.size());  // a name of one letter resembles every other
  for (const std::string_view candidate : candidates) {
    const size_t longer = std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (candidate == name || longer >= best_distance) continue;
    const size_t distance = Distance(name, candidate, same);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace

const uint8_t* FindBadUtf8(const uint8_t* begin, const uint8_t* end) {
  const uint8_t* at = begin;
  while (at < end) {
    uint64_t word = 0;
    if (end - at >= 8) {
      std::memcpy(&word, at, 8);
      if ((word & UINT64_C(0x8080808080808080)) == 0) {
        at += 8;
        continue;
      }
    }
    const int length = SequenceLength(at, end);
    if (length == 0) return at;
    at += length;
  }
  return end;
}

std::string_view Cut(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<uint8_t>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most);
}

std::string Counted(uint64_t count, std::string_view what) {
  return std::to_string(count) + ' ' + std::string(what) + (count == 1 ? "" : "s");
}

std::string_view Nearest(std::string_view name, std::span<const std::string_view> candidates) {
  const std::string_view near = NearestBy(name, candidates, std::equal_to<char>());
  return !near.empty() ? near : NearestBy(name, candidates, [](char a, char b) { return Lower(a) == Lower(b); });
}

TextBuilder& TextBuilder::operator<<(std::string_view text) {
  text = Cut(text, sizeof text_ - size_);
  if (!text.empty()) std::memcpy(text_ + size_, text.data(), text.size());
  size_ += text.size();
  return *this;
}

TextBuilder& TextBuilder::operator<<(int64_t number) {
  char digits[24];
  return *this << std::string_view(digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits));
}

TextBuilder& TextBuilder::operator<<(uint64_t number) {
  char digits[24];
  return *this << std::string_view(digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, number).ptr - digits));
}

TextBuilder& TextBuilder::Quote(std::string_view outside) {
  constexpr size_t kMaxQuoted = 64;
  const auto* at = reinterpret_cast<const uint8_t*>(outside.data());
  const uint8_t* end = at + outside.size();
  const uint8_t* stop = at + std::min(outside.size(), kMaxQuoted);
  while (at < stop) {
    const int length = SequenceLength(at, end);
    const bool plain = length > 1 || (length == 1 && *at >= 0x20 && *at != 0x7f);
    *this << (plain ? std::string_view(reinterpret_cast<const char*>(at), static_cast<size_t>(length)) : std::string_view("?"));
    at += std::max(length, 1);
  }
  if (at < end) *this << "...";
  return *this;
}

}  // namespace wf::base
