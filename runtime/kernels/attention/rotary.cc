#include <algorithm>

#include "runtime/kernels/attention/rotate.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

struct Shape {
  int64_t batch, s, heads, size, half, rows;  // rows: of the cosines
  bool heads_first, one_position, interleaved;
};

template <typename T>
const char* Run(const Shape& s, const Buffers& b) {
  const T *x = static_cast<const T*>(b.in[0]), *cosine = static_cast<const T*>(b.in[2]), *sine = static_cast<const T*>(b.in[3]);
  const int64_t* position = static_cast<const int64_t*>(b.in[1]);
  T* y = static_cast<T*>(b.out[0]);
  for (int64_t batch = 0; batch < s.batch; ++batch) {
    for (int64_t at = 0; at < s.s; ++at) {
      const int64_t first = s.one_position ? position[0] : position[batch * s.s + at];
      if (first < 0 || first >= s.rows) return "a position beyond the cosines";
      const int64_t row = s.one_position ? first + at : first;
      if (row >= s.rows) return "a position beyond the cosines";
      for (int64_t head = 0; head < s.heads; ++head) {
        const int64_t offset = (s.heads_first ? (batch * s.heads + head) * s.s + at : (batch * s.s + at) * s.heads + head) * s.size;
        Rotate(x + offset, y + offset, Angles<T>{s.half, s.interleaved, cosine + row * s.half, sine + row * s.half});
        std::copy(x + offset + 2 * s.half, x + offset + s.size, y + offset + 2 * s.half);
      }
    }
  }
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeRotary(const Operation& operation) {
  const Rotary& rotary = std::get<Rotary>(operation.params);
  const std::vector<int64_t>&x = operation.in[0].dim, &cosine = operation.in[2].dim;
  const bool heads_first = x.size() == 4;
  const Shape shape{x[0],
                    x[heads_first ? 2 : 1],
                    rotary.heads,
                    rotary.size,
                    cosine[1],
                    cosine[0],
                    heads_first,
                    operation.in[1].count() == 1 && operation.in[1].dim.size() < 2,
                    rotary.interleaved};
  for (size_t i = 2; i < 4; ++i) {
    if (operation.in[i].dtype != operation.in[0].dtype) return std::unique_ptr<Kernel>();
  }
  return ForType<float, double>(operation.in[0].dtype,
                                [&]<typename T>() { return MakeFunction(4, [shape](const Buffers& b) { return Run<T>(shape, b); }); });
}

}  // namespace wf::kernels::ref
