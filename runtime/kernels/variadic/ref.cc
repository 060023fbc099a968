#include "runtime/kernels/ref.h"
#include "runtime/kernels/binary/functions.h"
#include "runtime/kernels/broadcast.h"

namespace wf::kernels::ref {
namespace {

template <typename T, typename F>
std::unique_ptr<Kernel> Make(const Operation& operation, bool mean, F f) {
  std::vector<Broadcast<1>> shapes;
  for (const TensorInfo& in : operation.in) shapes.push_back(Broadcast<1>(operation.out[0].dim, {in.dim}));
  return MakeFunction(operation.in.size(), [shapes, mean, f, count = operation.out[0].count()](const Buffers& b) -> const char* {
    T* y = static_cast<T*>(b.out[0]);
    for (size_t i = 0; i < shapes.size(); ++i) {
      const T* x = static_cast<const T*>(b.in[i]);
      shapes[i].ForEach([&](int64_t at, const auto& offset, const auto& stride, int64_t n) {
        const of_two::Side<T> in = {x + offset[0], stride[0]};
        if (i == 0) {
          of_two::Each(in, in, y + at, n, [](T a, T) { return a; });
        } else {
          of_two::Each(of_two::Side<T>{y + at, 1}, in, y + at, n, f);
        }
      });
    }
    const T inputs = static_cast<T>(shapes.size());
    for (int64_t i = 0; mean && i < count; ++i) y[i] = of_two::Divide<T>()(y[i], inputs);
    return nullptr;
  });
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeVariadic(const Operation& operation) {
  const Variadic::Op op = std::get<Variadic>(operation.params).op;
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.in[0].dtype, [&]<typename T>() {
        switch (op) {
          case Variadic::Op::kSum:
            return Make<T>(operation, false, of_two::Sum<T>());
          case Variadic::Op::kMean:
            return Make<T>(operation, true, of_two::Sum<T>());
          case Variadic::Op::kMax:
            return Make<T>(operation, false, of_two::Larger<T>());
          case Variadic::Op::kMin:
            return Make<T>(operation, false, of_two::Smaller<T>());
        }
        return std::unique_ptr<Kernel>();
      });
}

}  // namespace wf::kernels::ref
