#pragma once

#include <algorithm>

#include "runtime/kernels/recurrent/bytes.h"
#include "runtime/kernels/recurrent/shape.h"

// One direction of a recurrent layer, step by step, whatever its products and functions are done with.
namespace wf::kernels {

// Memory of a run, for one direction after the other.
template <typename T>
struct RecurrentMemory {
  T *gates, *extra, *h, *c;
};

// What a run works on. Borrows all of it.
struct RecurrentJob {
  const Recurrent& layer;
  const RecurrentShape& shape;
  const Buffers& buffers;
};

// Ways has
//   const T* Projected(int64_t direction, int64_t row): W x and the biases (that of R for a GRU's last gate only where it is outside the
//     reset) of a step of a sample, known before the first step;
//   void AddState(int64_t direction, bool last, const T* a, T* c, int64_t c_row): to c [batch, columns] the product of a [batch, hidden]
//   and the joined columns of R, or those behind them;
//   void Function(const Activation&, T* x, int64_t n): in place.
template <typename T, typename Ways>
class RecurrentRunner {
 public:
  RecurrentRunner(const RecurrentJob& job, const RecurrentMemory<T>& memory, Ways& ways, int64_t direction)
      : s_(job.shape),
        layer_(job.layer),
        b_(job.buffers),
        m_(memory),
        ways_(ways),
        direction_(direction),
        reverse_(direction == 1 || !layer_.forward),
        lengths_(RecurrentIn<int32_t>(b_, kRecurrentLengths)),
        functions_(layer_.activation.data() + static_cast<size_t>(direction) * ActivationsOf(layer_.cell)) {
    peepholes_ = RecurrentIn<T>(b_, kPeepholes);
    if (peepholes_ != nullptr) peepholes_ += direction * 3 * s_.hidden;
    bias_ = RecurrentIn<T>(b_, kRecurrentBias);
    if (bias_ != nullptr) bias_ += direction * 2 * s_.width;
  }

  void Run() {
    for (int64_t row = 0; row < s_.batch; ++row) {
      Begin(RecurrentIn<T>(b_, kFirstH), row, m_.h);
      if (layer_.cell == RecurrentCell::kLstm) Begin(RecurrentIn<T>(b_, kFirstC), row, m_.c);
    }
    for (int64_t step = 0; step < s_.steps; ++step) Step(step);
    for (int64_t row = 0; row < s_.batch; ++row) {
      if (T* last = OutOf(1)) std::copy_n(m_.h + row * s_.hidden, s_.hidden, last + StateAt(row));
      if (T* last = OutOf(2)) std::copy_n(m_.c + row * s_.hidden, s_.hidden, last + StateAt(row));
    }
  }

 private:
  T* OutOf(size_t i) const { return i < b_.out.size() ? static_cast<T*>(b_.out[i]) : nullptr; }
  int64_t LengthOf(int64_t row) const { return lengths_ == nullptr ? s_.steps : lengths_[row]; }
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

  void Step(int64_t step) {
    for (int64_t row = 0; row < s_.batch; ++row) {
      const int64_t time = TimeOf(step, row);
      T* to = m_.gates + row * s_.width;
      if (time < 0 || time >= s_.steps) {
        std::fill_n(to, s_.width, T(0));  // of a row that has ended
      } else {
        std::copy_n(ways_.Projected(direction_, RowAt(time, row)), s_.width, to);
      }
    }
    ways_.AddState(direction_, false, layer_.in_bytes ? StatesThroughBytes(step) : m_.h, m_.gates, s_.width);
    if (layer_.cell == RecurrentCell::kGru) StepGru();
    T* y = OutOf(0);
    for (int64_t row = 0; row < s_.batch; ++row) {
      const bool ended = step >= LengthOf(row);
      if (!ended) Update(row);
      if (y == nullptr) continue;
      T* to = y + OutAt(ended ? step : TimeOf(step, row), row);
      if (ended) {
        std::fill_n(to, s_.hidden, T(0));
      } else {
        std::copy_n(m_.h + row * s_.hidden, s_.hidden, to);
      }
    }
  }

  // In memory that only a GRU needs. The state of a row that has ended counts as 0 from the next step on, as it does in ONNX Runtime.
  const T* StatesThroughBytes(int64_t step) {
    const int64_t n = s_.hidden;
    std::copy_n(m_.h, s_.batch * n, m_.extra);
    for (int64_t row = 0; row < s_.batch; ++row) {
      if (step > LengthOf(row)) std::fill_n(m_.extra + row * n, n, T(0));
    }
    ThroughBytes(m_.extra, s_.batch * n, m_.extra);
    return m_.extra;
  }

  void Function(size_t which, T* x, int64_t n) const {
    if (layer_.clip > 0) {
      const T bound = static_cast<T>(layer_.clip);
      for (int64_t i = 0; i < n; ++i) x[i] = std::min(std::max(x[i], -bound), bound);
    }
    ways_.Function(functions_[which], x, n);
  }

  // The gates z and r, and what R adds to the third.
  void StepGru() {
    const int64_t n = s_.hidden;
    for (int64_t row = 0; row < s_.batch; ++row) {
      T *z = m_.gates + row * s_.width, *r = z + n, *extra = m_.extra + row * n;
      Function(0, z, 2 * n);
      if (layer_.linear_before_reset) {
        for (int64_t i = 0; i < n; ++i) extra[i] = bias_ == nullptr ? T(0) : bias_[s_.width + 2 * n + i];
      } else {
        for (int64_t i = 0; i < n; ++i) extra[i] = r[i] * m_.h[row * n + i];
      }
    }
    if (!layer_.linear_before_reset) return ways_.AddState(direction_, true, m_.extra, m_.gates + 2 * n, s_.width);
    ways_.AddState(direction_, true, m_.h, m_.extra, n);
    for (int64_t row = 0; row < s_.batch; ++row) {
      T *r = m_.gates + row * s_.width + n, *last = r + n;
      for (int64_t i = 0; i < n; ++i) last[i] += r[i] * m_.extra[row * n + i];
    }
  }

  // The state of a row from its gates.
  void Update(int64_t row) {
    const int64_t n = s_.hidden;
    T *gates = m_.gates + row * s_.width, *h = m_.h + row * n;
    if (layer_.cell == RecurrentCell::kRnn) {
      Function(0, gates, n);
      std::copy_n(gates, n, h);
    } else if (layer_.cell == RecurrentCell::kGru) {
      Function(1, gates + 2 * n, n);
      for (int64_t i = 0; i < n; ++i) h[i] = (1 - gates[i]) * gates[2 * n + i] + gates[i] * h[i];
    } else {
      UpdateLstm(gates, h, m_.c + row * n);
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
    ways_.Function(functions_[2], h, n);  // the cell's state is not clipped, as ONNX Runtime reads the standard
    for (int64_t i = 0; i < n; ++i) h[i] *= out[i];
  }

  const RecurrentShape& s_;
  const Recurrent& layer_;
  const Buffers& b_;
  const RecurrentMemory<T>& m_;
  Ways& ways_;
  const int64_t direction_;
  const bool reverse_;
  const int32_t* lengths_;
  const T *peepholes_ = nullptr, *bias_ = nullptr;
  const Activation* functions_;
};

}  // namespace wf::kernels
