#include "runtime/protocol/http2/heads.h"

#include <algorithm>
#include <cstring>

namespace wf::http2 {
namespace {

constexpr size_t kMostFrameBytes = 16'384;  // what every peer takes
constexpr uint8_t kHeadersType = 1, kContinuationType = 9, kEndStreamFlag = 1, kEndHeadersFlag = 4;
// RFC 7541: 6.1, 6.2.1, 6.2.2, 6.3, and the names of appendix A.
constexpr uint8_t kIndexed = 0x80, kIndexedNextTime = 0x40, kLiteral = 0x00, kTableSize = 0x20;
constexpr uint64_t kStaticFields = 61, kStatusName = 8;
constexpr uint32_t kFieldBytes = 32;  // that the table counts for each beside its texts

struct Name {
  std::string_view text;
  uint8_t index;  // in the static table; 0: it is not there
  bool is_kept;   // the same value comes again
};
constexpr Name kNames[] = {
    {"date", 33, true},
    {"content-type", 31, true},
    {"content-length", 28, false},
    {"grpc-status", 0, true},
    {"grpc-encoding", 0, true},
    {"vary", 59, true},
    {"content-encoding", 26, true},
    {"grpc-accept-encoding", 0, true},
    {"retry-after", 53, true},
    {"www-authenticate", 61, true},
};

// Of the few whole fields `:status`.
uint8_t IndexOfStatus(int status) {
  constexpr int kStatuses[] = {200, 204, 206, 304, 400, 404, 500};
  const auto* const found = std::find(std::begin(kStatuses), std::end(kStatuses), status);
  return found == std::end(kStatuses) ? 0 : static_cast<uint8_t>(kStatusName + static_cast<uint64_t>(found - kStatuses));
}

struct FrameHeadBytes {
  FrameHeadBytes(size_t bytes, uint8_t type, uint8_t flags, uint32_t stream)
      : text{static_cast<uint8_t>(bytes >> 16),
             static_cast<uint8_t>(bytes >> 8),
             static_cast<uint8_t>(bytes),
             type,
             flags,
             static_cast<uint8_t>(stream >> 24),
             static_cast<uint8_t>(stream >> 16),
             static_cast<uint8_t>(stream >> 8),
             static_cast<uint8_t>(stream)} {}
  uint8_t text[9];
};

}  // namespace

void HeadWriter::Open() noexcept {
  ready_.Clear();
  size_ = 0;
  inserted_ = 0;
  first_ = 1;
  kept_bytes_ = 0;
  table_bytes_ = least_bytes_ = kDefaultTableBytes;
  resized_ = false;
}

// More than the default is not made use of.
void HeadWriter::SetTableBytes(uint32_t bytes) noexcept {
  bytes = std::min(bytes, kDefaultTableBytes);
  if (bytes == table_bytes_) return;
  table_bytes_ = bytes;
  least_bytes_ = std::min(least_bytes_, bytes);
  resized_ = true;
  DropTo(table_bytes_);
}

void HeadWriter::Shrink(uint32_t bytes) noexcept { SetTableBytes(std::min(bytes, table_bytes_)); }

// The peer drops the oldest, too.
void HeadWriter::DropTo(uint32_t bytes) noexcept {
  for (; kept_bytes_ > bytes; ++first_) {
    const Kept& oldest = kept_[first_ % kKept];
    kept_bytes_ -= oldest.name_bytes + oldest.value_bytes + kFieldBytes;
  }
}

// 0: it is not there. The latest first: of `date` those of past seconds stand there, too.
uint64_t HeadWriter::Find(std::string_view name, std::string_view value) const noexcept {
  for (uint64_t number = inserted_; number >= first_; --number) {
    const Kept& kept = kept_[number % kKept];
    if (kept.name_bytes != name.size() || kept.value_bytes != value.size()) continue;
    if (std::memcmp(kept.text, name.data(), name.size()) == 0 && std::memcmp(kept.text + name.size(), value.data(), value.size()) == 0)
      return kStaticFields + 1 + (inserted_ - number);
  }
  return 0;
}

// REQUIRES: it fits. What is older than the last kKept may still stand in the peer's table, but is not known any more.
void HeadWriter::Keep(std::string_view name, std::string_view value) noexcept {
  const auto bytes = static_cast<uint32_t>(name.size() + value.size()) + kFieldBytes;
  if (inserted_ + 1 - first_ == kKept) DropTo(kept_bytes_ - 1);
  DropTo(table_bytes_ - bytes);
  Kept& kept = kept_[++inserted_ % kKept];
  kept.name_bytes = static_cast<uint32_t>(name.size());
  kept.value_bytes = static_cast<uint32_t>(value.size());
  name.copy(kept.text, name.size());
  value.copy(kept.text + name.size(), value.size());
  kept_bytes_ += bytes;
}

void HeadWriter::PutInteger(uint8_t pattern, int bits, uint64_t value) noexcept {
  const uint64_t most = (1U << bits) - 1;
  if (value < most && size_ < sizeof frames_ && !is_large_) {  // as a rule
    frames_[size_++] = static_cast<uint8_t>(pattern | value);
    return;
  }
  uint8_t bytes[11];
  size_t count = 0;
  bytes[count++] = static_cast<uint8_t>(pattern | std::min(value, most));
  if (value >= most) {
    for (value -= most; value >= 128; value >>= 7) bytes[count++] = static_cast<uint8_t>(value | 128);
    bytes[count++] = static_cast<uint8_t>(value);
  }
  PutBytes(bytes, count);
}

void HeadWriter::PutBytes(const void* bytes, size_t count) noexcept {
  if (count > sizeof frames_ - size_ && !is_large_) {
    const size_t fields = begin_ + sizeof(FrameHeadBytes);
    is_large_ = true;
    block_.Clear();
    block_.Put(frames_ + fields, size_ - fields);
    size_ = begin_;
  }
  if (is_large_) {
    block_.Put(bytes, count);
    return;
  }
  std::memcpy(frames_ + size_, bytes, count);
  size_ += count;
}

void HeadWriter::PutText(std::string_view text) noexcept {
  PutInteger(0, 7, text.size());
  if (!text.empty()) PutBytes(text.data(), text.size());
}

void HeadWriter::Begin(int status) noexcept {
  is_large_ = false;
  if (sizeof frames_ - size_ < sizeof(FrameHeadBytes)) {
    ready_.Put(frames_, size_);
    size_ = 0;
  }
  begin_ = size_;
  size_ += sizeof(FrameHeadBytes);
  if (resized_) {
    resized_ = false;
    if (least_bytes_ < table_bytes_) PutInteger(kTableSize, 5, least_bytes_);
    PutInteger(kTableSize, 5, table_bytes_);
    least_bytes_ = table_bytes_;
  }
  if (status == 0) return;
  if (const uint8_t index = IndexOfStatus(status); index != 0) return PutInteger(kIndexed, 7, index);
  const char digits[] = {static_cast<char>('0' + status / 100), static_cast<char>('0' + status / 10 % 10),
                         static_cast<char>('0' + status % 10)};
  PutInteger(kLiteral, 4, kStatusName);
  PutText({digits, sizeof digits});
}

void HeadWriter::Put(std::string_view name, std::string_view value) noexcept {
  if (const uint64_t index = Find(name, value); index != 0) return PutInteger(kIndexed, 7, index);
  const auto* const known = std::find_if(std::begin(kNames), std::end(kNames), [name](const Name& row) { return row.text == name; });
  const uint64_t index = known == std::end(kNames) ? 0 : known->index;
  const bool keeps = known != std::end(kNames) && known->is_kept && name.size() + value.size() <= kMostKeptBytes &&
                     name.size() + value.size() + kFieldBytes <= table_bytes_;
  if (keeps)
    PutInteger(kIndexedNextTime, 6, index);
  else
    PutInteger(kLiteral, 4, index);
  if (index == 0) PutText(name);
  PutText(value);
  if (keeps) Keep(name, value);
}

bool HeadWriter::End(uint32_t stream, bool ends_stream) noexcept {
  if (is_large_) return EndLarge(stream, ends_stream);
  const auto flags = static_cast<uint8_t>(kEndHeadersFlag | (ends_stream ? kEndStreamFlag : 0));
  const FrameHeadBytes head(size_ - begin_ - sizeof(FrameHeadBytes), kHeadersType, flags, stream);
  std::memcpy(frames_ + begin_, head.text, sizeof head.text);
  return !ready_.failed();
}

bool HeadWriter::EndLarge(uint32_t stream, bool ends_stream) noexcept {
  uint8_t type = kHeadersType, flags = ends_stream ? kEndStreamFlag : 0;
  bool fits = ready_.Put(frames_, size_) && !block_.failed();
  size_ = 0;
  const auto put_head = [&](size_t bytes, uint8_t more_flags) {
    const FrameHeadBytes head(bytes, type, flags | more_flags, stream);
    return ready_.Put(head.text, sizeof head.text);
  };
  while (fits && block_.size() > kMostFrameBytes) {
    fits = put_head(kMostFrameBytes, 0) && ready_.AppendFirst(block_, kMostFrameBytes);
    type = kContinuationType;
    flags = 0;
  }
  return fits && put_head(block_.size(), kEndHeadersFlag) && ready_.Append(block_);
}

bool HeadWriter::MoveTo(wf_sink* out) noexcept {
  if (!ready_.empty() && !out->Append(ready_)) return false;
  const size_t size = size_;
  size_ = 0;
  return size == 0 || out->Put(frames_, size);
}

}  // namespace wf::http2
