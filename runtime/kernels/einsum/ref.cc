#include <algorithm>
#include <type_traits>

#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

constexpr int64_t kTooMany = int64_t{1} << 40;  // elements: more than any buffer has

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kTooMany : std::min(product, kTooMany);
}

using Strides = std::vector<int64_t>;  // by label; 0 where the operand does not have it

// Loops over some labels, of which each has a stride in two tensors.
struct Loops {
  std::vector<int64_t> extent, from, to;

  void Add(int64_t n, int64_t from_stride, int64_t to_stride) {
    extent.push_back(n);
    from.push_back(from_stride);
    to.push_back(to_stride);
  }
  // f(offset in the one, in the other)
  template <typename F>
  void ForEach(F f) const {
    int64_t count = 1;
    for (const int64_t each : extent) count *= each;
    std::vector<int64_t> at(extent.size(), 0);
    int64_t a = 0, b = 0;
    for (int64_t i = 0; i < count; ++i) {
      f(a, b);
      for (size_t axis = extent.size(); axis-- > 0;) {
        a += from[axis];
        b += to[axis];
        if (++at[axis] < extent[axis]) break;
        a -= from[axis] * extent[axis];
        b -= to[axis] * extent[axis];
        at[axis] = 0;
      }
    }
  }
};

// One product of what there is so far with the next input: both are packed as matrices, [batch, m, k] and [batch, k, n], in which labels
// that nobody needs later are summed, and the result is unpacked.
struct Step {
  Loops pack_a, pack_b, unpack;
  int64_t batch = 1, m = 1, n = 1, k = 1;
  int64_t result = 0;  // elements of what comes out, dense in the order of its labels
};

struct Program {
  std::vector<Step> steps;
  int64_t a_count = 0, b_count = 0, product_count = 0, result_count = 0;  // the most of any step
};

class Compiler {
 public:
  Compiler(const Einsum& einsum, const Operation& operation) : einsum_(einsum), extent_(einsum.labels, 1) {
    for (size_t i = 0; i < einsum.in.size(); ++i) {
      const std::vector<int64_t>& dim = operation.in[i].dim;
      Strides strides(einsum.labels, 0);
      int64_t stride = 1;
      for (size_t axis = dim.size(); axis-- > 0; stride *= dim[axis]) {
        const size_t label = einsum.in[i][axis];
        if (dim[axis] != 1) extent_[label] = dim[axis];
        if (dim[axis] != 1) strides[label] += stride;
      }
      inputs_.push_back(std::move(strides));
    }
  }

  Program Compile() {
    Program program;
    Strides left = inputs_[0];
    std::vector<bool> left_has = Has(0);
    for (size_t i = 1; i < inputs_.size() || i == 1; ++i) {
      const bool alone = inputs_.size() == 1;
      const Strides right = alone ? Strides(einsum_.labels, 0) : inputs_[i];
      const std::vector<bool> right_has = alone ? std::vector<bool>(einsum_.labels, false) : Has(i);
      std::vector<bool> needed(einsum_.labels, false);
      std::fill_n(needed.begin(), einsum_.out_rank, true);
      for (size_t later = i + 1; later < inputs_.size(); ++later) {
        for (const size_t label : einsum_.in[later]) needed[label] = true;
      }
      Step step = MakeStep(left, left_has, right, right_has, needed);
      program.a_count = std::max(program.a_count, Times(Times(step.batch, step.m), step.k));
      program.b_count = std::max(program.b_count, Times(Times(step.batch, step.k), step.n));
      program.product_count = std::max(program.product_count, Times(Times(step.batch, step.m), step.n));
      program.result_count = std::max(program.result_count, step.result);
      program.steps.push_back(std::move(step));
    }
    return program;
  }

 private:
  std::vector<bool> Has(size_t input) const {
    std::vector<bool> has(einsum_.labels, false);
    for (const size_t label : einsum_.in[input]) has[label] = true;
    return has;
  }

  // Replaces left by the result.
  Step MakeStep(Strides& left, std::vector<bool>& left_has, const Strides& right, const std::vector<bool>& right_has,
                const std::vector<bool>& needed) const {
    std::vector<size_t> batch, m, n, k, only_left, only_right;
    for (size_t label = 0; label < einsum_.labels; ++label) {
      const bool a = left_has[label], b = right_has[label];
      if (a && b) (needed[label] ? batch : k).push_back(label);
      if (a && !b) (needed[label] ? m : only_left).push_back(label);
      if (b && !a) (needed[label] ? n : only_right).push_back(label);
    }
    Step step;
    const auto size = [&](const std::vector<size_t>& labels) {
      int64_t count = 1;
      for (const size_t label : labels) count = Times(count, extent_[label]);
      return count;
    };
    step.batch = size(batch);
    step.m = size(m);
    step.n = size(n);
    step.k = size(k);
    step.pack_a = Pack({batch, m, k}, only_left, left);
    step.pack_b = Pack({batch, k, n}, only_right, right);
    Strides result(einsum_.labels, 0);
    step.result = 1;
    for (size_t label = einsum_.labels; label-- > 0;) {
      if (!needed[label] || !(left_has[label] || right_has[label])) continue;
      result[label] = step.result;
      step.result = Times(step.result, extent_[label]);
    }
    for (const auto* group : {&batch, &m, &n}) {
      for (const size_t label : *group) step.unpack.Add(extent_[label], 0, result[label]);
    }
    for (size_t label = 0; label < einsum_.labels; ++label) {
      left_has[label] = needed[label] && (left_has[label] || right_has[label]);
    }
    left = std::move(result);
    return step;
  }

  Loops Pack(const std::vector<std::vector<size_t>>& groups, const std::vector<size_t>& summed, const Strides& from) const {
    Loops loops;
    int64_t stride = 1;
    for (const auto& group : groups) {
      for (const size_t label : group) stride = Times(stride, extent_[label]);
    }
    for (const auto& group : groups) {
      for (const size_t label : group) {
        stride = extent_[label] == 0 ? 0 : stride / extent_[label];
        loops.Add(extent_[label], from[label], stride);
      }
    }
    for (const size_t label : summed) loops.Add(extent_[label], from[label], 0);
    return loops;
  }

  const Einsum& einsum_;
  std::vector<int64_t> extent_;
  std::vector<Strides> inputs_;
};

template <typename T>
void Run(const Program& program, size_t inputs, const Buffers& buffers) {
  T* a = static_cast<T*>(buffers.scratch);
  T *b = a + program.a_count, *product = b + program.b_count, *result = product + program.product_count;
  const T* left = static_cast<const T*>(buffers.in[0]);
  const T one = 1;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const T* right = inputs == 1 ? &one : static_cast<const T*>(buffers.in[i + 1]);
    std::fill(a, a + step.batch * step.m * step.k, T(0));
    step.pack_a.ForEach([&](int64_t from, int64_t to) { a[to] = static_cast<T>(a[to] + left[from]); });
    std::fill(b, b + step.batch * step.k * step.n, T(0));
    step.pack_b.ForEach([&](int64_t from, int64_t to) { b[to] = static_cast<T>(b[to] + right[from]); });
    std::fill(product, product + step.batch * step.m * step.n, T(0));
    for (int64_t each = 0; each < step.batch; ++each) {
      const Matrix<T> factor{a + each * step.m * step.k, step.k, 1};
      FastProduct(Product<T>{step.m, step.n, step.k, factor, b + each * step.k * step.n, step.n, product + each * step.m * step.n, step.n});
    }
    T* const target = i + 1 == program.steps.size() ? static_cast<T*>(buffers.out[0]) : result;
    int64_t at = 0;
    step.unpack.ForEach([&](int64_t, int64_t to) { target[to] = product[at++]; });
    left = target;
  }
}

// Signed integers are computed as unsigned ones: they wrap.
template <typename T>
struct Wrapping {
  using Type = T;
};
template <typename T>
  requires std::is_signed_v<T> && std::is_integral_v<T>
struct Wrapping<T> {
  using Type = std::make_unsigned_t<T>;
};

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeEinsum(const Operation& operation) {
  constexpr int64_t kMostBytes = int64_t{4} << 30;
  const Einsum& einsum = std::get<Einsum>(operation.params);
  Program program = Compiler(einsum, operation).Compile();
  // Each step's parts, which products of the inputs' extents bound only together.
  const int64_t size = base::DTypeSize(operation.in[0].dtype);
  int64_t scratch = 0;
  for (const int64_t count : {program.a_count, program.b_count, program.product_count, program.result_count}) {
    int64_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > kMostBytes)
      return base::Status(base::kOutOfRange, "what it computes on the way takes more than 4 GiB");
    scratch += bytes;
  }
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.in[0].dtype, [&]<typename T>() {
        auto kernel = MakeFunction(operation.in.size(), [program, inputs = operation.in.size()](const Buffers& b) -> const char* {
          Run<typename Wrapping<T>::Type>(program, inputs, b);
          return nullptr;
        });
        kernel->scratch_bytes = scratch;
        return kernel;
      });
}

}  // namespace wf::kernels::ref
