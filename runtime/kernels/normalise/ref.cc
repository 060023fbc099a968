#include <algorithm>
#include <cmath>

#include "runtime/kernels/reduce/walk.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels::ref {
namespace {

struct Channels {
  int64_t n, c, inner;
};

Channels ChannelsOf(const std::vector<int64_t>& dim) {
  Channels channels{dim[0], dim[1], 1};
  for (size_t i = 2; i < dim.size(); ++i) channels.inner *= dim[i];
  return channels;
}

template <typename T>
void RunGroups(const Channels& s, const GroupNorm& norm, bool by_channel, const Buffers& b) {
  const T *x = static_cast<const T*>(b.in[0]), *scale = static_cast<const T*>(b.in[1]), *shift = static_cast<const T*>(b.in[2]);
  T* y = static_cast<T*>(b.out[0]);
  const int64_t channels = s.c / norm.groups, size = channels * s.inner;
  for (int64_t part = 0; part < s.n * norm.groups; ++part, x += size, y += size) {
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < size; ++i) mean += static_cast<double>(x[i]);
    mean /= static_cast<double>(size);
    for (int64_t i = 0; i < size; ++i) variance += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
    variance /= static_cast<double>(size);
    const double inverse = 1 / std::sqrt(variance + static_cast<double>(norm.epsilon));
    const int64_t group = part % norm.groups;
    for (int64_t i = 0; i < channels; ++i) {
      const int64_t k = by_channel ? group * channels + i : group;
      const T factor = static_cast<T>(inverse * static_cast<double>(scale[k])), middle = static_cast<T>(mean), offset = shift[k];
      const T* from = x + i * s.inner;
      T* to = y + i * s.inner;
      for (int64_t j = 0; j < s.inner; ++j) to[j] = (from[j] - middle) * factor + offset;
    }
  }
}

template <typename T>
void RunMeanVariance(const Walk& walk, const Buffers& b) {
  const T* x = static_cast<const T*>(b.in[0]);
  T* y = static_cast<T*>(b.out[0]);
  double *mean = static_cast<double*>(b.scratch), *spread = mean + walk.out_count;
  std::fill(mean, mean + 2 * walk.out_count, 0.0);
  const double count = static_cast<double>(walk.reduced);
  ForEachRun(walk, [&](int64_t at, int64_t out, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) mean[out + i * stride] += static_cast<double>(x[at + i]);
  });
  for (int64_t i = 0; i < walk.out_count; ++i) mean[i] /= count;
  ForEachRun(walk, [&](int64_t at, int64_t out, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const double apart = static_cast<double>(x[at + i]) - mean[out + i * stride];
      spread[out + i * stride] += apart * apart;
    }
  });
  for (int64_t i = 0; i < walk.out_count; ++i) spread[i] = std::sqrt(spread[i] / count) + 1e-9;
  ForEachRun(walk, [&](int64_t at, int64_t out, int64_t stride, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      y[at + i] = static_cast<T>((static_cast<double>(x[at + i]) - mean[out + i * stride]) / spread[out + i * stride]);
    }
  });
}

template <typename T>
void RunLp(int64_t outer, int64_t n, int64_t inner, int p, const Buffers& b) {
  const T* x = static_cast<const T*>(b.in[0]);
  T* y = static_cast<T*>(b.out[0]);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t first = o * n * inner + i;
      double norm = 0;
      for (int64_t k = 0; k < n; ++k) {
        const double value = static_cast<double>(x[first + k * inner]);
        norm += p == 1 ? std::abs(value) : value * value;
      }
      if (p == 2) norm = std::sqrt(norm);
      for (int64_t k = 0; k < n; ++k) {
        const double value = static_cast<double>(x[first + k * inner]);
        y[first + k * inner] = norm == 0 ? T(0) : static_cast<T>(value / norm);
      }
    }
  }
}

template <typename T>
void RunLocal(const Channels& s, const LocalNorm& norm, const Buffers& b) {
  const T* x = static_cast<const T*>(b.in[0]);
  T* y = static_cast<T*>(b.out[0]);
  double* sums = static_cast<double*>(b.scratch);
  const int64_t below = (norm.size - 1) / 2, above = norm.size - 1 - below;
  const double factor = static_cast<double>(norm.alpha) / static_cast<double>(norm.size), power = static_cast<double>(norm.beta);
  for (int64_t plane = 0; plane < s.n * s.c; ++plane) {
    const int64_t k = plane % s.c, first = std::max<int64_t>(k - below, 0), last = std::min(k + above, s.c - 1);
    std::fill(sums, sums + s.inner, 0.0);
    for (int64_t each = first; each <= last; ++each) {
      const T* from = x + (plane - k + each) * s.inner;
      for (int64_t i = 0; i < s.inner; ++i) sums[i] += static_cast<double>(from[i]) * static_cast<double>(from[i]);
    }
    for (int64_t i = 0; i < s.inner; ++i) {
      const double divisor = std::pow(static_cast<double>(norm.bias) + factor * sums[i], power);
      y[plane * s.inner + i] = static_cast<T>(static_cast<double>(x[plane * s.inner + i]) / divisor);
    }
  }
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeGroupNorm(const Operation& operation) {
  const GroupNorm norm = std::get<GroupNorm>(operation.params);
  const Channels channels = ChannelsOf(operation.in[0].dim);
  const bool by_channel = operation.in[1].count() == channels.c;
  for (size_t i = 1; i < 3; ++i) {
    if (operation.in[i].dtype != operation.in[0].dtype) return std::unique_ptr<Kernel>();
  }
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(3, [channels, norm, by_channel](const Buffers& b) -> const char* {
      RunGroups<T>(channels, norm, by_channel, b);
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeMeanVariance(const Operation& operation) {
  const Walk walk = WalkOf(operation.in[0].dim, std::get<MeanVariance>(operation.params).axis);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(1, [walk](const Buffers& b) -> const char* {
      RunMeanVariance<T>(walk, b);
      return nullptr;
    });
    kernel->scratch_bytes = 2 * walk.out_count * static_cast<int64_t>(sizeof(double));
    return kernel;
  });
}

base::Result<std::unique_ptr<Kernel>> MakeLpNorm(const Operation& operation) {
  const LpNorm norm = std::get<LpNorm>(operation.params);
  const std::vector<int64_t>& dim = operation.in[0].dim;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < dim.size(); ++i) {
    if (i != norm.axis) (i < norm.axis ? outer : inner) *= dim[i];
  }
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    return MakeFunction(1, [outer, n = dim[norm.axis], inner, p = norm.p](const Buffers& b) -> const char* {
      RunLp<T>(outer, n, inner, p, b);
      return nullptr;
    });
  });
}

base::Result<std::unique_ptr<Kernel>> MakeLocalNorm(const Operation& operation) {
  const LocalNorm norm = std::get<LocalNorm>(operation.params);
  const Channels channels = ChannelsOf(operation.in[0].dim);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(1, [channels, norm](const Buffers& b) -> const char* {
      RunLocal<T>(channels, norm, b);
      return nullptr;
    });
    kernel->scratch_bytes = channels.inner * static_cast<int64_t>(sizeof(double));
    return kernel;
  });
}

}  // namespace wf::kernels::ref
