// Layers with packed weights against `ref`.

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/avx2.h"
#include "runtime/kernels/matmul/panels.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"
#include "tests/unit/runtime/kernels/outputs.h"

namespace wf::kernels {
namespace {

using testing::Constant;
using testing::Of;
using testing::Outcomes;
using testing::Random;
using testing::Tensor;
using F = std::vector<float>;

bool Here() { return avx2::Available() && onednn::Available(); }

struct Layer {
  Recurrent layer;
  int64_t steps = 5, batch = 1, in = 7, hidden = 8;
  bool bias = true, lengths = false, first = false, peepholes = false;

  int64_t directions() const { return layer.forward && layer.backward ? 2 : 1; }
};

Recurrent Usual(RecurrentCell cell, bool forward, bool backward) {
  Recurrent layer{cell, forward, backward};
  const size_t functions = ActivationsOf(cell), directions = forward && backward ? 2 : 1;
  for (size_t i = 0; i < functions * directions; ++i)
    layer.activation.push_back({i % functions == 0 && cell != RecurrentCell::kRnn ? ActivationOp::kSigmoid : ActivationOp::kTanh});
  return layer;
}

std::vector<Tensor> InputsOf(const Layer& of) {
  const int64_t d = of.directions(), width = GatesOf(of.layer.cell) * of.hidden;
  const auto ordered = [&](int64_t steps, int64_t last) {
    return of.layer.batch_first ? std::vector<int64_t>{of.batch, steps, last} : std::vector<int64_t>{steps, of.batch, last};
  };
  std::vector<int32_t> lengths;
  for (int64_t i = 0; i < of.batch; ++i) lengths.push_back(static_cast<int32_t>((i * 3 + 2) % (of.steps + 1)));
  const Tensor none;
  return {Random(ordered(of.steps, of.in), 1),
          Constant(Random({d, width, of.in}, 2)),
          Constant(Random({d, width, of.hidden}, 3)),
          of.bias ? Constant(Random({d, 2 * width}, 4)) : none,
          of.lengths ? Of<int32_t>(WF_I32, {of.batch}, lengths) : none,
          of.first ? Random(ordered(d, of.hidden), 5) : none,
          of.first && of.layer.cell == RecurrentCell::kLstm ? Random(ordered(d, of.hidden), 6) : none,
          of.peepholes ? Random({d, 3 * of.hidden}, 7) : none};
}

void ExpectAsRef(const Layer& of) {
  const int64_t d = of.directions();
  const std::vector<int64_t> all = of.layer.batch_first ? std::vector<int64_t>{of.batch, of.steps, d, of.hidden}
                                                        : std::vector<int64_t>{of.steps, d, of.batch, of.hidden};
  const std::vector<int64_t> last =
      of.layer.batch_first ? std::vector<int64_t>{of.batch, d, of.hidden} : std::vector<int64_t>{d, of.batch, of.hidden};
  std::vector<TensorInfo> wanted = {{WF_F32, all, nullptr, nullptr}, {WF_F32, last, nullptr, nullptr}};
  if (of.layer.cell == RecurrentCell::kLstm) wanted.push_back(wanted[1]);
  const std::vector<Tensor> in = InputsOf(of);
  const Outcomes is = RunOutputs(avx2::MakeRecurrent, of.layer, in, wanted), want = RunOutputs(ref::MakeRecurrent, of.layer, in, wanted);
  ASSERT_EQ(is.failure, nullptr);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const F a = is.out[i].As<float>(), b = want.out[i].As<float>();
    for (size_t k = 0; k < a.size(); ++k) ASSERT_NEAR(a[k], b[k], 2e-5) << "output " << i << " element " << k;
  }
}

TEST(PackedRecurrent, IsAsRefForEachCellAndSize) {
  ASSERT_TRUE(Here()) << "oneDNN, which scripts/setup installs, and AVX2";
  for (const RecurrentCell cell : {RecurrentCell::kRnn, RecurrentCell::kGru, RecurrentCell::kLstm}) {
    for (const int64_t hidden : {1, 6, 16, 33, 70}) {
      for (const int64_t batch : {1, 2, 3, 4, 8}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(cell)) + " of " + std::to_string(hidden) + ", batch " + std::to_string(batch));
        Layer layer{Usual(cell, true, batch % 2 == 0)};
        layer.hidden = hidden;
        layer.batch = batch;
        layer.layer.linear_before_reset = hidden % 2 == 0;
        ExpectAsRef(layer);
      }
    }
  }
}

TEST(PackedRecurrent, IsAsRefInEachForm) {
  ASSERT_TRUE(Here()) << "oneDNN, which scripts/setup installs, and AVX2";
  for (const RecurrentCell cell : {RecurrentCell::kRnn, RecurrentCell::kGru, RecurrentCell::kLstm}) {
    for (int form = 0; form < 64; ++form) {
      SCOPED_TRACE(std::to_string(static_cast<int>(cell)) + " " + std::to_string(form));
      Layer layer{Usual(cell, (form & 1) == 0, (form & 2) != 0 || (form & 1) != 0)};
      layer.batch = 3;
      layer.layer.batch_first = (form & 4) != 0;
      layer.lengths = (form & 8) != 0;
      layer.first = (form & 16) != 0;
      layer.bias = (form & 32) != 0;
      layer.peepholes = cell == RecurrentCell::kLstm && (form & 8) != 0;
      layer.layer.linear_before_reset = (form & 16) == 0;
      layer.layer.input_forget = (form & 4) != 0;
      layer.layer.clip = (form & 2) != 0 ? 0.5f : 0;
      ExpectAsRef(layer);
    }
  }
}

// Numbers of ONNX Runtime 1.32.
TEST(Recurrent, TheStateOfACellIsNotClipped) {
  Recurrent layer = Usual(RecurrentCell::kLstm, true, false);
  layer.clip = 0.5f;
  const Tensor none, x = testing::Floats({4, 1, 1}, {1, 0.5f, 2, -0.1f}), w = testing::Floats({1, 4, 1}, {3, 2, 2.5f, 4}),
                     r = testing::Floats({1, 4, 1}, {0.5f, -0.25f, 1, 0.75f});
  const std::vector<TensorInfo> wanted = {
      {WF_F32, {4, 1, 1, 1}, nullptr, nullptr}, {WF_F32, {1, 1, 1}, nullptr, nullptr}, {WF_F32, {1, 1, 1}, nullptr, nullptr}};
  const Outcomes is = testing::RunOutputs(ref::MakeRecurrent, layer, {x, w, r, none, none, none, none, none}, wanted);
  ASSERT_EQ(is.failure, nullptr);
  const F y = is.out[0].As<float>(), want = {0.17426971f, 0.27109864f, 0.32450032f, 0.09621201f};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(y[i], want[i], 1e-6) << i;
  EXPECT_NEAR(is.out[2].As<float>()[0], 0.22750166f, 1e-6);
}

TEST(PackedRecurrent, OtherFunctionsAreTaken) {
  ASSERT_TRUE(Here()) << "oneDNN, which scripts/setup installs, and AVX2";
  Layer layer{Usual(RecurrentCell::kLstm, true, false)};
  layer.layer.activation = {{ActivationOp::kHardSigmoid, 0.2f, 0.5f}, {ActivationOp::kSoftsign}, {ActivationOp::kRelu}};
  ExpectAsRef(layer);
}

TEST(PackedRecurrent, WeightsThatChangeAreLeftToRef) {
  Layer layer{Usual(RecurrentCell::kLstm, true, false)};
  std::vector<Tensor> in = InputsOf(layer);
  in[2].info.constant = nullptr;
  Operation operation{layer.layer, {}, {{WF_F32, {5, 1, 1, 8}, nullptr, nullptr}}};
  for (const Tensor& each : in) operation.in.push_back(each.info);
  const auto made = avx2::MakeRecurrent(operation);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(*made, nullptr);
}

TEST(PackedRecurrent, ALengthBeyondTheStepsFails) {
  ASSERT_TRUE(Here()) << "oneDNN, which scripts/setup installs, and AVX2";
  Layer layer{Usual(RecurrentCell::kGru, true, false)};
  std::vector<Tensor> in = InputsOf(layer);
  in[4] = Of<int32_t>(WF_I32, {1}, {6});
  EXPECT_NE(RunOutputs(avx2::MakeRecurrent, layer.layer, in, {{WF_F32, {5, 1, 1, 8}, nullptr, nullptr}}).failure, nullptr);
}

TEST(Panels, ARowGivesTheSameAloneAndAmongOthers) {
  if (!avx2::Available()) return;
  const int64_t m = 7, n = 100, k = 13;
  const F a = Random({m, k}, 1).As<float>(), b = Random({n, k}, 2).As<float>();
  F panels(static_cast<size_t>(avx2::PanelsElements(k, n))), together(static_cast<size_t>(m * n), 1.0f), alone = together;
  avx2::PackPanels(b.data(), k, n, panels.data());
  avx2::AddPanels({m, n, k, a.data(), k, panels.data(), together.data(), n, true});
  for (int64_t i = 0; i < m; ++i) avx2::AddPanels({1, n, k, a.data() + i * k, k, panels.data(), alone.data() + i * n, n});
  EXPECT_EQ(together, alone);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 1;
      for (int64_t t = 0; t < k; ++t)
        sum += static_cast<double>(a[static_cast<size_t>(i * k + t)]) * static_cast<double>(b[static_cast<size_t>(j * k + t)]);
      ASSERT_NEAR(together[static_cast<size_t>(i * n + j)], sum, 1e-5);
    }
  }
}

TEST(VectorFunctions, TanhIsThatOfTheLibrary) {
  if (!avx2::Available()) return;
  F x = {0.0f, -0.0f, 1e-8f, 1e-4f, 0.6249f, 0.6251f, -1, 3, 9, 44, 45, 90, testing::kInf, -testing::kInf, testing::kNan};
  for (int i = 0; i < 2000; ++i) x.push_back(static_cast<float>(i) * 0.01f - 10);
  F y(x.size());
  avx2::Tanh(x.data(), y.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const float want = std::tanh(x[i]);
    ASSERT_EQ(std::isnan(y[i]), std::isnan(want));
    if (std::isnan(want)) continue;
    ASSERT_NEAR(y[i], want, 4e-7f * std::abs(want)) << x[i];
  }
}

}  // namespace
}  // namespace wf::kernels
