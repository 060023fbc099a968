// Products beyond convolution, and recurrent layers, against plain loops in f64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/unit/runtime/kernels/outputs.h"

namespace wf::kernels {
namespace {

using testing::Constant;
using testing::F32;
using testing::Floats;
using testing::Longs;
using testing::None;
using testing::Of;
using testing::Random;
using testing::RunFloats;
using testing::RunKernel;
using testing::RunOutputs;
using testing::Tensor;
using F = std::vector<float>;
using I = std::vector<int64_t>;

TEST(MatMul, IntegersWrapAndTakeFactors) {
  const Tensor a = Longs({1, 2}, {INT64_MAX, 3}), b = Longs({2, 2}, {2, 1, 1, 5}), c = Longs({2}, {10, 20});
  const auto got = RunKernel(nullptr, MatMul{false, false, 1, 2}, {a, b, c}, WF_I64, {1, 2});
  EXPECT_EQ(got.out.As<int64_t>(), (I{-2 + 3 + 20, INT64_MIN + 14 + 40}));
  const auto turned = RunKernel(nullptr, MatMul{false, true, 3}, {Longs({1, 2}, {1, 2}), Longs({1, 2}, {5, -7})}, WF_I64, {1, 1});
  EXPECT_EQ(turned.out.As<int64_t>(), (I{-27}));
}

TEST(MatMul, TilesAreThoseOfPlainLoops) {
  for (const int64_t m : {1, 3, 4, 9}) {
    for (const int64_t n : {1, 7, 8, 21}) {
      const int64_t k = 5;
      const Tensor a = Random({m, k}, 1), b = Random({k, n}, 2);
      const F x = a.As<float>(), y = b.As<float>();
      F want(static_cast<size_t>(m * n));
      for (int64_t i = 0; i < m * n; ++i) {
        double sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += double{x[static_cast<size_t>(i / n * k + p)]} * double{y[static_cast<size_t>(p * n + i % n)]};
        want[static_cast<size_t>(i)] = static_cast<float>(sum);
      }
      const auto got = RunKernel(ref::MakeMatMul, MatMul{}, {a, b}, WF_F32, {m, n});
      EXPECT_FLOATS(got.out.As<float>(), want, 1e-6);
    }
  }
}

TEST(Einsum, ProductsDiagonalsSumsAndBroadcasts) {
  const Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = Floats({3, 2}, {1, 0, 0, 1, 2, 2});
  EXPECT_EQ(RunFloats(Einsum{{{0, 2}, {2, 1}}, 2, 3}, {a, b}, {2, 2}), (F{7, 8, 16, 17}));
  EXPECT_EQ(RunFloats(Einsum{{{1, 2}, {2, 0}}, 2, 3}, {a, b}, {2, 2}), (F{7, 16, 8, 17})) << "turned";
  EXPECT_EQ(RunFloats(Einsum{{{1, 0}}, 2, 2}, {a}, {3, 2}), (F{1, 4, 2, 5, 3, 6})) << "transposed";
  EXPECT_EQ(RunFloats(Einsum{{{0, 1}}, 1, 2}, {a}, {2}), (F{6, 15})) << "summed";
  EXPECT_EQ(RunFloats(Einsum{{{0, 0}}, 1, 1}, {Floats({2, 2}, {1, 2, 3, 4})}, {2}), (F{1, 4})) << "diagonal";
  EXPECT_EQ(RunFloats(Einsum{{{0}, {1}, {2}}, 0, 3}, {Floats({2}, {1, 2}), Floats({2}, {3, 4}), Floats({1}, {10})}, {}), (F{210}));
  EXPECT_EQ(RunFloats(Einsum{{{0, 1}, {0, 1}}, 2, 2}, {a, Floats({1, 3}, {1, 0, -1})}, {2, 3}), (F{1, 0, -3, 4, 0, -6})) << "broadcast";
  EXPECT_EQ(RunFloats(Einsum{{{0, 1}}, 1, 2}, {Floats({2, 0}, {})}, {2}), (F{0, 0})) << "of nothing";
  const auto bytes =
      RunKernel(nullptr, Einsum{{{0}, {0}}, 0, 1}, {Of<uint16_t>(WF_U16, {1}, {65535}), Of<uint16_t>(WF_U16, {1}, {65535})}, WF_U16, {});
  EXPECT_EQ(bytes.out.As<uint16_t>()[0], 1) << "wraps";
}

TEST(Einsum, StepsBeyondMemoryAreRefused) {
  // The first two make 2^40 elements, which only the third sums.
  const Operation operation{Einsum{{{0}, {1}, {0, 1}}, 0, 2}, {F32({1 << 20}), F32({1 << 20}), F32({1, 1})}, {F32({})}};
  EXPECT_EQ(MakeKernel(operation).status().code(), base::kOutOfRange);
}

TEST(ConvTranspose, SpreadsEachElement) {
  const Tensor x = Floats({1, 1, 2}, {1, 10}), w = Floats({1, 1, 3}, {1, 2, 3});
  EXPECT_EQ(RunFloats(ConvTranspose{{2}, {1}, {0}}, {x, w}, {1, 1, 5}), (F{1, 2, 13, 20, 30}));
  EXPECT_EQ(RunFloats(ConvTranspose{{2}, {1}, {1}}, {x, w, Floats({1}, {100})}, {1, 1, 4}), (F{102, 113, 120, 130}));
  EXPECT_EQ(RunFloats(ConvTranspose{{1}, {2}, {0}}, {x, w}, {1, 1, 7}), (F{1, 10, 2, 20, 3, 30, 0})) << "longer than what is reached";
  const Tensor grouped = Floats({1, 2, 1}, {1, 10}), filters = Floats({2, 2, 1}, {1, 2, 3, 4});
  EXPECT_EQ(RunFloats(ConvTranspose{{1}, {1}, {0}, 2}, {grouped, filters}, {1, 4, 1}), (F{1, 2, 30, 40}));
  EXPECT_EQ(RunFloats(ConvTranspose{{1}, {1}, {0}, 1}, {grouped, filters}, {1, 2, 1}), (F{31, 42}));
}

TEST(DeformConv, WithoutOffsetsItIsAConvolutionAndHalfStepsAreBetween) {
  const Tensor x = Floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), w = Floats({1, 1, 2, 2}, {1, 0, 0, 2});
  const DeformConv conv{{1, 1}, {1, 1}, {0, 0}};
  const Tensor zero = Floats({1, 8, 2, 2}, F(32, 0));
  EXPECT_EQ(RunFloats(conv, {x, w, zero}, {1, 1, 2, 2}), (F{11, 14, 20, 23}));
  EXPECT_EQ(RunFloats(conv, {x, w, zero, Floats({1}, {100}), Floats({1, 4, 2, 2}, F(16, 0.5f))}, {1, 1, 2, 2}),
            (F{105.5f, 107, 110, 111.5f}));
  const Tensor half = Floats({1, 8, 2, 2}, F(32, 0.5f)), one = Floats({1, 1, 2, 2}, {1, 0, 0, 0});
  EXPECT_EQ(RunFloats(conv, {x, one, half}, {1, 1, 2, 2}), (F{3, 4, 6, 7}));
  const Tensor far = Floats({1, 8, 2, 2}, F(32, 1e30f));
  EXPECT_EQ(RunFloats(conv, {x, w, far}, {1, 1, 2, 2}), (F{0, 0, 0, 0}));
}

TEST(Inverse, PivotsAndSingularMatrices) {
  const Tensor x = Floats({3, 2, 2}, {0, 2, 4, 0, 1, 2, 3, 4, 2, 0, 0, 0.5f});
  EXPECT_FLOATS(RunFloats(Inverse{}, {x}, {3, 2, 2}), (F{0, 0.25f, 0.5f, 0, -2, 1, 1.5f, -0.5f, 0.5f, 0, 0, 2}), 1e-6);
  for (const float each : RunFloats(Inverse{}, {Floats({2, 2}, {1, 2, 2, 4})}, {2, 2})) EXPECT_FALSE(std::isfinite(each));
  EXPECT_EQ(RunFloats(Inverse{}, {Floats({1, 0, 0}, {})}, {1, 0, 0}), (F{}));
}

TEST(Det, PivotsAndSingularMatrices) {
  const Tensor x = Floats({3, 2, 2}, {0, 2, 3, 4, 1, 2, 2, 4, 5, 1, 2, 3});
  EXPECT_FLOATS(RunFloats(Det{}, {x}, {3}), (F{-6, 0, 13}), 1e-6);
  EXPECT_EQ(RunFloats(Det{}, {Floats({1, 0, 0}, {})}, {1}), (F{1}));
}

// A layer of ONNX's equations, row by row, with the usual functions.
struct Plain {
  RecurrentCell cell;
  int64_t in, hidden;
  bool linear = false;
  std::vector<double> w, r, bias, peepholes;  // of one direction

  static double S(double v) { return 1 / (1 + std::exp(-v)); }
  // h: null, without what R adds.
  double Gate(int64_t gate, int64_t i, const double* xt, const std::vector<double>* h) const {
    const int64_t row = gate * hidden + i, width = GatesOf(cell) * hidden;
    double sum = bias[static_cast<size_t>(row)] + (h != nullptr ? bias[static_cast<size_t>(width + row)] : 0);
    for (int64_t k = 0; k < in; ++k) sum += xt[k] * w[static_cast<size_t>(row * in + k)];
    return h != nullptr ? sum + FromH(gate, i, *h) : sum;
  }
  double FromH(int64_t gate, int64_t i, const std::vector<double>& h) const {
    double sum = 0;
    for (int64_t k = 0; k < hidden; ++k) sum += h[static_cast<size_t>(k)] * r[static_cast<size_t>((gate * hidden + i) * hidden + k)];
    return sum;
  }
  void Step(const double* xt, std::vector<double>& h, std::vector<double>& c) const {
    const std::vector<double> before = h;
    const int64_t width = GatesOf(cell) * hidden;
    std::vector<double> reset(before.size());
    for (int64_t i = 0; cell == RecurrentCell::kGru && i < hidden; ++i) reset[static_cast<size_t>(i)] = S(Gate(1, i, xt, &before));
    for (int64_t i = 0; i < hidden; ++i) {
      const size_t at = static_cast<size_t>(i);
      const auto p = [&](int64_t which) { return peepholes.empty() ? 0 : peepholes[static_cast<size_t>(which * hidden + i)]; };
      if (cell == RecurrentCell::kRnn) h[at] = std::tanh(Gate(0, i, xt, &before));
      if (cell == RecurrentCell::kGru) {
        const double z = S(Gate(0, i, xt, &before));
        std::vector<double> masked = before;
        for (size_t k = 0; k < masked.size(); ++k) masked[k] *= reset[k];
        const double inner =
            linear ? Gate(2, i, xt, nullptr) + reset[at] * (FromH(2, i, before) + bias[static_cast<size_t>(width + 2 * hidden + i)])
                   : Gate(2, i, xt, &masked);
        h[at] = (1 - z) * std::tanh(inner) + z * before[at];
      }
      if (cell == RecurrentCell::kLstm) {
        const double input = S(Gate(0, i, xt, &before) + p(0) * c[at]);
        const double forget = S(Gate(2, i, xt, &before) + p(2) * c[at]);
        c[at] = forget * c[at] + input * std::tanh(Gate(3, i, xt, &before));
        h[at] = S(Gate(1, i, xt, &before) + p(1) * c[at]) * std::tanh(c[at]);
      }
    }
  }
};

std::vector<double> Wide(const Tensor& tensor, int64_t direction, int64_t directions) {
  const F all = tensor.As<float>();
  const auto size = static_cast<ptrdiff_t>(all.size()) / directions;
  return {all.begin() + direction * size, all.begin() + (direction + 1) * size};
}

struct LayerCase {
  RecurrentCell cell;
  bool linear, batch_first, peepholes, lengths, constant;
};

void ExpectLayer(const LayerCase& each) {
  const int64_t steps = 4, batch = 3, in = 5, hidden = 6, directions = 2, width = GatesOf(each.cell) * hidden;
  const Tensor x = Random(each.batch_first ? I{batch, steps, in} : I{steps, batch, in}, 1), w = Random({directions, width, in}, 2),
               r = Random({directions, width, hidden}, 3), bias = Random({directions, 2 * width}, 4),
               p = Random({directions, 3 * hidden}, 5);
  const Tensor h0 = Random(each.batch_first ? I{batch, directions, hidden} : I{directions, batch, hidden}, 6);
  const std::vector<int32_t> lengths = {4, 1, 3};
  Recurrent layer{each.cell, true, true, {}, 0, each.linear, false, each.batch_first};
  const size_t functions = ActivationsOf(each.cell);
  for (size_t i = 0; i < 2 * functions; ++i)
    layer.activation.push_back({i % functions == 0 && each.cell != RecurrentCell::kRnn ? ActivationOp::kSigmoid : ActivationOp::kTanh});
  const I all = each.batch_first ? I{batch, steps, directions, hidden} : I{steps, directions, batch, hidden};
  const auto weights = [&](const Tensor& tensor) { return each.constant ? Constant(tensor) : tensor; };
  const auto got = RunOutputs(layer,
                              {x, weights(w), weights(r), bias, each.lengths ? Of<int32_t>(WF_I32, {batch}, lengths) : None(), h0, None(),
                               each.peepholes ? p : None()},
                              {F32(all), F32(h0.info.dim)});
  ASSERT_EQ(got.failure, nullptr);
  const F y = got.out[0].As<float>(), last = got.out[1].As<float>(), first = h0.As<float>();
  const std::vector<double> xs = Wide(x, 0, 1);
  for (int64_t d = 0; d < directions; ++d) {
    Plain plain{each.cell, in, hidden, each.linear, Wide(w, d, 2), Wide(r, d, 2), Wide(bias, d, 2), {}};
    if (each.peepholes) plain.peepholes = Wide(p, d, 2);
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t length = each.lengths ? lengths[static_cast<size_t>(b)] : steps;
      const int64_t state = (each.batch_first ? b * directions + d : d * batch + b) * hidden;
      std::vector<double> h(first.begin() + state, first.begin() + state + hidden), c(static_cast<size_t>(hidden), 0);
      for (int64_t step = 0; step < steps; ++step) {
        const int64_t t = d == 1 && step < length ? length - 1 - step : step;
        if (step < length) plain.Step(xs.data() + (each.batch_first ? b * steps + t : t * batch + b) * in, h, c);
        for (int64_t i = 0; i < hidden; ++i) {
          const int64_t at =
              each.batch_first ? ((b * steps + t) * directions + d) * hidden + i : ((t * directions + d) * batch + b) * hidden + i;
          ASSERT_NEAR(y[static_cast<size_t>(at)], step < length ? h[static_cast<size_t>(i)] : 0, 1e-5) << d << ' ' << b << ' ' << step;
        }
      }
      for (int64_t i = 0; i < hidden; ++i) ASSERT_NEAR(last[static_cast<size_t>(state + i)], h[static_cast<size_t>(i)], 1e-5);
    }
  }
}

TEST(Recurrent, BothDirectionsOfEachCellAreTheEquations) {
  for (const RecurrentCell cell : {RecurrentCell::kRnn, RecurrentCell::kGru, RecurrentCell::kLstm}) {
    for (int form = 0; form < 8; ++form) {
      const bool is_gru = cell == RecurrentCell::kGru, is_lstm = cell == RecurrentCell::kLstm;
      SCOPED_TRACE(std::to_string(static_cast<int>(cell)) + " " + std::to_string(form));
      ExpectLayer({cell, is_gru && (form & 1) != 0, (form & 2) != 0, is_lstm && (form & 1) != 0, (form & 4) != 0, (form & 2) != 0});
    }
  }
}

// As a byte with a scale and a zero point for all of them.
F Rounded(const F& numbers) {
  const float low = std::min(0.0f, *std::min_element(numbers.begin(), numbers.end()));
  const float high = std::max(0.0f, *std::max_element(numbers.begin(), numbers.end()));
  const float scale = low == high ? 1 : (high - low) / 255, zero = std::nearbyint(-low / scale);
  F rounded;
  for (const float each : numbers) rounded.push_back((std::clamp(std::nearbyint(each / scale) + zero, 0.0f, 255.0f) - zero) * scale);
  return rounded;
}

// Step by step by a layer that is not, whose numbers are rounded here. x behind the longest row, and the state of one that has ended, are
// none.
TEST(Recurrent, InBytes) {
  constexpr int64_t steps = 4, batch = 2, in = 5, hidden = 4;
  const std::vector<int32_t> lengths = {1, 3};
  Tensor x = Random({steps, batch, in}, 1);
  for (int64_t i = 0; i < batch * in; ++i) reinterpret_cast<float*>(x.data.get())[3 * batch * in + i] = 100;
  for (const bool constant : {false, true}) {
    const auto weights = [&](const I& dim, int seed) { return constant ? Constant(Random(dim, seed)) : Random(dim, seed); };
    const Tensor w = weights({1, 4 * hidden, in}, 2), r = weights({1, 4 * hidden, hidden}, 3), bias = weights({1, 8 * hidden}, 4);
    Recurrent layer{RecurrentCell::kLstm, true, false, {{ActivationOp::kSigmoid}, {ActivationOp::kTanh}, {ActivationOp::kTanh}}};
    layer.in_bytes = true;
    const TensorInfo state = F32({1, batch, hidden});
    const auto got =
        RunOutputs(layer, {x, w, r, bias, Of<int32_t>(WF_I32, {batch}, lengths)}, {F32({steps, 1, batch, hidden}), state, state});
    layer.in_bytes = false;
    F all = x.As<float>();
    all.resize(3 * batch * in);
    const F xs = Rounded(all);
    F h(batch * hidden), c(batch * hidden), y;
    for (int64_t step = 0; step < steps; ++step) {
      F before = h;
      if (step > lengths[0]) std::fill_n(before.begin(), hidden, 0.0f);
      if (step == 3) {
        y.insert(y.end(), batch * hidden, 0.0f);
        continue;
      }
      const auto at = xs.begin() + step * batch * in;
      const auto one = RunOutputs(
          layer,
          {Floats({1, batch, in}, F(at, at + batch * in)), w, r, bias, None(), Floats(state.dim, Rounded(before)), Floats(state.dim, c)},
          {F32({1, 1, batch, hidden}), state, state});
      const F next_h = one.out[1].As<float>(), next_c = one.out[2].As<float>();
      const int64_t ended = step < lengths[0] ? 0 : hidden;  // elements of the first row, which keep what they are
      std::copy(next_h.begin() + ended, next_h.end(), h.begin() + ended);
      std::copy(next_c.begin() + ended, next_c.end(), c.begin() + ended);
      y.insert(y.end(), static_cast<size_t>(ended), 0.0f);
      y.insert(y.end(), h.begin() + ended, h.end());
    }
    EXPECT_FLOATS(got.out[0].As<float>(), y, 1e-5);
    EXPECT_FLOATS(got.out[1].As<float>(), h, 1e-5);
    EXPECT_FLOATS(got.out[2].As<float>(), c, 1e-5);
  }
}

TEST(Recurrent, ALengthBeyondTheStepsFails) {
  const Recurrent layer{RecurrentCell::kRnn, true, false, {{ActivationOp::kTanh}}};
  for (const int32_t length : {-1, 3, INT32_MAX}) {
    const auto got =
        RunOutputs(layer, {Random({2, 1, 1}, 1), Random({1, 1, 1}, 2), Random({1, 1, 1}, 3), None(), Of<int32_t>(WF_I32, {1}, {length})},
                   {F32({2, 1, 1, 1})});
    EXPECT_NE(got.failure, nullptr) << length;
  }
}

TEST(Recurrent, ActivationsTakeTheirParametersAndClip) {
  const auto run = [](Activation activation, float clip) {
    Recurrent layer{RecurrentCell::kRnn, true, false, {activation}, clip};
    return RunFloats(layer, {Floats({1, 2, 1}, {-2, 2}), Floats({1, 1, 1}, {1}), Floats({1, 1, 1}, {1})}, {1, 1, 2, 1});
  };
  EXPECT_EQ(run({ActivationOp::kAffine, 3, 1}, 0), (F{-5, 7}));
  EXPECT_EQ(run({ActivationOp::kAffine, 3, 1}, 0.5f), (F{-0.5f, 2.5f}));
  EXPECT_EQ(run({ActivationOp::kLeakyRelu, 0.25f}, 0), (F{-0.5f, 2}));
  EXPECT_EQ(run({ActivationOp::kThresholdedRelu, 3}, 0), (F{0, 0}));
  EXPECT_EQ(run({ActivationOp::kRelu}, 0), (F{0, 2}));
  EXPECT_FLOATS(run({ActivationOp::kHardSigmoid, 0.2f, 0.5f}, 0), (F{0.1f, 0.9f}), 1e-6);
  EXPECT_FLOATS(run({ActivationOp::kElu, 2}, 0), (F{2 * std::expm1(-2.0f), 2}), 1e-6);
  EXPECT_FLOATS(run({ActivationOp::kSoftsign}, 0), (F{-2.0f / 3, 2.0f / 3}), 1e-6);
  EXPECT_FLOATS(run({ActivationOp::kSoftplus}, 0), (F{std::log1p(std::exp(-2.0f)), std::log1p(std::exp(2.0f))}), 1e-6);
  EXPECT_FLOATS(run({ActivationOp::kScaledTanh, 2, 0.5f}, 0), (F{-2 * std::tanh(1.0f), 2 * std::tanh(1.0f)}), 1e-6);
}

}  // namespace
}  // namespace wf::kernels
