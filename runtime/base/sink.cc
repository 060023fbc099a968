#include "runtime/base/sink.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "runtime/base/pages.h"
#include "runtime/base/per_thread.h"
#include "runtime/base/reserve.h"

using wf::base::SinkBlock;
using wf::base::SinkFailure;
using wf::base::SinkPiece;

namespace {

constexpr size_t kMostGone = 64;               // pieces whose places are kept, at least
constexpr size_t kMostStep = size_t{1} << 20;  // by which a text grows in memory of others: who gives it may want no more of it by then

// Blocks of one size that this thread freed and will need again.
template <size_t block_bytes>
class BlockCache {
 public:
  BlockCache() = default;
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;
  ~BlockCache() { FreeAll(); }

  SinkBlock* Take() {
    if (first_ == nullptr) return Make();
    SinkBlock* block = first_;
    first_ = block->next;
    kept_bytes_ -= block_bytes;
    return block;
  }

  void Give(SinkBlock* block) {
    if (kept_bytes_ + block_bytes > kKeptBytes) return Free(block);
    block->next = first_;
    first_ = block;
    kept_bytes_ += block_bytes;
    if (wf::base::Reserve::memory_is_short()) FreeAll();
  }

  void FreeAll() {
    while (first_ != nullptr) Free(std::exchange(first_, first_->next));
    kept_bytes_ = 0;
  }

 private:
  static constexpr size_t kKeptBytes = size_t{4} << 20;
  static constexpr bool kMapped = block_bytes == SinkBlock::kMapped;

  static SinkBlock* Make() {
    void* const memory = kMapped ? wf::base::MapPages(block_bytes) : std::malloc(block_bytes);
    if (memory == nullptr) {
      wf::base::Reserve::NoteFailed(block_bytes);
      return nullptr;
    }
    auto* const block = static_cast<SinkBlock*>(memory);
    *block = {nullptr, static_cast<uint32_t>(block_bytes), 0};
    return block;
  }
  static void Free(SinkBlock* block) {
    if (!kMapped) return std::free(block);
    munmap(block, block_bytes);
  }

  SinkBlock* first_ = nullptr;
  size_t kept_bytes_ = 0;
};

constinit thread_local wf::base::PerThread<BlockCache<SinkBlock::kSmall>> small_blocks;
constinit thread_local wf::base::PerThread<BlockCache<SinkBlock::kMapped>> mapped_blocks;
constinit thread_local wf::base::SinkScope* scope = nullptr;

SinkBlock* TakeMapped() {
  if (scope != nullptr && !scope->Claim(SinkBlock::kMapped)) return nullptr;
  SinkBlock* const block = mapped_blocks->Take();
  if (block == nullptr && scope != nullptr) scope->Unclaim(SinkBlock::kMapped);
  return block;
}

void Give(SinkBlock* block) {
  if (block->others != 0) {
    --block->others;
    return;
  }
  if (block->bytes == SinkBlock::kSmall) return small_blocks->Give(block);
  if (scope != nullptr) scope->Unclaim(SinkBlock::kMapped);
  mapped_blocks->Give(block);
}

}  // namespace

wf::base::SinkScope::SinkScope(MemoryLimit& limit, MemoryClaim* claim, const Wanted* wanted) noexcept
    : limit_(limit), claim_(*claim), wanted_(wanted) {
  scope = this;
}
wf::base::SinkScope::~SinkScope() { scope = nullptr; }
bool wf::base::SinkScope::IsWantedHere() noexcept { return scope == nullptr || scope->IsWanted(); }

bool wf_sink::Grow() {
  if (failed()) return false;
  if (size() > kMaxBytes) return Fail(SinkFailure::kTooLong);
  if (!wf::base::SinkScope::IsWantedHere()) return Fail(SinkFailure::kUnwanted);
  if (room_.grow != nullptr) return GrowRoom();
  SinkBlock* block = size() < kSmallBytes ? small_blocks->Take() : TakeMapped();
  if (block == nullptr) return Fail(SinkFailure::kNoMemory);
  ClosePiece(false);
  block_ = block;
  block_bytes_ += block->bytes;
  start_ = at_ = block->begin();
  limit_ = block->end();
  return true;
}

bool wf_sink::GrowRoom() {
  const size_t used = size(), more = room_.bytes + std::clamp(room_.bytes / 4, kMaxReserve, kMostStep);
  uint8_t* const begin = room_.grow(room_.owner, start_, room_.bytes, more);
  if (begin == nullptr) return Fail(SinkFailure::kNoMemory);
  room_.bytes = more;
  start_ = begin;
  at_ = begin + used;
  limit_ = begin + more;
  return true;
}

// The open piece joins the closed ones. keep_block: its block stays open for what follows, and so belongs to the later piece.
void wf_sink::ClosePiece(bool keep_block) {
  if (block_ == nullptr) return;
  const auto bytes = static_cast<size_t>(at_ - start_);
  if (keep_block) {
    if (bytes != 0) pieces_.push_back({start_, bytes, nullptr});
    start_ = at_;
  } else {
    pieces_.push_back({start_, bytes, block_});
    block_ = nullptr;
    start_ = at_ = limit_ = nullptr;
  }
  closed_bytes_ += bytes;
}

void wf_sink::GiveBlock(SinkBlock* block) {
  block_bytes_ -= block->bytes;
  Give(block);
}

bool wf_sink::PutSlowly(const uint8_t* bytes, size_t count) {
  while (count != 0) {
    if (at_ == limit_ && !Grow()) return false;
    const size_t part = std::min(count, static_cast<size_t>(limit_ - at_));
    std::memcpy(at_, bytes, part);
    at_ += part;
    bytes += part;
    count -= part;
  }
  return true;
}

bool wf_sink::Append(wf_sink& other) {
  if (other.failed() && !failed()) failure_ = other.failure_;
  if (failed()) return false;
  if (other.size() <= kMaxReserve) {
    bool fits = true;
    if (other.pieces_.empty()) {  // all of it in the open piece
      fits = other.at_ == other.start_ || Put(other.start_, static_cast<size_t>(other.at_ - other.start_));
    } else {
      for (const SinkPiece& piece : other.Pieces()) fits = fits && Put(piece.data, piece.bytes);
    }
    other.Clear();
    return fits;
  }
  ClosePiece(false);
  other.ClosePiece(false);
  pieces_.insert(pieces_.end(), other.pieces_.begin() + static_cast<ptrdiff_t>(other.first_), other.pieces_.end());
  closed_bytes_ += other.closed_bytes_;
  block_bytes_ += std::exchange(other.block_bytes_, 0);
  other.pieces_.clear();
  other.first_ = 0;
  other.closed_bytes_ = 0;
  return true;
}

void wf_sink::Replace(wf_sink& other) noexcept {
  Clear();
  std::swap(start_, other.start_);
  std::swap(at_, other.at_);
  std::swap(limit_, other.limit_);
  std::swap(block_, other.block_);
  std::swap(closed_bytes_, other.closed_bytes_);
  std::swap(block_bytes_, other.block_bytes_);
  std::swap(first_, other.first_);
  std::swap(pieces_, other.pieces_);
  std::swap(failure_, other.failure_);
}

bool wf_sink::AppendFirst(wf_sink& other, size_t count) {
  if (other.failed() && !failed()) failure_ = other.failure_;
  if (failed()) return false;
  other.ClosePiece(other.size() != count);
  bool fits = true;
  while (fits && count != 0) {
    SinkPiece& piece = other.pieces_[other.first_];
    const size_t part = std::min(count, piece.bytes);
    if (piece.block != nullptr && part > kMaxReserve) {
      ClosePiece(true);
      pieces_.push_back({piece.data, part, piece.block});
      ++piece.block->others;
      block_bytes_ += piece.block->bytes;
      closed_bytes_ += part;
      other.Consume(part);
    } else {
      fits = Put(piece.data, part);
      other.Consume(part);
    }
    count -= part;
  }
  return fits;
}

std::span<const SinkPiece> wf_sink::Pieces() {
  ClosePiece(true);
  return {pieces_.data() + first_, pieces_.size() - first_};
}

void wf_sink::Consume(size_t count) {
  ClosePiece(true);
  closed_bytes_ -= count;
  while (first_ < pieces_.size() && count >= pieces_[first_].bytes) {
    count -= pieces_[first_].bytes;
    if (pieces_[first_].block != nullptr) GiveBlock(pieces_[first_].block);
    ++first_;
  }
  if (first_ == pieces_.size()) {
    Clear();
    return;
  }
  pieces_[first_].data += count;
  pieces_[first_].bytes -= count;
  if (first_ < kMostGone || 2 * first_ < pieces_.size()) return;
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<ptrdiff_t>(first_));
  first_ = 0;
}

size_t wf_sink::held_bytes() const {
  size_t bytes = block_ == nullptr ? 0 : block_->bytes;
  for (size_t i = first_; i < pieces_.size(); ++i) {
    if (const SinkBlock* const block = pieces_[i].block; block != nullptr) bytes += block->bytes / (1 + block->others);
  }
  return bytes;
}

void wf_sink::DropKept() noexcept {
  small_blocks->FreeAll();
  mapped_blocks->FreeAll();
}

void wf_sink::Clear() {
  for (size_t i = first_; i < pieces_.size(); ++i) {
    if (pieces_[i].block != nullptr) GiveBlock(pieces_[i].block);
  }
  if (block_ != nullptr) GiveBlock(block_);
  pieces_.clear();
  block_ = nullptr;
  start_ = at_ = limit_ = nullptr;
  closed_bytes_ = first_ = 0;
  failure_ = SinkFailure::kNone;
}
