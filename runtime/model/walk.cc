#include "runtime/model/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "runtime/onnx/op.h"

namespace wf::model {

using base::Result;
using base::Status;

Status Walk::Begin(std::span<const Elements> inputs) {
  for (Elements& each : values_) {  // the list of extents keeps its memory: a loop's body runs often
    each.info.dtype = 0;
    each.data.reset();
  }
  for (size_t i = 0; i < inputs.size(); ++i) values_[static_cast<size_t>(program_.graph.inputs[i])] = inputs[i];
  for (const int output : program_.graph.outputs) {
    const int weight = program_.graph.values[static_cast<size_t>(output)].weight;
    if (weight < 0) continue;
    auto loaded = program_.constants[static_cast<size_t>(weight)]->Load();
    if (!loaded.ok()) return loaded.status();
    const onnx::Weight& of = program_.graph.weight(weight);
    values_[static_cast<size_t>(output)] = {InfoOf(of.dtype, of.dim), *std::move(loaded)};
  }
  return Status::Ok();
}

Status Walk::Run(std::span<const Elements> inputs) {
  WF_RETURN_IF_ERROR(Begin(inputs));
  for (size_t at = 0; at < program_.graph.nodes.size();) {
    WF_RETURN_IF_ERROR(limits_.budget->Check());
    const auto part = PartAt(at);
    if (!part.ok()) return part.status();
    WF_RETURN_IF_ERROR((*part)->Run(values_));
    at = (*part)->end();
  }
  return Status::Ok();
}

Result<Part*> Walk::PartAt(size_t begin) {
  const auto found = std::find_if(parts_.begin(), parts_.end(), [&](const auto& part) { return part->Fits(begin, values_); });
  if (found != parts_.end()) {
    parts_.splice(parts_.begin(), parts_, found);
    return parts_.front().get();
  }
  auto made = Part::Make(program_, begin, values_, limits_);
  if (!made.ok()) return made.status();
  parts_.push_front(*std::move(made));
  if (parts_.size() > kMostParts) parts_.pop_back();
  return parts_.front().get();
}

std::vector<Elements> Walk::outputs() const {
  std::vector<Elements> outputs;
  for (size_t i = 0; i < program_.graph.outputs.size(); ++i) outputs.push_back(output(i));
  return outputs;
}

Result<bool> DependsOnData(const Program& program, std::span<const onnx::Port> inputs) {
  const auto inferred = onnx::InferShapes(program.graph, inputs, program.subject);
  if (!inferred.ok()) return inferred.status();
  std::vector<onnx::Known> known = onnx::KnownWeights(program.graph);
  for (const int input : program.graph.inputs) known[static_cast<size_t>(input)] = (*inferred)[static_cast<size_t>(input)];
  for (size_t i = 0; i < program.graph.nodes.size(); ++i) {
    if (!IsSettled(program, i, known)) return true;
  }
  return false;
}

bool HasNodesOfData(const Program& program) {
  using onnx::Op;
  constexpr Op kCounting[] = {Op::kCompress,         Op::kNonMaxSuppression, Op::kNonZero,    Op::kUnique,
                              Op::kStringNormalizer, Op::kStringSplit,       Op::kMsTokenizer};
  const auto is_of_data = [&](const onnx::Node& node) {
    return HasBody(node) || std::find(std::begin(kCounting), std::end(kCounting), node.op) != std::end(kCounting);
  };
  return std::any_of(program.graph.nodes.begin(), program.graph.nodes.end(), is_of_data);
}

namespace {

// What a run holds of each value at least, by the value whose memory it lies in.
class SettledBytes {
 public:
  SettledBytes(const Program& program, std::vector<onnx::Known> known)
      : program_(program), known_(std::move(known)), bytes_(known_.size(), 0), origin_(known_.size()) {
    for (size_t i = 0; i < origin_.size(); ++i) origin_[i] = i;
  }

  // While this node runs; the nodes before it were asked. Bodies may not run, and of a value that only a run knows nothing is counted.
  int64_t At(size_t index) {
    const onnx::Node& node = program_.graph.nodes[index];
    if (HasBody(node) || !HasNumbers(node)) return 0;
    const auto lowered = Lower(program_, index, known_);
    if (!lowered.ok()) return 0;
    if (lowered->alias) {
      origin_[Index(node.out[0])] = origin_[Index(node.in[0])];
      return 0;
    }
    std::set<size_t> read;
    int64_t sum = 0, largest_read = 0;
    for (const int in : node.in) {
      if (in < 0 || !read.insert(origin_[Index(in)]).second) continue;
      sum += bytes_[origin_[Index(in)]];
      largest_read = std::max(largest_read, bytes_[origin_[Index(in)]]);
    }
    for (const int out : node.out) {
      if (out < 0) continue;
      const int64_t bytes = bytes_[Index(out)] = BytesOf(known_[Index(out)]);
      if (bytes > largest_read) sum += bytes;  // else it may lie where that lay
    }
    return sum;
  }

  const onnx::Known& Largest(const onnx::Node& node) const {
    const auto bytes = [this](int out) { return out < 0 ? -1 : bytes_[Index(out)]; };
    return known_[Index(*std::max_element(node.out.begin(), node.out.end(), [&](int a, int b) { return bytes(a) < bytes(b); }))];
  }
  int64_t BytesOf(const onnx::Known& known) const {
    if (known.content) return 0;  // made where it is read
    const auto bytes = onnx::LeastBytes(known, onnx::kMostTensorBytes);
    const bool is_empty = std::any_of(known.dim.begin(), known.dim.end(), [](const onnx::Dim& dim) { return dim.constant() == 0; });
    if (!bytes.ok() || is_empty) return 0;
    return program_.bf16 && known.dtype == WF_F32 ? *bytes / 2 : *bytes;  // it may be stored as such
  }

 private:
  static size_t Index(int value) { return static_cast<size_t>(value); }
  bool HasNumbers(const onnx::Node& node) const {
    return std::all_of(node.out.begin(), node.out.end(), [this](int out) {
      return out < 0 ||
             std::all_of(
                 known_[Index(out)].dim.begin(), known_[Index(out)].dim.end(), [](const onnx::Dim& dim) { return dim.is_constant(); });
    });
  }

  const Program& program_;
  std::vector<onnx::Known> known_;
  std::vector<int64_t> bytes_;  // of what nodes make
  std::vector<size_t> origin_;
};

}  // namespace

Status CheckSettled(const Program& program, std::span<const onnx::Port> inputs, int64_t most_bytes) {
  auto known = onnx::InferShapes(program.graph, inputs, program.subject);
  if (!known.ok()) return known.status();
  SettledBytes settled(program, *std::move(known));
  for (size_t i = 0; i < program.graph.nodes.size(); ++i) {
    const int64_t bytes = settled.At(i);
    if (bytes <= most_bytes) continue;
    const onnx::Node& node = program.graph.nodes[i];
    const onnx::Known& largest = settled.Largest(node);
    return Status(
        base::kOutOfRange,
        fmt::format("`{}`: {}: every run takes {} bytes for it, {} of them for its result {}, and a request may have {}", program.subject,
                    node.Describe(), bytes, settled.BytesOf(largest), onnx::ToString(largest.dtype, largest.dim), most_bytes));
  }
  return Status::Ok();
}

}  // namespace wf::model
