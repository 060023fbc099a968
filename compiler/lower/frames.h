#pragma once

#include <cstdint>
#include <vector>

#include "compiler/ir/ir.h"

namespace wf::lower {

// Where everything lies in the frames of a program's regions: countdowns first, then slots, then the elements of tensors kept in the frame.
// Frames are 64-aligned.
struct FrameLayout {
  struct Slot {
    uint32_t offset = 0, size = 0, data = 0;
    ir::Store store = ir::Store::kDynamic;
  };
  struct Region {
    uint32_t bytes = 0, element_offset = 0;
    bool is_loop_body = false;  // entered by an EACH: element_offset holds the position
  };
  std::vector<Slot> slots;      // by SlotId
  std::vector<Region> regions;  // by RegionId
};

// Tensors of static size up to 16 KiB that a body writes stay in the frame, if it is a root's: frames of arms, elements and attempts may be
// recycled while their results live on. Others go through wf_out.
FrameLayout LayOutFrames(const ir::Program& program);

// Frames between a task's own region and that of `slot`: 0 own, k the k-th enclosing. WF_CHECKs that the slot's region encloses.
int FramesUp(const ir::Program& program, ir::RegionId from, ir::RegionId to);

}  // namespace wf::lower
