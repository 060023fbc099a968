// What samples images, against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Floats;
using testing::kInf;
using testing::kNan;
using testing::Longs;
using testing::Of;
using testing::RunFloats;
using testing::RunKernel;
using testing::RunOutputs;
using testing::Tensor;
using F = std::vector<float>;
using I = std::vector<int64_t>;

Resize Doubled(Resize::Mode mode, Resize::From from) {
  Resize resize;
  resize.mode = mode;
  resize.from = from;
  resize.scale = {2};
  resize.region_begin = {0};
  resize.region_end = {1};
  return resize;
}

TEST(ImageKernels, CoordinatesOfResizedAxes) {
  using enum Resize::Mode;
  using enum Resize::From;
  const Tensor x = Floats({2}, {0, 4});
  EXPECT_EQ(RunFloats(ref::MakeResize, Doubled(kLinear, kHalfPixel), {x}, {4}), (F{0, 1, 3, 4}));
  EXPECT_EQ(RunFloats(ref::MakeResize, Doubled(kLinear, kAsymmetric), {x}, {4}), (F{0, 2, 4, 4}));
  EXPECT_EQ(RunFloats(ref::MakeResize, Doubled(kNearest, kHalfPixel), {x}, {4}), (F{0, 0, 4, 4}));
  const F aligned = RunFloats(ref::MakeResize, Doubled(kLinear, kAlignCorners), {x}, {4});
  EXPECT_NEAR(aligned[1], 4.0 / 3, 1e-6);
  EXPECT_EQ(aligned[3], 4);
  Resize crop = Doubled(kLinear, kCrop);
  crop.region_begin = {0.5};
  crop.region_end = {2};
  crop.outside = 9;
  EXPECT_EQ(RunFloats(ref::MakeResize, crop, {x}, {4}), (F{2, 4, 9, 9}));
}

TEST(ImageKernels, NearestTakesAnyTypeAndRounding) {
  Resize resize = Doubled(Resize::Mode::kNearest, Resize::From::kAsymmetric);
  const Tensor x = Longs({2}, {INT64_MAX, INT64_MIN});
  EXPECT_EQ(RunKernel(ref::MakeResize, resize, {x}, WF_I64, {4}).out.As<int64_t>(), (I{INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN}));
  resize.rounding = Resize::Rounding::kCeil;
  EXPECT_EQ(RunKernel(ref::MakeResize, resize, {x}, WF_I64, {4}).out.As<int64_t>(), (I{INT64_MAX, INT64_MIN, INT64_MIN, INT64_MIN}));
}

template <typename T>
void ExpectNearestPicks(uint8_t dtype, const Resize& resize, const I& dim, const I& out) {
  std::vector<T> values(static_cast<size_t>(dim[0] * dim[1] * dim[2]));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  const auto got = RunKernel(ref::MakeResize, resize, {Of<T>(dtype, dim, values)}, dtype, out).out.template As<T>();
  std::vector<T> want;
  for (int64_t a = 0; a < out[0]; ++a) {
    for (int64_t b = 0; b < out[1]; ++b) {
      for (int64_t c = 0; c < out[2]; ++c) {
        const I from = {a * dim[0] / out[0], b * dim[1] / out[1], c * dim[2] / out[2]};
        want.push_back(values[static_cast<size_t>((from[0] * dim[1] + from[1]) * dim[2] + from[2])]);
      }
    }
  }
  EXPECT_EQ(got, want) << static_cast<int>(dtype);
}

TEST(ImageKernels, NearestOfSeveralAxesAndOfElementsOfEachSize) {
  Resize resize = Doubled(Resize::Mode::kNearest, Resize::From::kAsymmetric);
  resize.rounding = Resize::Rounding::kFloor;
  resize.region_begin = {0, 0, 0};
  resize.region_end = {1, 1, 1};
  for (const auto& [scale, out] : std::vector<std::pair<std::vector<double>, I>>{
           {{1, 2, 2}, {2, 6, 10}}, {{3, 1, 1}, {6, 3, 5}}, {{1, 2, 1}, {2, 6, 5}}, {{1, 1, 3}, {2, 3, 15}}, {{2, 3, 2}, {4, 9, 10}}}) {
    resize.scale = scale;
    ExpectNearestPicks<uint8_t>(WF_U8, resize, {2, 3, 5}, out);
    ExpectNearestPicks<int16_t>(WF_I16, resize, {2, 3, 5}, out);
    ExpectNearestPicks<float>(WF_F32, resize, {2, 3, 5}, out);
    ExpectNearestPicks<int64_t>(WF_I64, resize, {2, 3, 5}, out);
  }
  ExpectNearestPicks<float>(WF_F32, resize, {0, 3, 5}, {0, 9, 10});
}

TEST(ImageKernels, RowsThatLieOutsideAreFilledWhole) {
  Resize crop = Doubled(Resize::Mode::kNearest, Resize::From::kCrop);
  crop.scale = {1, 1};
  crop.region_begin = {0.5, 0};
  crop.region_end = {1.5, 1};
  crop.outside = 9;
  F x, want;
  for (int i = 0; i < 3 * 20; ++i) x.push_back(static_cast<float>(i));
  want.assign(x.begin() + 20, x.end());
  want.insert(want.end(), 20, 9.0f);
  EXPECT_EQ(RunFloats(ref::MakeResize, crop, {Floats({3, 20}, x)}, {3, 20}), want);
}

TEST(ImageKernels, WhatShrinksMayCountAll) {
  Resize resize = Doubled(Resize::Mode::kLinear, Resize::From::kHalfPixel);
  resize.scale = {0.25};
  EXPECT_EQ(RunFloats(ref::MakeResize, resize, {Floats({4}, {8, 0, 0, 8})}, {1}), F{0});
  resize.antialias = true;
  EXPECT_EQ(RunFloats(ref::MakeResize, resize, {Floats({4}, {8, 0, 0, 8})}, {1})[0] > 0, true);
  EXPECT_EQ(RunFloats(ref::MakeResize, resize, {Floats({4}, {3, 3, 3, 3})}, {1}), F{3});
}

TEST(ImageKernels, PointsBeyondTheImage) {
  const Tensor x = Floats({1, 1, 1, 2}, {1, 3}), grid = Floats({1, 1, 5, 2}, {0, 0, 3, 0, kNan, 0, kInf, kNan, -1, 0});
  const auto at = [&](GridSample::Padding padding, bool align) {
    return RunFloats(ref::MakeGridSample, GridSample{GridSample::Mode::kLinear, padding, align}, {x, grid}, {1, 1, 1, 5});
  };
  const F zeros = at(GridSample::Padding::kZeros, true);
  EXPECT_EQ((F{zeros[0], zeros[1], zeros[4]}), (F{2, 0, 1}));
  const F border = at(GridSample::Padding::kBorder, true);
  EXPECT_EQ((F{border[0], border[1], border[4]}), (F{2, 3, 1}));
  EXPECT_EQ(at(GridSample::Padding::kReflection, false)[0], 2);
}

TEST(ImageKernels, GridsOfTheIdentity) {
  const Tensor theta = Floats({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  EXPECT_EQ(RunFloats(ref::MakeAffineGrid, AffineGrid{true}, {theta}, {1, 1, 3, 2}), (F{-1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(RunFloats(ref::MakeAffineGrid, AffineGrid{false}, {theta}, {1, 1, 2, 2}), (F{-0.5f, 0, 0.5f, 0}));
}

TEST(ImageKernels, RegionsAreLimited) {
  const Tensor x = Floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const auto cut = [&](const F& region, int64_t image) {
    return RunKernel(ref::MakeRoiAlign, RoiAlign{false, false, 0, 1}, {x, Floats({1, 4}, region), Longs({1}, {image})}, WF_F32,
                     {1, 1, 1, 1});
  };
  EXPECT_EQ(cut({0, 0, 1, 1}, 0).out.As<float>(), F{2.5f});
  EXPECT_STREQ(cut({0, 0, 1, 1}, 1).failure, "an index is out of range");
  EXPECT_STREQ(cut({0, 0, 1e30f, 1}, 0).failure, "a region is much larger than its image");
  EXPECT_STREQ(cut({0, 0, 1, kNan}, 0).failure, "a region is much larger than its image");
}

TEST(ImageKernels, MaximaAndWhereTheyStand) {
  const Tensor x = Floats({1, 2, 2, 2}, {1, 5, 5, 2, 0, kNan, 7, 3});
  const auto pooled = [&](bool column_major) {
    return RunOutputs(ref::MakeArgPool, ArgPool{column_major, {2, 2}, {1, 1}, {1, 1}, {0, 0}}, {x},
                      {{WF_F32, {1, 2, 1, 1}, nullptr, nullptr}, {WF_I64, {1, 2, 1, 1}, nullptr, nullptr}});
  };
  EXPECT_EQ(pooled(false).out[1].As<int64_t>(), (I{1, 5}));
  EXPECT_EQ(pooled(true).out[1].As<int64_t>(), (I{2, 6}));
  EXPECT_EQ(pooled(false).out[0].As<float>()[0], 5);
  EXPECT_TRUE(std::isnan(pooled(false).out[0].As<float>()[1]));
}

TEST(ImageKernels, PlacesToPutMaximaLieWithinTheOutput) {
  const auto put = [](int64_t place) {
    return RunKernel(ref::MakeUnpool, Unpool{{2, 2}}, {Floats({1, 1, 1, 1}, {9}), Longs({1, 1, 1, 1}, {place})}, WF_F32, {1, 1, 3, 3});
  };
  EXPECT_EQ(put(3).out.As<float>(), (F{0, 0, 0, 0, 9, 0, 0, 0, 0}));
  EXPECT_STREQ(put(4).failure, "an index is out of range");
  EXPECT_STREQ(put(-1).failure, "an index is out of range");
}

}  // namespace
}  // namespace wf::kernels
