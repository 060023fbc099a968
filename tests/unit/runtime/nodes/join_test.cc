#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/texts.h"

namespace wf::nodes {
namespace {

std::string Join(const Texts& texts, std::string_view between) {
  FakeJob job;
  std::vector<wf_bytes> parts;
  for (const std::string& text : texts) parts.push_back(View(text));
  const wf_list list{parts.data(), parts.size()};
  const wf_bytes separator = View(between);
  wf_bytes joined{};
  EXPECT_EQ(wf_n_join(&job.ctx, &list, &separator, &joined), 0) << job.message;
  return TextOf(joined);
}

TEST(Join, StandsBetweenEachTwo) {
  EXPECT_EQ(Join({}, ", "), "");
  EXPECT_EQ(Join({"a"}, ", "), "a");
  EXPECT_EQ(Join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(Join({"", ""}, ""), "");
}

TEST(Join, StopsAndFailsWithoutMemory) {
  const std::vector<wf_bytes> parts(100'000, View("ab"));
  const wf_list list{const_cast<wf_bytes*>(parts.data()), parts.size()};
  const wf_bytes separator = View(",");
  wf_bytes joined{};
  FakeJob abandoned;
  abandoned.stop = 1;
  EXPECT_EQ(wf_n_join(&abandoned.ctx, &list, &separator, &joined), WF_FAILED);
  FakeJob poor;
  poor.budget = 200'000;
  EXPECT_EQ(wf_n_join(&poor.ctx, &list, &separator, &joined), WF_FAILED);
  EXPECT_EQ(poor.code, 3012);
}

}  // namespace
}  // namespace wf::nodes
