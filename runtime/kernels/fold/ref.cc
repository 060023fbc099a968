#include <algorithm>
#include <array>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::ref {
namespace {

struct Folding {
  Fold fold;
  std::vector<int64_t> image, image_stride, windows;  // per axis; how many windows fit
  int64_t planes, taps, positions, elements;
};

// Of one element of the block: where its column goes for each window, in order.
template <typename T>
void AddColumn(const Folding& f, int64_t tap, const T* column, T* image) {
  const size_t axes = f.image.size();
  std::array<int64_t, 8> first{}, at{};
  for (size_t axis = axes; axis-- > 0;) {
    first[axis] = tap % f.fold.block[axis] * f.fold.dilation[axis] - f.fold.pad_begin[axis];
    tap /= f.fold.block[axis];
  }
  for (int64_t p = 0; p < f.positions; ++p) {
    int64_t offset = 0;
    bool inside = true;
    for (size_t axis = 0; axis < axes; ++axis) {
      const int64_t place = first[axis] + at[axis] * f.fold.stride[axis];
      inside = inside && place >= 0 && place < f.image[axis];
      offset += place * f.image_stride[axis];
    }
    if (inside) image[offset] = static_cast<T>(image[offset] + column[p]);
    for (size_t axis = axes; axis-- > 0;) {
      if (++at[axis] < f.windows[axis]) break;
      at[axis] = 0;
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeFold(const Operation& operation) {
  const std::vector<int64_t>&in = operation.in[0].dim, &out = operation.out[0].dim;
  Folding f{std::get<Fold>(operation.params), {out.begin() + 2, out.end()}, {}, {}, out[0] * out[1], 1, in[2], 0};
  if (f.image.size() > 6) return std::unique_ptr<Kernel>();
  f.image_stride = StridesOf(f.image);
  f.taps = CountOf(f.fold.block);
  f.elements = CountOf(f.image);
  for (size_t i = 0; i < f.image.size(); ++i) {
    const int64_t free = f.image[i] + f.fold.pad_begin[i] + f.fold.pad_end[i] - f.fold.dilation[i] * (f.fold.block[i] - 1) - 1;
    f.windows.push_back(free / f.fold.stride[i] + 1);
  }
  return ForType<float, double, int32_t, int64_t, int8_t, int16_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.in[0].dtype, [&]<typename T>() {
        return MakeFunction(1, [f](const Buffers& b) -> const char* {
          const T* column = static_cast<const T*>(b.in[0]);
          T* image = static_cast<T*>(b.out[0]);
          std::fill_n(image, f.planes * f.elements, T(0));
          for (int64_t plane = 0; plane < f.planes; ++plane, image += f.elements) {
            for (int64_t tap = 0; tap < f.taps; ++tap, column += f.positions) AddColumn(f, tap, column, image);
          }
          return nullptr;
        });
      });
}

}  // namespace wf::kernels::ref
