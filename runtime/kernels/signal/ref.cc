#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/kernels/ref.h"
#include "runtime/kernels/signal/fourier.h"

namespace wf::kernels::ref {
namespace {

using Complex = Fourier::Complex;

// Bytes for one row and for the transform's own work. Errors: a length whose tables of angles would be larger than most models.
base::Result<int64_t> WorkBytes(int64_t length) {
  constexpr int64_t kMostLength = int64_t{1} << 22;
  if (length < 1 || length > kMostLength) return base::Status(base::kOutOfRange, "a transform of more than 2^22 elements");
  return (length + Fourier::WorkCount(length)) * static_cast<int64_t>(sizeof(Complex));
}

struct Rows {
  int64_t outer, in, inner, parts, out;  // in, out: extents of the axis
};

template <typename T>
void Transform(const Rows& s, const Dft& dft, const Fourier& fourier, const Buffers& b) {
  const T* x = static_cast<const T*>(b.in[0]);
  T* y = static_cast<T*>(b.out[0]);
  Complex *row = static_cast<Complex*>(b.scratch), *work = row + dft.length;
  const int64_t given = std::min(s.in, dft.length);
  const double scale = dft.inverse ? 1 / static_cast<double>(dft.length) : 1;
  for (int64_t each = 0; each < s.outer * s.inner; ++each) {
    const int64_t outer = each / s.inner, inner = each % s.inner;
    for (int64_t k = 0; k < dft.length; ++k) {
      const T* from = x + ((outer * s.in + k) * s.inner + inner) * s.parts;
      row[k] = k >= given ? Complex(0) : Complex(static_cast<double>(from[0]), s.parts == 2 ? static_cast<double>(from[1]) : 0);
    }
    fourier.Run(row, work);
    for (int64_t k = 0; k < s.out; ++k) {
      T* to = y + ((outer * s.out + k) * s.inner + inner) * 2;
      to[0] = static_cast<T>(row[k].real() * scale);
      to[1] = static_cast<T>(row[k].imag() * scale);
    }
  }
}

struct Frames {
  int64_t batch, n, parts, frames, bins;
};

template <typename T>
void TransformFrames(const Frames& s, const ShortDft& dft, const Fourier& fourier, const Buffers& b) {
  const T* x = static_cast<const T*>(b.in[0]);
  const T* window = b.in.size() > 1 ? static_cast<const T*>(b.in[1]) : nullptr;
  T* y = static_cast<T*>(b.out[0]);
  Complex *row = static_cast<Complex*>(b.scratch), *work = row + dft.length;
  for (int64_t each = 0; each < s.batch * s.frames; ++each) {
    const T* from = x + (each / s.frames * s.n + each % s.frames * dft.step) * s.parts;
    for (int64_t k = 0; k < dft.length; ++k) {
      const double factor = window == nullptr ? 1 : static_cast<double>(window[k]);
      row[k] = {factor * static_cast<double>(from[k * s.parts]), s.parts == 2 ? factor * static_cast<double>(from[k * s.parts + 1]) : 0};
    }
    fourier.Run(row, work);
    for (int64_t k = 0; k < s.bins; ++k) {
      *y++ = static_cast<T>(row[k].real());
      *y++ = static_cast<T>(row[k].imag());
    }
  }
}

template <typename T>
T Cut(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return Saturated<T>(value);
  }
}

// Of a band's edge, the bin of the spectrum in which it lies.
double BinOf(double mel, const MelWeights& mels) {
  const double frequency = 700 * (std::pow(10.0, mel / 2595) - 1);
  return std::floor(static_cast<double>(mels.length + 1) * frequency / static_cast<double>(mels.sample_rate));
}

struct Bands {
  int64_t bins, bands;
  double low, high;  // frequencies
};

template <typename T>
const char* FillMels(const MelWeights& mels, const Bands& of, T* y) {
  const auto [bins, bands, low, high] = of;
  const auto mel_of = [](double frequency) { return 2595 * std::log10(1 + frequency / 700); };
  const double first = mel_of(low), step = (mel_of(high) - first) / static_cast<double>(bands + 2);
  std::fill(y, y + bins * bands, T(0));
  for (int64_t band = 0; band < bands; ++band) {
    double edge[3];
    for (int64_t i = 0; i < 3; ++i) {
      edge[i] = BinOf(first + step * static_cast<double>(band + i), mels);
      if (!(edge[i] >= 0 && edge[i] <= static_cast<double>(bins))) return "a band beyond the spectrum";
    }
    const int64_t left = static_cast<int64_t>(edge[0]), middle = static_cast<int64_t>(edge[1]), right = static_cast<int64_t>(edge[2]);
    const auto put = [&](int64_t bin, double value) {
      if (bin < bins) y[bin * bands + band] = Cut<T>(value);
    };
    if (left == middle) put(middle, 1);
    for (int64_t bin = left; left < middle && bin <= middle; ++bin) put(bin, static_cast<double>(bin - left) / (edge[1] - edge[0]));
    for (int64_t bin = middle; bin < right; ++bin) put(bin, static_cast<double>(right - bin) / (edge[2] - edge[1]));
  }
  return nullptr;
}

double NumberOf(const void* element, uint8_t dtype) {
  return dtype == WF_F64 ? *static_cast<const double*>(element) : static_cast<double>(*static_cast<const float*>(element));
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeDft(const Operation& operation) {
  const Dft dft = std::get<Dft>(operation.params);
  const std::vector<int64_t>& dim = operation.in[0].dim;
  Rows rows{1, dim[dft.axis], 1, dim.back(), operation.out[0].dim[dft.axis]};
  for (size_t i = 0; i + 1 < dim.size(); ++i) {
    if (i != dft.axis) (i < dft.axis ? rows.outer : rows.inner) *= dim[i];
  }
  const auto bytes = WorkBytes(dft.length);
  if (!bytes.ok()) return bytes.status();
  const Fourier fourier(dft.length, dft.inverse);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(1, [rows, dft, fourier](const Buffers& b) -> const char* {
      Transform<T>(rows, dft, fourier, b);
      return nullptr;
    });
    kernel->scratch_bytes = *bytes;
    return kernel;
  });
}

base::Result<std::unique_ptr<Kernel>> MakeShortDft(const Operation& operation) {
  const ShortDft dft = std::get<ShortDft>(operation.params);
  const std::vector<int64_t>&dim = operation.in[0].dim, &out = operation.out[0].dim;
  const Frames frames{dim[0], dim[1], dim.size() == 3 ? dim[2] : 1, out[1], out[2]};
  const auto bytes = WorkBytes(dft.length);
  if (!bytes.ok()) return bytes.status();
  const bool has_window = operation.in.size() > 1 && operation.in[1].dtype != 0;
  if (has_window && operation.in[1].dtype != operation.in[0].dtype) return std::unique_ptr<Kernel>();
  const Fourier fourier(dft.length, false);
  return ForType<float, double>(operation.in[0].dtype, [&]<typename T>() {
    auto kernel = MakeFunction(operation.in.size(), [frames, dft, fourier](const Buffers& b) -> const char* {
      TransformFrames<T>(frames, dft, fourier, b);
      return nullptr;
    });
    kernel->scratch_bytes = *bytes;
    return kernel;
  });
}

base::Result<std::unique_ptr<Kernel>> MakeSignalWindow(const Operation& operation) {
  const SignalWindow window = std::get<SignalWindow>(operation.params);
  const int64_t count = operation.out[0].count();
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.out[0].dtype, [&]<typename T>() {
        return MakeFunction(operation.in.size(), [window, count](const Buffers& b) -> const char* {
          const double n = static_cast<double>(window.periodic ? count : count - 1);
          for (int64_t i = 0; i < count; ++i) {
            const double angle = n == 0 ? 0 : 2 * std::numbers::pi * static_cast<double>(i) / n;
            const double value = window.first - window.second * std::cos(angle) + window.third * std::cos(2 * angle);
            static_cast<T*>(b.out[0])[i] = Cut<T>(value);
          }
          return nullptr;
        });
      });
}

base::Result<std::unique_ptr<Kernel>> MakeMelWeights(const Operation& operation) {
  const MelWeights mels = std::get<MelWeights>(operation.params);
  const int64_t bins = operation.out[0].dim[0], bands = operation.out[0].dim[1];
  const uint8_t dtype = operation.in[0].dtype;
  if ((dtype != WF_F32 && dtype != WF_F64) || operation.in[1].dtype != dtype) return std::unique_ptr<Kernel>();
  return ForType<float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      operation.out[0].dtype, [&]<typename T>() {
        return MakeFunction(2, [mels, bins, bands, dtype](const Buffers& b) -> const char* {
          return FillMels<T>(mels, {bins, bands, NumberOf(b.in[0], dtype), NumberOf(b.in[1], dtype)}, static_cast<T*>(b.out[0]));
        });
      });
}

}  // namespace wf::kernels::ref
