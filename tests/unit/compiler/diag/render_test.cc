#include "compiler/diag/render.h"

#include <gtest/gtest.h>

#include "compiler/diag/excerpt.h"

namespace wf::diag {
namespace {

using source::FileId;
using source::SourceMap;
using source::Span;

// A text and spans in it, found by the words they cover.
class RenderTest : public ::testing::Test {
 protected:
  FileId Add(std::string name, std::string text) { return file_ = sources_.Add(std::move(name), std::move(text)); }
  Span Of(std::string_view word, FileId file) {
    const auto at = static_cast<uint32_t>(sources_.text(file).find(word));
    return {file, at, at + static_cast<uint32_t>(word.size())};
  }
  Span Of(std::string_view word) { return Of(word, file_); }
  std::string Text() { return RenderText(emitter_.Sorted().front(), sources_, Color::kNever); }

  SourceMap sources_;
  Emitter emitter_;
  FileId file_{};
};

TEST_F(RenderTest, ShowsPlaceLineCaretsLabelHelpAndFix) {
  Add("a.wf", "let a = 1;\nlet b = pictrue;\n");
  emitter_.Emit(Of("pictrue"), kUnknownName, {"pictrue"})
      .Here("not declared")
      .Help("did you mean `picture`?")
      .Fix(Of("pictrue"), "picture");
  EXPECT_EQ(Text(), R"(error[WF3001]: unknown name `pictrue`
 --> a.wf:2:9
  |
2 | let b = pictrue;
  |         ^^^^^^^ not declared
  = help: did you mean `picture`?

)");
}

TEST_F(RenderTest, PutsSeveralSpansOfALineUnderEachOther) {
  Add("a.wf", "one two three\n");
  emitter_.Emit(Of("two"), kUnknownName, {"x"}).Here("second").Label(Of("three"), "third").Label(Of("one"), "first");
  EXPECT_EQ(Text(), R"(error[WF3001]: unknown name `x`
 --> a.wf:1:5
  |
1 | one two three
  | --- ^^^ ----- third
  |     |
  |     second
  | |
  | first

)");
}

TEST_F(RenderTest, ShowsOtherLinesAndOtherFiles) {
  const FileId other = Add("lib.wf", "\n\nfn f();\n");
  Add("a.wf", "a\nb\nc\nd\n");
  emitter_.Emit(Of("d"), kUnknownName, {"x"}).Label(Of("a"), "here").Label(Of("f()", other), "declared here");
  EXPECT_EQ(Text(), R"(error[WF3001]: unknown name `x`
 --> a.wf:4:1
  |
1 | a
  | - here
...
4 | d
  | ^
 ::: lib.wf:3:4
  |
3 | fn f();
  |    --- declared here

)");
}

TEST_F(RenderTest, WidensTheMarginToTheLongestLineNumber) {
  Add("a.wf", std::string(99, '\n') + "x\n");
  emitter_.Emit(Of("x"), kUnknownName, {"x"});
  EXPECT_EQ(Text(), "error[WF3001]: unknown name `x`\n   --> a.wf:100:1\n    |\n100 | x\n    | ^\n\n");
}

TEST_F(RenderTest, PointsBehindTheLastCharacterForAnEmptySpanAtTheEnd) {
  Add("a.wf", "abc");
  emitter_.Emit({file_, 3, 3}, kMissingSemicolon, {"`abc`"}).Fix({file_, 3, 3}, ";");
  EXPECT_EQ(Text(), "error[WF2002]: missing `;` after `abc`\n --> a.wf:1:4\n  |\n1 | abc\n  |    ^\n  = fix: insert `;`\n\n");
}

TEST_F(RenderTest, KeepsCaretsInPlaceAfterTabsAndWideCharacters) {
  Add("a.wf", "\tab = \"日本\" e\xCC\x81 + here;\n");
  emitter_.Emit(Of("here"), kUnknownName, {"here"});
  EXPECT_EQ(Text(),
            "error[WF3001]: unknown name `here`\n --> a.wf:1:17\n  |\n"
            "1 |     ab = \"日本\" e\xCC\x81 + here;\n"
            "  |                     ^^^^\n\n");
}

TEST_F(RenderTest, MarksTheFirstLineOfASpanOverSeveral) {
  Add("a.wf", "one {\n two\n}\n");
  emitter_.Emit({file_, 0, 11}, kUnknownName, {"x"});
  EXPECT_EQ(Text(), "error[WF3001]: unknown name `x`\n --> a.wf:1:1\n  |\n1 | one {\n  | ^^^^^\n\n");
}

TEST_F(RenderTest, ShowsThePartOfAnEndlessLineAroundThePlace) {
  Add("a.wf", std::string(5'000'000, 'x') + " here " + std::string(5'000'000, 'y'));
  emitter_.Emit(Of("here"), kUnknownName, {"here"});
  const std::string text = Text();
  EXPECT_LT(text.size(), 1000u);
  EXPECT_NE(text.find("xxx here yyy"), std::string::npos);
  const size_t line = text.find("1 | ") + 4, marks = text.find("  | ", line) + 4;
  const size_t ellipsis = std::string("…").size() - 1;  // one column, three bytes
  EXPECT_EQ(text.find("here", line) - line - ellipsis, text.find("^^^^", marks) - marks);
}

TEST_F(RenderTest, LetsNoControlOrDirectionCharactersThrough) {
  Add("a\x1b[31m.wf", "x \x1b[2J\xE2\x80\xAE y\n");
  emitter_.Emit(Of("y"), kUnknownName, {"\x1b]0;"});
  EXPECT_EQ(Text().find('\x1b'), std::string::npos);
  EXPECT_EQ(Text().find("\xE2\x80\xAE"), std::string::npos);
}

TEST_F(RenderTest, SurvivesBytesThatAreNotUtf8) {
  Add("a.wf", "x \xFF\xC3 y");
  emitter_.Emit(Of("y"), kNotUtf8, {"0xFF"});
  EXPECT_NE(Text().find("x \uFFFD\uFFFD y"), std::string::npos);
}

TEST_F(RenderTest, ColoursOnlyWhenTold) {
  Add("a.wf", "x");
  emitter_.Emit(Of("x"), kUnused, {"node", "x"});
  EXPECT_EQ(Text().find('\x1b'), std::string::npos);
  EXPECT_NE(RenderText(emitter_.Sorted().front(), sources_, Color::kAlways).find("\x1b[1;33mwarning"), std::string::npos);
}

TEST_F(RenderTest, CountsColumnsInCharacters) {
  Add("a.wf", "\xE6\x97\xA5\xF0\x9F\x98\x80 + 3");
  emitter_.Emit(Of("+"), kUnknownName, {"+"});
  const Diagnostic one = emitter_.Sorted().front();
  EXPECT_NE(Text().find("--> a.wf:1:4\n"), std::string::npos);
  EXPECT_NE(RenderGithub(one, sources_).find("col=4,endColumn=5"), std::string::npos);
  EXPECT_NE(RenderJson(one, sources_).find(R"("column":4,"end_line":1,"end_column":5,"byte":8,"end_byte":9)"), std::string::npos);
}

TEST(AnyMessage, HasNoHoles) {
  EXPECT_EQ(AnyMessage(InfoOf(kTypeMismatch)), "expected `…`, found `…`");
  EXPECT_EQ(AnyMessage(InfoOf(kLoneBrace)), InfoOf(kLoneBrace).message);
}

TEST_F(RenderTest, RendersWithoutAPlace) {
  emitter_.Emit({}, kCannotReadFile, {"x.wf", "no such file"});
  EXPECT_EQ(Text(), "error[WF8001]: cannot read `x.wf`: no such file\n\n");
}

TEST_F(RenderTest, WritesOneObjectOfJsonALine) {
  Add("a \"b\".wf", "ab\nc");
  emitter_.Emit(Of("c"), kUnknownName, {"c\\\n\x01"}).Label(Of("ab"), "x").Help("h").Fix(Of("c"), "d");
  const std::string json = RenderJson(emitter_.Sorted().front(), sources_);
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 1);
  EXPECT_EQ(
      json.substr(0, json.find(",\"rendered\"")),
      R"({"code":"WF3001","severity":"error","message":"unknown name `c\\\\n\\u{01}`","column_unit":"characters","spans":[)"
      R"({"file":"a \"b\".wf","line":2,"column":1,"end_line":2,"end_column":2,"byte":3,"end_byte":4,"primary":true,"label":""},)"
      R"({"file":"a \"b\".wf","line":1,"column":1,"end_line":1,"end_column":3,"byte":0,"end_byte":2,"primary":false,"label":"x"}],)"
      R"("help":["h"],"fixes":[{"file":"a \"b\".wf","line":2,"column":1,"end_line":2,"end_column":2,"byte":3,"end_byte":4,"replacement":"d"}])");
}

TEST(DisplayWidth, IsNothingForCombiningAndTwoForWideCharacters) {
  EXPECT_EQ(DisplayWidth(U'a'), 1);
  EXPECT_EQ(DisplayWidth(U'\u0301'), 0);
  EXPECT_EQ(DisplayWidth(U'\u65E5'), 2);
  EXPECT_EQ(DisplayWidth(U'\U0001F600'), 2);
}

}  // namespace
}  // namespace wf::diag
