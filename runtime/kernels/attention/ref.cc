#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/attention/rotate.h"
#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

enum Input : size_t { kQ, kK, kV, kWeights, kBias, kMask, kAdded, kPastK, kPastV, kLengths, kCosine, kSine, kSinks, kPositions };

enum class MaskForm : uint8_t { kNone, kLengths, kRanges, kKeys, kPairs };

struct Shape {
  int64_t batch, s, l, past, n;  // l: of k and v; n: of x
  bool heads_first;              // k and v
  bool packed;                   // q, k and v side by side, as input or computed
  MaskForm mask;
  int64_t added_batch, added_head, added_row, added_key;  // strides of what is added, 0 where it repeats
  int64_t added_keys;                                     // of what is added; 0: any
  int64_t turned, angles;                                 // pairs that are turned, and positions there are
};

struct Layout {
  int64_t q, k, v, turned_k, scores, projected, end;
};

template <typename T>
const T* InOf(const Buffers& b, size_t i) {
  return i < b.in.size() ? static_cast<const T*>(b.in[i]) : nullptr;
}
void* OutOf(const Buffers& b, size_t i) { return i < b.out.size() ? b.out[i] : nullptr; }

template <typename T>
class Runner {
 public:
  Runner(const Attention& a, const Shape& s, const Layout& layout, const Buffers& b) : a_(a), s_(s), b_(b) {
    T* scratch = static_cast<T*>(b.scratch);
    q_ = scratch + layout.q;
    T *present_k = static_cast<T*>(OutOf(b, 1)), *present_v = static_cast<T*>(OutOf(b, 2));
    const bool both = present_k != nullptr && a.joined;
    k_ = present_k != nullptr ? present_k : scratch + layout.k;
    v_ = both ? present_k + a.kv_heads * s.batch * a.total * a.size : present_v != nullptr ? present_v : scratch + layout.v;
    turned_k_ = scratch + layout.turned_k;
    scores_ = scratch + layout.scores;
    projected_ = scratch + layout.projected;
  }

  const char* Run() {
    Project();
    for (int64_t batch = 0; batch < s_.batch; ++batch) {
      if (const char* failure = Gather(batch)) return failure;
      for (int64_t head = 0; head < a_.heads; ++head) Attend(batch, head);
    }
    return nullptr;
  }

 private:
  int64_t q_width() const { return a_.heads * a_.size; }
  int64_t k_width() const { return a_.kv_heads * a_.size; }
  int64_t v_width() const { return a_.kv_heads * a_.v_size; }
  int64_t width() const { return q_width() + k_width() + v_width(); }

  void Project() {
    const T *x = InOf<T>(b_, kQ), *weights = InOf<T>(b_, kWeights), *bias = InOf<T>(b_, kBias);
    packed_ = s_.packed ? x : nullptr;
    if (weights == nullptr) return;
    const int64_t rows = s_.batch * s_.s;
    for (int64_t row = 0; row < rows; ++row) {
      T* to = projected_ + row * width();
      if (bias == nullptr) {
        std::fill_n(to, width(), T(0));
      } else {
        std::copy_n(bias, width(), to);
      }
    }
    FastProduct(Product<T>{rows, width(), s_.n, Matrix<T>{x, s_.n, 1}, weights, width(), projected_, width()});
    packed_ = projected_;
  }

  // Elements of each row that were there before; those behind them are new.
  int64_t Before(int64_t batch) const {
    const int32_t* lengths = InOf<int32_t>(b_, kLengths);
    if (a_.first) return 0;
    return lengths == nullptr ? s_.past : static_cast<int64_t>(lengths[batch]) + 1 - s_.s;
  }

  // Where element i of those that are new stands, for what is turned by it. In front of all others only the first number counts, for all
  // samples, by the description of GroupQueryAttention.
  int64_t PositionOf(int64_t batch, int64_t i) const {
    const int64_t* positions = InOf<int64_t>(b_, kPositions);
    if (positions == nullptr) return before_ + i;
    return a_.first ? std::min(positions[0], s_.angles) + i : positions[batch * s_.s + i];
  }

  // One head's row from where it was given, with its bias, turned where it has a position.
  void Take(const T* from, const T* bias, int64_t size, int64_t position, T* to) const {
    for (int64_t i = 0; i < size; ++i) to[i] = from[i] + (bias == nullptr ? T(0) : bias[i]);
    if (position < 0 || s_.turned == 0) return;
    const T *cosine = InOf<T>(b_, kCosine) + position * s_.turned, *sine = InOf<T>(b_, kSine) + position * s_.turned;
    Rotate(to, to, Angles<T>{s_.turned, a_.interleaved, cosine, sine});
  }

  // q [heads, s, size] of one sample, and k and v with those of before where they lie for all samples.
  const char* Gather(int64_t batch) {
    before_ = Before(batch);
    if (before_ < 0 || before_ + s_.l > a_.total || (s_.past > 0 && before_ > s_.past)) return "a length beyond what there is";
    if (before_ > 0 && InOf<T>(b_, kPastK) == nullptr) return "a length beyond what there is";
    if (s_.added_keys > 0 && before_ + s_.l > s_.added_keys) return "a length beyond what there is to add";
    for (int64_t i = 0; s_.turned > 0 && i < s_.s; ++i) {
      if (PositionOf(batch, i) < 0 || PositionOf(batch, i) >= s_.angles) return "a position beyond the cosines";
    }
    const T* bias = InOf<T>(b_, kWeights) == nullptr ? InOf<T>(b_, kBias) : nullptr;
    for (int64_t head = 0; head < a_.heads; ++head) {
      for (int64_t i = 0; i < s_.s; ++i) {
        const int64_t row = batch * s_.s + i;
        const T* from = packed_ != nullptr ? packed_ + row * width() : InOf<T>(b_, kQ) + row * q_width();
        const T* add = bias == nullptr ? nullptr : bias + head * a_.size;
        Take(from + head * a_.size, add, a_.size, PositionOf(batch, i), q_ + (head * s_.s + i) * a_.size);
      }
    }
    const T *past_k = InOf<T>(b_, kPastK), *past_v = InOf<T>(b_, kPastV);
    if (a_.joined && past_k != nullptr) past_v = past_k + s_.batch * a_.kv_heads * s_.past * a_.size;
    const T* k_bias = bias == nullptr || s_.heads_first ? nullptr : bias + q_width();
    GatherKeys(batch, {kK, q_width(), a_.size, k_bias, past_k, k_});
    GatherKeys(batch, {kV, q_width() + k_width(), a_.v_size, k_bias == nullptr ? nullptr : k_bias + k_width(), past_v, v_});
    return nullptr;
  }

  struct Keys {
    size_t input;
    int64_t begin, size;  // within a row of q, k and v; of one head
    const T *bias, *past;
    T* to;
  };

  void GatherKeys(int64_t batch, const Keys& keys) const {
    const int64_t size = keys.size;
    for (int64_t head = 0; head < a_.kv_heads; ++head) {
      const int64_t line = batch * a_.kv_heads + head;
      T* out = keys.to + line * a_.total * size;
      if (keys.past != nullptr) std::copy_n(keys.past + line * s_.past * size, before_ * size, out);
      for (int64_t i = 0; i < s_.l; ++i) {
        const T* from = nullptr;
        if (packed_ != nullptr) {
          from = packed_ + (batch * s_.s + i) * width() + keys.begin + head * size;
        } else if (s_.heads_first) {
          from = InOf<T>(b_, keys.input) + (line * s_.l + i) * size;
        } else {
          from = InOf<T>(b_, keys.input) + ((batch * s_.l + i) * a_.kv_heads + head) * size;
        }
        const T* bias = keys.bias == nullptr ? nullptr : keys.bias + head * size;
        Take(from, bias, size, keys.input == kK ? PositionOf(batch, i) : -1, out + (before_ + i) * size);
      }
      std::fill(out + (before_ + s_.l) * size, out + a_.total * size, T(0));
    }
  }

  void Attend(int64_t batch, int64_t head) {
    const int64_t line = batch * a_.kv_heads + head / (a_.heads / a_.kv_heads), count = before_ + s_.l;
    const T *k = k_ + line * a_.total * a_.size, *v = v_ + line * a_.total * a_.v_size;
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t j = 0; j < a_.size; ++j) turned_k_[j * count + i] = k[i * a_.size + j];
    }
    std::fill_n(scores_, s_.s * count, T(0));
    const Matrix<T> q{q_ + head * s_.s * a_.size, a_.size, 1};
    FastProduct(Product<T>{s_.s, count, a_.size, q, turned_k_, count, scores_, count});
    const int64_t line_out = a_.heads * a_.v_size;
    T* out = static_cast<T*>(b_.out[0]) + batch * s_.s * line_out + head * a_.v_size;
    for (int64_t i = 0; i < s_.s; ++i) {
      Finish(batch, head, i, scores_ + i * count);
      std::fill_n(out + i * line_out, a_.v_size, T(0));
    }
    FastProduct(Product<T>{s_.s, a_.v_size, count, Matrix<T>{scores_, count, 1}, v, a_.v_size, out, line_out});
  }

  // From products to weights that sum to 1.
  void Finish(int64_t batch, int64_t head, int64_t i, T* row) const {
    const int64_t count = before_ + s_.l;
    const T scale = static_cast<T>(a_.scale), cap = static_cast<T>(a_.softcap);
    for (int64_t j = 0; j < count; ++j) row[j] *= scale;
    if (a_.softcap > 0) {
      for (int64_t j = 0; j < count; ++j) row[j] = cap * std::tanh(row[j] / cap);
    }
    if (const T* added = InOf<T>(b_, kAdded)) {
      added += batch * s_.added_batch + head * s_.added_head + i * s_.added_row;
      for (int64_t j = 0; j < count; ++j) row[j] += added[j * s_.added_key];
    }
    Mask(batch, i, count, row);
    const int64_t last = a_.causal && i + 1 < s_.s ? std::min(before_ + i + 1, count) : count;
    const int64_t first = a_.window > 0 ? std::max<int64_t>(before_ + i + 1 - a_.window, 0) : 0;
    const T* sinks = InOf<T>(b_, kSinks);
    const bool has_sink = a_.smooth || sinks != nullptr;
    const T sink = sinks == nullptr ? T(0) : sinks[head];
    T high = has_sink ? sink : -std::numeric_limits<T>::infinity();
    for (int64_t j = first; j < last; ++j) high = std::max(high, row[j]);
    if (std::isinf(high) && !a_.plain) high = 0;
    T sum = has_sink ? std::exp(sink - high) : T(0);
    for (int64_t j = 0; j < count; ++j) {
      row[j] = j < first || j >= last ? T(0) : std::exp(row[j] - high);
      sum += row[j];
    }
    for (int64_t j = 0; j < count; ++j) row[j] = sum == 0 ? T(0) : row[j] / sum;
  }

  void Mask(int64_t batch, int64_t i, int64_t count, T* row) const {
    const int32_t* mask = InOf<int32_t>(b_, kMask);
    const T filter = static_cast<T>(a_.filter);
    const auto keep = [&](auto kept) {
      for (int64_t j = 0; j < count; ++j) {
        if (!kept(j)) row[j] += filter;
      }
    };
    switch (s_.mask) {
      case MaskForm::kNone:
        return;
      case MaskForm::kLengths:
        return keep([&](int64_t j) { return j < mask[batch]; });
      case MaskForm::kRanges:
        return keep([&](int64_t j) { return j < mask[batch] && j >= mask[s_.batch + batch]; });
      case MaskForm::kKeys:
        return keep([&](int64_t j) { return mask[batch * a_.total + j] != 0; });
      case MaskForm::kPairs:
        return keep([&](int64_t j) { return mask[(batch * s_.s + i) * a_.total + j] != 0; });
    }
  }

  const Attention& a_;
  const Shape& s_;
  const Buffers& b_;
  const T* packed_ = nullptr;
  int64_t before_ = 0;
  T *q_, *k_, *v_, *turned_k_, *scores_, *projected_;
};

Shape ShapeOf(const Operation& operation) {
  const std::vector<int64_t>& q = operation.in[kQ].dim;
  Shape s{q[0], q[1], q[1], 0, q[2], false, !HasInput(operation, kK), MaskForm::kNone, 0, 0, 0, 0, 0, 0, 0};
  if (!s.packed) {
    s.heads_first = operation.in[kK].dim.size() == 4;
    s.l = operation.in[kK].dim[s.heads_first ? 2 : 1];
  }
  if (HasInput(operation, kPastK)) s.past = operation.in[kPastK].dim[operation.in[kPastK].dim.size() - 2];
  if (HasInput(operation, kMask)) {
    const std::vector<int64_t>& mask = operation.in[kMask].dim;
    s.mask = mask.size() == 3         ? MaskForm::kPairs
             : mask.size() == 2       ? MaskForm::kKeys
             : mask[0] == 2 * s.batch ? MaskForm::kRanges
                                      : MaskForm::kLengths;
  }
  if (HasInput(operation, kAdded)) {
    const std::vector<int64_t>& added = operation.in[kAdded].dim;
    s.added_key = added[3] == 1 ? 0 : 1;
    s.added_keys = added[3] == 1 ? 0 : added[3];
    s.added_row = added[2] == 1 ? 0 : added[3];
    s.added_head = added[1] == 1 ? 0 : added[2] * added[3];
    s.added_batch = added[0] == 1 ? 0 : added[1] * added[2] * added[3];
  }
  if (HasInput(operation, kCosine)) {
    s.angles = operation.in[kCosine].dim[0];
    s.turned = operation.in[kCosine].dim[1];
  }
  return s;
}

// False: more than any buffer may have.
bool LayOut(const Attention& a, const Shape& s, const Operation& operation, Layout& layout) {
  constexpr int64_t kMost = int64_t{1} << 30;
  int64_t end = 0;
  bool fits = true;
  const auto place = [&](int64_t& at, int64_t rows, int64_t columns) {
    int64_t count = 0;
    at = end;
    fits = fits && !__builtin_mul_overflow(rows, columns, &count) && count <= kMost;
    end += fits ? count : 0;
  };
  const auto is_out = [&](size_t i) { return i < operation.out.size() && operation.out[i].dtype != 0; };
  const bool both = a.joined && is_out(1);
  place(layout.q, a.heads * s.s, a.size);
  place(layout.k, is_out(1) ? 0 : s.batch * a.kv_heads, a.total * a.size);
  place(layout.v, both || is_out(2) ? 0 : s.batch * a.kv_heads, a.total * a.v_size);
  place(layout.turned_k, a.total, a.size);
  place(layout.scores, s.s, a.total);
  place(layout.projected, HasInput(operation, kWeights) ? s.batch * s.s : 0, (a.heads + a.kv_heads) * a.size + a.kv_heads * a.v_size);
  layout.end = end;
  return fits;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeAttention(const Operation& operation) {
  const Attention attention = std::get<Attention>(operation.params);
  for (size_t i = 0; i < operation.in.size(); ++i) {
    const bool integers = i == kMask || i == kLengths;
    const uint8_t wanted = integers ? uint8_t{WF_I32} : i == kPositions ? uint8_t{WF_I64} : operation.in[kQ].dtype;
    if (HasInput(operation, i) && operation.in[i].dtype != wanted) return std::unique_ptr<Kernel>();
  }
  const Shape shape = ShapeOf(operation);
  Layout layout{};
  if (!LayOut(attention, shape, operation, layout))
    return base::Status(base::kOutOfRange, "what it computes on the way takes more than 4 GiB");
  return ForType<float, double>(operation.in[kQ].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(operation.in.size(),
                               [attention, shape, layout](const Buffers& b) { return Runner<T>(attention, shape, layout, b).Run(); });
    kernel->scratch_bytes = layout.end * static_cast<int64_t>(sizeof(T));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
