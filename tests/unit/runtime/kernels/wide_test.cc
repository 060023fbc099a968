// Operators on 16-bit floats of which only kernels for f32 exist.
#include "runtime/kernels/wide.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/half.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels::widened {
namespace {

using testing::Of;
using testing::Random;
using testing::RunKernel;
using testing::Tensor;

Tensor Narrowed(const Tensor& wide, uint8_t dtype) {
  std::vector<uint16_t> bits;
  for (const float each : wide.As<float>()) bits.push_back(dtype == WF_F16 ? ToHalf(each).bits : ToBrain(each).bits);
  return Of<uint16_t>(dtype, wide.info.dim, bits);
}

float NumberOf(uint8_t dtype, uint16_t bits) { return dtype == WF_F16 ? ToFloat(Half{bits}) : ToFloat(Brain{bits}); }

Tensor Widened(const Tensor& narrow) {
  std::vector<float> values;
  for (const uint16_t each : narrow.As<uint16_t>()) values.push_back(NumberOf(narrow.info.dtype, each));
  return testing::Floats(narrow.info.dim, values);
}

TEST(Wide, ResultsAreThoseOfF32Rounded) {
  const Conv conv{{1, 1}, {1, 1}, {1, 1}, 1, {UnaryOp::kRelu}};
  struct Case {
    const char* name;
    Params params;
    std::vector<Tensor> in;
    std::vector<int64_t> out;
    bool constant;
  };
  const std::vector<Case> cases = {
      {"unary", Unary{UnaryOp::kSoftplus}, {Random({5, 7}, 1)}, {5, 7}, false},
      {"binary", Binary{BinaryOp::kAdd}, {Random({4, 1}, 1), Random({3}, 2)}, {4, 3}, false},
      {"matmul", MatMul{}, {Random({3, 64}, 1), Random({64, 10}, 2)}, {3, 10}, true},
      {"matmul of inputs", MatMul{}, {Random({2, 3, 8}, 1), Random({2, 8, 5}, 2)}, {2, 3, 5}, false},
      {"conv in a format of its own", conv, {Random({1, 16, 8, 8}, 1), Random({16, 16, 3, 3}, 2), Random({16}, 3)}, {1, 16, 8, 8}, true},
      {"conv of inputs", conv, {Random({1, 16, 8, 8}, 1), Random({16, 16, 3, 3}, 2), Random({16}, 3)}, {1, 16, 8, 8}, false},
      {"softmax", Softmax{1, 2, false}, {Random({8, 16}, 1)}, {8, 16}, false},
      {"empty", Unary{UnaryOp::kExp}, {Random({0, 3}, 1)}, {0, 3}, false},
  };
  for (const uint8_t dtype : {uint8_t{WF_F16}, uint8_t{WF_BF16}}) {
    for (const Case& each : cases) {
      SCOPED_TRACE(each.name);
      std::vector<Tensor> narrow, wide;
      for (size_t i = 0; i < each.in.size(); ++i) {
        narrow.push_back(Narrowed(each.in[i], dtype));
        wide.push_back(Widened(narrow.back()));
        if (i > 0 && each.constant) narrow.back() = testing::Constant(narrow.back());
      }
      const auto got = RunKernel(nullptr, each.params, narrow, dtype, each.out);
      const auto want = RunKernel(nullptr, each.params, wide, WF_F32, each.out).out.As<float>();
      ASSERT_TRUE(got.made);
      ASSERT_EQ(got.failure, nullptr);
      const auto bits = got.out.As<uint16_t>();
      const float step = dtype == WF_F16 ? 0x1p-10f : 0x1p-7f;
      for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(NumberOf(dtype, bits[i]), want[i], step * (std::abs(want[i]) + 1e-3f));
    }
  }
}

TEST(Wide, MixedTypesPassThrough) {
  const Tensor condition = Of<uint8_t>(WF_BOOL, {2}, {1, 0}), a = Of<uint16_t>(WF_F16, {2}, {0x3c00, 0x4000}),
               b = Of<uint16_t>(WF_F16, {2}, {0x3c00, 0x4200});
  const auto equal = RunKernel(nullptr, Binary{BinaryOp::kEqual}, {a, b}, WF_BOOL, {2});
  EXPECT_EQ(equal.out.As<uint8_t>(), (std::vector<uint8_t>{1, 0}));
  const auto where = RunKernel(nullptr, Where{}, {condition, a, b}, WF_F16, {2});
  EXPECT_EQ(where.out.As<uint16_t>(), (std::vector<uint16_t>{0x3c00, 0x4200}));
}

TEST(Wide, ConstantsAreWidenedOnceForAllBatchSizes) {
  const Tensor weights = testing::Constant(Narrowed(Random({64, 64}, 1), WF_F16));
  const kernels::Constant* seen = nullptr;
  for (const int64_t batch : {1, 2, 4}) {
    const Operation operation{MatMul{}, {{WF_F16, {batch, 64}, nullptr, nullptr}, weights.info}, {{WF_F16, {batch, 64}, nullptr, nullptr}}};
    const kernels::Constant* wide = kernels::Widened(operation).in[1].constant.get();
    EXPECT_TRUE(seen == nullptr || seen == wide);
    seen = wide;
    auto kernel = MakeKernel(operation);
    ASSERT_TRUE(kernel.ok());
    EXPECT_TRUE((*kernel)->packed_in[1]) << "the 16-bit elements need not stay";
    EXPECT_EQ((*kernel)->impl, onednn::Available() ? "onednn f32" : "ref f32");
  }
}

TEST(Wide, AConstantOutlivesTheOperation) {
  std::shared_ptr<const kernels::Constant> wide;
  {
    const Tensor weights = testing::Constant(Narrowed(Random({4}, 1), WF_BF16));
    const Operation operation{Unary{UnaryOp::kExp}, {weights.info}, {{WF_BF16, {4}, nullptr, nullptr}}};
    wide = kernels::Widened(operation).in[0].constant;
  }
  const auto elements = wide->Load();
  ASSERT_TRUE(elements.ok());
  EXPECT_TRUE(std::isfinite(reinterpret_cast<const float*>(elements->get())[3]));
}

// Through f32 rounded to the nearest, the second rounding would go the wrong way.
TEST(Wide, DoublesAreRoundedOnce) {
  const double above_tie = 1 + 0x1p-11 + 0x1p-40, below_tie = 1 + 3 * 0x1p-11 - 0x1p-40;
  const Tensor x = Of<double>(WF_F64, {4}, {above_tie, below_tie, -above_tie, 65519.999999});
  const auto half = RunKernel(ref::MakeCast, Cast{}, {x}, WF_F16, {4});
  EXPECT_EQ(half.out.As<uint16_t>(), (std::vector<uint16_t>{0x3c01, 0x3c01, 0xbc01, 0x7bff}));
  const Tensor y = Of<double>(WF_F64, {2}, {1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8});
  const auto brain = RunKernel(ref::MakeCast, Cast{}, {y}, WF_BF16, {2});
  EXPECT_EQ(brain.out.As<uint16_t>(), (std::vector<uint16_t>{0x3f81, 0x3f80}));
}

}  // namespace
}  // namespace wf::kernels::widened
