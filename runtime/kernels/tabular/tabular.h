#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Contracts that prepare columns of tables: rows are those of input 0 [n, columns] or [columns], one value of a parameter stands for all
// columns.
namespace wf::kernels {

struct Binarize {
  float threshold = 0;
};  // 1 above it, else 0, in the type of the input
struct Impute {
  std::vector<float> values;  // by column, of floats
  float replaced = 0;         // NaN: every NaN
  std::vector<int64_t> whole_values;
  int64_t whole_replaced = 0;
};  // `replaced` becomes the column's value
struct Scale {
  std::vector<float> offset, scale;
};  // (x - offset) * scale, f32
struct Normalize {
  enum class Norm : uint8_t { kMax, kL1, kL2 };
  Norm norm = Norm::kMax;
};  // each row over its norm, f32; a row whose norm is 0 as it is
struct JoinFeatures {
  std::vector<int64_t> columns;
};  // input i, [n, any] or [n], cut or filled up with zeros to columns[i]; side by side, f32

}  // namespace wf::kernels
