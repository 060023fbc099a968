#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/base/memory_limit.h"
#include "runtime/base/wanted.h"

namespace wf::base {

// A buffer; its bytes follow it. Texts begin with small ones; what follows them is mapped, for what `free` takes back it may keep for good.
struct SinkBlock {
  static constexpr size_t kSmall = size_t{16} << 10, kMapped = size_t{256} << 10;  // with this head
  SinkBlock* next;
  uint32_t bytes;   // kSmall or kMapped
  uint32_t others;  // pieces that hold it beside one
  uint8_t* begin() { return reinterpret_cast<uint8_t*>(this + 1); }
  uint8_t* end() { return reinterpret_cast<uint8_t*>(this) + bytes; }
};

// Bytes on their way out. `block`: let go when the piece is consumed, and freed by the last piece that holds it; null when a later piece of
// the same sink owns it.
struct SinkPiece {
  const uint8_t* data;
  size_t bytes;
  SinkBlock* block;
};

// Why a sink takes no more. kNoMemory: the system has none, or what the scope's limit leaves is less.
enum class SinkFailure : uint8_t { kNone, kTooLong, kNoMemory, kUnwanted };

// While it lives, what sinks of this thread take of mapped blocks is claimed, and what they give back of them unclaimed. What is held at
// its end stays claimed. Once nobody wants what is written, sinks fail when they next need a block, as if memory were out.
// Thread: confined; one at a time.   Borrows: limit, claim, wanted (null: it is wanted to its end).
class SinkScope {
 public:
  SinkScope(MemoryLimit& limit, MemoryClaim* claim, const Wanted* wanted = nullptr) noexcept;
  ~SinkScope();
  SinkScope(const SinkScope&) = delete;
  SinkScope& operator=(const SinkScope&) = delete;
  bool Claim(int64_t bytes) noexcept {
    if (claim_.Grow(limit_, bytes)) return true;
    lacked_bytes_ = claim_.bytes() + bytes;
    return false;
  }
  void Unclaim(int64_t bytes) noexcept { claim_.Shrink(bytes); }
  int64_t lacked_bytes() const { return lacked_bytes_; }  // that there was no room for, so that a sink has failed; 0: never
  bool IsWanted() const noexcept { return wanted_ == nullptr || wanted_->IsWanted(); }
  static bool IsWantedHere() noexcept;  // of the scope of this thread; true where there is none

 private:
  MemoryLimit& limit_;
  MemoryClaim& claim_;
  const Wanted* const wanted_;
  int64_t lacked_bytes_ = 0;
};

}  // namespace wf::base

// A response as a chain of pooled buffers; what generated encoders write to and what a connection sends.
// Thread: confined; blocks come from and return to a cache of the calling thread.   Owns: its blocks.
// Errors: Put returns false once the text passes kMaxBytes, memory is out or nobody wants it (SinkScope); the sink stays failed, for that
// reason, until Clear.   Bounds: kMaxBytes of text; the thread's cache holds at most 4 MiB of small blocks and as much of mapped ones.
// Cost: no allocation in steady state.
struct wf_sink {
 public:
  static constexpr size_t kMaxBytes = size_t{256} << 20;
  static constexpr size_t kMaxReserve = 4096;
  static constexpr size_t kSmallBytes = size_t{256} << 10;  // of a text that small blocks hold

  // Memory of others that all of a text stands in: `grow` gives `more` bytes that begin with the `bytes` of the room, or null.
  struct Room {
    uint8_t* begin;
    size_t bytes;
    uint8_t* (*grow)(void* owner, const uint8_t* begin, size_t bytes, size_t more);
    void* owner;
  };

  wf_sink() = default;
  // All that is put here is one piece, Whole, which nothing of this sink frees.
  explicit wf_sink(const Room& room) : start_(room.begin), at_(room.begin), limit_(room.begin + room.bytes), room_(room) {}
  ~wf_sink() { Clear(); }
  wf_sink(const wf_sink&) = delete;
  wf_sink& operator=(const wf_sink&) = delete;

  bool Put(const void* bytes, size_t count) {
    if (static_cast<size_t>(limit_ - at_) < count) [[unlikely]]
      return PutSlowly(static_cast<const uint8_t*>(bytes), count);
    if (count != 0) std::memcpy(at_, bytes, count);
    at_ += count;
    return true;
  }

  bool Put(std::string_view text) { return Put(text.data(), text.size()); }

  // Room for `count` <= kMaxReserve bytes in one piece, or null; Commit says where the writer stopped.
  uint8_t* Reserve(size_t count) {
    if (static_cast<size_t>(limit_ - at_) < count) [[unlikely]] {
      if (!Grow()) return nullptr;
    }
    return at_;
  }
  void Commit(uint8_t* end) { at_ = end; }

  // Moves everything from `other` behind what is here; short texts are copied.
  bool Append(wf_sink& other);

  // Drops what is here and takes all of `other`, which is empty then; without memory, so that it cannot fail. Both own their blocks.
  void Replace(wf_sink& other) noexcept;

  // Appends the first `count` bytes of it: by reference but for short pieces, so that both sinks are one thread's until these are
  // consumed.
  bool AppendFirst(wf_sink& other, size_t count);

  // All of it while one block holds it, which a text of some kilobytes begun here is sure of; else empty. The view ends with the next call.
  std::string_view Whole() const {
    if (!pieces_.empty() || failed()) return {};
    return {reinterpret_cast<const char*>(start_), static_cast<size_t>(at_ - start_)};
  }

  // The pieces in order; the view ends with the next call.
  std::span<const wf::base::SinkPiece> Pieces();
  void Consume(size_t count);       // drops the first `count` bytes
  void Clear();                     // drops all, failure included
  static void DropKept() noexcept;  // blocks that this thread keeps go back to the system

  size_t size() const { return closed_bytes_ + static_cast<size_t>(at_ - start_); }
  // What that keeps from others: whole blocks, which short pieces of a text may hold whose rest was dropped; of one that several pieces
  // hold, wherever they are, a share for each.
  size_t held_bytes() const;
  size_t block_bytes() const { return block_bytes_; }  // the same, and all of what others hold, too
  bool empty() const { return size() == 0; }
  bool failed() const { return failure_ != wf::base::SinkFailure::kNone; }
  wf::base::SinkFailure failure() const { return failure_; }
  bool is_reply() const { return room_.grow == nullptr; }  // a program's own text stands in memory of its request

 private:
  bool Fail(wf::base::SinkFailure why) {
    failure_ = why;
    return false;
  }
  bool PutSlowly(const uint8_t* bytes, size_t count);
  bool Grow();
  bool GrowRoom();
  void GiveBlock(wf::base::SinkBlock* block);
  void ClosePiece(bool keep_block);

  uint8_t* start_ = nullptr;  // of the open piece, in block_
  uint8_t* at_ = nullptr;
  uint8_t* limit_ = nullptr;
  wf::base::SinkBlock* block_ = nullptr;
  size_t closed_bytes_ = 0, block_bytes_ = 0;
  size_t first_ = 0;  // pieces before it are consumed
  std::vector<wf::base::SinkPiece> pieces_;
  wf::base::SinkFailure failure_ = wf::base::SinkFailure::kNone;
  Room room_ = {};
};
