#include <array>

#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/recurrent/activation.h"
#include "runtime/kernels/recurrent/runner.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

// Where the parts of the scratch memory lie, in elements.
struct Layout {
  int64_t projected, gates, extra, h, c, w, r, x, end;
};

// [rows, columns] of each direction to [columns, rows]: what AddProduct reads in lines.
template <typename T>
void Turn(const T* from, int64_t directions, int64_t rows, int64_t columns, T* to) {
  for (int64_t d = 0; d < directions; ++d, from += rows * columns, to += rows * columns) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
    }
  }
}

// What a run of all directions has. w, r: turned.
template <typename T>
struct PlainWays {
  const Recurrent& layer;
  const RecurrentShape& s;
  const T *w, *r, *x;
  T* projected;

  // W x + both biases for all steps at once. The bias of R's part for a GRU's last gate stays apart where it is inside the reset.
  void Project(const Buffers& b, int64_t direction) {
    const int64_t rows = s.steps * s.batch;
    const int64_t joined = layer.linear_before_reset ? s.joined(layer.cell) : s.width;
    const T* bias = RecurrentIn<T>(b, kRecurrentBias);
    if (bias != nullptr) bias += direction * 2 * s.width;
    for (int64_t row = 0; row < rows; ++row) {
      T* to = projected + row * s.width;
      for (int64_t i = 0; i < s.width; ++i) to[i] = bias == nullptr ? T(0) : bias[i] + (i < joined ? bias[s.width + i] : T(0));
    }
    FastProduct(Product<T>{rows, s.width, s.in, Matrix<T>{x, s.in, 1}, w + direction * s.in * s.width, s.width, projected, s.width});
  }
  const T* Projected(int64_t /*direction*/, int64_t row) const { return projected + row * s.width; }
  void AddState(int64_t direction, bool last, const T* a, T* c, int64_t c_row) const {
    const int64_t joined = s.joined(layer.cell), columns = last ? s.width - joined : joined;
    const T* from = r + direction * s.hidden * s.width + (last ? joined : 0);
    FastProduct(Product<T>{s.batch, columns, s.hidden, {a, s.hidden, 1}, from, s.width, c, c_row});
  }
  static void Function(const Activation& activation, T* x, int64_t n) { Activate(activation, x, n); }
};

// False: more than any buffer may have.
bool LayOut(const Recurrent& layer, const RecurrentShape& s, Layout& layout) {
  constexpr int64_t kMost = int64_t{1} << 30;
  int64_t end = 0;
  const auto place = [&](int64_t& at, int64_t a, int64_t b) {
    int64_t count = 0;
    at = end;
    const bool fits = !__builtin_mul_overflow(a, b, &count) && count <= kMost;
    end += fits ? count : 0;
    return fits;
  };
  const bool fits = place(layout.projected, s.steps * s.batch, s.width) && place(layout.gates, s.batch, s.width) &&
                    place(layout.extra, s.batch, s.hidden) && place(layout.h, s.batch, s.hidden) && place(layout.c, s.batch, s.hidden) &&
                    place(layout.w, s.directions * s.in, s.width) && place(layout.r, s.directions * s.hidden, s.width) &&
                    place(layout.x, layer.in_bytes ? s.steps * s.batch : 0, s.in);
  layout.end = end;
  return fits;
}

// Constant weights are turned once, for all plans.
template <typename T>
base::Status TurnConstant(const TensorInfo& info, std::shared_ptr<const T>& turned) {
  if (info.constant == nullptr) return base::Status::Ok();
  std::shared_ptr<const void>& packed = info.constant->Packed("turned by direction");
  if (packed == nullptr) {
    auto elements = info.constant->Load();
    if (!elements.ok()) return elements.status();
    const auto memory = info.constant->packed_memory().Take(info.size_bytes());
    if (memory == nullptr) return {base::kResourceExhausted, "out of memory for weights"};
    Turn(reinterpret_cast<const T*>(elements->get()), info.dim[0], info.dim[1], info.dim[2], reinterpret_cast<T*>(memory.get()));
    packed = memory;
  }
  turned = std::static_pointer_cast<const T>(packed);
  return base::Status::Ok();
}

// w, r: null where they are to be turned first.
template <typename T>
const char* RunAll(const Recurrent& layer, const RecurrentShape& s, const Layout& layout, std::array<const T*, 2> turned,
                   const Buffers& b) {
  if (const char* failure = CheckRecurrentLengths(s, b)) return failure;
  T* const scratch = static_cast<T*>(b.scratch);
  T *w = scratch + layout.w, *r = scratch + layout.r;
  if (turned[0] == nullptr) Turn(RecurrentIn<T>(b, kRecurrentW), s.directions, s.width, s.in, w);
  if (turned[1] == nullptr) Turn(RecurrentIn<T>(b, kRecurrentR), s.directions, s.width, s.hidden, r);
  const T* x = RecurrentIn<T>(b, kRecurrentX);
  if (layer.in_bytes) {
    XThroughBytes(s, b, scratch + layout.x);
    x = scratch + layout.x;
  }
  PlainWays<T> ways{layer, s, turned[0] == nullptr ? w : turned[0], turned[1] == nullptr ? r : turned[1], x, scratch + layout.projected};
  const RecurrentMemory<T> memory{scratch + layout.gates, scratch + layout.extra, scratch + layout.h, scratch + layout.c};
  for (int64_t direction = 0; direction < s.directions; ++direction) {
    ways.Project(b, direction);
    RecurrentRunner<T, PlainWays<T>>({layer, s, b}, memory, ways, direction).Run();
  }
  return nullptr;
}

template <typename T>
base::Result<std::unique_ptr<Kernel>> MakeTyped(const Operation& operation) {
  const Recurrent& layer = std::get<Recurrent>(operation.params);
  const RecurrentShape shape = RecurrentShapeOf(layer, operation);
  Layout layout{};
  if (!LayOut(layer, shape, layout)) return base::Status(base::kOutOfRange, "what it computes on the way takes more than 4 GiB");
  std::shared_ptr<const T> w, r;
  WF_RETURN_IF_ERROR(TurnConstant(operation.in[kRecurrentW], w));
  WF_RETURN_IF_ERROR(TurnConstant(operation.in[kRecurrentR], r));
  auto kernel = MakeFunction(operation.in.size(), [shape, layer, layout, w, r](const Buffers& b) {
    return RunAll<T>(layer, shape, layout, {w.get(), r.get()}, b);
  });
  kernel->scratch_bytes = layout.end * static_cast<int64_t>(sizeof(T));
  kernel->packed_in[kRecurrentW] = w != nullptr;
  kernel->packed_in[kRecurrentR] = r != nullptr;
  return kernel;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeRecurrent(const Operation& operation) {
  for (size_t i = kRecurrentW; i < operation.in.size(); ++i) {
    const uint8_t dtype = operation.in[i].dtype;
    if (i != kRecurrentLengths && dtype != 0 && dtype != operation.in[kRecurrentX].dtype) return std::unique_ptr<Kernel>();
  }
  if (operation.in[kRecurrentX].dtype == WF_F32) return MakeTyped<float>(operation);
  if (operation.in[kRecurrentX].dtype == WF_F64) return MakeTyped<double>(operation);
  return std::unique_ptr<Kernel>();
}

}  // namespace wf::kernels::ref
