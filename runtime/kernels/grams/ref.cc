#include <algorithm>
#include <utility>

#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// The n-grams as a tree of their tokens.
class GramTree {
 public:
  explicit GramTree(const std::vector<CountGrams::Gram>& grams) {
    for (const CountGrams::Gram& gram : grams) {
      size_t node = 0;
      for (const int64_t token : gram.tokens) {
        const auto [at, is_new] = next_.emplace(std::pair(node, token), place_.size());
        if (is_new) place_.push_back(-1);
        node = at->second;
      }
      place_[node] = gram.place;
    }
  }

  bool Step(size_t& node, int64_t token) const {
    const auto found = next_.find({node, token});
    if (found == next_.end()) return false;
    node = found->second;
    return true;
  }
  int64_t place(size_t node) const { return place_[node]; }  // -1: none ends here

 private:
  std::map<std::pair<size_t, int64_t>, size_t> next_;
  std::vector<int64_t> place_ = {-1};  // by node; the first is the root
};

struct Rows {
  int64_t rows, tokens;
};

template <typename T>
void CountRow(const CountGrams& count, const GramTree& tree, const T* row, int64_t tokens, float* y) {
  int64_t least = count.least;
  for (int64_t apart = 1; apart <= tokens && apart - 1 <= count.skips; ++apart) {
    for (int64_t begin = 0; begin + apart * (least - 1) < tokens; ++begin) {
      size_t node = 0;
      int64_t at = begin;
      for (int64_t size = 1; size <= count.most && at < tokens && tree.Step(node, static_cast<int64_t>(row[at])); ++size, at += apart) {
        if (size >= least && tree.place(node) >= 0) ++y[tree.place(node)];
      }
    }
    if (least == 1 && ++least > count.most) break;  // single tokens are the same at each distance
  }
}

void Weigh(const CountGrams& count, float* y) {
  if (count.weight == CountGrams::Weight::kCount) return;
  for (int64_t i = 0; i < count.width; ++i) {
    const float weight = count.weights.empty() ? 1 : count.weights[static_cast<size_t>(i)];
    y[i] = count.weight == CountGrams::Weight::kCountTimesWeight ? y[i] * weight : y[i] > 0 ? weight : 0;
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeCountGrams(const Operation& operation) {
  const CountGrams count = std::get<CountGrams>(operation.params);
  const std::vector<int64_t>& dim = operation.in[0].dim;
  const Rows rows{dim.size() == 2 ? dim[0] : 1, dim.back()};
  const GramTree tree(count.grams);
  return ForType<int32_t, int64_t>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(1, [count, rows, tree](const Buffers& b) -> const char* {
      float* y = static_cast<float*>(b.out[0]);
      std::fill_n(y, rows.rows * count.width, 0.0f);
      for (int64_t i = 0; i < rows.rows; ++i, y += count.width) {
        CountRow(count, tree, static_cast<const T*>(b.in[0]) + i * rows.tokens, rows.tokens, y);
        Weigh(count, y);
      }
      return nullptr;
    });
  });
}

}  // namespace wf::kernels::ref
