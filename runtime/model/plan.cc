#include "runtime/model/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>

#include "runtime/kernels/alike.h"
#include "runtime/kernels/tiles.h"
#include "runtime/model/constants.h"
#include "runtime/onnx/op.h"

namespace wf::model {
namespace {

using base::Result;
using base::Status;
using kernels::TensorInfo;

// Places buffers whose lives overlap apart: first fit among the free ranges, grown at the end.
class Arena {
 public:
  int64_t Take(int64_t bytes) {
    bytes = std::max(kernels::Aligned(bytes), kernels::kAlign);
    for (auto range = free_.begin(); range != free_.end(); ++range) {
      if (range->second < bytes) continue;
      const auto [offset, size] = *range;
      free_.erase(range);
      if (size > bytes) free_[offset + bytes] = size - bytes;
      return offset;
    }
    const int64_t offset = end_;
    end_ += bytes;
    return offset;
  }

  void Give(int64_t offset, int64_t bytes) {
    bytes = std::max(kernels::Aligned(bytes), kernels::kAlign);
    auto next = free_.lower_bound(offset);
    if (next != free_.end() && next->first == offset + bytes) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    free_[offset] = bytes;
  }

  int64_t bytes() const { return end_; }

 private:
  std::map<int64_t, int64_t> free_;  // size by offset
  int64_t end_ = 0;
};

}  // namespace

Status OfExtents(const Status& refused) {
  return refused.code() == base::kInvalidArgument ? Status(base::kFailedPrecondition, refused.message()) : refused;
}

class Planner {
 public:
  Planner(const Program& program, int64_t max_bytes, int64_t measuring_ns, int threads)
      : program_(program), max_bytes_(max_bytes), threads_(threads), measuring_ns_(measuring_ns), plan_(new Plan) {}

  Result<std::unique_ptr<Plan>> Run(std::span<const onnx::Port> inputs) {
    auto known = onnx::InferShapes(program_.graph, inputs, program_.subject);
    if (!known.ok()) return OfExtents(known.status());
    known_ = *std::move(known);
    FindReadAsBf16();
    FindLastReaders();
    values_.resize(known_.size());
    plan_->steps_.reserve(program_.graph.nodes.size());
    plan_->buffers_.reserve(program_.graph.nodes.size());
    plan_->where_end_.reserve(program_.graph.nodes.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      Value& value = values_[static_cast<size_t>(program_.graph.inputs[i])];
      WF_RETURN_IF_ERROR(ConcreteInfo(known_[static_cast<size_t>(program_.graph.inputs[i])], max_bytes_, value.info));
      const int buffer = AddBuffer(value.info);
      plan_->buffers_[static_cast<size_t>(buffer)].input = static_cast<int>(i);
      value.forms.push_back({nullptr, buffer});
    }
    for (size_t i = 0; i < program_.graph.nodes.size(); ++i) {
      if (const Status status = AddNode(i); !status.ok()) {
        return Status(status.code(), fmt::format("`{}`: {}: {}", program_.subject, program_.graph.nodes[i].Describe(), status.message()));
      }
      Forget(i);
    }
    WF_RETURN_IF_ERROR(AddOutputs());
    ShareInPlace();
    WF_RETURN_IF_ERROR(PlaceBuffers());
    return std::move(plan_);
  }

 private:
  struct Form {  // one memory format in which a value exists
    kernels::FormatRef format;
    int buffer;
  };
  struct Value {
    TensorInfo info;          // of forms[0]
    std::vector<Form> forms;  // empty: not computed, or a constant
  };

  // By value, the node after which nobody asks for it; an output of the graph is asked for at the end.
  void FindLastReaders() {
    last_reader_.assign(known_.size(), SIZE_MAX);
    for (size_t i = 0; i < program_.graph.nodes.size(); ++i) {
      for (const int in : program_.graph.nodes[i].in) {
        if (in >= 0) last_reader_[static_cast<size_t>(in)] = i;
      }
    }
    for (const int output : program_.graph.outputs) last_reader_[static_cast<size_t>(output)] = SIZE_MAX;
  }
  // What is known of values that node `index` was the last to read: in a file of very many nodes that is more than the plan.
  void Forget(size_t index) {
    for (const int in : program_.graph.nodes[index].in) {
      if (in < 0 || last_reader_[static_cast<size_t>(in)] != index) continue;
      known_[static_cast<size_t>(in)] = {};
      values_[static_cast<size_t>(in)] = {};
    }
  }

  void AddStep(Plan::Step step, std::string_view where) {
    plan_->steps_.push_back(std::move(step));
    plan_->where_ += where;
    plan_->where_end_.push_back(plan_->where_.size());
  }

  int AddBuffer(const TensorInfo& info) {
    plan_->buffers_.push_back({info.size_bytes(), info.dtype, -1, -1, nullptr});
    return static_cast<int>(plan_->buffers_.size()) - 1;
  }

  // A value that does not depend on the inputs' elements: a weight, or integers that follow from shapes.
  Status ConstantOf(int index, std::shared_ptr<const kernels::Constant>& constant) {
    const size_t i = static_cast<size_t>(index);
    if (const int weight = program_.graph.values[i].weight; weight >= 0) {
      constant = program_.constants[static_cast<size_t>(weight)];
      return Status::Ok();
    }
    const auto& content = known_[i].content;
    if (!content || !std::all_of(content->begin(), content->end(), [](const onnx::Dim& dim) { return dim.is_constant(); }))
      return Status::Ok();
    const int64_t size = base::DTypeSize(known_[i].dtype);
    const auto memory = kernels::Allocate(static_cast<int64_t>(content->size()) * size);
    if (memory == nullptr) return Status(base::kResourceExhausted, "out of memory");
    for (size_t k = 0; k < content->size(); ++k) {
      const int64_t number = *(*content)[k].constant();  // little-endian: the low bytes are the narrow number
      std::memcpy(memory.get() + static_cast<int64_t>(k) * size, &number, static_cast<size_t>(size));
    }
    constant = std::make_shared<HeldConstant>(program_.packed_memory, memory);
    return Status::Ok();
  }

  Status InfoOf(int index, TensorInfo& info) {
    const Value& value = values_[static_cast<size_t>(index)];
    if (!value.forms.empty()) {
      info = value.info;
      return Status::Ok();
    }
    WF_RETURN_IF_ERROR(ConcreteInfo(known_[static_cast<size_t>(index)], max_bytes_, info));
    return ConstantOf(index, info.constant);
  }

  // Of each value, whether everybody who reads it multiplies it or hands it on, and so takes it stored as bf16 (impls.cc).
  void FindReadAsBf16() {
    is_read_as_bf16_.assign(known_.size(), program_.bf16);
    for (const int output : program_.graph.outputs) is_read_as_bf16_[static_cast<size_t>(output)] = false;
    for (const onnx::Node& node : program_.graph.nodes) {
      for (size_t i = 0; i < node.in.size(); ++i) {
        if (node.in[i] < 0) continue;
        const auto value = static_cast<size_t>(node.in[i]);
        is_read_as_bf16_[value] = is_read_as_bf16_[value] && TakesBf16(node, i, known_[value].dim.size() > 3);
      }
    }
  }
  bool TakesBf16(const onnx::Node& node, size_t input, bool is_image) const {
    switch (node.op) {
      case onnx::Op::kConv:
        return input == 0 || input == 3;
      case onnx::Op::kMatMul:
      case onnx::Op::kGemm:
        return input == 0 && node.has_in(1) && program_.graph.values[static_cast<size_t>(node.in[1])].weight >= 0;
      case onnx::Op::kConvTranspose:
      case onnx::Op::kLSTM:
      case onnx::Op::kGRU:
      case onnx::Op::kRNN:
        return input == 0;
      case onnx::Op::kMsMultiHeadAttention:
        return input < 3;
      case onnx::Op::kMaxPool:
      case onnx::Op::kAveragePool:
      case onnx::Op::kGlobalAveragePool:
        return true;
      case onnx::Op::kAdd:
      case onnx::Op::kMul:
      case onnx::Op::kConcat:
        return is_image;
      default:
        return false;
    }
  }

  Status AddNode(size_t index) {
    const onnx::Node& node = program_.graph.nodes[index];
    std::shared_ptr<const kernels::Constant> constant;
    if (node.out.size() == 1) WF_RETURN_IF_ERROR(ConstantOf(node.out[0], constant));
    if (constant != nullptr) return Status::Ok();  // integers that are known from shapes are made where they are read
    auto lowered = Lower(program_, index, known_);
    if (!lowered.ok()) return lowered.status();
    kernels::Operation operation;
    for (const int out : node.out) {
      TensorInfo info;
      if (out >= 0) WF_RETURN_IF_ERROR(ConcreteInfo(known_[static_cast<size_t>(out)], max_bytes_, info));
      operation.out.push_back(std::move(info));
    }
    operation.params = std::move(lowered->params);
    operation.bf16 = program_.bf16;
    operation.bf16_out = is_read_as_bf16_[static_cast<size_t>(node.out[0])];
    for (const int in : lowered->in) {
      TensorInfo info;
      if (in >= 0) WF_RETURN_IF_ERROR(InfoOf(in, info));
      operation.in.push_back(std::move(info));
    }
    if (lowered->alias && operation.in[0].constant == nullptr) {
      int buffer = -1;
      WF_RETURN_IF_ERROR(BufferOf(lowered->in[0], operation.in[0], nullptr, buffer));
      Value& out = values_[static_cast<size_t>(node.out[0])];
      out.info = operation.out[0];
      out.forms.push_back({nullptr, buffer});
      return Status::Ok();
    }
    if (lowered->alias) operation.params = kernels::Copy{};
    return AddNodeStep(index, operation, lowered->in);
  }

  using KernelRef = std::shared_ptr<const kernels::Kernel>;

  // The same for all elementwise steps that compute alike: a file has thousands of them more often than of any others.
  Result<KernelRef> KernelFor(const kernels::Operation& operation) {
    const std::string alike = kernels::ElementwiseKey(operation);
    const auto shared = alike.empty() ? shared_.end() : shared_.find(alike);
    if (shared != shared_.end()) return shared->second;
    auto made = MakeKernel(operation);
    if (!made.ok()) return made.status();
    KernelRef kernel = *std::move(made);
    if (!alike.empty()) shared_.emplace(alike, kernel);
    return kernel;
  }

  // Of tiles the ways are not measured: those at the edges could be chosen to want other formats than the others.
  Result<std::unique_ptr<kernels::Kernel>> MakeKernel(const kernels::Operation& operation) {
    auto tiles = kernels::MakeTiles(operation, threads_, kernels::MakeKernel);
    if (!tiles.ok() || *tiles != nullptr) return tiles;
    return program_.choices == nullptr ? kernels::MakeKernel(operation) : program_.choices->Make(operation, measuring_ns_);
  }

  Status AddNodeStep(size_t index, kernels::Operation& operation, const std::vector<int>& in) {
    const onnx::Node& node = program_.graph.nodes[index];
    auto kernel = KernelFor(operation);
    if (!kernel.ok()) return kernel.status();
    std::vector<int> read, written;
    for (size_t i = 0; i < in.size(); ++i) {
      int buffer = -1;
      const bool needed = in[i] >= 0 && !(*kernel)->packed_in[i];
      if (needed) WF_RETURN_IF_ERROR(BufferOf(in[i], operation.in[i], (*kernel)->in_format[i], buffer));
      read.push_back(buffer);
    }
    operation.out[0].format = (*kernel)->out_format;
    for (size_t i = 0; i < node.out.size(); ++i) {
      written.push_back(node.out[i] < 0 ? -1 : AddBuffer(operation.out[i]));
      if (node.out[i] < 0) continue;
      Value& out = values_[static_cast<size_t>(node.out[i])];
      out.info = std::move(operation.out[i]);
      out.forms.push_back({out.info.format, written.back()});
    }
    AddStep({*std::move(kernel), std::move(read), std::move(written), static_cast<int>(index)}, node.Label());
    return Status::Ok();
  }

  // A buffer that holds the value in the format wanted, converting once.
  Status BufferOf(int index, const TensorInfo& info, const kernels::FormatRef& format, int& buffer) {
    Value& value = values_[static_cast<size_t>(index)];
    if (value.forms.empty()) {
      if (info.constant == nullptr) return Status(base::kInternal, "a value that nothing computes");
      auto elements = info.constant->Load();
      if (!elements.ok()) return elements.status();
      value.info = info;
      value.forms.push_back({nullptr, AddBuffer(info)});
      plan_->buffers_.back().constant = *std::move(elements);
    }
    for (const Form& form : value.forms) {
      if (!kernels::SameFormat(form.format, format)) continue;
      buffer = form.buffer;
      return Status::Ok();
    }
    auto kernel = kernels::MakeReorder(value.info, format);
    if (!kernel.ok()) return kernel.status();
    TensorInfo converted = value.info;
    converted.format = format;
    buffer = AddBuffer(converted);
    AddStep({*std::move(kernel), {value.forms[0].buffer}, {buffer}},
            "reorder of `" + program_.graph.values[static_cast<size_t>(index)].name + "`");
    value.forms.push_back({format, buffer});
    return Status::Ok();
  }

  // Results in row-major form, in memory of their own: an input or a constant that is a result is copied.
  Status AddOutputs() {
    for (const int index : program_.graph.outputs) {
      TensorInfo info;
      WF_RETURN_IF_ERROR(InfoOf(index, info));
      int buffer = -1;
      WF_RETURN_IF_ERROR(BufferOf(index, info, nullptr, buffer));
      info.format = nullptr;
      const Plan::Buffer& held = plan_->buffers_[static_cast<size_t>(buffer)];
      const bool taken =
          std::any_of(plan_->outputs_.begin(), plan_->outputs_.end(), [&](const Plan::Output& each) { return each.buffer == buffer; });
      if (held.input >= 0 || held.constant != nullptr || taken) {
        kernels::Operation copy{kernels::Copy{}, {info}, {info}};
        copy.in[0].constant = nullptr;
        auto kernel = kernels::MakeKernel(copy);
        if (!kernel.ok()) return kernel.status();
        const int target = AddBuffer(info);
        AddStep({*std::move(kernel), {buffer}, {target}}, "result");
        buffer = target;
      }
      plan_->outputs_.push_back({buffer, std::move(info)});
    }
    return Status::Ok();
  }

  bool InArena(int buffer) const {
    const Plan::Buffer& held = plan_->buffers_[static_cast<size_t>(buffer)];
    return held.input < 0 && held.constant == nullptr;
  }

  std::vector<size_t> LastUses() const {
    std::vector<size_t> last(plan_->buffers_.size(), 0);
    for (size_t s = 0; s < plan_->steps_.size(); ++s) {
      for (const int in : plan_->steps_[s].in) {
        if (in >= 0) last[static_cast<size_t>(in)] = s;
      }
      for (const int out : plan_->steps_[s].out) {
        if (out >= 0) last[static_cast<size_t>(out)] = std::max(last[static_cast<size_t>(out)], s);
      }
    }
    for (const Plan::Output& output : plan_->outputs_) last[static_cast<size_t>(output.buffer)] = plan_->steps_.size();
    return last;
  }

  // An elementwise step writes over its input when nobody reads that afterwards.
  void ShareInPlace() {
    std::vector<size_t> last = LastUses();
    std::vector<int> same(plan_->buffers_.size());
    for (size_t i = 0; i < same.size(); ++i) same[i] = static_cast<int>(i);
    for (size_t s = 0; s < plan_->steps_.size(); ++s) {
      Plan::Step& step = plan_->steps_[s];
      for (int& in : step.in) in = in < 0 ? in : same[static_cast<size_t>(in)];
      if (!step.kernel->in_place || step.in[0] < 0 || !InArena(step.in[0])) continue;
      const size_t in = static_cast<size_t>(step.in[0]), out = static_cast<size_t>(step.out[0]);
      if (last[in] != s || plan_->buffers_[in].bytes != plan_->buffers_[out].bytes) continue;
      if (std::count(step.in.begin(), step.in.end(), step.in[0]) != 1) continue;
      same[out] = step.in[0];
      last[in] = last[out];
      step.out[0] = step.in[0];
    }
    for (Plan::Output& output : plan_->outputs_) output.buffer = same[static_cast<size_t>(output.buffer)];
  }

  Status PlaceBuffers() {
    const std::vector<size_t> last = LastUses();
    std::vector<std::vector<int>> ending(plan_->steps_.size() + 1);
    for (size_t i = 0; i < last.size(); ++i) ending[last[i]].push_back(static_cast<int>(i));
    Arena arena;
    int64_t scratch = 0;
    for (size_t s = 0; s < plan_->steps_.size(); ++s) {
      for (const int index : plan_->steps_[s].out) {
        if (index < 0) continue;
        Plan::Buffer& out = plan_->buffers_[static_cast<size_t>(index)];
        if (out.offset < 0) out.offset = arena.Take(out.bytes);
      }
      scratch = std::max(scratch, plan_->steps_[s].kernel->scratch_bytes);
      for (const int buffer : ending[s]) {
        const Plan::Buffer& done = plan_->buffers_[static_cast<size_t>(buffer)];
        if (done.offset >= 0) arena.Give(done.offset, done.bytes);
      }
      if (arena.bytes() + kernels::Aligned(scratch) > max_bytes_)
        return Status(base::kOutOfRange, fmt::format("`{}`: {}: with its result the activations take more than {} bytes", program_.subject,
                                                     plan_->Where(s), max_bytes_));
    }
    plan_->scratch_offset_ = arena.bytes();
    plan_->arena_bytes_ = arena.bytes() + kernels::Aligned(scratch);
    return Status::Ok();
  }

  const Program& program_;
  const int64_t max_bytes_;
  const int threads_;
  int64_t measuring_ns_;  // that are left
  std::unique_ptr<Plan> plan_;
  std::vector<onnx::Known> known_;
  std::vector<Value> values_;
  std::vector<bool> is_read_as_bf16_;
  std::vector<size_t> last_reader_;
  std::unordered_map<std::string, KernelRef> shared_;  // by ElementwiseKey
};

Result<std::unique_ptr<Plan>> Plan::Make(const Program& program, std::span<const onnx::Port> inputs, int64_t max_bytes,
                                         int64_t measuring_ns, int threads) {
  kernels::UseOneThread();
  return Planner(program, max_bytes, measuring_ns, threads).Run(inputs);
}

std::string_view Plan::Where(size_t step) const {
  const size_t begin = step == 0 ? 0 : where_end_[step - 1];
  return std::string_view(where_).substr(begin, where_end_[step] - begin);
}

int64_t Plan::run_bytes() const {
  int64_t bytes = arena_bytes_;
  for (const Output& output : outputs_) bytes += output.info.size_bytes();
  return bytes;
}

int64_t Plan::input_bytes() const {
  int64_t bytes = 0;
  for (const Buffer& buffer : buffers_) bytes += buffer.input >= 0 ? buffer.bytes : 0;
  return bytes;
}

std::string Plan::Largest() const {
  const auto bytes = [this](const Step& step) {
    int64_t most = 0;
    for (const int out : step.out) most = out < 0 ? most : std::max(most, buffers_[static_cast<size_t>(out)].bytes);
    return most;
  };
  const auto step = std::max_element(steps_.begin(), steps_.end(), [&](const Step& a, const Step& b) { return bytes(a) < bytes(b); });
  return step == steps_.end() ? "nothing" : fmt::format("{}, {} bytes", Where(static_cast<size_t>(step - steps_.begin())), bytes(*step));
}

std::string Plan::ToString() const {
  std::string text;
  for (size_t s = 0; s < steps_.size(); ++s) {
    const Step& step = steps_[s];
    text += fmt::format("{} {} [", Where(s), step.kernel->impl);
    for (const int in : step.in) text += in < 0 ? std::string(" -") : fmt::format(" {}", in);
    text += " ] ->";
    for (const int out : step.out)
      text += out < 0 ? std::string(" -") : fmt::format(" {} @{}", out, buffers_[static_cast<size_t>(out)].offset);
    text += '\n';
  }
  return text;
}

}  // namespace wf::model
