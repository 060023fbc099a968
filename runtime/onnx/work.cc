#include "runtime/onnx/work.h"

#include <algorithm>

#include "runtime/onnx/einsum.h"
#include "runtime/onnx/op.h"

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

class Estimate {
 public:
  Estimate(const Node& node, std::span<const Known> known) : node_(node), known_(known) {}

  int64_t Run() const {
    int64_t work = Moved();
    if (node_.out.empty() || node_.out[0] < 0) return work;
    switch (node_.op) {
      case Op::kConv:
      case Op::kConvInteger:
      case Op::kDeformConv:
        return Plus(work, Times(Out(), CountFrom(1, 1)));
      case Op::kConvTranspose:
        return Plus(work, Times(In(0), CountFrom(1, 1)));
      case Op::kQLinearConv:
        return Plus(work, Times(Out(), CountFrom(3, 1)));
      case Op::kMatMul:
      case Op::kMatMulInteger:
      case Op::kQLinearMatMul:
      case Op::kMsMatMulIntegerToFloat:
      case Op::kGemm:
      case Op::kMsFusedMatMul:
      case Op::kMsMatMulBnb4:
      case Op::kMsMatMulNBits:
        return Plus(work, Times(Out(), Summed()));
      case Op::kEinsum:
        return Plus(work, AllLabels());
      case Op::kAveragePool:
      case Op::kMaxPool:
      case Op::kLpPool:
        return Plus(work, Times(Out(), Window()));
      case Op::kRNN:
      case Op::kGRU:
      case Op::kLSTM:
        return Plus(work, Times(Rows(), Plus(In(1), In(2))));
      case Op::kDet:
      case Op::kMsInverse:
        return Plus(work, Times(In(0), Extent(0, Rank(0) - 1)));
      case Op::kLRN:
        return Plus(work, Times(In(0), std::min(node_.Int("size", 1), Extent(0, 1))));
      case Op::kDFT:
      case Op::kSTFT:
        return Plus(work, Times(Out(), 64));  // an odd length is convolved, three times by halves
      case Op::kTfIdfVectorizer:
        return Plus(work,
                    Times(In(0), Times(std::min(node_.Int("max_skip_count", 0), Extent(0, Rank(0) - 1)), node_.Int("max_gram_length", 1))));
      case Op::kMsAttention:
      case Op::kMsMultiHeadAttention:
      case Op::kMsGroupQueryAttention:
        return Plus(work, Plus(Times(Rows(), In(1)), Times(Out(), Plus(Moved(), Moved()))));
      default:
        return work;
    }
  }

 private:
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
  int64_t Rows() const { return Times(Extent(0, 0), Extent(0, 1)); }

  int64_t Counted(int value) const {
    int64_t count = 1;
    for (const Dim& dim : known_[static_cast<size_t>(value)].dim) count = Times(count, std::max<int64_t>(dim.constant().value_or(1), 0));
    return count;
  }
  int64_t Out() const { return Counted(node_.out[0]); }

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

int64_t WorkOf(const Node& node, std::span<const Known> known) { return Estimate(node, known).Run(); }

}  // namespace wf::onnx
