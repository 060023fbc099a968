#include <gtest/gtest.h>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

// A mask of `rows`, where # is in it; rows lie two elements apart.
struct Mask {
  std::vector<uint8_t> data;
  wf_tensor tensor{};

  explicit Mask(const std::vector<std::string>& rows) {
    const size_t width = rows.empty() ? 0 : rows[0].size();
    for (const std::string& row : rows) {
      for (const char pixel : row + "##") data.push_back(pixel == '#' ? 1 : 0);
    }
    tensor = Vector(data, WF_BOOL);
    tensor.rank = 2;
    tensor.dim[0] = static_cast<int64_t>(rows.size());
    tensor.dim[1] = static_cast<int64_t>(width);
    tensor.stride[0] = static_cast<int64_t>(width) + 2;
    tensor.stride[1] = 1;
  }
};

using Numbers = std::vector<int64_t>;

TEST(ConnectedComponents, AreNumberedByTheirFirstPixels) {
  const Mask mask({"#.#.", "#..#", ".#..", "...#"});
  FakeJob job;
  wf_components found;
  ASSERT_EQ(wf_n_connected_components(&job.ctx, &mask.tensor, &found), 0) << job.message;
  EXPECT_EQ(Elements<int64_t>(found.labels), (Numbers{1, 0, 2, 0, 1, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 3}));
  EXPECT_EQ(Elements<int64_t>(found.boxes), (Numbers{0, 0, 2, 3, 2, 0, 4, 2, 3, 3, 4, 4}));
  EXPECT_EQ(Elements<int64_t>(found.areas), (Numbers{3, 2, 1}));
}

TEST(ConnectedComponents, AreOneWhereTwoMeetLater) {
  const Mask mask({"#.#.#", "#.#.#", "#####"});
  FakeJob job;
  wf_components found;
  ASSERT_EQ(wf_n_connected_components(&job.ctx, &mask.tensor, &found), 0);
  EXPECT_EQ(Elements<int64_t>(found.areas), Numbers{11});
  EXPECT_EQ(Elements<int64_t>(found.boxes), (Numbers{0, 0, 5, 3}));
}

TEST(ConnectedComponents, OfNothingAreNone) {
  for (const std::vector<std::string>& rows : {std::vector<std::string>{}, {""}, {"...", "..."}}) {
    const Mask mask(rows);
    FakeJob job;
    wf_components found;
    ASSERT_EQ(wf_n_connected_components(&job.ctx, &mask.tensor, &found), 0);
    EXPECT_EQ(found.boxes.dim[0], 0);
    EXPECT_EQ(found.boxes.dim[1], 4);
    EXPECT_EQ(Elements<int64_t>(found.labels), Numbers(rows.size() * (rows.empty() ? 0 : rows[0].size()), 0));
  }
}

TEST(ConnectedComponents, FailWhereverMemoryIsSpentAndStopWhenAbandoned) {
  const Mask mask({"#.#"});
  wf_components found;
  for (const uint64_t budget : {0, 64, 128}) {
    FakeJob job;
    job.budget = budget;
    EXPECT_EQ(wf_n_connected_components(&job.ctx, &mask.tensor, &found), WF_FAILED);
    EXPECT_EQ(job.code, 3012);
  }
  FakeJob abandoned;
  abandoned.stop = 1;
  EXPECT_EQ(wf_n_connected_components(&abandoned.ctx, &mask.tensor, &found), WF_FAILED);
  EXPECT_EQ(abandoned.code, 0);
}

}  // namespace
}  // namespace wf::nodes
