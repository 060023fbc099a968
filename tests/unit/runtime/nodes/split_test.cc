#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/texts.h"

namespace wf::nodes {
namespace {

Texts Split(std::string_view text, std::string_view between) {
  FakeJob job;
  const wf_bytes all = View(text), separator = View(between);
  wf_list parts{};
  EXPECT_EQ(wf_n_split(&job.ctx, &all, &separator, &parts), 0) << job.message;
  return TextsOf(parts);
}

TEST(Split, YieldsWhatStandsBetween) {
  EXPECT_EQ(Split("a, b, c", ", "), (Texts{"a", "b", "c"}));
  EXPECT_EQ(Split("abc", ","), Texts{"abc"});
  EXPECT_EQ(Split("", ","), Texts{""});
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(Split(",a,,b,", ","), (Texts{"", "a", "", "b", ""}));
  EXPECT_EQ(Split(",", ","), (Texts{"", ""}));
}

TEST(Split, TakesTheFirstOfOverlappingPlaces) { EXPECT_EQ(Split("aaaaa", "aa"), (Texts{"", "", "a"})); }

TEST(Split, FailsWithNothingToSplitBy) {
  FakeJob job;
  const wf_bytes text = View("abc"), nothing = View("");
  wf_list parts{};
  EXPECT_EQ(wf_n_split(&job.ctx, &text, &nothing, &parts), WF_FAILED);
  EXPECT_EQ(job.code, 7000);
}

TEST(Split, StopsWhenToldTo) {
  FakeJob job;
  job.stop = 1;
  const std::string commas(5'000'000, ',');
  const wf_bytes text = View(commas), comma = View(",");
  wf_list parts{};
  EXPECT_EQ(wf_n_split(&job.ctx, &text, &comma, &parts), WF_FAILED);
  EXPECT_EQ(parts.ptr, nullptr);
}

TEST(Split, FailsBeyondTheBudget) {
  FakeJob job;
  job.budget = 64;
  const wf_bytes text = View("a,b,c,d,e"), comma = View(",");
  wf_list parts{};
  EXPECT_EQ(wf_n_split(&job.ctx, &text, &comma, &parts), WF_FAILED);
}

}  // namespace
}  // namespace wf::nodes
