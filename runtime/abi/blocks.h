#pragma once

#include <cstdint>

#include "runtime/abi/plan.h"

namespace wf::abi {

// Decides where a block of memory that a value points at goes: elements of a tensor, bytes of a text, items of a list, entries of a map.
// Thread: confined to the call of MoveBlocks.   Borrows: the blocks.   Errors: Moved without `to` when there is no memory.
class BlockMover {
 public:
  struct Moved {
    void* to = nullptr;        // null: there is no memory, and the visit ends
    bool look_inside = false;  // the copy is new, and what it points at comes next
  };
  // `bytes` may be 0: then nothing may be read there. `points`: values with pointers stand in it.
  virtual Moved Move(void* block, uint64_t bytes, uint64_t align, bool points) = 0;

 protected:
  ~BlockMover() = default;
};

// Visits the blocks of the value of this type at `value`, outer ones first, and writes their new places where it found the old ones.
// False: Move had no memory; the pointers up to there are new.
bool MoveBlocks(const wf_type* types, uint32_t type, void* value, BlockMover& mover);

}  // namespace wf::abi
