#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace wf::ir {

// Indices into Body::ops and Body::blocks, and into the vectors of Program.
enum class ValueId : uint32_t { kNone = 0xffffffff };
enum class BlockId : uint32_t { kNone = 0xffffffff };
enum class SlotId : uint16_t { kNone = 0xffff };
enum class TaskId : uint16_t { kNone = 0xffff };
enum class RegionId : uint16_t { kNone = 0xffff };
enum class NodeId : uint16_t { kNone = 0xffff };
enum class StageId : uint16_t { kNone = 0xffff };
enum class PolicyId : uint16_t { kNone = 0xffff };
enum class ModelId : uint16_t { kNone = 0xffff };

template <typename Id>
  requires std::is_enum_v<Id>
constexpr size_t Index(Id id) {
  return static_cast<size_t>(id);
}

}  // namespace wf::ir
