#pragma once

#include <cstdint>
#include <memory>

namespace wf::kernels {

inline constexpr int64_t kAlign = 64;
constexpr int64_t Aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Zeroed memory, 64-aligned and readable up to the next multiple of 64; null when there is none. Large blocks are pages of the system, so
// that they leave no holes behind, and the largest ask for huge pages.   Thread: any.
std::shared_ptr<uint8_t> Allocate(int64_t bytes);

// What libraries have taken for runs and freed since goes back to the system: malloc would keep it. Call when no such run is expected soon.
// Thread: any.   Cost: each of malloc's heaps is locked for a moment.
void GiveBackFreed();
// Most code of a server and of its libraries runs once, while it starts and kernels are made: its pages leave the resident set, and come
// back where they are used.   Thread: any.
void LetGoOfCode();

// Memory for what lives as long as a model, side by side in blocks that grow: a run reads all of its weights, and on small pages it waits
// for walks through the page tables. What was taken holds its block.   Thread: one at a time.
class PackedMemory {
 public:
  std::shared_ptr<uint8_t> Take(int64_t bytes);  // as Allocate

 private:
  static constexpr int64_t kFirstBytes = int64_t{1} << 20, kMostBytes = int64_t{32} << 20;

  std::shared_ptr<uint8_t> block_;
  int64_t size_ = 0, used_ = 0;
  int64_t next_bytes_ = kFirstBytes;
};

}  // namespace wf::kernels
