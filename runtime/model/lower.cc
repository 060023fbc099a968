#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "runtime/model/program.h"
#include "runtime/onnx/infer_context.h"

namespace wf::model {
namespace {

using base::Result;
using base::Status;
using onnx::Op;

size_t FromEnd(int64_t axis, size_t rank) { return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis); }

std::vector<int64_t> Extents(const onnx::Shape& shape, size_t begin) {
  std::vector<int64_t> extents;
  for (size_t i = begin; i < shape.size(); ++i) extents.push_back(shape[i].constant().value_or(0));
  return extents;
}

// Inference has accepted the node, so its attributes have the right lengths and ranges here.
class Lowering {
 public:
  Lowering(const Program& program, size_t node, std::vector<onnx::Known>& known)
      : node_(program.graph.nodes[node]), context_(program.graph, node_, known), then_(program.then[node]) {}

  Result<Lowered> Run() {
    Lowered lowered;
    lowered.in = node_.in;
    switch (node_.op) {
      case Op::kConv:
        WF_RETURN_IF_ERROR(LowerConv(lowered));
        break;
      case Op::kMaxPool:
      case Op::kAveragePool:
        WF_RETURN_IF_ERROR(LowerPool(lowered));
        break;
      case Op::kGlobalAveragePool:
      case Op::kGlobalMaxPool:
        LowerGlobalPool(lowered);
        break;
      case Op::kGemm:
        lowered.params = kernels::MatMul{node_.Int("transA", 0) != 0, node_.Int("transB", 0) != 0, node_.Float("alpha", 1),
                                         node_.Float("beta", 1), then_};
        break;
      case Op::kMatMul:
        lowered.params = kernels::MatMul{false, false, 1, 1, then_};
        break;
      case Op::kBatchNormalization:
        lowered.params = kernels::BatchNorm{node_.Float("epsilon", 1e-5f)};
        break;
      case Op::kSoftmax:
      case Op::kLogSoftmax:
        LowerSoftmax(lowered);
        break;
      case Op::kReduceMean:
      case Op::kReduceSum:
        WF_RETURN_IF_ERROR(LowerReduce(lowered));
        break;
      case Op::kSlice:
        WF_RETURN_IF_ERROR(LowerSlice(lowered));
        break;
      case Op::kPad:
        WF_RETURN_IF_ERROR(LowerPad(lowered));
        break;
      case Op::kClip:
        LowerClip(lowered);
        break;
      default:
        LowerSimple(lowered);
        break;
    }
    return lowered;
  }

 private:
  void LowerSimple(Lowered& lowered) const {
    switch (node_.op) {
      case Op::kReshape:
      case Op::kFlatten:
      case Op::kSqueeze:
      case Op::kUnsqueeze:
      case Op::kIdentity:
      case Op::kDropout:
        lowered.alias = true;
        lowered.in.resize(1);
        return;
      case Op::kAdd:
      case Op::kSub:
      case Op::kMul:
      case Op::kDiv:
      case Op::kPow:
        lowered.params = kernels::Binary{node_.op == Op::kAdd   ? kernels::BinaryOp::kAdd
                                         : node_.op == Op::kSub ? kernels::BinaryOp::kSub
                                         : node_.op == Op::kMul ? kernels::BinaryOp::kMul
                                         : node_.op == Op::kDiv ? kernels::BinaryOp::kDiv
                                                                : kernels::BinaryOp::kPow};
        return;
      case Op::kCast:
        lowered.params = kernels::Cast{};
        return;
      case Op::kConcat:
        lowered.params = kernels::Concat{FromEnd(node_.Int("axis", 0), context_.rank(0))};
        return;
      case Op::kGather:
        lowered.params = kernels::Gather{FromEnd(node_.Int("axis", 0), context_.rank(0))};
        return;
      case Op::kWhere:
        lowered.params = kernels::Where{};
        return;
      case Op::kTranspose:
        lowered.params = TransposeOf();
        return;
      default:
        lowered.params = UnaryOf(node_);
        return;
    }
  }

  static kernels::Unary UnaryOf(const onnx::Node& node) {
    using enum kernels::UnaryOp;
    constexpr std::pair<Op, kernels::UnaryOp> kUnaries[] = {
        {Op::kAbs, kAbs},
        {Op::kErf, kErf},
        {Op::kExp, kExp},
        {Op::kLeakyRelu, kLeakyRelu},
        {Op::kLog, kLog},
        {Op::kNeg, kNeg},
        {Op::kReciprocal, kReciprocal},
        {Op::kRelu, kRelu},
        {Op::kSigmoid, kSigmoid},
        {Op::kSqrt, kSqrt},
        {Op::kTanh, kTanh},
    };
    const auto* row = std::find_if(std::begin(kUnaries), std::end(kUnaries), [&node](const auto& each) { return each.first == node.op; });
    WF_CHECK(row != std::end(kUnaries), node.Describe());  // an operator without a lowering
    return {row->second, node.op == Op::kLeakyRelu ? node.Float("alpha", 0.01f) : 0};
  }

  kernels::Transpose TransposeOf() const {
    kernels::Transpose transpose;
    for (const int64_t each : node_.Ints("perm")) transpose.perm.push_back(static_cast<size_t>(each));
    if (node_.Find("perm") == nullptr) {
      transpose.perm.resize(context_.rank(0));
      std::iota(transpose.perm.rbegin(), transpose.perm.rend(), size_t{0});
    }
    return transpose;
  }

  Status LowerConv(Lowered& lowered) {
    const std::vector<int64_t> in = Extents(context_.in(0).dim, 2), kernel = Extents(context_.in(1).dim, 2);
    auto window = onnx::ReadWindow(node_, in.size(), kernel);
    if (!window.ok()) return window.status();
    onnx::ResolvePads(*window, in);
    lowered.params = kernels::Conv{window->stride, window->dilation, window->pad_begin, node_.Int("group", 1), then_};
    return Status::Ok();
  }

  Status LowerPool(Lowered& lowered) {
    const std::vector<int64_t> in = Extents(context_.in(0).dim, 2);
    auto window = onnx::ReadWindow(node_, in.size(), {});
    if (!window.ok()) return window.status();
    onnx::ResolvePads(*window, in);
    const bool mean = node_.op == Op::kAveragePool, count = node_.Int("count_include_pad", 0) != 0;
    lowered.params = kernels::Pool{mean, count, window->kernel, window->stride, window->dilation, window->pad_begin, window->pad_end};
    return Status::Ok();
  }

  void LowerGlobalPool(Lowered& lowered) const {
    const std::vector<int64_t> in = Extents(context_.in(0).dim, 2);
    const std::vector<int64_t> one(in.size(), 1), zero(in.size(), 0);
    if (in.size() > 3) {  // a mean over many axes is a reduction; inference bounds the maximum to what pooling takes
      std::vector<bool> axes(in.size() + 2, true);
      axes[0] = axes[1] = false;
      lowered.params = kernels::Reduce{axes, true};
      return;
    }
    lowered.params = kernels::Pool{node_.op == Op::kGlobalAveragePool, false, in, one, one, zero, zero};
  }

  void LowerSoftmax(Lowered& lowered) const {
    const bool flat = node_.opset < 13;  // older forms take everything behind the axis together
    const size_t axis = FromEnd(node_.Int("axis", flat ? 1 : -1), context_.rank(0));
    lowered.params = kernels::Softmax{axis, flat ? context_.rank(0) : axis + 1, node_.op == Op::kLogSoftmax};
  }

  Status LowerReduce(Lowered& lowered) {
    std::optional<std::vector<int64_t>> axes;
    WF_RETURN_IF_ERROR(context_.IntsOf("axes", 1, axes));
    kernels::Reduce reduce{std::vector<bool>(context_.rank(0), false), node_.op == Op::kReduceMean};
    if (axes && !axes->empty()) {
      for (const int64_t each : *axes) reduce.axis[FromEnd(each, context_.rank(0))] = true;
    } else if (node_.Int("noop_with_empty_axes", 0) == 0) {
      reduce.axis.assign(context_.rank(0), true);
    }
    lowered.params = std::move(reduce);
    lowered.in.resize(1);
    return Status::Ok();
  }

  Status LowerSlice(Lowered& lowered) {
    std::optional<std::vector<int64_t>> starts, axes, steps;
    WF_RETURN_IF_ERROR(context_.IntsOf("starts", 1, starts));
    WF_RETURN_IF_ERROR(context_.IntsOf("axes", 3, axes));
    WF_RETURN_IF_ERROR(context_.IntsOf("steps", 4, steps));
    const std::vector<int64_t> in = Extents(context_.in(0).dim, 0);
    kernels::Slice slice{std::vector<int64_t>(in.size(), 0), std::vector<int64_t>(in.size(), 1)};
    for (size_t i = 0; starts && i < starts->size(); ++i) {
      const size_t axis = axes ? FromEnd((*axes)[i], in.size()) : i;
      const int64_t n = in[axis], step = steps ? (*steps)[i] : 1, start = (*starts)[i];
      slice.step[axis] = step;
      slice.start[axis] = std::clamp<int64_t>(start < 0 ? std::max(start, -n) + n : start, 0, step > 0 ? n : std::max<int64_t>(n - 1, 0));
    }
    lowered.params = std::move(slice);
    lowered.in.resize(1);
    return Status::Ok();
  }

  Status LowerPad(Lowered& lowered) {
    std::optional<std::vector<int64_t>> pads, axes;
    WF_RETURN_IF_ERROR(context_.IntsOf("pads", 1, pads));
    WF_RETURN_IF_ERROR(context_.IntsOf("axes", 3, axes));
    const std::string_view mode = node_.String("mode", "constant");
    kernels::Pad pad;
    pad.mode = mode == "edge"      ? kernels::Pad::Mode::kEdge
               : mode == "reflect" ? kernels::Pad::Mode::kReflect
                                   : kernels::Pad::Mode::kConstant;
    pad.value = node_.Float("value", 0);
    pad.begin.assign(context_.rank(0), 0);
    const size_t count = pads ? pads->size() / 2 : 0;
    for (size_t i = 0; i < count; ++i) pad.begin[axes ? FromEnd((*axes)[i], context_.rank(0)) : i] = (*pads)[i];
    lowered.params = std::move(pad);
    lowered.in.resize(1);
    if (context_.has_in(2)) lowered.in.push_back(node_.in[2]);
    return Status::Ok();
  }

  // Bounds that are f32 constants become parameters.
  void LowerClip(Lowered& lowered) const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    kernels::Unary clip{kernels::UnaryOp::kClip, node_.Float("min", -kInfinity), node_.Float("max", kInfinity)};
    lowered.params = clip;
    if (context_.in(0).dtype != WF_F32) return;
    for (size_t i = 1; i < 3; ++i) {
      if (!context_.has_in(i)) continue;
      const onnx::Weight* weight = context_.weight(i);
      if (weight == nullptr || !weight->held || weight->bytes.size() != 4) return;
      std::memcpy(i == 1 ? &clip.alpha : &clip.beta, weight->bytes.data(), 4);
    }
    lowered.params = clip;
    lowered.in.resize(1);
  }

  const onnx::Node& node_;
  const onnx::NodeContext context_;
  const kernels::Unary then_;
};

}  // namespace

Result<Lowered> Lower(const Program& program, size_t node, std::vector<onnx::Known>& known) { return Lowering(program, node, known).Run(); }

Status ConcreteInfo(const onnx::Known& known, int64_t max_bytes, kernels::TensorInfo& info) {
  info.dtype = known.dtype;
  info.dim.clear();
  for (const onnx::Dim& dim : known.dim) {
    const auto extent = dim.constant();
    if (!extent) return Status(base::kUnimplemented, "a shape that depends on data is not supported");
    info.dim.push_back(*extent);
  }
  return onnx::LeastBytes(known, max_bytes).status();
}

}  // namespace wf::model
