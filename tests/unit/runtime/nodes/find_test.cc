#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/texts.h"

namespace wf::nodes {
namespace {

std::string Replace(std::string_view text, std::string_view part, std::string_view by) {
  return Changed(wf_n_replace, text, View(part), View(by));
}

TEST(Replace, FromTheLeft) {
  EXPECT_EQ(Replace("aaaaa", "aa", "b"), "bba");
  EXPECT_EQ(Replace("a,b,", ",", ""), "ab");
  EXPECT_EQ(Replace("abc", "x", "y"), "abc");
  EXPECT_EQ(Replace("", "x", "y"), "");
  EXPECT_EQ(Replace("x", "x", "a longer text"), "a longer text");
}

TEST(Replace, FailsWithNothingToReplace) {
  FakeJob job;
  const wf_bytes text = View("abc"), nothing = View("");
  wf_bytes result{};
  EXPECT_EQ(wf_n_replace(&job.ctx, &text, &nothing, &text, &result), WF_FAILED);
  EXPECT_EQ(job.code, 7000);
}

TEST(Replace, StopsAndFailsWithoutMemory) {
  ExpectItStopsAndFailsWithoutMemory(wf_n_replace, std::string(100'000, ','), View(","), View("; "));
}

TEST(Find, YieldsTheFirstByte) {
  for (const auto& [text, part, wanted] :
       {std::tuple<const char*, const char*, int64_t>("abcbc", "bc", 1), {"é!", "!", 2}, {"ab", "", 0}, {"", "", 0}, {"ab", "abc", -1}}) {
    FakeJob job;
    const wf_bytes all = View(text), one = View(part);
    wf_optional_i64 at{-1, 2};
    ASSERT_EQ(wf_n_find(&job.ctx, &all, &one, &at), 0);
    EXPECT_EQ(at.has, wanted < 0 ? 0 : 1) << text;
    EXPECT_EQ(at.has != 0 ? at.value : -1, wanted) << text;
  }
}

TEST(Find, TakesTimeByTheTextAlone) {
  const std::string all(size_t{4} << 20, 'a'), part = std::string(size_t{1} << 20, 'a') + 'b';  // 10^12 comparisons, one by one
  FakeJob job;
  wf_bytes text = View(all), one = View(part);
  wf_optional_i64 at;
  ASSERT_EQ(wf_n_find(&job.ctx, &text, &one, &at), 0);
  EXPECT_EQ(at.has, 0);
  const std::string longer = all + part;
  text = View(longer);
  ASSERT_EQ(wf_n_find(&job.ctx, &text, &one, &at), 0);
  EXPECT_EQ(at.value, int64_t{4} << 20);
  wf_list parts;
  ASSERT_EQ(wf_n_split(&job.ctx, &text, &one, &parts), 0);
  EXPECT_EQ(parts.len, 2U);
  job.stop = 1;
  one = View("x");
  EXPECT_EQ(wf_n_find(&job.ctx, &text, &one, &at), WF_FAILED);
}

TEST(Find, TellsHowTextsBeginAndEnd) {
  FakeJob job;
  for (const auto& [part, begins, ends] :
       {std::tuple<const char*, int, int>("ab", 1, 0), {"ba", 0, 1}, {"", 1, 1}, {"aba", 1, 1}, {"abab", 0, 0}}) {
    const wf_bytes all = View("aba"), one = View(part);
    uint8_t does = 2;
    ASSERT_EQ(wf_n_starts_with(&job.ctx, &all, &one, &does), 0);
    EXPECT_EQ(does, begins) << part;
    ASSERT_EQ(wf_n_ends_with(&job.ctx, &all, &one, &does), 0);
    EXPECT_EQ(does, ends) << part;
  }
}

}  // namespace
}  // namespace wf::nodes
