#include "tests/unit/compiler/lower/harness.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "compiler/codegen/codegen.h"
#include "compiler/ir/scalar.h"
#include "compiler/ir/verify.h"
#include "compiler/link/lld.h"
#include "runtime/abi/blocks.h"

namespace wf::lower::testing {

using ir::DType;
using ir::TypeKind;

void* Job::Allocate(uint64_t size) {
  if (size > budget || bytes > budget - size) {
    if (code == 0) {
      code = code::kMemoryCap;
      message = "more than " + std::to_string(budget >> 20) + " MiB of values";
    }
    return nullptr;
  }
  bytes += size;
  most_bytes = std::max(most_bytes, bytes);
  // Exactly what the contract lets generated code read: a watched copy faults on the next byte.
  const uint64_t rounded = std::max<uint64_t>((size + 63) / 64 * 64, 64);
  chunks.push_back({{static_cast<char*>(std::aligned_alloc(64, rounded)), &std::free}, size});
  std::memset(chunks.back().memory.get(), 0xa5, rounded);  // what nobody wrote must not matter
  return chunks.back().memory.get();
}

void Job::GiveBack(size_t first, const wf_type* types, uint32_t type, void* value) {
  struct Mover final : abi::BlockMover {
    Moved Move(void* block, uint64_t size, uint64_t, bool points) override {
      const auto is_in = [block](const Chunk& chunk) {
        return block >= chunk.memory.get() && block < chunk.memory.get() + std::max<uint64_t>(chunk.bytes, 1);
      };
      if (std::none_of(old.begin(), old.end(), is_in)) return {block, false};
      void* const copy = job->Allocate(size);
      if (size != 0) std::memcpy(copy, block, size);
      return {copy, points};
    }
    Job* job = nullptr;
    std::vector<Chunk> old;
  };
  Mover mover;
  mover.job = this;
  std::move(chunks.begin() + static_cast<ptrdiff_t>(first), chunks.end(), std::back_inserter(mover.old));
  chunks.erase(chunks.begin() + static_cast<ptrdiff_t>(first), chunks.end());
  for (const Chunk& chunk : mover.old) bytes -= chunk.bytes;
  const uint64_t most = std::exchange(budget, UINT64_MAX);
  abi::MoveBlocks(types, type, value, mover);
  budget = most;
  for (const Chunk& chunk : mover.old) std::memset(chunk.memory.get(), 0x5a, chunk.bytes);  // nor what was given back
  ++turns;
}

char* Loaded::Filled(size_t task, const std::vector<ir::Value>& inputs, Job* job, std::vector<char>* memory) const {
  memory->resize(plan().regions[plan().tasks[task].region].frame_bytes + 64);
  char* frame = memory->data() + (64 - reinterpret_cast<uintptr_t>(memory->data()) % 64) % 64;
  for (const ir::SlotId slot : program_.tasks[task].in) {
    const auto i = static_cast<size_t>(slot);
    Put(program_.types, program_[slot].type, inputs[i], frame + plan().slots[i].offset, job);
  }
  return frame;
}

uint64_t Loaded::Work(size_t task, const std::vector<ir::Value>& inputs) const {
  Job job;
  std::vector<char> memory;
  void* const frames[] = {Filled(task, inputs, &job, &memory)};
  return plan().tasks[task].work(frames);
}

ir::Outcome Loaded::Run(size_t task, const std::vector<ir::Value>& inputs, Job* job) const {
  Job own;
  if (job == nullptr) job = &own;
  job->plan = &plan();
  const wf_task& row = plan().tasks[task];
  std::vector<char> memory;
  char* const frame = Filled(task, inputs, job, &memory);
  void* const frames[] = {frame};
  const wf_code code = row.fn.run(&job->ctx, frames);
  if (code != 0) return {.value = {}, .failure = ir::Failure{.code = job->code, .message = job->message, .line = job->line}};
  if (row.out == WF_NONE) return {};
  return {.value = Take(program_.types, program_[program_.tasks[task].out].type, frame + plan().slots[row.out].offset), .failure = {}};
}

// ---- values ----

namespace {

uint32_t RoundUp(uint32_t value, uint32_t align) { return (value + align - 1) / align * align; }

struct Entry {
  uint32_t value_at, size;
};
Entry EntryOf(const ir::TypeTable& types, ir::TypeId element) {
  const ir::Layout layout = ir::LayoutOf(types, element);
  const uint32_t at = RoundUp(16, layout.align);
  return {at, RoundUp(at + layout.size, std::max<uint32_t>(8, layout.align))};
}

wf_bytes PutText(const std::string& text, Job* job) {
  auto* copy = static_cast<uint8_t*>(job->Allocate(text.size()));
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

void PutTensor(const ir::Type& type, const ir::Value& value, wf_tensor* tensor, Job* job) {
  *tensor = {};
  tensor->dtype = static_cast<uint8_t>(type.dtype);
  tensor->rank = static_cast<uint8_t>(value.dims.size());
  const size_t rank = value.dims.size(), size = ir::SizeOf(type.dtype), padding = rank > 1 ? job->row_padding : 0;
  int64_t stride = 1;
  for (size_t axis = rank; axis-- > 0;) {
    tensor->dim[axis] = value.dims[axis];
    tensor->stride[axis] = stride;
    stride *= value.dims[axis];
    if (axis + 1 == rank) stride += static_cast<int64_t>(padding);
  }
  if (value.text->empty()) return;
  const size_t row = (rank == 0 ? 1 : static_cast<size_t>(value.dims[rank - 1])) * size, rows = value.text->size() / row;
  auto* data = static_cast<char*>(job->Allocate(rows * (row + padding * size)));
  for (size_t i = 0; i < rows; ++i) std::memcpy(data + i * (row + padding * size), value.text->data() + i * row, row);
  tensor->data = data;
}

}  // namespace

void Put(const ir::TypeTable& types, ir::TypeId id, const ir::Value& value, void* address, Job* job) {
  const ir::Type& type = types[id];
  char* at = static_cast<char*>(address);
  switch (type.kind) {
    case TypeKind::kScalar:
      std::memcpy(at, &value.bits, ir::SizeOf(type.dtype));
      return;
    case TypeKind::kString:
    case TypeKind::kBytes:
      *static_cast<wf_bytes*>(address) = PutText(*value.text, job);
      return;
    case TypeKind::kTensor:
      PutTensor(type, value, static_cast<wf_tensor*>(address), job);
      return;
    case TypeKind::kRecord:
      for (size_t i = 0; i < type.fields.size(); ++i)
        Put(types, type.fields[i].type, (*value.items)[i], at + ir::FieldOffset(types, id, i), job);
      return;
    case TypeKind::kOptional:
      std::memset(at, 0, ir::LayoutOf(types, id).size);
      if (value.bits != 0) Put(types, type.element, (*value.items)[0], at, job);
      at[ir::LayoutOf(types, type.element).size] = static_cast<char>(value.bits);
      return;
    case TypeKind::kList:
    case TypeKind::kMap: {
      const bool is_map = type.kind == TypeKind::kMap;
      const Entry entry = is_map ? EntryOf(types, type.element) : Entry{0, ir::LayoutOf(types, type.element).size};
      char* items = static_cast<char*>(job->Allocate(entry.size * value.items->size()));
      for (size_t i = 0; i < value.items->size(); ++i) {
        if (is_map) *reinterpret_cast<wf_bytes*>(items + i * entry.size) = PutText((*value.keys)[i], job);
        Put(types, type.element, (*value.items)[i], items + i * entry.size + entry.value_at, job);
      }
      *static_cast<wf_list*>(address) = {value.items->empty() ? nullptr : items, value.items->size()};
      return;
    }
  }
}

// ---- programs ----

Cases::Cases() {
  program.source_name = "cases.wf";
  program.regions.emplace_back();
  program.nodes.push_back({.path = "Cases/node", .line = 7, .stage = ir::StageId::kNone, .reads = {}});
}

void Cases::Add(const std::string& name, const std::vector<ir::TypeId>& in, ir::TypeId out, const Make& make) {
  ir::Region& root = program.regions[0];
  const auto slot = [&](const std::string& text, ir::TypeId type) {
    const auto id = static_cast<ir::SlotId>(program.slots.size());
    program.slots.push_back({.name = text, .type = type, .region = ir::RegionId{0}});
    root.slots.push_back(id);
    return id;
  };
  Case made{name, {}, program.tasks.size()};
  for (const ir::TypeId type : in) made.in.push_back(slot(name + ".in", type));
  ir::Task task;
  task.kind = ir::TaskKind::kRun;
  task.region = ir::RegionId{0};
  task.node = ir::NodeId{0};
  task.in = made.in;
  if (out != ir::TypeId::kNone) task.out = slot(name, out);
  ir::Builder builder(program, task.body);
  builder.set_place({42, {}});
  std::vector<ir::ValueId> values;
  for (const ir::SlotId id : made.in) values.push_back(builder.Slot(id));
  builder.Close(make(builder, values));
  root.tasks.push_back(static_cast<ir::TaskId>(program.tasks.size()));
  program.tasks.push_back(std::move(task));
  cases.push_back(std::move(made));
}

uint64_t Random(uint64_t* seed) {
  *seed += 0x9e3779b97f4a7c15u;
  uint64_t x = *seed;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

namespace {

uint64_t RandomScalar(DType dtype, uint64_t* seed) {
  const uint64_t r = Random(seed);
  if (dtype == DType::kBool) return r & 1;
  if (!ir::IsFloat(dtype)) {
    const uint64_t kind = (r >> 60) & 3;
    const uint64_t small = r % 21 - 10;
    return ir::MaskTo(dtype, kind == 0 ? r : kind == 1 ? uint64_t{1} << (8 * ir::SizeOf(dtype) - 1) : small);
  }
  static constexpr double kAwkward[] = {0.0, -0.0, 1.0, -1.0, 1e-40, 1e38, -1e38, 65504.0, 0.5, 255.0};
  double value = static_cast<double>(static_cast<int64_t>(r >> 20) - (int64_t{1} << 43)) / static_cast<double>(int64_t{1} << 40);
  if (r % 16 == 0) value = kAwkward[(r >> 8) % std::size(kAwkward)];
  if (r % 211 == 0) value = (r >> 9) % 3 == 0 ? __builtin_nan("") : (r >> 9) % 3 == 1 ? __builtin_inf() : -__builtin_inf();
  return ir::ConvertScalar(DType::kF64, dtype, ir::F64Bits(value));
}

}  // namespace

ir::Value RandomValue(const ir::TypeTable& types, ir::TypeId id, const std::vector<int64_t>& open, uint64_t* seed) {
  const ir::Type& type = types[id];
  switch (type.kind) {
    case TypeKind::kScalar:
      return ir::Value::Scalar(RandomScalar(type.dtype, seed));
    case TypeKind::kString:
    case TypeKind::kBytes:
      return ir::Value::Text(std::string(Random(seed) % 4, static_cast<char>('a' + Random(seed) % 3)));
    case TypeKind::kTensor: {
      std::vector<int64_t> dims = type.dims;
      size_t next = 0, count = 1;
      for (int64_t& dim : dims) {
        if (dim < 0) dim = open[next++ % open.size()];
        count *= static_cast<size_t>(dim);
      }
      std::string elements(count * ir::SizeOf(type.dtype), '\0');
      for (size_t i = 0; i < count; ++i) {
        const uint64_t bits = RandomScalar(type.dtype, seed);
        std::memcpy(elements.data() + i * ir::SizeOf(type.dtype), &bits, ir::SizeOf(type.dtype));
      }
      return ir::Value::Tensor(dims, elements);
    }
    case TypeKind::kRecord: {
      std::vector<ir::Value> fields;
      for (const ir::Field& field : type.fields) fields.push_back(RandomValue(types, field.type, open, seed));
      return ir::Value::Items(std::move(fields));
    }
    case TypeKind::kOptional: {
      ir::Value value = ir::Value::Scalar(Random(seed) & 1);
      if (value.bits != 0) value.items = std::make_shared<const std::vector<ir::Value>>(1, RandomValue(types, type.element, open, seed));
      return value;
    }
    case TypeKind::kList:
    case TypeKind::kMap: {
      std::vector<ir::Value> items;
      std::vector<std::string> keys;
      for (int64_t i = 0; i < open[0]; ++i) {
        items.push_back(RandomValue(types, type.element, open, seed));
        keys.push_back("k" + std::to_string(1000 + i));
      }
      ir::Value value = ir::Value::Items(std::move(items));
      if (type.kind == TypeKind::kMap) value.keys = std::make_shared<const std::vector<std::string>>(std::move(keys));
      return value;
    }
  }
  return {};
}

std::string Describe(const ir::Program& program, ir::TypeId type, const ir::Outcome& outcome) {
  if (outcome.failure) return "failure " + std::to_string(outcome.failure->code) + ": " + outcome.failure->message;
  return outcome.value ? "value " + ir::ToString(program.types, type, *outcome.value) : "nothing";
}

}  // namespace wf::lower::testing

// ---- the runtime's part ----

using wf::lower::testing::Job;

extern "C" {

void* wf_alloc(wf_ctx* ctx, uint64_t bytes, uint64_t) noexcept { return Job::Of(ctx).Allocate(bytes); }
void* wf_grow(wf_ctx* ctx, const void* block, uint64_t used, uint64_t bytes) noexcept {
  void* const copy = wf_alloc(ctx, bytes + 64, 1);
  return copy == nullptr ? nullptr : std::memcpy(copy, block, used);
}

wf_code wf_fold_begin(wf_ctx* ctx, wf_fold* fold) noexcept {
  fold->word[0] = Job::Of(ctx).chunks.size();
  return 0;
}
int32_t wf_fold_is_full(wf_ctx*, const wf_fold*, uint32_t) noexcept { return 1; }
int32_t wf_fold_keep(wf_ctx* ctx, wf_fold* fold, const wf_type* types, uint32_t type, void* accumulator) noexcept {
  Job::Of(ctx).GiveBack(fold->word[0], types, type, accumulator);
  return 1;
}

wf_code wf_fail(wf_ctx* ctx, wf_code code, uint32_t site, wf_bytes text) noexcept {
  Job& job = Job::Of(ctx);
  if (job.code == 0) {
    job.code = code;
    job.line = site;
    job.message.assign(reinterpret_cast<const char*>(text.ptr), text.len);
  }
  return WF_FAILED;
}

int32_t wf_meta(const wf_ctx* ctx, wf_bytes key, wf_bytes* value) noexcept {
  const Job& job = Job::Of(const_cast<wf_ctx*>(ctx));
  const auto found = job.meta.find(std::string(reinterpret_cast<const char*>(key.ptr), key.len));
  if (found == job.meta.end()) return 0;
  *value = {reinterpret_cast<const uint8_t*>(found->second.data()), found->second.size()};
  return 1;
}

wf_code wf_annotate(wf_ctx* ctx, wf_bytes key, wf_bytes value) noexcept {
  Job::Of(ctx).annotations[std::string(reinterpret_cast<const char*>(key.ptr), key.len)] =
      std::string(reinterpret_cast<const char*>(value.ptr), value.len);
  return 0;
}

wf_code wf_out(wf_ctx* ctx, void* const* frame, uint16_t slot) noexcept {
  Job& job = Job::Of(ctx);
  const wf_slot& row = job.plan->slots[slot];
  auto* tensor = reinterpret_cast<wf_tensor*>(static_cast<char*>(frame[0]) + row.offset);
  uint64_t elements = 1;
  for (int axis = tensor->rank; axis-- > 0;) {
    tensor->stride[axis] = static_cast<int64_t>(elements);
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(tensor->dim[axis]), &elements)) return WF_FAILED;
    if (row.store == WF_STAGED && axis == tensor->rank - 1) elements += job.row_padding;
  }
  const uint64_t size = wf::ir::SizeOf(static_cast<wf::ir::DType>(tensor->dtype));
  if (__builtin_mul_overflow(elements, size, &elements)) elements = UINT64_MAX;
  tensor->data = job.Allocate(elements);
  tensor->space = 0;
  return tensor->data == nullptr ? WF_FAILED : 0;
}
}
