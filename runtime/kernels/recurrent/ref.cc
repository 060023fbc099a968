#include <algorithm>
#include <cstring>

#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/recurrent/activation.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

enum Input : size_t { kX, kW, kR, kBias, kLengths, kFirstH, kFirstC, kPeepholes };

struct Shape {
  int64_t steps, batch, in, hidden, directions, width;  // width: gates * hidden
};

// Where the parts of the scratch memory lie, in elements.
struct Layout {
  int64_t projected, gates, extra, h, c, w, r, end;
};

template <typename T>
const T* InOf(const Buffers& b, size_t i) {
  return i < b.in.size() ? static_cast<const T*>(b.in[i]) : nullptr;
}
template <typename T>
T* OutOf(const Buffers& b, size_t i) {
  return i < b.out.size() ? static_cast<T*>(b.out[i]) : nullptr;
}

// [rows, columns] of each direction to [columns, rows]: what AddProduct reads in lines.
template <typename T>
void Turn(const T* from, int64_t directions, int64_t rows, int64_t columns, T* to) {
  for (int64_t d = 0; d < directions; ++d, from += rows * columns, to += rows * columns) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
    }
  }
}

// One run of all directions. w, r: turned.
template <typename T>
struct Job {
  const Shape& shape;
  const Recurrent& layer;
  const Layout& layout;
  const Buffers& buffers;
  const T *w, *r;
};

// One direction of it.
template <typename T>
class Runner {
 public:
  Runner(const Job<T>& job, int64_t direction)
      : s_(job.shape),
        layer_(job.layer),
        b_(job.buffers),
        direction_(direction),
        reverse_(direction == 1 || !job.layer.forward),
        w_(job.w + direction * s_.in * s_.width),
        r_(job.r + direction * s_.hidden * s_.width),
        functions_(layer_.activation.data() + static_cast<size_t>(direction) * ActivationsOf(layer_.cell)) {
    const Layout& layout = job.layout;
    const Buffers& b = job.buffers;
    const Shape& s = job.shape;
    T* scratch = static_cast<T*>(b.scratch);
    projected_ = scratch + layout.projected;
    gates_ = scratch + layout.gates;
    extra_ = scratch + layout.extra;
    h_ = scratch + layout.h;
    c_ = scratch + layout.c;
    peepholes_ = InOf<T>(b, kPeepholes);
    if (peepholes_ != nullptr) peepholes_ += direction * 3 * s.hidden;
    bias_ = InOf<T>(b, kBias);
    if (bias_ != nullptr) bias_ += direction * 2 * s.width;
  }

  void Run() {
    Project();
    for (int64_t row = 0; row < s_.batch; ++row) {
      Begin(InOf<T>(b_, kFirstH), row, h_);
      if (layer_.cell == RecurrentCell::kLstm) Begin(InOf<T>(b_, kFirstC), row, c_);
    }
    for (int64_t step = 0; step < s_.steps; ++step) Step(step);
    for (int64_t row = 0; row < s_.batch; ++row) {
      if (T* last = OutOf<T>(b_, 1)) std::copy_n(h_ + row * s_.hidden, s_.hidden, last + StateAt(row));
      if (T* last = OutOf<T>(b_, 2)) std::copy_n(c_ + row * s_.hidden, s_.hidden, last + StateAt(row));
    }
  }

 private:
  int64_t LengthOf(int64_t row) const {
    const int32_t* lengths = InOf<int32_t>(b_, kLengths);
    return lengths == nullptr ? s_.steps : lengths[row];
  }
  int64_t TimeOf(int64_t step, int64_t row) const { return reverse_ ? LengthOf(row) - 1 - step : step; }
  int64_t RowAt(int64_t time, int64_t row) const { return layer_.batch_first ? row * s_.steps + time : time * s_.batch + row; }
  int64_t StateAt(int64_t row) const {
    return (layer_.batch_first ? row * s_.directions + direction_ : direction_ * s_.batch + row) * s_.hidden;
  }
  int64_t OutAt(int64_t time, int64_t row) const {
    const int64_t at =
        layer_.batch_first ? RowAt(time, row) * s_.directions + direction_ : (time * s_.directions + direction_) * s_.batch + row;
    return at * s_.hidden;
  }

  void Begin(const T* first, int64_t row, T* state) const {
    T* to = state + row * s_.hidden;
    if (first == nullptr) {
      std::fill_n(to, s_.hidden, T(0));
    } else {
      std::copy_n(first + StateAt(row), s_.hidden, to);
    }
  }

  // W x + both biases for all steps at once. The bias of R's part for a GRU's last gate stays apart where it is inside the reset.
  void Project() const {
    const int64_t rows = s_.steps * s_.batch;
    const int64_t joined = layer_.cell == RecurrentCell::kGru && layer_.linear_before_reset ? 2 * s_.hidden : s_.width;
    for (int64_t row = 0; row < rows; ++row) {
      T* to = projected_ + row * s_.width;
      if (bias_ == nullptr) {
        std::fill_n(to, s_.width, T(0));
        continue;
      }
      for (int64_t i = 0; i < s_.width; ++i) to[i] = bias_[i] + (i < joined ? bias_[s_.width + i] : T(0));
    }
    const Matrix<T> x{InOf<T>(b_, kX), s_.in, 1};
    FastProduct(Product<T>{rows, s_.width, s_.in, x, w_, s_.width, projected_, s_.width});
  }

  void Step(int64_t step) {
    for (int64_t row = 0; row < s_.batch; ++row) {
      const int64_t time = TimeOf(step, row);
      T* to = gates_ + row * s_.width;
      if (time < 0 || time >= s_.steps) {
        std::fill_n(to, s_.width, T(0));  // of a row that has ended
      } else {
        std::copy_n(projected_ + RowAt(time, row) * s_.width, s_.width, to);
      }
    }
    const int64_t now = layer_.cell == RecurrentCell::kGru ? 2 * s_.hidden : s_.width;
    const Matrix<T> h{h_, s_.hidden, 1};
    FastProduct(Product<T>{s_.batch, now, s_.hidden, h, r_, s_.width, gates_, s_.width});
    if (layer_.cell == RecurrentCell::kGru) StepGru();
    T* y = OutOf<T>(b_, 0);
    for (int64_t row = 0; row < s_.batch; ++row) {
      const bool ended = step >= LengthOf(row);
      if (!ended) Update(row);
      if (y == nullptr) continue;
      T* to = y + OutAt(ended ? step : TimeOf(step, row), row);
      if (ended) {
        std::fill_n(to, s_.hidden, T(0));
      } else {
        std::copy_n(h_ + row * s_.hidden, s_.hidden, to);
      }
    }
  }

  void Function(size_t which, T* x, int64_t n) const {
    if (layer_.clip > 0) {
      const T bound = static_cast<T>(layer_.clip);
      for (int64_t i = 0; i < n; ++i) x[i] = std::min(std::max(x[i], -bound), bound);
    }
    Activate(functions_[which], x, n);
  }

  // The gates z and r, and what R adds to the third.
  void StepGru() {
    const int64_t n = s_.hidden;
    for (int64_t row = 0; row < s_.batch; ++row) {
      T *z = gates_ + row * s_.width, *r = z + n, *extra = extra_ + row * n;
      Function(0, z, 2 * n);
      if (layer_.linear_before_reset) {
        for (int64_t i = 0; i < n; ++i) extra[i] = bias_ == nullptr ? T(0) : bias_[s_.width + 2 * n + i];
      } else {
        for (int64_t i = 0; i < n; ++i) extra[i] = r[i] * h_[row * n + i];
      }
    }
    if (!layer_.linear_before_reset) {
      const Matrix<T> reset{extra_, n, 1};
      FastProduct(Product<T>{s_.batch, n, n, reset, r_ + 2 * n, s_.width, gates_ + 2 * n, s_.width});
      return;
    }
    const Matrix<T> h{h_, n, 1};
    FastProduct(Product<T>{s_.batch, n, n, h, r_ + 2 * n, s_.width, extra_, n});
    for (int64_t row = 0; row < s_.batch; ++row) {
      T *r = gates_ + row * s_.width + n, *last = r + n;
      for (int64_t i = 0; i < n; ++i) last[i] += r[i] * extra_[row * n + i];
    }
  }

  // The state of a row from its gates.
  void Update(int64_t row) {
    const int64_t n = s_.hidden;
    T *gates = gates_ + row * s_.width, *h = h_ + row * n;
    if (layer_.cell == RecurrentCell::kRnn) {
      Function(0, gates, n);
      std::copy_n(gates, n, h);
    } else if (layer_.cell == RecurrentCell::kGru) {
      Function(1, gates + 2 * n, n);
      for (int64_t i = 0; i < n; ++i) h[i] = (1 - gates[i]) * gates[2 * n + i] + gates[i] * h[i];
    } else {
      UpdateLstm(gates, h, c_ + row * n);
    }
  }

  void UpdateLstm(T* gates, T* h, T* c) {
    const int64_t n = s_.hidden;
    T *in = gates, *out = gates + n, *forget = gates + 2 * n, *cell = gates + 3 * n;
    if (peepholes_ != nullptr) {
      for (int64_t i = 0; i < n; ++i) in[i] += peepholes_[i] * c[i];
      for (int64_t i = 0; i < n; ++i) forget[i] += peepholes_[2 * n + i] * c[i];
    }
    Function(0, in, n);
    if (layer_.input_forget) {
      for (int64_t i = 0; i < n; ++i) forget[i] = 1 - in[i];
    } else {
      Function(0, forget, n);
    }
    Function(1, cell, n);
    for (int64_t i = 0; i < n; ++i) c[i] = forget[i] * c[i] + in[i] * cell[i];
    if (peepholes_ != nullptr) {
      for (int64_t i = 0; i < n; ++i) out[i] += peepholes_[n + i] * c[i];
    }
    Function(0, out, n);
    std::copy_n(c, n, h);
    Function(2, h, n);
    for (int64_t i = 0; i < n; ++i) h[i] *= out[i];
  }

  const Shape& s_;
  const Recurrent& layer_;
  const Buffers& b_;
  const int64_t direction_;
  const bool reverse_;
  const T *w_, *r_, *peepholes_ = nullptr, *bias_ = nullptr;
  const Activation* functions_;
  T *projected_ = nullptr, *gates_ = nullptr, *extra_ = nullptr, *h_ = nullptr, *c_ = nullptr;
};

Shape ShapeOf(const Recurrent& layer, const Operation& operation) {
  const std::vector<int64_t>&x = operation.in[kX].dim, &r = operation.in[kR].dim;
  return {layer.batch_first ? x[1] : x[0], layer.batch_first ? x[0] : x[1], x[2], r[2], r[0], GatesOf(layer.cell) * r[2]};
}

// False: more than any buffer may have.
bool LayOut(const Shape& s, Layout& layout) {
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
                    place(layout.w, s.directions * s.in, s.width) && place(layout.r, s.directions * s.hidden, s.width);
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

// w, r of the job: null where they are to be turned first.
template <typename T>
const char* RunAll(Job<T> job) {
  const Shape& s = job.shape;
  const Buffers& b = job.buffers;
  if (const int32_t* lengths = InOf<int32_t>(b, kLengths)) {
    const auto wrong = [&](int32_t length) { return length < 0 || length > s.steps; };
    if (std::any_of(lengths, lengths + s.batch, wrong)) return "a length of a sequence is negative or beyond its steps";
  }
  T *w = static_cast<T*>(b.scratch) + job.layout.w, *r = static_cast<T*>(b.scratch) + job.layout.r;
  if (job.w == nullptr) Turn(InOf<T>(b, kW), s.directions, s.width, s.in, w);
  if (job.r == nullptr) Turn(InOf<T>(b, kR), s.directions, s.width, s.hidden, r);
  job.w = job.w == nullptr ? w : job.w;
  job.r = job.r == nullptr ? r : job.r;
  for (int64_t direction = 0; direction < s.directions; ++direction) Runner<T>(job, direction).Run();
  return nullptr;
}

template <typename T>
base::Result<std::unique_ptr<Kernel>> MakeTyped(const Operation& operation) {
  const Recurrent& layer = std::get<Recurrent>(operation.params);
  const Shape shape = ShapeOf(layer, operation);
  Layout layout{};
  if (!LayOut(shape, layout)) return base::Status(base::kOutOfRange, "what it computes on the way takes more than 4 GiB");
  std::shared_ptr<const T> w, r;
  WF_RETURN_IF_ERROR(TurnConstant(operation.in[kW], w));
  WF_RETURN_IF_ERROR(TurnConstant(operation.in[kR], r));
  auto kernel = MakeFunction(operation.in.size(), [shape, layer, layout, w, r](const Buffers& b) {
    return RunAll<T>({shape, layer, layout, b, w.get(), r.get()});
  });
  kernel->scratch_bytes = layout.end * static_cast<int64_t>(sizeof(T));
  kernel->packed_in[kW] = w != nullptr;
  kernel->packed_in[kR] = r != nullptr;
  return kernel;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeRecurrent(const Operation& operation) {
  for (size_t i = kW; i < operation.in.size(); ++i) {
    const uint8_t dtype = operation.in[i].dtype;
    if (i != kLengths && dtype != 0 && dtype != operation.in[kX].dtype) return std::unique_ptr<Kernel>();
  }
  if (operation.in[kX].dtype == WF_F32) return MakeTyped<float>(operation);
  if (operation.in[kX].dtype == WF_F64) return MakeTyped<double>(operation);
  return std::unique_ptr<Kernel>();
}

}  // namespace wf::kernels::ref
