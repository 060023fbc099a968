#include "runtime/onnx/work.h"

#include <algorithm>
#include <string_view>

#include "runtime/base/dtype.h"
#include "runtime/onnx/einsum.h"
#include "runtime/onnx/op.h"
#include "runtime/onnx/trees.h"

namespace wf::onnx {
namespace {

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

int64_t Plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// Nanoseconds that an element takes at most where it is read or written, with what is computed of it.
constexpr int64_t kMoved = 8, kFunction = 32, kPlace = 64, kSorted = 256, kDivided = 1024;
constexpr int64_t kPlain = 1, kSubnormal = 32;  // and a multiply-add or the like: of whole numbers, of what may be subnormal
constexpr int64_t kPrepared = 250'000;          // and to compile a kernel for its shapes

// Of Work::tiny_ns to Work::ns, and of the products that have fast kernels to others.
constexpr int64_t kTinyTimes = 64, kFastParts = 8;

int64_t PerElement(Op op, std::string_view lowering, bool real) {
  if (op == Op::kMod) return real ? kDivided : kFunction;
  if (op == Op::kTopK || op == Op::kUnique) return kSorted;
  if (op == Op::kLRN || lowering == "Resize" || lowering == "GridSample" || lowering == "RoiAlign") return kPlace;
  for (const std::string_view each : {"Unary", "Cast", "QuantizeLinear", "Gelu", "BiasGelu", "Softmax", "LpNormalization"}) {
    if (lowering == each) return kFunction;
  }
  return op == Op::kPow || op == Op::kPRelu ? kFunction : kMoved;
}

int64_t PerElement(Op op, bool real) {
  switch (op) {
#define OPERATOR(domain, name, since, min_in, max_in, max_out, types, attributes, infer, lower) \
  case Op::k##domain##name:                                                                     \
    return PerElement(op, #lower, real);
#include "runtime/onnx/operators.def"
#undef OPERATOR
  }
  return kMoved;
}

class Estimate {
 public:
  Estimate(const Node& node, std::span<const Known> known) : node_(node), known_(known) {}

  Work Run() const {
    const int64_t moved = Times(Moved(), PerElement(node_.op, !Has(0) || base::IsFloat(Type())));
    if (const int64_t products = Products(); products > 0) {
      const bool is_fast = Type() != WF_F64 && Type() != WF_I64 && Type() != WF_I32 && Type() != WF_U64 && Type() != WF_U32;
      const int64_t ns = is_fast ? products / kFastParts : products;
      return {Plus(Plus(moved, kPrepared), ns), Plus(Plus(moved, kPrepared), base::IsFloat(Type()) ? Times(ns, kTinyTimes) : ns)};
    }
    const int64_t ns = Plus(moved, Steps());
    return {ns, ns};
  }

 private:
  // Multiply-adds of an operator whose factors are its inputs as they are.
  int64_t Products() const {
    switch (node_.op) {
      case Op::kConv:
      case Op::kConvInteger:
        return Times(Out(), CountFrom(1, 1));
      case Op::kConvTranspose:
        return Times(In(0), CountFrom(1, 1));
      case Op::kQLinearConv:
        return Times(Out(), CountFrom(3, 1));
      case Op::kMatMul:
      case Op::kMatMulInteger:
      case Op::kQLinearMatMul:
      case Op::kMsMatMulIntegerToFloat:
      case Op::kGemm:
      case Op::kMsFusedMatMul:
        return Times(Out(), Summed());
      default:
        return 0;
    }
  }

  // What others take beside their elements.
  int64_t Steps() const {
    switch (node_.op) {
      case Op::kDeformConv:
        return Times(Times(Out(), CountFrom(1, 1)), kSubnormal);
      case Op::kMsMatMulBnb4:
      case Op::kMsMatMulNBits:
        return Times(Times(Out(), Summed()), kSubnormal);
      case Op::kEinsum:
        return Times(AllLabels(), base::IsFloat(Type()) ? kSubnormal : kPlain);
      case Op::kAveragePool:
      case Op::kMaxPool:
        return Times(Times(Out(), Window()), 2 * kPlain);
      case Op::kLpPool:
        return Times(Times(Out(), Window()), kSubnormal);
      case Op::kRNN:
      case Op::kGRU:
      case Op::kLSTM:
        return Times(Times(Rows(), Plus(In(1), In(2))), kSubnormal);
      case Op::kDet:
      case Op::kMsInverse:
        return Times(Times(In(0), Extent(0, Rank(0) - 1)), kSubnormal);
      case Op::kLRN:
        return Times(Times(In(0), std::min(node_.Int("size", 1), Extent(0, 1))), kPlain);
      case Op::kDFT:
      case Op::kSTFT:
        return Times(Out(), 64 * kSubnormal);  // an odd length is convolved, three times by halves
      case Op::kTfIdfVectorizer:
        return Times(Times(In(0), Grams()), kFunction);
      case Op::kNonMaxSuppression:
        return Times(Times(In(1), Extent(0, 1)), 4 * kPlain);
      case Op::kRoiAlign:
        return Times(Times(Out(), Samples()), kFunction);
      case Op::kMsAttention:
      case Op::kMsMultiHeadAttention:
      case Op::kMsGroupQueryAttention:
        return Times(Plus(Times(Rows(), In(1)), Times(Out(), Plus(Moved(), Moved()))), kSubnormal);
      case Op::kMlLinearClassifier:
      case Op::kMlLinearRegressor:
      case Op::kMlSVMClassifier:
      case Op::kMlSVMRegressor:
      case Op::kMlTreeEnsemble:
      case Op::kMlTreeEnsembleClassifier:
      case Op::kMlTreeEnsembleRegressor:
        return Times(Times(Extent(0, 0), Listed()), kSubnormal);
      default:
        return 0;
    }
  }

  bool Has(size_t i) const { return node_.has_in(i); }
  const Shape& Dims(size_t i) const { return known_[static_cast<size_t>(node_.in[i])].dim; }
  size_t Rank(size_t i) const { return Has(i) ? Dims(i).size() : 0; }
  int64_t Extent(size_t i, size_t axis) const { return axis < Rank(i) ? std::max<int64_t>(Dims(i)[axis].constant().value_or(1), 0) : 1; }
  int64_t CountFrom(size_t i, size_t axis) const {
    int64_t count = 1;
    for (; axis < Rank(i); ++axis) count = Times(count, Extent(i, axis));
    return count;
  }
  int64_t In(size_t i) const { return Has(i) ? CountFrom(i, 0) : 0; }
  uint8_t Type() const { return Has(0) ? known_[static_cast<size_t>(node_.in[0])].dtype : 0; }
  int64_t Rows() const { return Times(Extent(0, 0), Extent(0, 1)); }

  int64_t Counted(int value) const {
    int64_t count = 1;
    for (const Dim& dim : known_[static_cast<size_t>(value)].dim) count = Times(count, std::max<int64_t>(dim.constant().value_or(1), 0));
    return count;
  }
  int64_t Out() const {
    int64_t most = 0;
    for (const int out : node_.out) most = std::max(most, out < 0 ? 0 : Counted(out));
    return most;
  }

  // Elements that are read and written.
  int64_t Moved() const {
    int64_t count = 1;
    for (size_t i = 0; i < node_.in.size(); ++i) count = Plus(count, In(i));
    for (const int out : node_.out) count = Plus(count, out < 0 ? 0 : Counted(out));
    return count;
  }

  // Extent of the axis that a product sums over.
  int64_t Summed() const {
    if (node_.op == Op::kGemm) return Extent(0, node_.Int("transA", 0) != 0 ? 0 : 1);
    const bool turned = node_.op == Op::kMsFusedMatMul && node_.Int("transA", 0) != 0 && Rank(0) > 1;
    return Rank(0) == 0 ? 1 : Extent(0, Rank(0) - (turned ? 2 : 1));
  }

  int64_t Window() const {
    int64_t count = 1;
    for (const int64_t each : node_.Ints("kernel_shape")) count = Times(count, std::max<int64_t>(each, 0));
    return count;
  }

  int64_t Grams() const {
    return Times(std::min(node_.Int("max_skip_count", 0), Extent(0, Rank(0) - 1)) + 1, node_.Int("max_gram_length", 1));
  }

  // That RoiAlign takes of a cell; 0 says that it depends on the regions, each of which is at most 8 times as long as its image.
  int64_t Samples() const {
    const int64_t ratio = node_.Int("sampling_ratio", 0);
    return ratio > 0 ? Times(ratio, ratio) : Times(Times(8, Extent(0, 2) + 2), Times(8, Extent(0, 3) + 2));
  }

  // Numbers in its attributes, and nodes of its trees.
  int64_t Listed() const {
    size_t count = node_.trees == nullptr ? 1 : node_.trees->f32.nodes.size() + node_.trees->f64.nodes.size();
    for (const Attribute& each : node_.attributes) count += each.floats.size() + each.ints.size();
    return static_cast<int64_t>(count);
  }

  int64_t AllLabels() const {
    std::vector<size_t> ranks;
    for (size_t i = 0; i < node_.in.size(); ++i) ranks.push_back(Rank(i));
    const auto labels = ParseEinsum(node_.String("equation", ""), ranks);
    if (!labels.ok()) return 0;
    std::vector<int64_t> extent(labels->labels, 1);
    for (size_t i = 0; i < ranks.size(); ++i) {
      for (size_t axis = 0; axis < ranks[i]; ++axis) {
        int64_t& known = extent[labels->in[i][axis]];
        known = std::max(known, Extent(i, axis));
      }
    }
    int64_t count = 1;
    for (const int64_t each : extent) count = Times(count, each);
    return count;
  }

  const Node& node_;
  const std::span<const Known> known_;
};

}  // namespace

Work WorkOf(const Node& node, std::span<const Known> known) { return Estimate(node, known).Run(); }

}  // namespace wf::onnx
