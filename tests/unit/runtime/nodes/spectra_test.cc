#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

std::vector<float> Wave(int64_t count) {
  std::vector<float> x;
  for (int64_t i = 0; i < count; ++i) x.push_back(static_cast<float>(std::sin(0.3 * static_cast<double>(i)) + (i % 7 == 0 ? 0.5 : 0.0)));
  return x;
}

struct Spectra {
  int64_t frames, bins;
  std::vector<float> power;
};
Spectra Of(std::vector<float> x, std::vector<double> window, int64_t hop) {
  FakeJob job;
  const wf_tensor signal = Vector(x, WF_F32), weights = Vector(window, WF_F64);
  wf_tensor power;
  EXPECT_EQ(wf_n_spectra(&job.ctx, &signal, &weights, &hop, &power), 0) << job.message;
  return {power.dim[1], power.dim[0], Elements<float>(power)};
}

double ByDefinition(const std::vector<float>& x, const std::vector<double>& window, int64_t at, int64_t k) {
  std::complex<double> sum;
  const double turn = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(window.size());
  for (size_t i = 0; i < window.size(); ++i)
    sum += double{x[static_cast<size_t>(at) + i]} * window[i] * std::polar(1.0, turn * static_cast<double>(i));
  return std::norm(sum);
}

TEST(Spectra, AreThoseOfTheDefinition) {
  for (const int64_t size : {1, 2, 3, 4, 5, 6, 7, 9, 16, 25, 30, 48, 127, 254, 400}) {
    for (const int64_t hop : {1, 3, 1000}) {
      const std::vector<float> x = Wave(size + 10), window = Wave(size + 1);
      const std::vector<double> weights(window.begin() + 1, window.end());
      const Spectra found = Of(x, weights, hop);
      ASSERT_EQ(found.frames, 1 + 10 / hop);
      ASSERT_EQ(found.bins, size / 2 + 1);
      for (int64_t t = 0; t < found.frames; ++t) {
        for (int64_t k = 0; k < found.bins; ++k)
          ASSERT_NEAR(found.power[static_cast<size_t>(k * found.frames + t)], ByDefinition(x, weights, t * hop, k),
                      1e-6 * static_cast<double>(size * size))
              << size;
      }
    }
  }
}

TEST(Spectra, OfLessThanAFrameAreNone) {
  const Spectra found = Of({1, 2, 3}, {1, 1, 1, 1}, 1);
  EXPECT_EQ(found.frames, 0);
  EXPECT_EQ(found.bins, 3);
}

TEST(Spectra, OfWhatIsNoNumberAreNone) { EXPECT_TRUE(std::isnan(Of({1, NAN}, {1, 1}, 1).power.at(1))); }

TEST(Spectra, RefuseHopsAndWindowsThatAreNone) {
  const std::pair<int64_t, int64_t> wrong[] = {{4, 0}, {4, -1}, {0, 1}, {131, 1}, {2 * 131, 1}, {65537, 1}, {WF_MAX_WINDOW + 2, 1}};
  for (const auto& [size, hop] : wrong) {
    FakeJob job;
    std::vector<float> x{1};
    std::vector<double> window(static_cast<size_t>(size));
    const wf_tensor signal = Vector(x, WF_F32), weights = Vector(window, WF_F64);
    wf_tensor power;
    EXPECT_EQ(wf_n_spectra(&job.ctx, &signal, &weights, &hop, &power), WF_FAILED) << size;
    EXPECT_EQ(job.code, 7000);
  }
}

TEST(Spectra, FailWhenMemoryIsSpentAndStopWhenAbandoned) {
  ExpectItFailsWithoutMemoryAndStops([](wf_ctx* ctx, const wf_tensor* x, wf_tensor* power) {
    std::vector<double> ones{1, 1};
    const wf_tensor window = Vector(ones, WF_F64);
    const int64_t hop = 1;
    return wf_n_spectra(ctx, x, &window, &hop, power);
  });
}

TEST(Spectra, TakeWhatALongWindowWantsOfTheJob) {
  for (const int64_t size : {65536, 59049}) {  // a power of 2, and one of 3
    FakeJob job;
    job.budget = static_cast<uint64_t>(size) * 40;
    std::vector<float> x(static_cast<size_t>(size));
    std::vector<double> window(static_cast<size_t>(size));
    const wf_tensor signal = Vector(x, WF_F32), weights = Vector(window, WF_F64);
    const int64_t hop = 1;
    wf_tensor power;
    EXPECT_EQ(wf_n_spectra(&job.ctx, &signal, &weights, &hop, &power), WF_FAILED);
    EXPECT_EQ(job.code, 3012);
  }
}

}  // namespace
}  // namespace wf::nodes
