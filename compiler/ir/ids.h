#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace wf::ir {

// Indices into Body::ops and Body::blocks, and into the vectors of Program. A plan holds those of Program in 16 bits: BuildIr bounds them.
enum class ValueId : uint32_t { kNone = 0xffffffff };
enum class BlockId : uint32_t { kNone = 0xffffffff };
enum class SlotId : uint32_t { kNone = 0xffffffff };
enum class TaskId : uint32_t { kNone = 0xffffffff };
enum class RegionId : uint32_t { kNone = 0xffffffff };
enum class NodeId : uint32_t { kNone = 0xffffffff };
enum class StageId : uint32_t { kNone = 0xffffffff };
enum class PolicyId : uint32_t { kNone = 0xffffffff };
enum class ModelId : uint16_t { kNone = 0xffff };

template <typename Id>
  requires std::is_enum_v<Id>
constexpr size_t Index(Id id) {
  return static_cast<size_t>(id);
}

}  // namespace wf::ir
