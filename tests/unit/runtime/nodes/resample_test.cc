#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

constexpr int32_t kWhole = 1 << 22;

// Lines of `inputs` pixels as some of `outputs`, each of the pixels around it, whose shares are odd and sum to one or to more.
struct Line {
  Line(int64_t inputs, int64_t outputs, int64_t n) : most(n) {
    for (int64_t at = 0; at < outputs; ++at) {
      first.push_back(std::clamp<int64_t>(at * inputs / outputs - n / 2, 0, inputs - 1));
      for (int64_t k = 0; k < n; ++k) shares.push_back(static_cast<int32_t>(kWhole / n + (k % 2 == 0 ? 7919 : -7919) * (at + k + 1)));
    }
  }
  wf_tensor First() { return Vector(first, WF_I64); }
  wf_tensor Shares() {
    wf_tensor x = Dense(WF_I32, std::vector<int64_t>{static_cast<int64_t>(first.size()), most});
    x.data = shares.data();
    return x;
  }
  uint8_t Of(int64_t at, const std::vector<uint8_t>& line) const {
    int64_t sum = kWhole / 2;
    for (int64_t k = 0; k < most && first[static_cast<size_t>(at)] + k < static_cast<int64_t>(line.size()); ++k)
      sum += int64_t{shares[static_cast<size_t>(at * most + k)]} * line[static_cast<size_t>(first[static_cast<size_t>(at)] + k)];
    return static_cast<uint8_t>(std::clamp<int64_t>(sum >> 22, 0, 255));
  }

  int64_t most;
  std::vector<int64_t> first;
  std::vector<int32_t> shares;
};

wf_tensor Picture(std::vector<uint8_t>& data, std::vector<int64_t> dims) {
  wf_tensor x = Dense(WF_U8, dims);
  x.data = data.data();
  return x;
}

void ExpectTheSums(int64_t height, int64_t width, int64_t channels, int64_t most) {
  std::vector<uint8_t> px(static_cast<size_t>(height * width * channels));
  for (size_t i = 0; i < px.size(); ++i) px[i] = static_cast<uint8_t>(i * 2654435761U >> 13);
  const int64_t rows = height / 2 + 1, columns = width * 2 / 3 + 1;
  Line across(width, columns, most), down(height, rows, most);
  std::vector<uint8_t> wanted;
  std::vector<std::vector<uint8_t>> narrow(static_cast<size_t>(columns * channels));
  for (int64_t x = 0; x < columns; ++x) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t y = 0; y < height; ++y) {
        std::vector<uint8_t> line;
        for (int64_t i = 0; i < width; ++i) line.push_back(px[static_cast<size_t>((y * width + i) * channels + c)]);
        narrow[static_cast<size_t>(x * channels + c)].push_back(across.Of(x, line));
      }
    }
  }
  for (int64_t y = 0; y < rows; ++y) {
    for (const std::vector<uint8_t>& column : narrow) wanted.push_back(down.Of(y, column));
  }
  const wf_tensor picture = Picture(px, {height, width, channels}), first_across = across.First(), shares_across = across.Shares(),
                  first_down = down.First(), shares_down = down.Shares();
  FakeJob job;
  wf_tensor resized;
  ASSERT_EQ(wf_n_resample(&job.ctx, &picture, &first_across, &shares_across, &first_down, &shares_down, &resized), 0) << job.message;
  EXPECT_EQ(Elements<uint8_t>(resized), wanted) << height << " " << width << " " << channels << " " << most;
}

TEST(Resample, IsTheSumOfShares) {
  for (const int64_t channels : {1, 2, 3, 4, 5, 17}) {
    for (const int64_t most : {1, 2, 5, 6, 40}) {
      ExpectTheSums(1, 1, channels, most);
      ExpectTheSums(9, 7, channels, most);
      ExpectTheSums(16, 33, channels, most);
    }
  }
}

TEST(Resample, OfNothingIsNothing) {
  std::vector<uint8_t> px;
  Line none(1, 0, 3), one(1, 1, 0);
  const wf_tensor picture = Picture(px, {4, 5, 0}), first = none.First(), shares = none.Shares(), first_of_none = one.First(),
                  shares_of_none = one.Shares();
  FakeJob job;
  wf_tensor resized;
  ASSERT_EQ(wf_n_resample(&job.ctx, &picture, &first, &shares, &first, &shares, &resized), 0) << job.message;
  EXPECT_EQ(resized.dim[0], 0);
  std::vector<uint8_t> levels(12, 9);
  const wf_tensor some = Picture(levels, {2, 2, 3});
  ASSERT_EQ(wf_n_resample(&job.ctx, &some, &first_of_none, &shares_of_none, &first_of_none, &shares_of_none, &resized), 0) << job.message;
  EXPECT_EQ(Elements<uint8_t>(resized), (std::vector<uint8_t>{0, 0, 0}));
}

TEST(Resample, SaysWhatIsWrongAndStops) {
  std::vector<uint8_t> px(12);
  const wf_tensor picture = Picture(px, {2, 2, 3});
  Line fits(2, 2, 1), beyond(2, 2, 1);
  beyond.first[1] = 2;
  const wf_tensor first = fits.First(), shares = fits.Shares(), first_beyond = beyond.First();
  wf_tensor resized, more = shares;
  more.dim[0] = 1;
  FakeJob job, other, late, poor;
  EXPECT_EQ(wf_n_resample(&job.ctx, &picture, &first, &shares, &first_beyond, &shares, &resized), WF_FAILED);
  EXPECT_EQ(job.code, 7001);
  EXPECT_EQ(wf_n_resample(&other.ctx, &picture, &first, &more, &first, &shares, &resized), WF_FAILED);
  EXPECT_EQ(other.code, 7000);
  late.stop = 1;
  EXPECT_EQ(wf_n_resample(&late.ctx, &picture, &first, &shares, &first, &shares, &resized), WF_FAILED);
  EXPECT_EQ(late.code, 0);
  poor.budget = 70;
  EXPECT_EQ(wf_n_resample(&poor.ctx, &picture, &first, &shares, &first, &shares, &resized), WF_FAILED);
  EXPECT_EQ(poor.code, 3012);
}

}  // namespace
}  // namespace wf::nodes
