#include "runtime/model/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "runtime/model/bound.h"
#include "runtime/model/control.h"
#include "runtime/model/plan.h"
#include "runtime/model/text_part.h"

namespace wf::model {

using base::Result;
using base::Status;
using onnx::Known;

namespace {

bool SameShape(const kernels::TensorInfo& a, const kernels::TensorInfo& b) {
  return a.dtype == b.dtype && a.dim == b.dim && a.meaning == b.meaning;
}

bool AllNumbers(std::span<const onnx::Dim> dims) {
  return std::all_of(dims.begin(), dims.end(), [](const onnx::Dim& dim) { return dim.is_constant(); });
}

onnx::Port PortOf(const onnx::Graph& graph, int value, const kernels::TensorInfo& info) {
  return {graph.values[static_cast<size_t>(value)].name, KnownType(info), onnx::Shape(info.dim.begin(), info.dim.end())};
}

// A plan of several nodes, or of one that got its parameters.
class PlannedPart final : public Part {
 public:
  PlannedPart(Range range, const Cut& cut, const std::string& subject)
      : Part(std::move(range)), reads_(cut.reads), writes_(cut.writes), subject_(subject) {}

  Status Open(const Cut& cut, std::span<const onnx::Port> ports, const PartLimits& limits) {
    auto plan = Plan::Make(cut.program, ports, limits.max_bytes, 0, limits.threads);
    if (!plan.ok()) return plan.status();
    if (const Status taken = Take(*limits.budget, (*plan)->arena_bytes(), memory_); !taken.ok())
      return Status(taken.code(),
                    fmt::format("`{}`: {}; the largest of the results is that of {}", subject_, taken.message(), (*plan)->Largest()));
    for (const Plan::Output& output : (*plan)->outputs()) infos_.push_back(output.info);
    auto bound = BoundPlan::Bind(*std::move(plan), reads_.size(), memory_.get(), limits.texts);
    if (!bound.ok()) return bound.status();
    bound_ = *std::move(bound);
    data_.resize(reads_.size());
    return Status::Ok();
  }

  Status Run(std::vector<Elements>& values) override {
    for (size_t i = 0; i < reads_.size(); ++i) data_[i] = values[static_cast<size_t>(reads_[i])].data.get();
    if (const Status ran = bound_->Run(data_); !ran.ok()) return Status(ran.code(), fmt::format("`{}`: {}", subject_, ran.message()));
    for (size_t i = 0; i < writes_.size(); ++i) {
      const auto* data = static_cast<const uint8_t*>(bound_->outputs()[i].data);
      Elements& written = values[static_cast<size_t>(writes_[i])];
      written.info = infos_[i];
      written.data = std::shared_ptr<const uint8_t>(memory_, data);
    }
    return Status::Ok();
  }

 private:
  const std::vector<int> reads_, writes_;
  const std::string& subject_;  // of the program
  std::shared_ptr<uint8_t> memory_;
  std::unique_ptr<BoundPlan> bound_;
  std::vector<kernels::TensorInfo> infos_;  // of what it writes
  std::vector<const void*> data_;
};

// One node of which only the elements tell the extents of the results.
class CountedPart final : public Part {
 public:
  CountedPart(Range range, const onnx::Node& node, const std::string& subject)
      : Part(std::move(range)), out_(node.out), subject_(subject) {}

  // known: of the cut's values; lowered: of its only node.
  Status Open(const Cut& cut, std::span<const Known> known, Lowered lowered, const PartLimits& limits) {
    where_ = cut.program.graph.nodes[0].Label();
    kernels::Operation operation{std::move(lowered.params), {}, {}};
    for (const int in : lowered.in) WF_RETURN_IF_ERROR(AddInput(cut, in, known, operation));
    for (const int out : cut.program.graph.nodes[0].out) shapes_.push_back(out < 0 ? Known() : known[static_cast<size_t>(out)]);
    WF_RETURN_IF_ERROR(Resolve(lowered.most));
    for (const Elements& each : results_) operation.out.push_back(each.info);
    const int64_t rank = static_cast<int64_t>(lowered.most.size());
    operation.out.push_back({WF_I64, {rank}, nullptr, nullptr});
    auto kernel = kernels::MakeKernel(operation);
    if (!kernel.ok()) return kernel.status();
    kernel_ = *std::move(kernel);
    return Allocate(operation, limits);
  }

  Status Run(std::vector<Elements>& values) override {
    for (size_t i = 0; i < in_.size(); ++i) {
      if (in_[i] >= 0) call_->SetIn(i, values[static_cast<size_t>(in_[i])].data.get());
    }
    if (const char* failure = call_->Run()) return Status(base::kInvalidArgument, fmt::format("`{}`: {}: {}", subject_, where_, failure));
    WF_RETURN_IF_ERROR(Resolve(std::span(count_, static_cast<size_t>(rank_))));
    for (size_t i = 0; i < out_.size(); ++i) {
      if (out_[i] >= 0) values[static_cast<size_t>(out_[i])] = results_[i];
    }
    return Status::Ok();
  }

 private:
  Status AddInput(const Cut& cut, int in, std::span<const Known> known, kernels::Operation& operation) {
    kernels::TensorInfo& info = operation.in.emplace_back();
    in_.push_back(-1);
    held_.emplace_back();
    if (in < 0) return Status::Ok();
    WF_RETURN_IF_ERROR(ConcreteInfo(known[static_cast<size_t>(in)], onnx::kMostTensorBytes, info));
    const onnx::Graph& graph = cut.program.graph;
    if (const int weight = graph.values[static_cast<size_t>(in)].weight; weight >= 0) {
      auto loaded = cut.program.constants[static_cast<size_t>(weight)]->Load();
      if (!loaded.ok()) return loaded.status();
      held_.back() = *std::move(loaded);
      return Status::Ok();
    }
    const auto at = std::find(graph.inputs.begin(), graph.inputs.end(), in);
    in_.back() = cut.reads[static_cast<size_t>(at - graph.inputs.begin())];
    return Status::Ok();
  }

  // The extents of the results where output 0 has these.
  Status Resolve(std::span<const int64_t> extents) {
    std::map<std::string, int64_t> symbols;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      if (const auto symbol = shapes_[0].dim[axis].symbol()) symbols[*symbol] = extents[axis];
    }
    const auto value_of = [&](const std::string& symbol) {
      const auto found = symbols.find(symbol);
      return found == symbols.end() ? std::nullopt : std::optional(found->second);
    };
    results_.resize(shapes_.size());
    for (size_t i = 0; i < shapes_.size(); ++i) {
      kernels::TensorInfo& info = results_[i].info;
      info = InfoOf(shapes_[i].dtype, {});
      for (const onnx::Dim& dim : shapes_[i].dim) {
        const auto extent = dim.Evaluate(value_of);
        if (!extent) return Status(base::kInternal, where_ + ": extents that output 0 does not tell");
        info.dim.push_back(*extent);
      }
    }
    return Status::Ok();
  }

  Status Allocate(const kernels::Operation& operation, const PartLimits& limits) {
    int64_t bytes = kernels::Aligned(kernel_->scratch_bytes);
    std::vector<int64_t> offsets;
    for (const kernels::TensorInfo& info : operation.out) {
      offsets.push_back(bytes);
      if (info.dtype == 0) continue;
      const auto size = onnx::LeastBytes({info.dtype, onnx::Shape(info.dim.begin(), info.dim.end()), std::nullopt}, limits.max_bytes);
      if (!size.ok()) return size.status();
      bytes += kernels::Aligned(std::max<int64_t>(*size, 1));
    }
    std::shared_ptr<uint8_t> memory;
    WF_RETURN_IF_ERROR(Take(*limits.budget, bytes, memory));
    kernels::Buffers buffers;
    for (const auto& each : held_) buffers.in.push_back(each.get());
    for (size_t i = 0; i < offsets.size(); ++i) {
      buffers.out.push_back(operation.out[i].dtype == 0 ? nullptr : memory.get() + offsets[i]);
      if (i < results_.size()) results_[i].data = std::shared_ptr<const uint8_t>(memory, memory.get() + offsets[i]);
    }
    buffers.scratch = memory.get();
    buffers.texts = limits.texts;
    count_ = static_cast<const int64_t*>(buffers.out.back());
    rank_ = operation.out.back().dim[0];
    auto call = kernel_->Bind(buffers);
    if (!call.ok()) return call.status();
    call_ = *std::move(call);
    return Status::Ok();
  }

  const std::vector<int> out_;
  const std::string& subject_;  // of the program
  std::string where_;
  std::vector<int> in_;  // per input of the kernel: the program's value, or -1
  std::vector<std::shared_ptr<const uint8_t>> held_;
  std::vector<Known> shapes_;  // per result, in symbols of those of output 0
  std::vector<Elements> results_;
  std::unique_ptr<kernels::Kernel> kernel_;
  std::unique_ptr<kernels::Call> call_;
  const int64_t* count_ = nullptr;
  int64_t rank_ = 0;
};

}  // namespace

Status TakeCounted(const PartLimits& limits, int64_t bytes, std::shared_ptr<uint8_t>& memory) {
  struct Block {
    base::MemoryClaim claim;
    std::shared_ptr<uint8_t> memory;
  };
  const auto block = std::make_shared<Block>();
  if (bytes > limits.max_bytes) return Status(base::kOutOfRange, fmt::format("a result of {} bytes", bytes));
  if (block->claim.Take(limits.budget, bytes)) block->memory = kernels::Allocate(bytes);
  if (block->memory == nullptr) return limits.budget->Refusal(bytes);
  memory = std::shared_ptr<uint8_t>(block, block->memory.get());
  return Status::Ok();
}

Result<Elements> ElementsAt(const Program& program, int value, std::span<const Elements> values) {
  if (value < 0) return Elements();
  const int weight = program.graph.values[static_cast<size_t>(value)].weight;
  if (weight < 0) return values[static_cast<size_t>(value)];
  auto loaded = program.constants[static_cast<size_t>(weight)]->Load();
  if (!loaded.ok()) return loaded.status();
  const onnx::Weight& of = program.graph.weight(weight);
  return Elements{InfoOf(of.dtype, of.dim), *std::move(loaded)};
}

bool HasBody(const onnx::Node& node) {
  return std::any_of(node.attributes.begin(), node.attributes.end(), [](const onnx::Attribute& each) { return each.body >= 0; });
}

bool IsSettled(const Program& program, size_t index, std::vector<Known>& known) {
  const onnx::Node& node = program.graph.nodes[index];
  if (HasBody(node) || !onnx::InferNode(program.graph, node, known).ok()) return false;
  for (const int out : node.out) {
    if (out >= 0 && !AllNumbers(known[static_cast<size_t>(out)].dim)) return false;
  }
  const auto& content = known[static_cast<size_t>(node.out[0])].content;
  if (node.out.size() == 1 && content && AllNumbers(*content)) return true;
  const auto lowered = Lower(program, index, known);
  return lowered.ok() && !lowered->counts;
}

class PartMaker {
 public:
  PartMaker(const Program& program, size_t begin, std::span<const Elements> values, const PartLimits& limits)
      : program_(program), begin_(begin), values_(values), limits_(limits) {}

  Result<std::unique_ptr<Part>> Make() {
    const size_t end = Reach();
    if (end > begin_) return MakePlanned(end);
    auto made = HasBody(node())     ? MakeControlPart(program_, begin_, limits_)
                : IsOfTexts(node()) ? MakeTextPart(program_, begin_, limits_)
                                    : MakeOfData();
    if (made.ok()) return made;
    return Status(made.status().code(), fmt::format("`{}`: {}: {}", program_.subject, node().Describe(), made.status().message()));
  }

 private:
  const onnx::Node& node() const { return program_.graph.nodes[begin_]; }

  size_t Reach() const {
    if (HasBody(node())) return begin_;
    std::vector<Known> known = onnx::KnownWeights(program_.graph);
    for (size_t i = 0; i < known.size(); ++i) Learn(values_[i].info, known[i]);
    size_t end = begin_;
    while (end < program_.graph.nodes.size() && IsSettled(program_, end, known)) ++end;
    return end;
  }

  static void Learn(const kernels::TensorInfo& info, Known& known) {
    if (info.dtype == 0) return;
    known.dtype = KnownType(info);
    known.dim.assign(info.dim.begin(), info.dim.end());
  }

  Part::Range RangeOf(const Cut& cut, size_t end, std::vector<std::pair<int, Elements>> fixed) const {
    Part::Range range{begin_, end, {}, std::move(fixed)};
    for (const int value : cut.reads) range.reads.push_back({value, {values_[static_cast<size_t>(value)].info, nullptr}});
    return range;
  }

  std::vector<onnx::Port> Ports(const Cut& cut) const {
    std::vector<onnx::Port> ports;
    for (const int value : cut.reads) ports.push_back(PortOf(program_.graph, value, values_[static_cast<size_t>(value)].info));
    return ports;
  }

  Result<std::unique_ptr<Part>> MakePlanned(size_t end) const {
    const Cut cut = CutOut(program_, begin_, end, {});
    return Planned(cut, RangeOf(cut, end, {}));
  }

  Result<std::unique_ptr<Part>> Planned(const Cut& cut, Part::Range range) const {
    auto part = std::make_unique<PlannedPart>(std::move(range), cut, program_.subject);
    if (const Status opened = part->Open(cut, Ports(cut), limits_); !opened.ok()) return opened;
    return std::unique_ptr<Part>(std::move(part));
  }

  // One node: what its rule and its lowering ask for is fixed, until they have what they need.
  Result<std::unique_ptr<Part>> MakeOfData() const {
    std::vector<std::pair<int, Elements>> fixed;
    for (;;) {
      const Cut cut = CutOut(program_, begin_, begin_ + 1, fixed);
      std::vector<Known> known = onnx::KnownWeights(cut.program.graph);
      for (size_t i = 0; i < cut.reads.size(); ++i)
        Learn(values_[static_cast<size_t>(cut.reads[i])].info, known[static_cast<size_t>(cut.program.graph.inputs[i])]);
      if (IsSettled(cut.program, 0, known)) return Planned(cut, RangeOf(cut, begin_ + 1, std::move(fixed)));
      const size_t before = fixed.size();
      for (size_t i = 0; i < cut.reads.size(); ++i) {
        if (known[static_cast<size_t>(cut.program.graph.inputs[i])].wanted) WF_RETURN_IF_ERROR(Fix(cut.reads[i], fixed));
      }
      if (fixed.size() == before) return Counted(cut, known, std::move(fixed));
    }
  }

  Status Fix(int value, std::vector<std::pair<int, Elements>>& fixed) const {
    const Elements& elements = values_[static_cast<size_t>(value)];
    const int64_t bytes = elements.info.size_bytes();
    const auto copy = kernels::Allocate(bytes);
    if (copy == nullptr) return Status(base::kResourceExhausted, "out of memory");
    if (bytes > 0) std::memcpy(copy.get(), elements.data.get(), static_cast<size_t>(bytes));
    fixed.push_back({value, {elements.info, copy}});
    return Status::Ok();
  }

  Result<std::unique_ptr<Part>> Counted(const Cut& cut, std::vector<Known>& known, std::vector<std::pair<int, Elements>> fixed) const {
    WF_RETURN_IF_ERROR(OfExtents(onnx::InferNode(cut.program.graph, cut.program.graph.nodes[0], known)));
    auto lowered = Lower(cut.program, 0, known);
    if (!lowered.ok()) return lowered.status();
    if (!lowered->counts) return Status(base::kUnimplemented, "a shape that depends on data in a way that is not supported");
    auto part = std::make_unique<CountedPart>(RangeOf(cut, begin_ + 1, std::move(fixed)), node(), program_.subject);
    if (const Status opened = part->Open(cut, known, *std::move(lowered), limits_); !opened.ok()) return opened;
    return std::unique_ptr<Part>(std::move(part));
  }

  const Program& program_;
  const size_t begin_;
  const std::span<const Elements> values_;
  const PartLimits& limits_;
};

Result<std::unique_ptr<Part>> Part::Make(const Program& program, size_t begin, std::span<const Elements> values, const PartLimits& limits) {
  return PartMaker(program, begin, values, limits).Make();
}

bool Part::Fits(size_t begin, std::span<const Elements> values) const {
  if (begin != begin_) return false;
  for (const auto& [value, read] : reads_) {
    if (!SameShape(values[static_cast<size_t>(value)].info, read.info)) return false;
  }
  return std::all_of(fixed_.begin(), fixed_.end(), [&](const auto& each) {
    const Elements& now = values[static_cast<size_t>(each.first)];
    const size_t bytes = static_cast<size_t>(each.second.info.size_bytes());
    return SameShape(now.info, each.second.info) && (bytes == 0 || std::memcmp(now.data.get(), each.second.data.get(), bytes) == 0);
  });
}

Status Part::Take(Budget& budget, int64_t bytes, std::shared_ptr<uint8_t>& memory) {
  if (claim_.Take(&budget, bytes)) memory = kernels::Allocate(bytes);
  return memory != nullptr ? Status::Ok() : budget.Refusal(bytes);
}

}  // namespace wf::model
