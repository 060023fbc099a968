#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Contract of counting sequences of tokens.
namespace wf::kernels {

// How often each of some n-grams stands in each row of x [c] or [rows, c], integers -> [width] or [rows, width]. The tokens of an n-gram
// lie 1, 2, .. `skips` + 1 apart, each distance counted on its own, and single tokens once.
struct CountGrams {
  struct Gram {
    std::vector<int64_t> tokens;  // of all that are given, those of `least` to `most` tokens
    int64_t place;                // in the output
  };
  enum class Weight : uint8_t { kCount, kPresence, kCountTimesWeight };  // TF, IDF, TFIDF
  std::vector<Gram> grams;
  int64_t least = 1, most = 1, skips = 0, width = 0;
  Weight weight = Weight::kCount;
  std::vector<float> weights;  // by place; empty: 1 each
};

}  // namespace wf::kernels
