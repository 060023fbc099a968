#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

constexpr uint8_t kFill = 9;

// Of the result.
struct Shape {
  int64_t rows, columns;
};

// A picture in memory of its own to the byte, perhaps with space between rows, and places on it, around it and far from it.
struct Case {
  Case(int64_t height, int64_t width, int64_t channels, Shape of, int64_t space = 0) : dice(static_cast<uint32_t>(height * 31 + width)) {
    px = Dense(WF_U8, std::vector<int64_t>{height, width, channels});
    px.stride[0] = width * channels + space;
    levels.resize(static_cast<size_t>(std::max<int64_t>(0, (height - 1) * px.stride[0] + width * channels)));
    for (uint8_t& level : levels) level = static_cast<uint8_t>(dice());
    px.data = levels.data();
    v = PlacesOn(height, of, v_data), u = PlacesOn(width, of, u_data);
  }

  wf_tensor PlacesOn(int64_t extent, Shape of, std::vector<float>& data) {
    constexpr float kInfinite = std::numeric_limits<float>::infinity();
    const auto size = static_cast<float>(extent);
    const std::vector<float> odd{-0.5F, -0.51F, -0.0F, size - 1, size - 0.5F, size - 0.51F, size, NAN, kInfinite, -kInfinite, 3e9F, -1e30F};
    std::uniform_real_distribution<float> around(-1, size);
    for (int64_t i = 0; i < of.rows * of.columns; ++i) data.push_back(dice() % 5 == 0 ? odd[dice() % odd.size()] : around(dice));
    wf_tensor places = Dense(WF_F32, std::vector<int64_t>{of.rows, of.columns});
    places.data = data.data();
    return places;
  }

  uint8_t Wanted(size_t place, int64_t channel) const {
    const float y = v_data[place], x = u_data[place];
    const auto is_on = [](float at, int64_t extent) { return at >= -0.5F && at < static_cast<float>(extent) - 0.5F; };
    if (!is_on(y, px.dim[0]) || !is_on(x, px.dim[1])) return kFill;
    const auto level = [&](int64_t down, int64_t across) {
      const int64_t row = std::clamp<int64_t>(static_cast<int64_t>(std::floor(y)) + down, 0, px.dim[0] - 1);
      const int64_t column = std::clamp<int64_t>(static_cast<int64_t>(std::floor(x)) + across, 0, px.dim[1] - 1);
      return static_cast<float>(levels[static_cast<size_t>(row * px.stride[0] + column * px.dim[2] + channel)]);
    };
    const auto mix = [](float a, float b, float share) { return a + (b - a) * share; };
    const float across = x - std::floor(x), down = y - std::floor(y);
    return static_cast<uint8_t>(mix(mix(level(0, 0), level(0, 1), across), mix(level(1, 0), level(1, 1), across), down) + 0.5F);
  }

  std::mt19937 dice;
  std::vector<uint8_t> levels;
  std::vector<float> v_data, u_data;
  wf_tensor px, v, u;
};

void ExpectTheMix(const Case& given) {
  FakeJob job;
  wf_tensor shown;
  ASSERT_EQ(wf_n_remap(&job.ctx, &given.px, &given.v, &given.u, &kFill, &shown), 0) << job.message;
  std::vector<uint8_t> wanted;
  for (size_t place = 0; place < given.v_data.size(); ++place) {
    for (int64_t channel = 0; channel < given.px.dim[2]; ++channel) wanted.push_back(given.Wanted(place, channel));
  }
  EXPECT_EQ(Elements<uint8_t>(shown), wanted) << given.px.dim[0] << " " << given.px.dim[1] << " " << given.px.dim[2];
}

TEST(Remap, MixesFourPixels) {
  for (const int64_t channels : {1, 2, 3, 4, 5, 17}) {
    for (const auto& [height, width] : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {1, 2}, {2, 1}, {1, 9}, {7, 1}, {3, 5}, {40, 31}}) {
      for (const int64_t columns : {1, 15, 64, 131}) ExpectTheMix(Case(height, width, channels, {5, columns}));
    }
  }
}

TEST(Remap, ReadsRowsThatLieApart) { ExpectTheMix(Case(6, 7, 3, {8, 50}, /*space=*/11)); }

TEST(Remap, OfNowhereIsNothing) {
  for (const Case& given : {Case(3, 4, 3, {0, 5}), Case(3, 4, 3, {5, 0}), Case(3, 4, 0, {2, 2}), Case(0, 0, 3, {0, 4})})
    ExpectTheMix(given);
}

TEST(Remap, SaysWhatIsWrongAndStops) {
  const Case empty(0, 4, 3, {1, 1}), flat(4, 0, 3, {1, 1}), fine(4, 4, 3, {2, 3});
  wf_tensor shown, fewer = fine.u;
  fewer.dim[1] = 2;
  for (const Case& given : {empty, flat}) {
    FakeJob job;
    EXPECT_EQ(wf_n_remap(&job.ctx, &given.px, &given.v, &given.u, &kFill, &shown), WF_FAILED);
    EXPECT_EQ(job.code, 7001);
  }
  FakeJob other, late, poor;
  EXPECT_EQ(wf_n_remap(&other.ctx, &fine.px, &fine.v, &fewer, &kFill, &shown), WF_FAILED);
  EXPECT_EQ(other.code, 7000);
  late.stop = 1;
  EXPECT_EQ(wf_n_remap(&late.ctx, &fine.px, &fine.v, &fine.u, &kFill, &shown), WF_FAILED);
  EXPECT_EQ(late.code, 0);
  poor.budget = 10;
  EXPECT_EQ(wf_n_remap(&poor.ctx, &fine.px, &fine.v, &fine.u, &kFill, &shown), WF_FAILED);
  EXPECT_EQ(poor.code, 3012);
}

}  // namespace
}  // namespace wf::nodes
