#include "compiler/lower/frames.h"

#include "runtime/base/check.h"

namespace wf::lower {
namespace {

constexpr uint64_t kInFrameBytes = 16 << 10;
constexpr uint32_t kFrameAlign = 64;

uint32_t AlignUp(uint64_t value, uint64_t align) { return static_cast<uint32_t>((value + align - 1) / align * align); }

// Bytes of a tensor's elements; no value when only the run knows.
std::optional<uint64_t> StaticBytes(const ir::Type& type) {
  if (type.kind != ir::TypeKind::kTensor) return std::nullopt;
  uint64_t bytes = ir::SizeOf(type.dtype);
  for (const int64_t dim : type.dims) {
    if (dim < 0) return std::nullopt;
    if (dim != 0 && bytes > (uint64_t{1} << 40) / static_cast<uint64_t>(dim)) return std::nullopt;
    bytes *= static_cast<uint64_t>(dim);
  }
  return bytes;
}

std::vector<bool> WrittenByBodies(const ir::Program& program) {
  std::vector<bool> written(program.slots.size());
  for (const ir::Task& task : program.tasks) {
    if (task.kind == ir::TaskKind::kRun && task.out != ir::SlotId::kNone) written[static_cast<size_t>(task.out)] = true;
  }
  return written;
}

void LayOutRegion(const ir::Program& program, size_t region, const std::vector<bool>& written, FrameLayout* layout) {
  const ir::Region& r = program.regions[region];
  uint64_t at = sizeof(uint16_t) * r.tasks.size();
  if (layout->regions[region].is_loop_body) {
    at = AlignUp(at, sizeof(uint64_t));
    layout->regions[region].element_offset = static_cast<uint32_t>(at);
    at += sizeof(uint64_t);
  }
  for (const ir::SlotId id : r.slots) {
    FrameLayout::Slot& slot = layout->slots[static_cast<size_t>(id)];
    const ir::Layout value = ir::LayoutOf(program.types, program[id].type);
    slot.offset = AlignUp(at, std::max<uint32_t>(value.align, 1));
    slot.size = value.size;
    slot.store = program[id].store;
    at = uint64_t{slot.offset} + value.size;
    const auto bytes = StaticBytes(program.types[program[id].type]);
    const bool fits = r.parent == ir::RegionId::kNone && written[static_cast<size_t>(id)] && bytes && *bytes <= kInFrameBytes;
    if (slot.store == ir::Store::kDynamic && fits) slot.store = ir::Store::kInFrame;
    if (slot.store == ir::Store::kInFrame && !fits) slot.store = ir::Store::kDynamic;
  }
  for (const ir::SlotId id : r.slots) {
    FrameLayout::Slot& slot = layout->slots[static_cast<size_t>(id)];
    if (slot.store != ir::Store::kInFrame) continue;
    slot.data = AlignUp(at, kFrameAlign);
    at = slot.data + AlignUp(*StaticBytes(program.types[program[id].type]), kFrameAlign);
  }
  WF_CHECK(at < UINT32_MAX - kFrameAlign, "frame too big", at);
  layout->regions[region].bytes = AlignUp(at, kFrameAlign);
}

}  // namespace

FrameLayout LayOutFrames(const ir::Program& program) {
  FrameLayout layout;
  layout.slots.resize(program.slots.size());
  layout.regions.resize(program.regions.size());
  for (const ir::Task& task : program.tasks) {
    if (task.kind != ir::TaskKind::kEach) continue;
    for (const ir::RegionId target : task.targets) layout.regions[static_cast<size_t>(target)].is_loop_body = true;
  }
  const std::vector<bool> written = WrittenByBodies(program);
  for (size_t region = 0; region < program.regions.size(); ++region) LayOutRegion(program, region, written, &layout);
  return layout;
}

int FramesUp(const ir::Program& program, ir::RegionId from, ir::RegionId to) {
  int up = 0;
  for (ir::RegionId at = from; at != to; at = program[at].parent, ++up) {
    WF_CHECK(at != ir::RegionId::kNone, "the slot's region does not enclose the task's", static_cast<int>(to));
  }
  return up;
}

}  // namespace wf::lower
