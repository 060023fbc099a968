#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/ir/constants.h"
#include "compiler/ir/ids.h"
#include "compiler/ir/port.h"
#include "compiler/ir/type.h"
#include "compiler/ir/value.h"
#include "runtime/base/error_codes.h"

namespace wf::ir {

enum class OpKind : uint8_t {
#define OP(enumerator, name, arguments, blocks) enumerator,
#include "compiler/ir/ops.def"
#undef OP
};

// Failures that are a bit of the body until its next effect; the lowest wins, but for Body::divisor_first.
inline constexpr int32_t kFirstSticky = code::kIndex, kLastSticky = code::kEmpty;
enum class OpGroup : uint8_t { kLeaf, kIf, kScalar, kMath, kTensor, kRecord, kList, kText, kEffect };
struct OpInfo {
  const char* name;
  int arguments, blocks;
  OpGroup group;
};
const OpInfo& InfoOf(OpKind kind);

enum class ReduceKind : uint8_t { kSum, kProd, kMin, kMax, kAny, kAll };

// Where an operation comes from.
struct Place {
  uint32_t line = 0;  // of the root file's text; the `site` of failures
  source::Span span = {};
  bool is_within = false;  // in a function of the standard library, whose call the span is
};

struct Op {
  OpKind kind;
  TypeId type = TypeId::kNone;  // kNone: no result
  std::vector<ValueId> args;
  std::vector<BlockId> blocks;
  uint64_t imm = 0;
  Place place = {};
};

// A value is visible after its definition in its block, and in the blocks nested there.
struct Block {
  std::vector<ValueId> params, ops;  // kParam ops; all others in order of execution
  ValueId result = ValueId::kNone;
};

struct Body {
  std::vector<Op> ops;
  std::vector<Block> blocks;   // blocks[0] is the entry; it has no params
  bool divisor_first = false;  // of an index and a divisor that both fail, as IsDivisorFirst says
  bool empty() const { return blocks.empty(); }
  const Op& operator[](ValueId id) const { return ops[static_cast<size_t>(id)]; }
  Op& operator[](ValueId id) { return ops[static_cast<size_t>(id)]; }
  const Block& operator[](BlockId id) const { return blocks[static_cast<size_t>(id)]; }
  Block& operator[](BlockId id) { return blocks[static_cast<size_t>(id)]; }
};

// ---- the plan ----

enum class Store : uint8_t { kInFrame, kDynamic, kStaged, kConstant };  // WF_IN_FRAME ..
struct Slot {
  std::string name;  // for printing: the node's or parameter's name
  TypeId type = TypeId::kNone;
  RegionId region = RegionId::kNone;
  Store store = Store::kDynamic;
};

enum class TaskKind : uint8_t { kRun, kModel, kRemote, kEnter, kSelect, kEach, kReturn };  // WF_RUN ..
struct Task {
  TaskKind kind = TaskKind::kRun;
  RegionId region = RegionId::kNone;
  NodeId node = NodeId::kNone;
  PolicyId policy = PolicyId::kNone;
  SlotId out = SlotId::kNone;
  std::vector<SlotId>
      in;  // slots whose failure skips this task, in textual order; kModel: in port order; includes those that the entered regions read
  std::vector<SlotId> settled;  // slots that must be settled first but may have failed: read only by the fallback of an entered region
  std::vector<TaskId> after;    // control points that must have let control pass
  Body body;                    // kRun: yields the out slot's value (or nothing for a control point); kSelect: arm, i64; kEach: count, i64
  std::vector<RegionId> targets;  // consecutive
  ModelId model = ModelId::kNone;
  uint16_t remote = 0;  // kRemote: of Program::remotes
  uint32_t window = 0;  // kEach: most elements in flight
  uint32_t place = 0;   // kRun that annotates: among all that do, in textual order; the last of a key counts
  uint32_t limit = 0;   // kEach: most elements of its node, which the bodies check; here for people to read
  uint32_t line = 0;    // kReturn: of the statement; 0: there is none
  bool control = false, blocking = false, compute = false;
  bool of_parameters = false;               // control that no statement is: extents of parameters are held against the signature
  float cost_ns = 0, cost_ns_per_unit = 0;  // filled by the cost pass
  TaskId chain = TaskId::kNone;             // next task of the strand; filled by the strand pass
};

struct Region {
  RegionId parent = RegionId::kNone, on_error = RegionId::kNone;
  std::vector<TaskId> tasks;  // consecutive, textual order
  std::vector<SlotId> slots;  // consecutive; a fallback region's first is err: record(code i32, message string, node string)
  SlotId result = SlotId::kNone;
  NodeId node = NodeId::kNone;
};

struct Node {
  std::string path;
  uint32_t line = 0;
  StageId stage = StageId::kNone;
  std::vector<NodeId> reads;
};  // "Classify/logits"; reads: nodes of the same workflow
struct Stage {
  std::string workflow, name;
  bool written = false;
};

struct Policy {  // effective values, defaults applied; docs/semantics.md 12
  int64_t timeout_ns = 0, delay_ns = 0;
  uint32_t batch_max = 0, queue_max = 0;  // batch_max 0: auto; queue_max 0: follows the batch
  uint16_t retry = 0, instances = 1, threads = 1;
  uint8_t priority = 1;           // WF_HIGH, WF_NORMAL, WF_LOW
  DType precision = DType::kF32;  // kNone: auto
  struct Pad {
    uint16_t port, axis;
    int32_t mul, div, add;
    friend bool operator==(const Pad&, const Pad&) = default;
  };
  std::string padded;  // the dimension that grows to one of the `buckets`, as the program names it
  std::vector<int64_t> buckets;
  std::vector<Pad> pads, crops;
  friend bool operator==(const Policy&, const Policy&) = default;
};

struct Model {
  std::string name, path;
  std::vector<Port> in, out;               // as calls see them, without the batch axis
  std::vector<int8_t> batch_axis;          // inputs, then outputs; -1 none
  std::vector<int64_t> extents, versions;  // extents: as in wf_model
  std::vector<std::string> symbols;
  uint16_t version_policy = 0;  // WF_LATEST ..
  bool batched = false, published = false, signature_written = false, mixing_allowed = false;
};
struct Workflow {
  std::string name, declared_name, service;  // name: as published
  std::vector<Port> in, out;
  std::vector<Axis> axes;  // of symbols that stand where JSON can leave an axis open
  RegionId root = RegionId::kNone;
  bool is_default = false;
  ModelId model = ModelId::kNone;  // that it only calls: the model is published without a workflow
  uint16_t service_index = 0;
  int64_t timeout_ns = 0;  // 0, as those below: not written
  uint64_t body_max = 0;
  uint32_t inflight_max = 0, rows_max = 0;
};
struct ErrorCode {
  int32_t code;
  std::string name, message;
  int canonical_status;
};  // declared by the program; gRPC numbers

struct Program {
  TypeTable types;
  ConstantTable constants;
  std::vector<std::string> natives;  // symbols of runtime_symbols.def and of externs
  std::vector<std::string> remotes;  // names
  std::vector<Slot> slots;
  std::vector<Task> tasks;
  std::vector<Region> regions;
  std::vector<Node> nodes;
  std::vector<Stage> stages;
  std::vector<Policy> policies;
  std::vector<Model> models;
  std::vector<Workflow> workflows;
  std::vector<ErrorCode> errors;
  std::string source_name;                // of the root file, without its folder
  std::array<uint8_t, 32> source_hash{};  // of all .wf files and embedded files

  const Slot& operator[](SlotId id) const { return slots[static_cast<size_t>(id)]; }
  const Task& operator[](TaskId id) const { return tasks[static_cast<size_t>(id)]; }
  Task& operator[](TaskId id) { return tasks[static_cast<size_t>(id)]; }
  const Region& operator[](RegionId id) const { return regions[static_cast<size_t>(id)]; }
  const Node& operator[](NodeId id) const { return nodes[static_cast<size_t>(id)]; }
};

}  // namespace wf::ir
