#include <algorithm>
#include <cstring>

#include "runtime/kernels/move/strided.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::ref {

base::Result<std::unique_ptr<Kernel>> MakeView(const Operation& operation) {
  const View& view = std::get<View>(operation.params);
  Strided strided;
  strided.size = base::DTypeSize(operation.in[0].dtype);
  strided.extent = view.extent;
  for (const int64_t each : view.stride) strided.stride.push_back(each * strided.size);
  return MakeStrided(std::move(strided), operation.out[0].count());
}

base::Result<std::unique_ptr<Kernel>> MakeSplit(const Operation& operation) {
  const Split& split = std::get<Split>(operation.params);
  const Around around = AroundAxis(operation.in[0].dim, split.axis);
  std::vector<int64_t> bytes;
  for (const int64_t extent : split.size) bytes.push_back(extent * around.inner * base::DTypeSize(operation.in[0].dtype));
  return MakeFunction(1, [bytes, outer = around.outer](const Buffers& b) -> const char* {
    const uint8_t* in = static_cast<const uint8_t*>(b.in[0]);
    for (int64_t o = 0; o < outer; ++o) {
      for (size_t i = 0; i < bytes.size(); ++i) {
        if (b.out[i] != nullptr && bytes[i] > 0)
          std::memcpy(static_cast<uint8_t*>(b.out[i]) + o * bytes[i], in, static_cast<size_t>(bytes[i]));
        in += bytes[i];
      }
    }
    return nullptr;
  });
}

base::Result<std::unique_ptr<Kernel>> MakeTriangle(const Operation& operation) {
  const Triangle& triangle = std::get<Triangle>(operation.params);
  const std::vector<int64_t>& dim = operation.in[0].dim;
  const int64_t rows = dim[dim.size() - 2], columns = dim.back(), size = base::DTypeSize(operation.in[0].dtype);
  const int64_t matrices = CountOf(std::span(dim).first(dim.size() - 2));
  return MakeFunction(1, [=](const Buffers& b) -> const char* {
    const uint8_t* in = static_cast<const uint8_t*>(b.in[0]);
    uint8_t* out = static_cast<uint8_t*>(b.out[0]);
    const auto length = [size](int64_t elements) { return static_cast<size_t>(elements * size); };
    for (int64_t row = 0; row < matrices * rows; ++row, in += columns * size, out += columns * size) {
      // k lies within [-rows, columns], see its lowering
      const int64_t turn = std::clamp<int64_t>(row % rows + triangle.k + (triangle.upper ? 0 : 1), 0, columns);
      const int64_t begin = triangle.upper ? turn : 0, end = triangle.upper ? columns : turn;
      if (begin > 0) std::memset(out, 0, length(begin));
      if (end > begin) std::memcpy(out + begin * size, in + begin * size, length(end - begin));
      if (end < columns) std::memset(out + end * size, 0, length(columns - end));
    }
    return nullptr;
  });
}

}  // namespace wf::kernels::ref
