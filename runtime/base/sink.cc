#include "runtime/base/sink.h"

#include <algorithm>
#include <new>

using wf::base::SinkBlock;
using wf::base::SinkPiece;

namespace {

// Blocks that this thread freed and will need again.
class BlockCache {
 public:
  ~BlockCache() {
    while (first_ != nullptr) {
      SinkBlock* block = first_;
      first_ = block->next;
      delete block;
    }
  }

  SinkBlock* Take() {
    if (first_ == nullptr) return new (std::nothrow) SinkBlock;
    SinkBlock* block = first_;
    first_ = block->next;
    --count_;
    return block;
  }

  void Give(SinkBlock* block) {
    if (count_ >= kMaxBlocks) {
      delete block;
      return;
    }
    block->next = first_;
    first_ = block;
    ++count_;
  }

 private:
  static constexpr int kMaxBlocks = 256;
  SinkBlock* first_ = nullptr;
  int count_ = 0;
};

thread_local BlockCache block_cache;

}  // namespace

bool wf_sink::Grow() {
  if (failed_ || size() > kMaxBytes) {
    failed_ = true;
    return false;
  }
  SinkBlock* block = block_cache.Take();
  if (block == nullptr) {
    failed_ = true;
    return false;
  }
  ClosePiece(false);
  block_ = block;
  start_ = at_ = block->data;
  limit_ = block->data + sizeof block->data;
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
  if (other.failed_) failed_ = true;
  if (failed_) return false;
  if (other.size() <= kMaxReserve) {
    bool fits = true;
    for (const SinkPiece& piece : other.Pieces()) fits = fits && Put(piece.data, piece.bytes);
    other.Clear();
    return fits;
  }
  ClosePiece(false);
  other.ClosePiece(false);
  pieces_.insert(pieces_.end(), other.pieces_.begin() + static_cast<ptrdiff_t>(other.first_), other.pieces_.end());
  closed_bytes_ += other.closed_bytes_;
  other.pieces_.clear();
  other.first_ = 0;
  other.closed_bytes_ = 0;
  return true;
}

bool wf_sink::AppendFirst(wf_sink& other, size_t count) {
  if (other.failed_) failed_ = true;
  if (failed_) return false;
  other.ClosePiece(other.size() != count);
  bool fits = true;
  while (fits && count != 0) {
    SinkPiece& piece = other.pieces_[other.first_];
    const size_t part = std::min(count, piece.bytes);
    if (part == piece.bytes && piece.block != nullptr && part > kMaxReserve) {
      ClosePiece(true);
      pieces_.push_back(piece);
      closed_bytes_ += part;
      other.closed_bytes_ -= part;
      if (++other.first_ == other.pieces_.size()) other.Clear();
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
    if (pieces_[first_].block != nullptr) block_cache.Give(pieces_[first_].block);
    ++first_;
  }
  if (first_ == pieces_.size()) {
    Clear();
    return;
  }
  pieces_[first_].data += count;
  pieces_[first_].bytes -= count;
}

void wf_sink::Clear() {
  for (size_t i = first_; i < pieces_.size(); ++i) {
    if (pieces_[i].block != nullptr) block_cache.Give(pieces_[i].block);
  }
  if (block_ != nullptr) block_cache.Give(block_);
  pieces_.clear();
  block_ = nullptr;
  start_ = at_ = limit_ = nullptr;
  closed_bytes_ = first_ = 0;
  failed_ = false;
}
