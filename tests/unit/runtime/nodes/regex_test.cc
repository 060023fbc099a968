#include <thread>

#include "runtime/base/error_codes.h"
#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/texts.h"

namespace wf::nodes {
namespace {

using Native = decltype(&wf_n_find_all);

Texts ListOf(Native native, std::string_view text, std::string_view pattern) {
  FakeJob job;
  const wf_bytes all = View(text), by = View(pattern);
  wf_list found{};
  EXPECT_EQ(native(&job.ctx, &all, &by, &found), 0) << job.message;
  return TextsOf(found);
}
bool Matches(std::string_view text, std::string_view pattern) {
  FakeJob job;
  const wf_bytes all = View(text), by = View(pattern);
  uint8_t does = 2;
  EXPECT_EQ(wf_n_matches(&job.ctx, &all, &by, &does), 0) << job.message;
  return does == 1;
}
std::string Replaced(std::string_view text, std::string_view pattern, std::string_view by) {
  return Changed(wf_n_replace_all, text, View(pattern), View(by));
}

TEST(Regex, MatchesSomewhere) {
  EXPECT_TRUE(Matches("order 12", "[0-9]{2}$"));
  EXPECT_FALSE(Matches("order 12", "^12"));
  EXPECT_TRUE(Matches("", ""));
  EXPECT_TRUE(Matches("\u4f60", "^.$")) << "a character is not its bytes";
}

TEST(Regex, TakesNoBytesOfCharacters) {
  for (const std::string_view pattern : {"\\C", "a|(\\C)b", "\\\\\\C", "\\Qa\\E\\C", "\\Q\\\\E\\C"}) {
    FakeJob job;
    const wf_bytes text = View("\u00e9"), by = View(pattern);
    wf_list found{};
    EXPECT_NE(wf_n_find_all(&job.ctx, &text, &by, &found), 0) << pattern;
    EXPECT_EQ(job.code, code::kType);
    EXPECT_EQ(job.message, "pattern: invalid escape sequence: \\C");
  }
  EXPECT_EQ(ListOf(wf_n_find_all, "a\\C", "\\\\C"), Texts{"\\C"});
  EXPECT_EQ(ListOf(wf_n_find_all, "a\\C", "\\Q\\C"), Texts{"\\C"});
  EXPECT_EQ(ListOf(wf_n_find_all, "a\\C", "\\Qa\\C\\E"), Texts{"a\\C"});
}

TEST(Regex, FindsMatchesFromTheLeft) {
  EXPECT_EQ(ListOf(wf_n_find_all, "1, 22", "[0-9]+"), (Texts{"1", "22"}));
  EXPECT_EQ(ListOf(wf_n_find_all, "aaa", "aa"), Texts{"aa"});
  EXPECT_EQ(ListOf(wf_n_find_all, "\u4f60a", "x*"), (Texts{"", "", ""})) << "one before each character, one at the end";
  EXPECT_EQ(ListOf(wf_n_find_all, "axb", "x*"), (Texts{"", "x", "", ""}));
  EXPECT_EQ(ListOf(wf_n_find_all, "", "x"), Texts{});
}

TEST(Regex, SplitsBetweenMatches) {
  EXPECT_EQ(ListOf(wf_n_split_all, "a1b22c", "[0-9]+"), (Texts{"a", "b", "c"}));
  EXPECT_EQ(ListOf(wf_n_split_all, "1", "1"), (Texts{"", ""}));
  EXPECT_EQ(ListOf(wf_n_split_all, "", "1"), Texts{""});
}

TEST(Regex, YieldsGroupsOfTheFirstMatch) {
  EXPECT_EQ(ListOf(wf_n_groups, "a=1 b=2", "(\\w)=(\\d)"), (Texts{"a=1", "a", "1"}));
  EXPECT_EQ(ListOf(wf_n_groups, "b", "(a)|b"), (Texts{"b", ""}));
  EXPECT_EQ(ListOf(wf_n_groups, "c", "(a)|b"), Texts{});
}

TEST(Regex, ReplacesMatches) {
  EXPECT_EQ(Replaced("2 cm, 3 m", "(\\d) (c?m)", "\\2:\\1"), "cm:2, m:3");
  EXPECT_EQ(Replaced("ab", "(a)|(b)", "[\\1\\2\\0\\\\]"), "[aa\\][bb\\]");
  EXPECT_EQ(Replaced("abxd", "x*", "-"), "-a-b--d-") << "as Python's re.sub";
  EXPECT_EQ(Replaced("", "x", "-"), "");
}

TEST(Regex, FailsForWhatIsNoPattern) {
  for (const std::string& pattern : {std::string("("), std::string("a(?=b)"), std::string("(a)\\1"), std::string("((a{100}){100}){100}"),
                                     std::string(2000, '('), "(" + std::string(1000, 'x') + "\u4f60"}) {
    FakeJob job;
    const wf_bytes text = View("a"), by = View(pattern);
    uint8_t does = 0;
    EXPECT_EQ(wf_n_matches(&job.ctx, &text, &by, &does), WF_FAILED) << pattern;
    EXPECT_EQ(job.code, 7000);
  }
  constexpr const char* kNoGroup = "the replacement wants group 1, and the pattern has 0";
  constexpr const char* kNoDigit = "the replacement has a \\ with neither a digit nor another \\ behind it";
  for (const auto& [by, why] : {std::pair("\\1", kNoGroup), {"\\", kNoDigit}, {"\\x", kNoDigit}}) {
    FakeJob job;
    const wf_bytes text = View("a"), pattern = View("a"), replacement = View(by);
    wf_bytes result{};
    EXPECT_EQ(wf_n_replace_all(&job.ctx, &text, &pattern, &replacement, &result), WF_FAILED) << by;
    EXPECT_EQ(job.code, 7000);
    EXPECT_EQ(job.message, why);
  }
}

TEST(Regex, TakesTimeInProportion) {
  const std::string text(200'000, 'a');
  EXPECT_FALSE(Matches(text, "^(a*)*b$"));
  EXPECT_EQ(ListOf(wf_n_find_all, text, "a").size(), text.size());
}

TEST(Regex, StopsAndFailsWithoutMemory) {
  ExpectItStopsAndFailsWithoutMemory(wf_n_replace_all, std::string(10'000, ','), View(","), View("; "));
  for (const Native native : {wf_n_find_all, wf_n_split_all}) {
    const std::string commas(10'000, ',');
    const wf_bytes text = View(commas), pattern = View(",");
    wf_list found{};
    FakeJob abandoned;
    abandoned.stop = 1;
    EXPECT_EQ(native(&abandoned.ctx, &text, &pattern, &found), WF_FAILED);
    FakeJob poor;
    poor.budget = 1000;
    EXPECT_EQ(native(&poor.ctx, &text, &pattern, &found), WF_FAILED);
    EXPECT_EQ(poor.code, 3012);
  }
}

// More patterns than are kept, on several threads.
TEST(Regex, PatternsAreSharedByThreads) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([] {
      for (int i = 0; i < 300; ++i) EXPECT_TRUE(Matches("x" + std::to_string(i % 90), "^x" + std::to_string(i % 90) + "$"));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace wf::nodes
