#include "compiler/parse/direction.h"

#include <gtest/gtest.h>

#include <string>

#include "compiler/base/utf8.h"

namespace wf::parse {
namespace {

std::string Utf8(char32_t character) {
  std::string text;
  source::AppendUtf8(character, text);
  return text;
}

struct Checked {
  explicit Checked(const std::string& token, Kind kind = Kind::kString) {
    is_plain = CheckDirection(token, {source::FileId{0}, 100, 100 + static_cast<uint32_t>(token.size())}, kind, emitter);
    all = emitter.Sorted();
  }
  diag::Emitter emitter;
  bool is_plain;
  std::vector<diag::Diagnostic> all;
};

TEST(CheckDirection, KnowsTheNineThatTurn) {
  int turning = 0;
  for (char32_t character = 1; character < 0x3000; ++character) {
    const bool turns = !Checked("\"a" + Utf8(character) + "\"").is_plain;
    EXPECT_EQ(turns, source::TurnsDirection(character)) << static_cast<uint32_t>(character);
    turning += turns;
  }
  EXPECT_EQ(turning, 9);
}

TEST(CheckDirection, ReportsATokenOnceAndMendsItWhole) {
  const Checked checked("\"\u202Eab\u2069\"");
  ASSERT_EQ(checked.all.size(), 1u);
  EXPECT_EQ(checked.all[0].code, diag::kTurnedText);
  EXPECT_EQ(checked.all[0].span, (source::Span{source::FileId{0}, 101, 104}));
  ASSERT_EQ(checked.all[0].fixes.size(), 2u);
  EXPECT_EQ(checked.all[0].fixes[1].span, (source::Span{source::FileId{0}, 106, 109}));
  EXPECT_EQ(checked.all[0].fixes[1].replacement, "\\u{2069}");
}

TEST(CheckDirection, TakesThemOutOfCommentsAndLeavesRawStrings) {
  EXPECT_EQ(Checked("// \u2066", Kind::kComment).all.at(0).fixes.at(0).replacement, "");
  EXPECT_TRUE(Checked("r\"\u2066\"", Kind::kRawString).all.at(0).fixes.empty()) << "an escape is none there";
}

}  // namespace
}  // namespace wf::parse
