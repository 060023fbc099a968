#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// Of rows of `row` elements; unpacked where each has a byte.
template <typename T>
int64_t ElementAt(const T* data, bool is_packed, int64_t row, int64_t at) {
  if (!is_packed) return data[at];
  const int64_t i = at % row, byte = at / row * ((row + 1) / 2) + i / 2;
  return i % 2 == 0 ? data[byte] & 15 : data[byte] >> 4 & 15;
}

struct Table {
  int64_t outer = 1, extent = 1, inner = 1;  // around the axis that is taken from
  int64_t blocked = 1, behind = 1;           // extent of the axis of blocks, and elements of one of its places
  int64_t row = 1, scale_row = 1;            // of the last axis
  int64_t indices = 1;
  GatherBlocks format;
};

Table TableOf(const Operation& operation) {
  Table table;
  table.format = std::get<GatherBlocks>(operation.params);
  std::vector<int64_t> dim = operation.in[0].dim;
  if (table.format.is_packed) dim.back() *= 2;
  for (size_t i = 0; i < dim.size(); ++i) {
    (i < table.format.axis ? table.outer : i == table.format.axis ? table.extent : table.inner) *= dim[i];
    if (i > table.format.block_axis) table.behind *= dim[i];
  }
  table.blocked = dim[table.format.block_axis];
  table.row = dim.back();
  table.scale_row = operation.in[2].dim.back();
  table.indices = operation.in[1].count();
  return table;
}

template <typename T, typename Element, typename Index>
const char* Run(const Table& t, const Buffers& b) {
  const auto* data = static_cast<const Element*>(b.in[0]);
  const auto* indices = static_cast<const Index*>(b.in[1]);
  const T* scales = static_cast<const T*>(b.in[2]);
  const auto* zeros = b.in.size() > 3 ? static_cast<const Element*>(b.in[3]) : nullptr;
  T* y = static_cast<T*>(b.out[0]);
  const GatherBlocks& f = t.format;
  const int64_t blocks = (t.blocked + f.block - 1) / f.block;
  for (int64_t outer = 0; outer < t.outer; ++outer) {
    for (int64_t i = 0; i < t.indices; ++i) {
      const int64_t index = indices[i] < 0 ? indices[i] + t.extent : indices[i];
      if (index < 0 || index >= t.extent) return "an index lies outside of its axis";
      const int64_t first = (outer * t.extent + index) * t.inner;
      for (int64_t at = first; at < first + t.inner; ++at) {
        const int64_t place = at / t.behind, around = place / t.blocked, block = place % t.blocked / f.block;
        const int64_t scale = (around * blocks + block) * t.behind + at % t.behind;
        const int64_t zero = zeros == nullptr ? f.zero : ElementAt(zeros, f.is_packed, t.scale_row, scale);
        *y++ = static_cast<T>(ElementAt(data, f.is_packed, t.row, at) - zero) * scales[scale];
      }
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeGatherBlocks(const Operation& operation) {
  const Table table = TableOf(operation);
  return ForType<float, double>(operation.in[2].dtype, [&]<typename T>() {
    return ForType<int8_t, uint8_t>(operation.in[0].dtype, [&]<typename Element>() {
      return ForType<int32_t, int64_t>(operation.in[1].dtype, [&]<typename Index>() {
        return MakeFunction(operation.in.size(), [table](const Buffers& b) { return Run<T, Element, Index>(table, b); });
      });
    });
  });
}

}  // namespace wf::kernels::ref
