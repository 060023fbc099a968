#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/model/constants.h"
#include "runtime/model/numbers.h"
#include "runtime/model/patterns.h"
#include "runtime/model/program.h"
#include "runtime/model/quantised.h"
#include "runtime/onnx/op.h"
#include "runtime/onnx/work.h"

namespace wf::model {
namespace {

using base::Result;
using base::Status;
using onnx::Op;

constexpr int64_t kHeldBytes = 4096;  // results up to this size stay visible to shape inference

Program AsItIs(const std::shared_ptr<const onnx::Model>& model, onnx::Graph graph) {
  Program program;
  program.subject = model->path;
  program.graph = std::move(graph);
  for (const auto& weight : program.graph.weights)
    program.constants.push_back(std::make_shared<FileConstant>(program.packed_memory, model, weight));
  program.then.resize(program.graph.nodes.size());
  for (const auto& body : program.graph.bodies) program.bodies.push_back(std::make_shared<Program>(AsItIs(model, *body)));
  return program;
}

class Optimiser {
 public:
  Optimiser(const std::shared_ptr<onnx::Model>& model, int64_t max_bytes)
      : model_(model),
        max_bytes_(std::min(max_bytes, onnx::MostConstantBytes(model->graph))),
        max_work_(onnx::MostConstantWork(model->graph)) {
    program_ = AsItIs(model_, std::exchange(model->graph, {}));
    gone_.resize(program_.graph.nodes.size(), false);
  }

  Result<Program> Run() {
    auto known = onnx::InferShapes(program_.graph, model_->signature.inputs, model_->path);
    if (!known.ok()) return known.status();
    known_ = *std::move(known);
    const onnx::Constants folded = onnx::ConstantNodes(program_.graph, known_, max_bytes_, max_work_);
    spare_ns_ = folded.spare_ns;
    WF_RETURN_IF_ERROR(FoldNodes(folded.nodes, true));
    WF_RETURN_IF_ERROR(JoinQuantised(program_, known_, gone_));
    WF_RETURN_IF_ERROR(FoldNodes(folded.nodes, false));
    WF_RETURN_IF_ERROR(JoinWrittenOut(program_, known_, gone_));
    CountUses();
    for (size_t i = 0; i < program_.graph.nodes.size(); ++i) WF_RETURN_IF_ERROR(Join(i));
    Sweep();
    return std::move(program_);
  }

 private:
  onnx::Value& ValueOf(int index) { return program_.graph.values[static_cast<size_t>(index)]; }
  bool IsConstant(int value) { return ValueOf(value).weight >= 0; }
  const onnx::Weight& WeightOf(int value) { return program_.graph.weight(ValueOf(value).weight); }
  std::shared_ptr<const kernels::Constant> ConstantOf(int value) { return program_.constants[static_cast<size_t>(ValueOf(value).weight)]; }

  int AddConstant(onnx::Weight weight, std::shared_ptr<const kernels::Constant> constant) {
    program_.constants.push_back(std::move(constant));
    return program_.graph.Add(std::move(weight));
  }
  static onnx::Weight NewWeight(const std::string& name, uint8_t dtype, std::vector<int64_t> dim) {
    onnx::Weight weight;
    weight.name = name;
    weight.dtype = dtype;
    weight.dim = std::move(dim);
    return weight;
  }

  // Those that are found to read constants alone. keeps_bytes: 8-bit weights are left as they are, with all that is computed from them.
  Status FoldNodes(const std::vector<bool>& found, bool keeps_bytes) {
    for (size_t i = 0; i < found.size(); ++i) {
      const onnx::Node& node = program_.graph.nodes[i];
      const bool is_kept =
          keeps_bytes && node.op == Op::kDequantizeLinear && base::DTypeSize(known_[static_cast<size_t>(node.in[0])].dtype) == 1;
      if (!found[i] || gone_[i] || is_kept) continue;
      if (const Status status = Fold(i); !status.ok())
        return Status(status.code(), fmt::format("`{}`: {}: {}", program_.subject, node.Describe(), status.message()));
    }
    return Status::Ok();
  }

  // Computes a node whose inputs are all constants.
  Status Fold(size_t index) {
    const onnx::Node& node = program_.graph.nodes[index];
    for (const int in : node.in) {
      if (in >= 0 && !IsConstant(in)) return Status::Ok();  // of a node that stayed one
    }
    kernels::Operation operation;
    for (const int out : node.out) {
      kernels::TensorInfo& info = operation.out.emplace_back();
      if (out >= 0) WF_RETURN_IF_ERROR(ConcreteInfo(known_[static_cast<size_t>(out)], max_bytes_, info));
    }
    auto lowered = Lower(program_, index, known_);
    if (!lowered.ok()) return lowered.status();
    if (lowered->alias) lowered->params = kernels::Copy{};
    operation.params = std::move(lowered->params);
    std::vector<std::shared_ptr<const uint8_t>> held;
    kernels::Buffers buffers;
    for (const int in : lowered->in) {
      kernels::TensorInfo info;
      std::shared_ptr<const uint8_t> elements;
      if (in >= 0) {
        const onnx::Weight& weight = WeightOf(in);
        info = {onnx::ElementType(weight.dtype), weight.dim, nullptr, nullptr};
        auto loaded = ConstantOf(in)->Load();
        if (!loaded.ok()) return loaded.status();
        elements = *std::move(loaded);
      }
      operation.in.push_back(std::move(info));
      buffers.in.push_back(elements.get());
      held.push_back(std::move(elements));
    }
    const onnx::Work work = onnx::WorkOf(node, known_);
    if (const int64_t more = work.tiny_ns - work.ns; more > 0 && MayUnderflow(operation, buffers)) {
      if (more > spare_ns_) return Status::Ok();  // stays a node
      spare_ns_ -= more;
    }
    return Evaluate(node, operation, buffers);
  }

  // Of a product.
  static bool MayUnderflow(const kernels::Operation& operation, const kernels::Buffers& buffers) {
    int exponent = 0;
    for (size_t i = 0; i < std::min<size_t>(operation.in.size(), 2); ++i)
      exponent += LeastExponent(operation.in[i].dtype, buffers.in[i], operation.in[i].count());
    return model::MayUnderflow(operation.in[0].dtype, exponent);
  }

  Status Evaluate(const onnx::Node& node, const kernels::Operation& operation, kernels::Buffers& buffers) {
    kernels::UseOneThread();
    auto kernel = kernels::MakeKernel(operation);
    if (!kernel.ok()) return kernel.status();
    const auto scratch = kernels::Allocate((*kernel)->scratch_bytes);
    bool has_memory = scratch != nullptr;
    std::vector<std::shared_ptr<const uint8_t>> results;
    for (const kernels::TensorInfo& info : operation.out) {
      const std::shared_ptr<uint8_t> memory = info.dtype == 0 ? nullptr : kernels::Allocate(info.size_bytes());
      has_memory = has_memory && (info.dtype == 0 || memory != nullptr);
      buffers.out.push_back(memory.get());
      results.push_back(memory);
    }
    if (!has_memory) return Status(base::kResourceExhausted, "out of memory");
    const auto plain = [](const kernels::FormatRef& format) { return format == nullptr; };
    if (!plain((*kernel)->out_format) || !std::all_of((*kernel)->in_format.begin(), (*kernel)->in_format.end(), plain))
      return Status::Ok();  // stays a node
    buffers.scratch = scratch.get();
    auto call = (*kernel)->Bind(buffers);
    if (!call.ok()) return call.status();
    if (const char* failure = (*call)->Run()) return Status(base::kInvalidArgument, failure);
    for (size_t i = 0; i < node.out.size(); ++i) {
      if (node.out[i] >= 0) MakeConstant(node.out[i], operation.out[i], results[i]);
    }
    gone_[static_cast<size_t>(&node - program_.graph.nodes.data())] = true;
    return Status::Ok();
  }

  void MakeConstant(int value, const kernels::TensorInfo& info, const std::shared_ptr<const uint8_t>& elements) {
    onnx::Weight weight = NewWeight(ValueOf(value).name, known_[static_cast<size_t>(value)].dtype, info.dim);
    if (info.size_bytes() <= kHeldBytes) {
      weight.held = true;
      weight.bytes.assign(elements.get(), elements.get() + info.size_bytes());
    }
    ValueOf(value).weight = AddConstant(std::move(weight), std::make_shared<HeldConstant>(program_.packed_memory, elements));
  }

  void CountUses() {
    uses_.assign(program_.graph.values.size(), 0);
    reader_.assign(program_.graph.values.size(), SIZE_MAX);
    writer_.assign(program_.graph.values.size(), -1);
    for (size_t i = 0; i < program_.graph.nodes.size(); ++i) {
      if (gone_[i]) continue;
      for (const int out : program_.graph.nodes[i].out) {
        if (out >= 0) writer_[static_cast<size_t>(out)] = static_cast<int64_t>(i);
      }
      for (const int in : program_.graph.nodes[i].in) {
        if (in < 0) continue;
        ++uses_[static_cast<size_t>(in)];
        reader_[static_cast<size_t>(in)] = i;
      }
    }
    for (const int out : program_.graph.outputs) uses_[static_cast<size_t>(out)] += 2;  // nobody may join over it
  }

  // The node that alone reads what this one writes.
  size_t SoleReader(const onnx::Node& node) const {
    const size_t out = static_cast<size_t>(node.out[0]);
    return uses_[out] == 1 ? reader_[out] : SIZE_MAX;
  }

  // Joins to a product what follows it: batch normalisation or a bias, to a convolution then a tensor that is added, at last one
  // activation.
  Status Join(size_t index) {
    onnx::Node& node = program_.graph.nodes[index];
    const bool convolution = node.op == Op::kConv || node.op == Op::kConvTranspose;
    if (gone_[index] || (!convolution && node.op != Op::kMatMul && node.op != Op::kGemm)) return Status::Ok();
    if (const size_t next = SoleReader(node); next != SIZE_MAX) {
      auto joined = convolution ? JoinBatchNorm(node, program_.graph.nodes[next]) : JoinBias(node, program_.graph.nodes[next]);
      if (!joined.ok()) return joined.status();
      if (*joined) Absorb(node, next);
    }
    if (const size_t next = SoleReader(node); next != SIZE_MAX && JoinAddend(index, program_.graph.nodes[next])) Absorb(node, next);
    if (const size_t next = SoleReader(node); next != SIZE_MAX) {
      kernels::Unary then;
      if (IsActivation(next, then)) {
        program_.then[index] = then;
        Absorb(node, next);
      }
    }
    return Status::Ok();
  }

  void Absorb(onnx::Node& node, size_t next) {
    node.out = {program_.graph.nodes[next].out[0]};
    gone_[next] = true;
    writer_[static_cast<size_t>(node.out[0])] = &node - program_.graph.nodes.data();
  }

  // As where the two ways of a residual block meet: the later convolution takes the sum.
  bool JoinAddend(size_t index, const onnx::Node& add) {
    onnx::Node& conv = program_.graph.nodes[index];
    if (conv.op != Op::kConv || add.op != Op::kAdd) return false;
    const int other = add.in[0] == conv.out[0] ? add.in[1] : add.in[0];
    const onnx::Known &sum = known_[static_cast<size_t>(add.out[0])], &addend = known_[static_cast<size_t>(other)];
    const bool fits = other != conv.out[0] && !IsConstant(other) && sum.dtype == WF_F32 && addend.dim == sum.dim &&
                      known_[static_cast<size_t>(conv.out[0])].dim == sum.dim;
    if (!fits || writer_[static_cast<size_t>(other)] >= static_cast<int64_t>(index)) return false;
    conv.in.resize(4, -1);
    conv.in[3] = other;
    reader_[static_cast<size_t>(other)] = index;
    return true;
  }

  bool IsActivation(size_t next, kernels::Unary& then) {
    const onnx::Node& node = program_.graph.nodes[next];
    switch (node.op) {
      case Op::kClip:
      case Op::kElu:
      case Op::kGelu:
      case Op::kHardSwish:
      case Op::kLeakyRelu:
      case Op::kMsGelu:
      case Op::kMsQuickGelu:
      case Op::kRelu:
      case Op::kSigmoid:
      case Op::kTanh:
        break;
      default:
        return false;
    }
    auto lowered = Lower(program_, next, known_);
    if (!lowered.ok() || lowered->in.size() != 1) return false;
    then = std::get<kernels::Unary>(lowered->params);
    return true;
  }

  // Elements of a small float constant, widened.
  Result<std::vector<double>> Widened(int value) {
    const onnx::Weight& weight = WeightOf(value);
    auto elements = ConstantOf(value)->Load();
    if (!elements.ok()) return elements.status();
    std::vector<double> out(static_cast<size_t>(weight.count()));
    for (size_t i = 0; i < out.size(); ++i) out[i] = NumberAt(weight.dtype, elements->get(), static_cast<int64_t>(i));
    return out;
  }

  Result<bool> JoinBatchNorm(onnx::Node& conv, const onnx::Node& norm) {
    const bool trains = norm.Int("training_mode", 0) != 0 || norm.out.size() > 1;
    if (norm.op != Op::kBatchNormalization || trains || !IsConstant(conv.in[1]) || (conv.has_in(2) && !IsConstant(conv.in[2])))
      return false;
    std::vector<std::vector<double>> parameter;  // scale, shift, mean, variance
    for (size_t i = 1; i < 5; ++i) {
      if (!IsConstant(norm.in[i])) return false;
      auto widened = Widened(norm.in[i]);
      if (!widened.ok()) return widened.status();
      parameter.push_back(*std::move(widened));
    }
    const onnx::Weight filters = WeightOf(conv.in[1]);
    const size_t count = parameter[0].size();
    const bool foldable = filters.dtype == WF_F32 || filters.dtype == WF_F64;  // 16 bits would round the filters once more
    const bool transposed = conv.op == Op::kConvTranspose;                     // whose filters lie along axis 1
    const size_t axis = transposed ? 1 : 0;
    if (transposed && conv.Int("group", 1) != 1) return false;
    if (!foldable || filters.count() == 0 || static_cast<int64_t>(count) != filters.dim[axis]) return false;
    std::vector<double> bias(count, 0), factor(count);
    if (conv.has_in(2)) {
      auto widened = Widened(conv.in[2]);
      if (!widened.ok()) return widened.status();
      bias = *std::move(widened);
    }
    const double epsilon = static_cast<double>(norm.Float("epsilon", 1e-5f));
    for (size_t i = 0; i < count; ++i) {
      factor[i] = parameter[0][i] / std::sqrt(parameter[3][i] + epsilon);
      bias[i] = (bias[i] - parameter[2][i]) * factor[i] + parameter[1][i];
    }
    int64_t run = 1;
    for (size_t i = axis + 1; i < filters.dim.size(); ++i) run *= filters.dim[i];
    auto scaled = std::make_shared<ScaledConstant>(program_.packed_memory, ConstantOf(conv.in[1]), ScaledConstant::Factors{factor, run},
                                                   filters.count(), filters.dtype);
    conv.in.resize(3, -1);
    conv.in[1] = AddValue(filters.name, AddConstant(NewWeight(filters.name, filters.dtype, filters.dim), std::move(scaled)));
    auto shifted = Narrowed(bias, filters.dtype);
    if (shifted == nullptr) return Status(base::kResourceExhausted, "out of memory");
    conv.in[2] = AddValue(filters.name, AddConstant(NewWeight(filters.name, filters.dtype, {static_cast<int64_t>(count)}),
                                                    std::make_shared<HeldConstant>(program_.packed_memory, shifted)));
    return true;
  }

  static std::shared_ptr<const uint8_t> Narrowed(const std::vector<double>& values, uint8_t dtype) {
    const auto memory = kernels::Allocate(static_cast<int64_t>(values.size()) * base::DTypeSize(dtype));
    for (size_t i = 0; memory != nullptr && i < values.size(); ++i) {
      const float narrow = static_cast<float>(values[i]);
      if (dtype == WF_F32) std::memcpy(memory.get() + 4 * i, &narrow, 4);
      if (dtype == WF_F64) std::memcpy(memory.get() + 8 * i, &values[i], 8);
    }
    return memory;
  }

  int AddValue(const std::string& name, int weight) {
    program_.graph.values.push_back({name, weight});
    known_.emplace_back();
    return static_cast<int>(program_.graph.values.size()) - 1;
  }

  // x W + b with constant W and one b per column.
  Result<bool> JoinBias(onnx::Node& product, const onnx::Node& add) {
    if (product.op != Op::kMatMul || add.op != Op::kAdd || !IsConstant(product.in[1])) return false;
    const int other = add.in[0] == product.out[0] ? add.in[1] : add.in[0];
    if (other == product.out[0] || !IsConstant(other)) return false;
    const onnx::Weight &matrix = WeightOf(product.in[1]), &bias = WeightOf(other);
    const bool fits = matrix.dim.size() == 2 && bias.dim.size() == 1 && bias.dim[0] == matrix.dim[1] &&
                      known_[static_cast<size_t>(product.in[0])].dim.size() >= 2;
    if (!fits) return false;
    product.in.push_back(other);
    return true;
  }

  // Leaves out nodes that are done, or whose results nobody needs, and weights that no other reads.
  void Sweep() {
    std::vector<bool> needed(program_.graph.values.size(), false);
    for (const int out : program_.graph.outputs) needed[static_cast<size_t>(out)] = true;
    onnx::Graph& graph = program_.graph;
    std::vector<onnx::Node> nodes;
    std::vector<kernels::Unary> then;
    for (size_t i = graph.nodes.size(); i-- > 0;) {
      const auto wanted = [&](int out) { return out >= 0 && needed[static_cast<size_t>(out)]; };
      if (gone_[i] || !std::any_of(graph.nodes[i].out.begin(), graph.nodes[i].out.end(), wanted)) continue;
      for (const int in : graph.nodes[i].in) {
        if (in >= 0) needed[static_cast<size_t>(in)] = true;
      }
      nodes.push_back(std::move(graph.nodes[i]));
      then.push_back(program_.then[i]);
    }
    std::reverse(nodes.begin(), nodes.end());
    std::reverse(then.begin(), then.end());
    nodes.shrink_to_fit();
    graph.nodes = std::move(nodes);
    program_.then = std::move(then);
    SweepWeights(needed);
  }

  // needed: by value.
  void SweepWeights(const std::vector<bool>& needed) {
    onnx::Graph& graph = program_.graph;
    std::vector<bool> is_read(graph.weights.size(), false);
    for (size_t i = 0; i < graph.values.size(); ++i) {
      int& weight = graph.values[i].weight;
      if (!needed[i]) weight = -1;
      if (weight >= 0) is_read[static_cast<size_t>(weight)] = true;
    }
    for (const onnx::Node& node : graph.nodes) {
      for (const onnx::Attribute& attribute : node.attributes) {
        if (attribute.tensor >= 0) is_read[static_cast<size_t>(attribute.tensor)] = true;
      }
    }
    for (size_t i = 0; i < is_read.size(); ++i) {
      if (is_read[i]) continue;
      graph.weights[i].reset();
      program_.constants[i].reset();
    }
  }

  const std::shared_ptr<const onnx::Model> model_;
  Program program_;
  std::vector<onnx::Known> known_;
  std::vector<bool> gone_;
  std::vector<int> uses_;
  std::vector<size_t> reader_;   // of a value with one use
  std::vector<int64_t> writer_;  // of a value; -1: no node
  const int64_t max_bytes_;      // of all that folding computes
  const int64_t max_work_;       // onnx::Work::ns of that
  int64_t spare_ns_ = 0;         // of max_work_
};

}  // namespace

void Program::Rename(const std::string& name) {
  subject = name;
  for (const auto& body : bodies) body->Rename(name);
}

Result<Program> Optimise(const std::shared_ptr<onnx::Model>& model, int64_t max_bytes) { return Optimiser(model, max_bytes).Run(); }

}  // namespace wf::model
