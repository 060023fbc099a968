#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/texts.h"

namespace wf::nodes {
namespace {

std::string Trim(std::string_view text, uint8_t start = 1, uint8_t end = 1) { return Changed(wf_n_trim, text, start, end); }
std::string Slice(std::string_view text, int64_t from, int64_t to) { return Changed(wf_n_slice, text, from, to); }
Texts Words(std::string_view text) {
  FakeJob job;
  const wf_bytes all = View(text);
  wf_list words{};
  EXPECT_EQ(wf_n_words(&job.ctx, &all, &words), 0) << job.message;
  return TextsOf(words);
}

TEST(Trim, TakesAllWhiteSpaceAtTheEnds) {
  EXPECT_EQ(Trim(" \u00a0\n a b\t\u3000"), "a b");
  EXPECT_EQ(Trim(" a ", 0, 1), " a");
  EXPECT_EQ(Trim(" a ", 1, 0), "a ");
  EXPECT_EQ(Trim(" a ", 0, 0), " a ");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim("\u200b"), "\u200b") << "which is no white space";
  EXPECT_EQ(Trim("\034\035 a\037\036"), "a") << "separators of ASCII, as in Python";
}

TEST(Words, StandBetweenWhiteSpace) {
  EXPECT_EQ(Words(" a\u2003bé\n\nc"), (Texts{"a", "bé", "c"}));
  EXPECT_EQ(Words(" \t"), Texts{});
  EXPECT_EQ(Words("\034a\035b\036c\037d"), (Texts{"a", "b", "c", "d"})) << "separators of ASCII, as in Python";
  EXPECT_EQ(Words(""), Texts{});
  EXPECT_EQ(Words("a"), Texts{"a"});
}

TEST(Words, StopAndFailWithoutMemory) {
  std::string many;
  for (int i = 0; i < 50'000; ++i) many += "ab ";
  const wf_bytes all = View(many);
  wf_list words{};
  FakeJob abandoned;
  abandoned.stop = 1;
  EXPECT_EQ(wf_n_words(&abandoned.ctx, &all, &words), WF_FAILED);
  FakeJob poor;
  poor.budget = 1000;
  EXPECT_EQ(wf_n_words(&poor.ctx, &all, &words), WF_FAILED);
  EXPECT_EQ(poor.code, 3012);
}

TEST(Slice, CountsCharacters) {
  EXPECT_EQ(Slice("né\u4f60\U0001f600!", 1, 4), "é\u4f60\U0001f600");
  EXPECT_EQ(Slice("abc", 0, 99), "abc");
  EXPECT_EQ(Slice("abc", -5, 1), "a");
  EXPECT_EQ(Slice("abc", 2, 1), "");
  EXPECT_EQ(Slice("abc", 3, 4), "");
  EXPECT_EQ(Slice("abc", INT64_MIN, INT64_MAX), "abc");
  EXPECT_EQ(Slice("abc", INT64_MAX, INT64_MIN), "");
  EXPECT_EQ(Slice("", 0, 1), "");
}

TEST(Characters, AreCodePoints) {
  std::string many;
  for (int i = 0; i < 300; ++i) many += "ab\u00e9";
  for (const auto& [text, wanted] :
       {std::pair<std::string, int64_t>("", 0), {"ab", 2}, {"e\u0301\U0001f600", 3}, {many, 900}, {std::string(256, 'a'), 256}}) {
    FakeJob job;
    const wf_bytes all = View(text);
    int64_t count = -1;
    ASSERT_EQ(wf_n_characters(&job.ctx, &all, &count), 0);
    EXPECT_EQ(count, wanted) << text;
  }
}

}  // namespace
}  // namespace wf::nodes
