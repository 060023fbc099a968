#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

using onnx::Forest;
using onnx::TreeMode;
using onnx::TreeNode;
using onnx::Trees;

constexpr size_t kLanes = 8;  // walks side by side: each waits for memory at every step

// Whether a row goes to the true child. T: of thresholds and of what is compared.
template <typename T>
bool Holds(TreeMode mode, T x, T split) {
  switch (mode) {
    case TreeMode::kLessOrEqual:
      return x <= split;
    case TreeMode::kLess:
      return x < split;
    case TreeMode::kGreaterOrEqual:
      return x >= split;
    case TreeMode::kGreater:
      return x > split;
    case TreeMode::kEqual:
      return x == split;
    case TreeMode::kNotEqual:
      return x != split;
    case TreeMode::kMember:
      return false;
  }
  return false;
}

// Of one mode: kMode is a constant that the compiler folds into the loop.
template <TreeMode kMode, bool kMissing>
struct OneMode {
  template <typename T, typename C>
  static bool GoesTrue(const Trees&, const TreeNode<T>& node, C x) {
    const bool holds = Holds<C>(kMode, x, static_cast<C>(node.split));
    return kMissing ? holds | (node.missing_goes_true & (x != x)) : holds;
  }
};

struct AnyMode {
  template <typename T, typename C>
  static bool GoesTrue(const Trees& trees, const TreeNode<T>& node, C x) {
    if (node.missing_goes_true && x != x) return true;
    if (node.mode != TreeMode::kMember || node.step == 0) return Holds<C>(node.mode, x, static_cast<C>(node.split));
    const std::vector<double>& set = trees.members[node.leaf];
    return std::binary_search(set.begin(), set.end(), static_cast<double>(x));
  }
};

// Takes kLanes walks to their leaves: at[i] is the place of a root and becomes that of a leaf, x[i] is the row.
template <typename Rule, typename C, typename T, typename X>
void Descend(const Trees& trees, const TreeNode<T>* nodes, const X* const* x, uint32_t* at) {
  uint32_t open = 1;
  while (open != 0) {
    open = 0;
    for (size_t i = 0; i < kLanes; ++i) {
      const TreeNode<T>& node = nodes[at[i]];
      const bool goes_true = Rule::GoesTrue(trees, node, static_cast<C>(x[i][node.feature]));
      at[i] = node.next + (static_cast<uint32_t>(!goes_true) & node.step);
      open |= node.step;
    }
  }
}

// What the leaves add up to for one row. S: of sums.
template <typename S>
struct Scores {
  S* sum;         // by target
  uint8_t* seen;  // by target: a leaf spoke of it
};

template <typename S>
void Take(TreeEnsemble::Aggregate aggregate, S value, S& sum, uint8_t& seen) {
  using enum TreeEnsemble::Aggregate;
  if (aggregate == kSum || aggregate == kAverage)
    sum += value;
  else if (seen == 0 || (aggregate == kMin ? value < sum : value > sum))
    sum = value;
  seen = 1;
}

// C: of comparisons, S: of sums.
template <typename T, typename X, typename C>
class Runner {
 public:
  using S = C;
  Runner(const TreeEnsemble& ensemble, const Operation& operation)
      : ensemble_(ensemble),
        trees_(*ensemble.trees),
        rows_(operation.in[0].dim.size() == 1 ? 1 : operation.in[0].dim[0]),
        columns_(operation.in[0].dim.back()),
        wide_scores_(ScoresInfo(operation).dtype == WF_F64) {}

  int64_t scratch_bytes() const { return static_cast<int64_t>(kLanes) * ensemble_.targets * static_cast<int64_t>(sizeof(S) + 1); }

  const char* Run(const Buffers& b) const {
    if (!trees_.uniform || trees_.mode == TreeMode::kMember) return RunRule<AnyMode>(b);
    switch (trees_.mode) {
      case TreeMode::kLessOrEqual:
        return trees_.missing ? RunRule<OneMode<TreeMode::kLessOrEqual, true>>(b) : RunRule<OneMode<TreeMode::kLessOrEqual, false>>(b);
      case TreeMode::kLess:
        return trees_.missing ? RunRule<OneMode<TreeMode::kLess, true>>(b) : RunRule<OneMode<TreeMode::kLess, false>>(b);
      default:
        return RunRule<AnyMode>(b);
    }
  }

 private:
  const Forest<T>& forest() const {
    if constexpr (std::is_same_v<T, double>) {
      return trees_.f64;
    } else {
      return trees_.f32;
    }
  }

  static const TensorInfo& ScoresInfo(const Operation& operation) {
    return operation.out.size() > 1 && operation.out[1].dtype != 0 ? operation.out[1] : operation.out[0];
  }

  template <typename Rule>
  const char* RunRule(const Buffers& b) const {
    const X* in = static_cast<const X*>(b.in[0]);
    const size_t targets = static_cast<size_t>(ensemble_.targets);
    S* sums = static_cast<S*>(b.scratch);
    uint8_t* seen = reinterpret_cast<uint8_t*>(sums + kLanes * targets);
    for (int64_t row = 0; row < rows_; row += static_cast<int64_t>(kLanes)) {
      const size_t count = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(kLanes), rows_ - row));
      std::fill_n(sums, count * targets, S(0));
      std::fill_n(seen, count * targets, uint8_t{0});
      if (count == kLanes) {
        RunRows<Rule>(in + row * columns_, sums, seen);
      } else {
        for (size_t i = 0; i < count; ++i)
          RunTrees<Rule>(in + (row + static_cast<int64_t>(i)) * columns_, sums + i * targets, seen + i * targets);
      }
      for (size_t i = 0; i < count; ++i) Finish({sums + i * targets, seen + i * targets}, row + static_cast<int64_t>(i), b);
    }
    return nullptr;
  }

  // Eight rows down each tree.
  template <typename Rule>
  void RunRows(const X* in, S* sums, uint8_t* seen) const {
    const Forest<T>& forest = this->forest();
    const size_t targets = static_cast<size_t>(ensemble_.targets);
    const X* x[kLanes];
    for (size_t i = 0; i < kLanes; ++i) x[i] = columns_ == 0 ? &kNothing : in + static_cast<int64_t>(i) * columns_;
    for (const uint32_t root : forest.roots) {
      uint32_t at[kLanes];
      std::fill_n(at, kLanes, root);
      Descend<Rule, C>(trees_, forest.nodes.data(), x, at);
      for (size_t i = 0; i < kLanes; ++i) TakeLeaf(forest, at[i], {sums + i * targets, seen + i * targets});
    }
  }

  // One row down eight trees at a time.
  template <typename Rule>
  void RunTrees(const X* in, S* sums, uint8_t* seen) const {
    const Forest<T>& forest = this->forest();
    const X* x[kLanes];
    std::fill_n(x, kLanes, columns_ == 0 ? &kNothing : in);
    for (size_t tree = 0; tree < forest.roots.size(); tree += kLanes) {
      const size_t count = std::min(kLanes, forest.roots.size() - tree);
      uint32_t at[kLanes];
      for (size_t i = 0; i < kLanes; ++i) at[i] = forest.roots[tree + std::min(i, count - 1)];
      Descend<Rule, C>(trees_, forest.nodes.data(), x, at);
      for (size_t i = 0; i < count; ++i) TakeLeaf(forest, at[i], {sums, seen});
    }
  }

  void TakeLeaf(const Forest<T>& forest, uint32_t at, const Scores<S>& scores) const {
    const TreeNode<T>& leaf = forest.nodes[at];
    if (trees_.single) return Take(ensemble_.aggregate, static_cast<S>(leaf.split), scores.sum[0], scores.seen[0]);
    for (uint32_t i = forest.first[leaf.leaf]; i < forest.first[leaf.leaf + 1]; ++i) {
      const auto& weight = forest.weights[i];
      Take(ensemble_.aggregate, static_cast<S>(weight.value), scores.sum[weight.target], scores.seen[weight.target]);
    }
  }

  void Finish(const Scores<S>& scores, int64_t row, const Buffers& b) const {
    const size_t targets = static_cast<size_t>(ensemble_.targets);
    const bool classifies = !ensemble_.labels.empty();
    void* const out = classifies ? b.out[1] : b.out[0];
    if (ensemble_.aggregate == TreeEnsemble::Aggregate::kAverage) {
      for (size_t i = 0; i < targets; ++i) scores.sum[i] /= static_cast<S>(forest().roots.size());
    }
    if (classifies) {
      const int64_t label = Classify(scores);
      if (b.out[0] != nullptr) static_cast<int64_t*>(b.out[0])[row] = label;
    } else {
      const std::vector<double>& base = trees_.base_values;
      for (size_t i = 0; i < base.size() && base.size() == targets; ++i) scores.sum[i] += static_cast<S>(base[i]);
      TransformRegression(scores);
    }
    if (out == nullptr) return;
    for (size_t i = 0; i < targets; ++i) {
      const size_t to = static_cast<size_t>(row) * targets + i;
      if (wide_scores_)
        static_cast<double*>(out)[to] = static_cast<double>(scores.sum[i]);
      else
        static_cast<float*>(out)[to] = static_cast<float>(scores.sum[i]);
    }
  }

  // One score alone is only ever put through the probit function.
  void TransformRegression(const Scores<S>& scores) const {
    const size_t targets = static_cast<size_t>(ensemble_.targets);
    if (targets > 1 || ensemble_.transform == ScoreTransform::kProbit) TransformScores(ensemble_.transform, Spoken(scores));
  }

  // Of several targets, one of which no leaf spoke has 0 whatever its base value is, as in ONNX Runtime.
  std::span<S> Spoken(const Scores<S>& scores) const {
    const size_t targets = static_cast<size_t>(ensemble_.targets);
    for (size_t i = 0; targets > 1 && i < targets; ++i) scores.sum[i] = scores.seen[i] != 0 ? scores.sum[i] : S(0);
    return {scores.sum, targets};
  }

  // The label of a row, whose scores are finished.
  int64_t Classify(const Scores<S>& scores) const {
    const size_t targets = static_cast<size_t>(ensemble_.targets);
    if (targets == 2) return ClassifyTwo(scores);
    const std::vector<double>& base = trees_.base_values;
    for (size_t i = 0; i < base.size() && i < targets; ++i)
      Take(TreeEnsemble::Aggregate::kSum, static_cast<S>(base[i]), scores.sum[i], scores.seen[i]);
    size_t best = targets;
    for (size_t i = 0; i < targets; ++i) {
      if (scores.seen[i] != 0 && (best == targets || scores.sum[i] > scores.sum[best])) best = i;
    }
    const int64_t label = ensemble_.labels[best == targets ? 0 : best];
    if (targets == 1) TransformRegression(scores);
    if (targets > 1) TransformScores(ensemble_.transform, Spoken(scores));
    return label;
  }

  // Two classes: either both have scores, or one score stands for both.
  int64_t ClassifyTwo(const Scores<S>& scores) const {
    const std::vector<double>& base = trees_.base_values;
    S* const sum = scores.sum;
    bool both = scores.seen[1] != 0;
    if (base.size() == 2 && both) {  // the standard says nothing; as ONNX Runtime
      sum[1] = static_cast<S>(base[1]) + sum[0];
      sum[0] = -sum[1];
    } else if (base.size() == 2) {
      sum[1] += static_cast<S>(base[1]);
      sum[0] += static_cast<S>(base[0]);
      both = true;
    } else if (base.size() == 1) {
      sum[0] += static_cast<S>(base[0]);
    }
    const S positive = scores.seen[1] != 0 ? sum[1] : scores.seen[0] != 0 ? sum[0] : S(0);
    const bool binary = trees_.one_target, is_second = positive > (binary && trees_.all_positive ? S(0.5) : S(0));
    if (both) {
      TransformScores(ensemble_.transform, Spoken(scores));
    } else if (ensemble_.transform == ScoreTransform::kProbit) {
      sum[0] = Probit(sum[0]);
    } else if (binary || base.empty()) {
      WriteBoth(sum[0], binary && trees_.all_positive ? SecondScore::kSum1 : SecondScore::kOpposite, ensemble_.transform, sum);
    }
    return ensemble_.labels[is_second ? 1 : 0];
  }

  static constexpr X kNothing{};  // a row without columns: only leaves, which look at feature 0
  const TreeEnsemble ensemble_;
  const Trees& trees_;
  const int64_t rows_, columns_;
  const bool wide_scores_;
};

template <typename T, typename X, typename C>
std::unique_ptr<Kernel> Make(const Operation& operation) {
  const Runner<T, X, C> runner(std::get<TreeEnsemble>(operation.params), operation);
  const int64_t scratch = runner.scratch_bytes();
  auto kernel = MakeFunction(1, [runner](const Buffers& b) { return runner.Run(b); });
  kernel->scratch_bytes = scratch;
  return kernel;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeTreeEnsemble(const Operation& operation) {
  const bool wide = std::get<TreeEnsemble>(operation.params).trees->wide;
  return ForType<float, double, int32_t, int64_t>(operation.in[0].dtype, [&]<typename X>() {
    if constexpr (std::is_same_v<X, double>) {
      return wide ? Make<double, double, double>(operation) : Make<float, double, double>(operation);
    } else {
      return wide ? Make<double, X, double>(operation) : Make<float, X, float>(operation);
    }
  });
}

}  // namespace wf::kernels::ref
