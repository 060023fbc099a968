// What rearranges, parts and makes, against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Floats;
using testing::Longs;
using testing::Of;
using testing::RunFloats;
using testing::RunKernel;
using testing::RunOutputs;
using testing::Tensor;
using F = std::vector<float>;
using I = std::vector<int64_t>;

TEST(ViewKernels, StridesOf0Repeat) {
  const Tensor x = Floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(RunFloats(ref::MakeView, View{{2, 2, 2}, {0, 2, 1}}, {x}, {4, 2}), (F{1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(RunFloats(ref::MakeView, View{{2, 2, 2}, {2, 0, 1}}, {x}, {2, 4}), (F{1, 2, 1, 2, 3, 4, 3, 4}));
  EXPECT_EQ(RunFloats(ref::MakeView, View{{2, 2}, {1, 2}}, {x}, {2, 2}), (F{1, 3, 2, 4}));
  EXPECT_EQ(RunFloats(ref::MakeView, View{{0, 2}, {0, 1}}, {x}, {0, 2}), F{});
  const auto halves = RunKernel(ref::MakeView, View{{2, 2}, {1, 2}}, {Of<uint16_t>(WF_F16, {2, 2}, {1, 2, 3, 4})}, WF_F16, {2, 2});
  EXPECT_EQ(halves.out.As<uint16_t>(), (std::vector<uint16_t>{1, 3, 2, 4}));
}

TEST(ViewKernels, PartsThatNobodyReadsAreLeftOut) {
  const auto parts =
      RunOutputs(ref::MakeSplit, Split{1, {1, 2, 0, 1}}, {Floats({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})},
                 {{WF_F32, {2, 1}, nullptr, nullptr}, {}, {WF_F32, {2, 0}, nullptr, nullptr}, {WF_F32, {2, 1}, nullptr, nullptr}});
  EXPECT_EQ(parts.out[0].As<float>(), (F{1, 5}));
  EXPECT_EQ(parts.out[2].As<float>(), F{});
  EXPECT_EQ(parts.out[3].As<float>(), (F{4, 8}));
}

TEST(ViewKernels, TrianglesOfDiagonalsBeyondTheMatrix) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(RunFloats(ref::MakeTriangle, Triangle{true, 0}, {x}, {2, 3}), (F{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(RunFloats(ref::MakeTriangle, Triangle{false, 1}, {x}, {2, 3}), (F{1, 2, 0, 4, 5, 6}));
  EXPECT_EQ(RunFloats(ref::MakeTriangle, Triangle{true, 4}, {x}, {2, 3}), (F{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(RunFloats(ref::MakeTriangle, Triangle{false, -3}, {x}, {2, 3}), (F{0, 0, 0, 0, 0, 0}));
}

TEST(ViewKernels, PadsTurnMoreThanOnce) {
  const Tensor x = Floats({3}, {1, 2, 3});
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kWrap, {4}, 0}, {x}, {9}), (F{3, 1, 2, 3, 1, 2, 3, 1, 2}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kReflect, {5}, 0}, {x}, {9}), (F{2, 1, 2, 3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kReflect, {1}, 0}, {Floats({1}, {7})}, {3}), (F{7, 7, 7}));
  const Tensor five = Floats({5}, {1, 2, 3, 4, 5});  // what is taken away is not repeated
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kWrap, {-1}, 0}, {five}, {6}), (F{2, 3, 4, 5, 2, 3}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kWrap, {2}, 0}, {five}, {6}), (F{3, 4, 1, 2, 3, 4}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kReflect, {-1}, 0}, {five}, {6}), (F{2, 3, 4, 5, 4, 3}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kEdge, {-3}, 0}, {five}, {4}), (F{4, 5, 5, 5}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kConstant, {-3}, 7}, {five}, {4}), (F{4, 5, 7, 7}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kConstant, {-1, 1}, 9}, {Floats({2, 2}, {1, 2, 3, 4})}, {2, 3}), (F{9, 3, 4, 9, 9, 9}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kConstant, {}, 9}, {Floats({}, {5})}, {}), F{5});
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kConstant, {1, 0}, 9}, {Floats({0, 2}, {})}, {2, 2}), (F{9, 9, 9, 9}));
}

TEST(ViewKernels, TensorsOfNothing) {
  Fill fill;
  const float seven = 7;
  std::memcpy(fill.value.data(), &seven, 4);
  EXPECT_EQ(RunFloats(ref::MakeFill, fill, {}, {2}), (F{7, 7}));
  EXPECT_EQ(RunFloats(ref::MakeEye, Eye{1}, {}, {2, 3}), (F{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(RunFloats(ref::MakeEye, Eye{-5}, {}, {2, 2}), (F{0, 0, 0, 0}));
  const auto halves = RunKernel(ref::MakeEye, Eye{}, {}, WF_F16, {1, 1});
  EXPECT_EQ(halves.out.As<uint16_t>(), (std::vector<uint16_t>{0x3c00}));
  EXPECT_EQ(RunFloats(ref::MakeRange, Range{}, {Floats({}, {1}), Floats({}, {0}), Floats({}, {-0.5f})}, {2}), (F{1, 0.5f}));
  const auto down = RunKernel(ref::MakeRange, Range{}, {Longs({}, {5}), Longs({}, {0}), Longs({}, {-2})}, WF_I64, {3});
  EXPECT_EQ(down.out.As<int64_t>(), (I{5, 3, 1}));
}

TEST(ViewKernels, ColumnsThatOverlapAreSummed) {
  const Fold fold{{2}, {1}, {1}, {1}, {0}};  // windows at -1, 0 and 1 of 3 elements
  EXPECT_EQ(RunFloats(ref::MakeFold, fold, {Floats({1, 2, 3}, {1, 2, 3, 10, 20, 30})}, {1, 1, 3}), (F{12, 23, 30}));
}

}  // namespace
}  // namespace wf::kernels
