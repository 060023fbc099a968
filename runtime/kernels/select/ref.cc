#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/texts.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::ref {
namespace {

constexpr uint16_t kHalfMagnitude = 0x7fff;

// Whether the element is other than 0; halves by their bits.
struct IsSet {
  template <typename T>
  bool operator()(T value) const {
    return value != T(0);
  }
};
struct IsSetHalf {
  bool operator()(uint16_t bits) const { return (bits & kHalfMagnitude) != 0; }
};

template <typename T, typename Set>
std::unique_ptr<Kernel> MakeNonZeroOf(std::vector<int64_t> dim, Set set) {
  if (dim.empty()) dim.push_back(1);
  return MakeFunction(1, [dim, set, total = CountOf(dim), place = StridesOf(dim)](const Buffers& b) -> const char* {
    const T* x = static_cast<const T*>(b.in[0]);
    int64_t* out = static_cast<int64_t*>(b.out[0]);
    int64_t* extents = static_cast<int64_t*>(b.out.back());
    const int64_t found = std::count_if(x, x + total, set);
    extents[0] = static_cast<int64_t>(dim.size());
    extents[1] = found;
    int64_t next = 0;
    for (int64_t i = 0; i < total && next < found; ++i) {
      if (!set(x[i])) continue;
      int64_t rest = i;
      for (size_t axis = 0; axis < dim.size(); ++axis) {
        out[static_cast<int64_t>(axis) * found + next] = rest / place[axis];
        rest %= place[axis];
      }
      ++next;
    }
    return nullptr;
  });
}

const char* RunCompress(const Buffers& b, const Around& around, int64_t tests, int64_t bytes) {
  const uint8_t *in = static_cast<const uint8_t*>(b.in[0]), *wanted = static_cast<const uint8_t*>(b.in[1]);
  uint8_t* out = static_cast<uint8_t*>(b.out[0]);
  for (int64_t o = 0; o < around.outer; ++o) {
    for (int64_t k = 0; k < tests; ++k) {
      if (wanted[k] == 0) continue;
      if (bytes > 0) std::memcpy(out, in + (o * around.extent + k) * bytes, static_cast<size_t>(bytes));
      out += bytes;
    }
  }
  return nullptr;
}

// Slices along an axis, or elements, and how they compare.
template <typename T>
struct Slices {
  const T* x;
  Around around;
  const Texts* texts = nullptr;  // whose numbers the elements are; null: their own

  T At(int64_t slice, int64_t o, int64_t i) const { return x[(o * around.extent + slice) * around.inner + i]; }
  int Compare(int64_t a, int64_t b) const {
    for (int64_t o = 0; o < around.outer; ++o) {
      for (int64_t i = 0; i < around.inner; ++i) {
        const T p = At(a, o, i), q = At(b, o, i);
        if constexpr (std::is_same_v<T, int64_t>) {
          if (const int order = texts == nullptr || p == q ? 0 : texts->At(p).compare(texts->At(q)); order != 0) return order;
          if (texts != nullptr) continue;
        }
        if (p < q || (p == p && q != q)) return -1;
        if (q < p || (q == q && p != p)) return 1;
      }
    }
    return 0;
  }
};

// Scratch of Unique, each as long as there are slices: slices in order, the group of each place in that order, the first slice of each
// group, the groups as they are told.
struct UniqueScratch {
  int64_t *order, *group, *first, *told;
  UniqueScratch(void* scratch, int64_t n) : order(static_cast<int64_t*>(scratch)), group(order + n), first(group + n), told(first + n) {}
};

// Gives how many different slices there are.
template <typename T>
int64_t GroupSlices(const Slices<T>& slices, bool sorted, const UniqueScratch& s) {
  const int64_t n = slices.around.extent;
  std::iota(s.order, s.order + n, 0);
  std::sort(s.order, s.order + n, [&](int64_t a, int64_t b) {
    const int order = slices.Compare(a, b);
    return order != 0 ? order < 0 : a < b;
  });
  int64_t groups = 0;
  for (int64_t i = 0; i < n; ++i) {
    const bool is_new = i == 0 || slices.Compare(s.order[i - 1], s.order[i]) != 0;
    if (is_new) s.first[groups++] = s.order[i];
    s.group[i] = groups - 1;
  }
  std::iota(s.told, s.told + groups, 0);
  if (!sorted) std::sort(s.told, s.told + groups, [&](int64_t a, int64_t b) { return s.first[a] < s.first[b]; });
  return groups;
}

template <typename T>
void WriteUnique(const Slices<T>& slices, int64_t groups, UniqueScratch s, const Buffers& b) {
  const int64_t n = slices.around.extent, inner = slices.around.inner;
  const auto out = [&](size_t i) { return i + 1 < b.out.size() ? static_cast<int64_t*>(b.out[i]) : nullptr; };
  T* y = static_cast<T*>(b.out[0]);
  for (int64_t o = 0; o < slices.around.outer; ++o) {
    for (int64_t k = 0; k < groups; ++k) {
      for (int64_t i = 0; i < inner; ++i) *y++ = slices.At(s.first[s.told[k]], o, i);
    }
  }
  if (out(1) != nullptr) {
    for (int64_t k = 0; k < groups; ++k) out(1)[k] = s.first[s.told[k]];
  }
  int64_t* place = s.first;  // from here on, where each group is told
  for (int64_t k = 0; k < groups; ++k) place[s.told[k]] = k;
  if (out(3) != nullptr) std::fill_n(out(3), groups, 0);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t group = place[s.group[i]];
    if (out(2) != nullptr) out(2)[s.order[i]] = group;
    if (out(3) != nullptr) ++out(3)[group];
  }
}

template <typename T>
struct Box {
  T top, left, bottom, right;
  Box(const T* at, bool centered) {
    if (centered) {
      left = at[0] - at[2] / 2, right = at[0] + at[2] / 2;
      top = at[1] - at[3] / 2, bottom = at[1] + at[3] / 2;
    } else {
      top = std::min(at[0], at[2]), bottom = std::max(at[0], at[2]);
      left = std::min(at[1], at[3]), right = std::max(at[1], at[3]);
    }
  }
  T area() const { return (bottom - top) * (right - left); }
  bool Overlaps(const Box& other, float most) const {
    const T height = std::min(bottom, other.bottom) - std::max(top, other.top),
            width = std::min(right, other.right) - std::max(left, other.left);
    if (!(height > 0) || !(width > 0)) return false;
    const T both = height * width, either = area() + other.area() - both;
    return area() > 0 && other.area() > 0 && either > 0 && both / either > static_cast<T>(most);
  }
};

struct Suppression {
  int64_t images, classes, boxes;
  bool centered;
};

// The boxes of one class that stay, in `kept`; gives how many.
template <typename T>
int64_t KeepBoxes(const Suppression& s, const Buffers& b, const T* boxes, const T* scores, int64_t* order) {
  const auto given = [&](size_t i) { return i < b.in.size() ? b.in[i] : nullptr; };
  const int64_t most = given(2) != nullptr ? *static_cast<const int64_t*>(given(2)) : 0;
  const float overlap = given(3) != nullptr ? *static_cast<const float*>(given(3)) : 0;
  const float* threshold = static_cast<const float*>(given(4));
  int64_t candidates = 0;
  for (int64_t i = 0; i < s.boxes; ++i) {
    const bool counts = threshold != nullptr ? scores[i] > static_cast<T>(*threshold) : scores[i] == scores[i];
    if (counts) order[candidates++] = i;
  }
  std::sort(order, order + candidates, [&](int64_t p, int64_t q) { return scores[p] > scores[q] || (scores[p] == scores[q] && p < q); });
  int64_t kept = 0;
  for (int64_t i = 0; i < candidates && kept < most; ++i) {
    const Box<T> box(boxes + 4 * order[i], s.centered);
    const bool is_free =
        std::none_of(order, order + kept, [&](int64_t other) { return box.Overlaps(Box<T>(boxes + 4 * other, s.centered), overlap); });
    if (is_free) order[kept++] = order[i];
  }
  return kept;
}

template <typename T>
const char* RunSuppression(const Suppression& s, const Buffers& b) {
  int64_t* out = static_cast<int64_t*>(b.out[0]);
  int64_t* order = static_cast<int64_t*>(b.scratch);
  int64_t found = 0;
  for (int64_t image = 0; image < s.images; ++image) {
    for (int64_t of = 0; of < s.classes; ++of) {
      const T* boxes = static_cast<const T*>(b.in[0]) + image * s.boxes * 4;
      const T* scores = static_cast<const T*>(b.in[1]) + (image * s.classes + of) * s.boxes;
      const int64_t kept = KeepBoxes<T>(s, b, boxes, scores, order);
      for (int64_t i = 0; i < kept; ++i, ++found) {
        out[3 * found] = image;
        out[3 * found + 1] = of;
        out[3 * found + 2] = order[i];
      }
    }
  }
  int64_t* extents = static_cast<int64_t*>(b.out.back());
  extents[0] = found;
  extents[1] = 3;
  return nullptr;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeNonZero(const Operation& operation) {
  const TensorInfo& in = operation.in[0];
  if (in.dtype == WF_F16 || in.dtype == WF_BF16) return MakeNonZeroOf<uint16_t>(in.dim, IsSetHalf());
  return ForType<bool, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      in.dtype, [&]<typename T>() { return MakeNonZeroOf<T>(in.dim, IsSet()); });
}

base::Result<std::unique_ptr<Kernel>> MakeCompress(const Operation& operation) {
  const auto axis = std::get<Compress>(operation.params).axis;
  const TensorInfo& in = operation.in[0];
  const Around around = axis ? AroundAxis(in.dim, *axis) : Around{1, in.count(), 1};
  const int64_t tests = std::min(around.extent, operation.in[1].count()), bytes = around.inner * base::DTypeSize(in.dtype);
  std::vector<int64_t> dim = axis ? in.dim : std::vector<int64_t>{0};
  return MakeFunction(2, [around, tests, bytes, dim, at = axis.value_or(0)](const Buffers& b) -> const char* {
    const uint8_t* wanted = static_cast<const uint8_t*>(b.in[1]);
    int64_t* extents = static_cast<int64_t*>(b.out.back());
    std::copy(dim.begin(), dim.end(), extents);
    extents[at] = tests - std::count(wanted, wanted + tests, 0);
    return RunCompress(b, around, tests, bytes);
  });
}

base::Result<std::unique_ptr<Kernel>> MakeUnique(const Operation& operation) {
  const auto& [axis, sorted, of_texts] = std::get<Unique>(operation.params);
  const TensorInfo& in = operation.in[0];
  const Around around = axis ? AroundAxis(in.dim, *axis) : Around{1, in.count(), 1};
  std::vector<int64_t> dim = axis ? in.dim : std::vector<int64_t>{0};
  return ForType<bool, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      in.dtype, [&]<typename T>() {
        auto kernel =
            MakeFunction(1, [around, dim, at = axis.value_or(0), sorted = sorted, of_texts = of_texts](const Buffers& b) -> const char* {
              const Slices<T> slices{static_cast<const T*>(b.in[0]), around, of_texts ? b.texts : nullptr};
              const UniqueScratch scratch(b.scratch, around.extent);
              const int64_t groups = GroupSlices(slices, sorted, scratch);
              int64_t* extents = static_cast<int64_t*>(b.out.back());
              std::copy(dim.begin(), dim.end(), extents);
              extents[at] = groups;
              WriteUnique(slices, groups, scratch, b);
              return nullptr;
            });
        kernel->scratch_bytes = around.extent * 4 * 8;
        return kernel;
      });
}

base::Result<std::unique_ptr<Kernel>> MakeNonMaxSuppression(const Operation& operation) {
  const std::vector<int64_t>& scores = operation.in[1].dim;
  const Suppression suppression{scores[0], scores[1], scores[2], std::get<NonMaxSuppression>(operation.params).centered};
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(operation.in.size(), [suppression](const Buffers& b) { return RunSuppression<T>(suppression, b); });
    kernel->scratch_bytes = suppression.boxes * 8;
    return kernel;
  });
}

}  // namespace wf::kernels::ref
