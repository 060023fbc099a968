#include "runtime/model/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/model/lowering.h"
#include "runtime/model/walk.h"

namespace wf::model {
namespace {

using base::Result;
using base::Status;
using kernels::TensorInfo;

// What a turn hands to the next: a copy, since what a walk gives stays only until its next run. It lies in two places by turns, for the
// walk holds what it read, and its results may be parts of that.
class Carried {
 public:
  Status Copy(const PartLimits& limits, const Elements& from, Elements& to) {
    Place& place = places_[next_];
    next_ = 1 - next_;
    const int64_t bytes = from.info.size_bytes();
    if (place.memory == nullptr || place.bytes != bytes) {
      place = {nullptr, bytes};  // given back first
      WF_RETURN_IF_ERROR(TakeCounted(limits, bytes, place.memory));
    }
    if (bytes > 0) std::memcpy(place.memory.get(), from.data.get(), static_cast<size_t>(bytes));
    to.info = from.info;
    to.data = place.memory;
    return Status::Ok();
  }

 private:
  struct Place {
    std::shared_ptr<uint8_t> memory;
    int64_t bytes = 0;
  };
  Place places_[2];
  size_t next_ = 0;
};

// One element that is written anew for each turn of a loop, since all that a turn gives is copied.
template <typename T>
class Scalar {
 public:
  explicit Scalar(uint8_t dtype) : elements_{{dtype, {}, nullptr, nullptr}, memory_} {}

  bool is_there() const { return memory_ != nullptr; }
  const Elements& elements() const { return elements_; }
  void Set(T value) { std::memcpy(memory_.get(), &value, sizeof(T)); }

 private:
  const std::shared_ptr<uint8_t> memory_ = kernels::Allocate(sizeof(T));
  const Elements elements_;
};

bool IsTrue(const Elements& elements) { return elements.info.count() > 0 && *elements.data != 0; }

// Results of turns, put together along a new axis 0.
class Stack {
 public:
  explicit Stack(const PartLimits& limits) : limits_(&limits) {}

  Status Add(const Elements& turn) {
    if (turns_ == 0) info_ = turn.info;
    if (turn.info.dim != info_.dim || turn.info.dtype != info_.dtype)
      return Status(base::kInvalidArgument, "a result has one shape in one turn and another in the next");
    const int64_t bytes = turn.info.size_bytes();
    if (used_ + bytes > size_) WF_RETURN_IF_ERROR(Grow(used_ + bytes));
    if (bytes > 0) std::memcpy(memory_.get() + used_, turn.data.get(), static_cast<size_t>(bytes));
    used_ += bytes;
    ++turns_;
    return Status::Ok();
  }

  int64_t turns() const { return turns_; }

  // empty: dtype and extents of a turn, when there was none.
  Result<Elements> Whole(const TensorInfo& empty) {
    TensorInfo info = turns_ == 0 ? empty : info_;
    info.dim.insert(info.dim.begin(), turns_);
    if (memory_ == nullptr) WF_RETURN_IF_ERROR(Grow(1));
    return Elements{std::move(info), memory_};
  }

 private:
  Status Grow(int64_t wanted) {
    const int64_t size = std::max(wanted, 2 * size_);
    std::shared_ptr<uint8_t> memory;
    WF_RETURN_IF_ERROR(TakeCounted(*limits_, size, memory));
    if (used_ > 0) std::memcpy(memory.get(), memory_.get(), static_cast<size_t>(used_));
    memory_ = std::move(memory);
    size_ = size;
    return Status::Ok();
  }

  const PartLimits* limits_;
  TensorInfo info_;
  std::shared_ptr<uint8_t> memory_;
  int64_t size_ = 0, used_ = 0, turns_ = 0;
};

int64_t Product(std::span<const int64_t> extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
}

// One index of an axis, as a tensor without it.
Status Pick(const PartLimits& limits, const Elements& from, size_t axis, int64_t index, Elements& to) {
  TensorInfo info = from.info;
  const std::span<const int64_t> dim(from.info.dim);
  const int64_t outer = Product(dim.first(axis)), inner = Product(dim.subspan(axis + 1)) * base::DTypeSize(info.dtype);
  info.dim.erase(info.dim.begin() + static_cast<ptrdiff_t>(axis));
  std::shared_ptr<uint8_t> memory;
  WF_RETURN_IF_ERROR(TakeCounted(limits, info.size_bytes(), memory));
  for (int64_t i = 0; i < outer && inner > 0; ++i)
    std::memcpy(memory.get() + i * inner, from.data.get() + (i * dim[axis] + index) * inner, static_cast<size_t>(inner));
  to = {std::move(info), std::move(memory)};
  return Status::Ok();
}

// Axis 0 moved to `axis`, and turned round.
Status MoveFirst(const PartLimits& limits, size_t axis, bool reverse, Elements& elements) {
  const std::vector<int64_t> dim = elements.info.dim;
  const std::span<const int64_t> turn = std::span(dim).subspan(1);
  const int64_t turns = dim[0], outer = Product(turn.first(axis)),
                inner = Product(turn.subspan(axis)) * base::DTypeSize(elements.info.dtype);
  std::shared_ptr<uint8_t> memory;
  WF_RETURN_IF_ERROR(TakeCounted(limits, elements.info.size_bytes(), memory));
  for (int64_t t = 0; t < turns && inner > 0; ++t) {
    const uint8_t* from = elements.data.get() + (reverse ? turns - 1 - t : t) * outer * inner;
    for (int64_t i = 0; i < outer; ++i) std::memcpy(memory.get() + (i * turns + t) * inner, from + i * inner, static_cast<size_t>(inner));
  }
  elements.info.dim.erase(elements.info.dim.begin());
  elements.info.dim.insert(elements.info.dim.begin() + static_cast<ptrdiff_t>(axis), turns);
  elements.data = std::move(memory);
  return Status::Ok();
}

// A node with bodies.
class ControlPart : public Part {
 public:
  ControlPart(const Program& program, size_t index, const PartLimits& limits)
      : Part({index, index + 1, {}, {}}), program_(program), node_(program.graph.nodes[index]), limits_(limits) {}

  Status Run(std::vector<Elements>& values) override {
    const Status ran = RunNode(values);
    return ran.ok() || ran.message().starts_with('`')
               ? ran
               : Status(ran.code(), fmt::format("`{}`: {}: {}", program_.subject, node_.Describe(), ran.message()));
  }

 protected:
  virtual Status RunNode(std::vector<Elements>& values) = 0;

  struct Body {
    const Program* program = nullptr;
    size_t first_capture = 0;
    std::unique_ptr<Walk> walk;
    size_t formal_inputs() const { return program->graph.formal_inputs; }
  };

  Body BodyOf(std::string_view attribute) const {
    const onnx::Attribute* const found = node_.Find(attribute);
    const Program& program = *program_.bodies[static_cast<size_t>(found->body)];
    return {&program, found->first_capture, std::make_unique<Walk>(program, limits_)};
  }

  Status BeginTurn() const {
    WF_RETURN_IF_ERROR(limits_.budget->Turn());
    return limits_.budget->Check();
  }

  size_t formal_inputs() const {
    size_t count = node_.in.size();
    for (const onnx::Attribute& attribute : node_.attributes) {
      if (attribute.body >= 0) count = std::min(count, attribute.first_capture);
    }
    return count;
  }

  // Input i of the node, dtype 0 where it is absent.
  Result<Elements> Input(const std::vector<Elements>& values, size_t i) const {
    return ElementsAt(program_, i < node_.in.size() ? node_.in[i] : -1, values);
  }

  // Adds what the body reads from outside.
  Status Capture(const Body& body, const std::vector<Elements>& values, std::vector<Elements>& inputs) const {
    for (size_t i = body.formal_inputs(); i < body.program->graph.inputs.size(); ++i) {
      auto captured = Input(values, body.first_capture + i - body.formal_inputs());
      if (!captured.ok()) return captured.status();
      inputs.push_back(*std::move(captured));
    }
    return Status::Ok();
  }

  void Give(size_t i, Elements elements, std::vector<Elements>& values) const {
    if (i < node_.out.size() && node_.out[i] >= 0) values[static_cast<size_t>(node_.out[i])] = std::move(elements);
  }

  // A result of a body that never ran.
  TensorInfo EmptyOf(const Body& body, size_t output, std::span<const Elements> inputs) const {
    std::vector<onnx::Known> known;
    for (const Elements& each : inputs)
      known.push_back({KnownType(each.info), onnx::Shape(each.info.dim.begin(), each.info.dim.end()), std::nullopt});
    const auto inferred = onnx::InferGraph(body.program->graph, known);
    TensorInfo info;
    if (!inferred.ok()) return info;
    const onnx::Known& of = (*inferred)[static_cast<size_t>(body.program->graph.outputs[output])];
    info = InfoOf(of.dtype, {});
    for (const onnx::Dim& dim : of.dim) info.dim.push_back(dim.constant().value_or(0));
    return info;
  }

  const Program& program_;
  const onnx::Node& node_;
  const PartLimits limits_;
};

class IfPart final : public ControlPart {
 public:
  using ControlPart::ControlPart;

 private:
  Status RunNode(std::vector<Elements>& values) override {
    const auto condition = Input(values, 0);
    if (!condition.ok()) return condition.status();
    Body& body = IsTrue(*condition) ? then_ : else_;
    std::vector<Elements> inputs;
    WF_RETURN_IF_ERROR(Capture(body, values, inputs));
    WF_RETURN_IF_ERROR(body.walk->Run(inputs));
    std::vector<Elements> results = body.walk->outputs();
    for (size_t i = 0; i < results.size(); ++i) Give(i, std::move(results[i]), values);
    return Status::Ok();
  }

  Body then_ = BodyOf("then_branch"), else_ = BodyOf("else_branch");
};

class LoopPart final : public ControlPart {
 public:
  using ControlPart::ControlPart;

 private:
  Status RunNode(std::vector<Elements>& values) override {
    const size_t carried = formal_inputs() - 2, stacked = body_.program->graph.outputs.size() - 1 - carried;
    std::vector<Carried> handed(carried);
    int64_t turns = INT64_MAX;
    auto count = Input(values, 0), condition = Input(values, 1);
    if (!count.ok() || !condition.ok()) return count.ok() ? condition.status() : count.status();
    if (count->info.dtype != 0 && count->info.count() > 0) std::memcpy(&turns, count->data.get(), sizeof turns);
    bool goes_on = condition->info.dtype == 0 || IsTrue(*condition);
    Scalar<int64_t> number(WF_I64);
    Scalar<bool> flag(WF_BOOL);
    if (!number.is_there() || !flag.is_there()) return Status(base::kResourceExhausted, "out of memory");
    std::vector<Elements> inputs = {number.elements(), flag.elements()};
    for (size_t i = 0; i < carried; ++i) {
      auto input = Input(values, 2 + i);
      if (!input.ok()) return input.status();
      inputs.push_back(*std::move(input));
    }
    WF_RETURN_IF_ERROR(Capture(body_, values, inputs));
    std::vector<Stack> stacks;
    for (size_t i = 0; i < stacked; ++i) stacks.emplace_back(limits_);
    int64_t turn = 0;
    for (; turn < turns && goes_on; ++turn) {
      WF_RETURN_IF_ERROR(BeginTurn());
      number.Set(turn);
      flag.Set(true);
      WF_RETURN_IF_ERROR(Turn(handed, inputs, stacks, goes_on));
    }
    for (size_t i = 0; i < stacked; ++i) {
      auto whole = stacks[i].Whole(turn == 0 ? EmptyOf(body_, 1 + carried + i, inputs) : TensorInfo());
      if (!whole.ok()) return whole.status();
      Give(carried + i, *std::move(whole), values);
    }
    for (size_t i = 0; i < carried; ++i) Give(i, std::move(inputs[2 + i]), values);
    return Status::Ok();
  }

  Status Turn(std::vector<Carried>& handed, std::vector<Elements>& inputs, std::vector<Stack>& stacks, bool& goes_on) {
    const Walk& walk = *body_.walk;
    WF_RETURN_IF_ERROR(body_.walk->Run(inputs));
    goes_on = IsTrue(walk.output(0));
    for (size_t i = 0; i < stacks.size(); ++i) WF_RETURN_IF_ERROR(stacks[i].Add(walk.output(1 + handed.size() + i)));
    for (size_t i = 0; i < handed.size(); ++i) WF_RETURN_IF_ERROR(handed[i].Copy(limits_, walk.output(1 + i), inputs[2 + i]));
    return Status::Ok();
  }

  Body body_ = BodyOf("body");
};

class ScanPart final : public ControlPart {
 public:
  using ControlPart::ControlPart;

 private:
  // Of scanned input or stacked output i.
  int64_t Setting(std::string_view attribute, size_t i) const {
    const auto settings = node_.Ints(attribute);
    return i < settings.size() ? settings[i] : 0;
  }

  Status RunNode(std::vector<Elements>& values) override {
    const size_t carried = formal_inputs() - static_cast<size_t>(node_.Int("num_scan_inputs", 0));
    std::vector<Carried> handed(carried);
    std::vector<Elements> scanned, inputs;
    for (size_t i = 0; i < formal_inputs(); ++i) {
      auto input = Input(values, i);
      if (!input.ok()) return input.status();
      if (i >= carried) scanned.push_back(*input);
      inputs.push_back(*std::move(input));
    }
    WF_RETURN_IF_ERROR(Capture(body_, values, inputs));
    std::vector<Stack> stacks;
    for (size_t i = carried; i < body_.program->graph.outputs.size(); ++i) stacks.emplace_back(limits_);
    const auto axis_of = [&](size_t i) { return FromEnd(Setting("scan_input_axes", i), scanned[i].info.dim.size()); };
    const int64_t turns = scanned[0].info.dim[axis_of(0)];
    for (size_t i = 0; i < scanned.size(); ++i) {
      if (scanned[i].info.dim[axis_of(i)] != turns)
        return Status(base::kInvalidArgument, "inputs of different extents along the axes that it walks");
    }
    for (size_t i = 0; turns == 0 && i < scanned.size(); ++i) {  // whose shapes tell those of the results
      std::vector<int64_t>& dim = inputs[carried + i].info.dim;
      dim.erase(dim.begin() + static_cast<ptrdiff_t>(axis_of(i)));
    }
    for (int64_t turn = 0; turn < turns; ++turn) {
      for (size_t i = 0; i < scanned.size(); ++i) {
        const int64_t index = Setting("scan_input_directions", i) != 0 ? turns - 1 - turn : turn;
        WF_RETURN_IF_ERROR(Pick(limits_, scanned[i], axis_of(i), index, inputs[carried + i]));
      }
      WF_RETURN_IF_ERROR(BeginTurn());
      WF_RETURN_IF_ERROR(Turn(handed, inputs, stacks));
    }
    for (size_t i = 0; i < stacks.size(); ++i) WF_RETURN_IF_ERROR(GiveStack(i, carried, stacks[i], inputs, values));
    for (size_t i = 0; i < carried; ++i) Give(i, std::move(inputs[i]), values);
    return Status::Ok();
  }

  Status Turn(std::vector<Carried>& handed, std::vector<Elements>& inputs, std::vector<Stack>& stacks) {
    const Walk& walk = *body_.walk;
    WF_RETURN_IF_ERROR(body_.walk->Run(inputs));
    for (size_t i = 0; i < stacks.size(); ++i) WF_RETURN_IF_ERROR(stacks[i].Add(walk.output(handed.size() + i)));
    for (size_t i = 0; i < handed.size(); ++i) WF_RETURN_IF_ERROR(handed[i].Copy(limits_, walk.output(i), inputs[i]));
    return Status::Ok();
  }

  Status GiveStack(size_t i, size_t carried, Stack& stack, std::span<const Elements> inputs, std::vector<Elements>& values) const {
    auto whole = stack.Whole(stack.turns() == 0 ? EmptyOf(body_, carried + i, inputs) : TensorInfo());
    if (!whole.ok()) return whole.status();
    const size_t axis = FromEnd(Setting("scan_output_axes", i), whole->info.dim.size());
    const bool reverse = Setting("scan_output_directions", i) != 0;
    if (axis != 0 || reverse) WF_RETURN_IF_ERROR(MoveFirst(limits_, axis, reverse, *whole));
    Give(carried + i, *std::move(whole), values);
    return Status::Ok();
  }

  Body body_ = BodyOf("body");
};

}  // namespace

Result<std::unique_ptr<Part>> MakeControlPart(const Program& program, size_t index, const PartLimits& limits) {
  const onnx::Node& node = program.graph.nodes[index];
  if (node.op == onnx::Op::kIf) return std::unique_ptr<Part>(std::make_unique<IfPart>(program, index, limits));
  if (node.op == onnx::Op::kLoop) return std::unique_ptr<Part>(std::make_unique<LoopPart>(program, index, limits));
  WF_CHECK(node.op == onnx::Op::kScan, node.Describe());
  return std::unique_ptr<Part>(std::make_unique<ScanPart>(program, index, limits));
}

}  // namespace wf::model
