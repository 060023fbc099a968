#include "runtime/protocol/http2/repeats.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace wf::http2 {
namespace {

// Behind an integer with a prefix of so many bits (RFC 7541 5.1); null: it is cut, or longer than any that is meant. `value`: where it fits
// the prefix and one byte more.
const uint8_t* SkipInteger(const uint8_t* at, const uint8_t* end, int bits, size_t* value) {
  constexpr size_t kMostValue = 256;
  const size_t most = (size_t{1} << bits) - 1;
  *value = *at++ & most;
  if (*value < most) return at;
  if (at == end || *at >= 128) return nullptr;
  *value += *at++;
  return *value <= kMostValue ? at : nullptr;
}

const uint8_t* SkipText(const uint8_t* at, const uint8_t* end) {
  size_t bytes = 0;
  if (at == end || (at = SkipInteger(at, end, 7, &bytes)) == nullptr) return nullptr;
  return bytes <= static_cast<size_t>(end - at) ? at + bytes : nullptr;
}

// Are all its fields of the kinds that leave the table as it is (RFC 7541 6.1, 6.2.2, 6.2.3)?
bool LeavesTable(std::span<const uint8_t> block) {
  constexpr uint8_t kWhole = 0x80, kChanges = 0x60;
  const uint8_t* at = block.data();
  const uint8_t* const end = at + block.size();
  while (at != end) {
    size_t index = 0;
    if ((*at & kWhole) != 0) {
      if ((at = SkipInteger(at, end, 7, &index)) == nullptr) return false;
      continue;
    }
    if ((*at & kChanges) != 0 || (at = SkipInteger(at, end, 4, &index)) == nullptr) return false;
    if (index == 0 && (at = SkipText(at, end)) == nullptr) return false;
    if ((at = SkipText(at, end)) == nullptr) return false;
  }
  return true;
}

}  // namespace

bool Repeats::Block::Is(std::span<const uint8_t> block) const {
  return size == block.size() && size != 0 && std::memcmp(bytes, block.data(), size) == 0;
}

void Repeats::Block::Set(std::span<const uint8_t> block) {
  size = block.size();
  std::memcpy(bytes, block.data(), size);
}

void Repeats::Open() noexcept {
  Forget();
  last_ = 0;
}

void Repeats::Pass(uint32_t stream) noexcept {
  Forget();
  last_ = std::max(last_, stream);
}

void Repeats::Forget() noexcept {
  seen_.size = kept_.size = 0;
  known_ = false;
  wanted_ = 0;
}

bool Repeats::Take(std::span<const uint8_t> block, uint32_t stream) noexcept {
  const bool begins = stream > last_;
  last_ = std::max(last_, stream);
  if (begins && kept_.Is(block)) {
    if (!known_) wanted_ = stream;
    return known_;
  }
  if (!LeavesTable(block)) {
    Forget();
  } else if (!begins) {
    return false;
  } else if (seen_.Is(block)) {
    kept_.Set(block);
    known_ = false;
    wanted_ = stream;
  } else if (block.size() <= kMostBytes) {
    seen_.Set(block);
  }
  return false;
}

// What nghttp2 goes by beside these: methods that have no body, or none of an answer; other schemes; priorities.
void Repeats::Learn(const http::Head& head, std::string_view scheme) noexcept {
  constexpr uint8_t kGet = 0x82, kPost = 0x83, kPathSlash = 0x84, kSchemeHttp = 0x86;
  constexpr uint8_t kAuthority[] = {0x01, 1, 'a'};
  constexpr uint8_t kLengthName[] = {0x0f, 0x0d};
  constexpr size_t kMostDigits = 20;
  wanted_ = 0;
  const bool fits = (head.method == http::Method::kGet || head.method == http::Method::kPost) && head.path.starts_with('/') &&
                    (scheme == "http" || scheme == "https") && head.Find("priority").data() == nullptr;
  const std::string_view length = head.Find("content-length");
  if (!fits || length.size() > kMostDigits) return;
  if (!head_.CopyOf(head)) return;
  uint8_t* at = stand_in_;
  *at++ = head.method == http::Method::kGet ? kGet : kPost;
  *at++ = kSchemeHttp;
  *at++ = kPathSlash;
  at = std::copy(std::begin(kAuthority), std::end(kAuthority), at);
  length_ = -1;
  if (length.data() != nullptr) {
    at = std::copy(std::begin(kLengthName), std::end(kLengthName), at);
    *at++ = static_cast<uint8_t>(length.size());
    at = std::copy(length.begin(), length.end(), at);
    if (std::from_chars(length.data(), length.data() + length.size(), length_).ec != std::errc()) length_ = INT64_MAX;
  }
  stand_in_bytes_ = static_cast<size_t>(at - stand_in_);
  known_ = true;
}

}  // namespace wf::http2
