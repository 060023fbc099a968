#include "compiler/parse/strings.h"

#include <gtest/gtest.h>

namespace wf::parse {
namespace {

struct Read {
  explicit Read(std::string_view token, Holes holes = Holes::kRead) {
    const source::Span span{source::FileId{0}, 100, 100 + static_cast<uint32_t>(token.size())};
    pieces = ReadString(token, span, holes, emitter);
    for (const auto& piece : pieces) text += piece.hole == nullptr ? piece.text : "<hole>";
  }
  diag::Emitter emitter;
  std::vector<ast::StringExpr::Piece> pieces;
  std::string text;
};

TEST(ReadString, TakesEscapesOut) { EXPECT_EQ(Read(R"("\n\t\r\"\\\u{41}\u{1F600}")").text, "\n\t\r\"\\A\U0001F600"); }

TEST(ReadString, LeavesRawStringsAlone) { EXPECT_EQ(Read(R"(r"\n{x}}")").text, R"(\n{x}})"); }

TEST(ReadString, TakesDoubledBracesAsBraces) {
  EXPECT_EQ(Read(R"("{{x}}")").text, "{x}");
  EXPECT_EQ(Read(R"("{{x}}")", Holes::kNone).text, "{{x}}") << "names and paths have no holes";
}

TEST(ReadString, GivesHolesTheirPlaceInTheFile) {
  const Read read(R"("ab{name}")");
  ASSERT_EQ(read.pieces.size(), 2u);
  EXPECT_EQ(read.pieces[1].hole->span, (source::Span{source::FileId{0}, 104, 108}));
}

TEST(ReadString, ReportsWhatIsNoHoleOrEscape) {
  for (const char* token : {R"("{}")", R"("{1}")", R"("{a.}")", R"("{a[}")", R"("{a[i]}")", R"("{a b}")", R"("{a")", R"("\q")", R"("\u41")",
                            R"("\u{}")", R"("\u{D800}")", R"("\u{1111111}")", R"("a } b")", "\"\\\xC3\xA9\""}) {
    EXPECT_EQ(Read(token).emitter.error_count(), 1u) << token;
  }
}

TEST(ReadString, BoundsTheStepsOfAHole) {
  std::string token = "\"{a";
  for (int step = 0; step < 100'000; ++step) token += ".b";
  EXPECT_EQ(Read(token + "}\"").emitter.error_count(), 1u);
}

TEST(ReadString, IsEmptyForAnEmptyString) { EXPECT_TRUE(Read(R"("")").pieces.empty()); }

}  // namespace
}  // namespace wf::parse
