#include "compiler/parse/parse.h"

#include <gtest/gtest.h>

#include "tests/unit/compiler/parse/parsed.h"

namespace wf::parse {
namespace {

using Codes = std::vector<diag::Code>;

TEST(Parse, BindsOperatorsByTheirLevels) {
  const Parsed p("const a = 1 + 2 * 3 ?? 4 ?? 5 |> f();\n");
  EXPECT_EQ(p.codes(), Codes{});
  EXPECT_TRUE(p.Has(R"(    value: BinaryExpr |> 1:11-1:37
      BinaryExpr ?? 1:11-1:30
        BinaryExpr + 1:11-1:20
          NumberExpr int 1 1:11-1:12
          BinaryExpr * 1:15-1:20
            NumberExpr int 2 1:15-1:16
            NumberExpr int 3 1:19-1:20
        BinaryExpr ?? 1:24-1:30
)")) << p.tree();
}

TEST(Parse, KeepsParenthesesAndComments) {
  const Parsed p("// head\nconst a = (1); // tail\n");
  EXPECT_TRUE(p.Has("ParenExpr 2:11-2:14"));
  ASSERT_EQ(p.file->comments.size(), 2u);
  EXPECT_EQ(p.file->comments[1].text, "// tail");
}

TEST(Parse, LexesWhatTheTreeIsReadFrom) {
  for (const std::string text : {"// head\nconst a = (1); // tail\n", "fn f() -> i64 {\n  (1\n\nfn g() -> i64 { 1 ]\n",
                                 "\xEF\xBB\xBF"
                                 "fn"}) {
    const Parsed p(text);
    const auto lexed = Lex(text);
    ASSERT_TRUE(lexed && p.file) << text;
    ASSERT_EQ(lexed->tokens.size(), p.file->tokens.size()) << text;
    for (size_t i = 0; i < lexed->tokens.size(); ++i) {
      EXPECT_EQ(lexed->tokens[i].begin, p.file->tokens[i].begin) << text;
      EXPECT_EQ(lexed->tokens[i].end, p.file->tokens[i].end) << text;
    }
    EXPECT_EQ(lexed->comments.size(), p.file->comments.size()) << text;
  }
  for (const std::string text : {"", "// only\n", "const a = \xFF;\n"}) EXPECT_FALSE(Lex(text)) << text;
}

TEST(Parse, TakesTheDocLinesRightAboveADeclaration) {
  const Parsed p("/// far\n\n/// one\n///two\nconst a = 1;\n// plain\nconst b = 2;\n");
  EXPECT_EQ(p.file->decls[0]->doc, "one\ntwo");
  EXPECT_EQ(p.file->decls[1]->doc, "");
}

TEST(Parse, TakesNoDocFromBehindOtherCode) {
  const Parsed p("\xEF\xBB\xBF/// one\nconst a = 1; /// of a\nconst b = 2; /// of b\n/// three\nconst c = 3;\n");
  EXPECT_EQ(p.file->decls[0]->doc, "one");
  EXPECT_EQ(p.file->decls[1]->doc, "");
  EXPECT_EQ(p.file->decls[2]->doc, "three");
}

TEST(Parse, CountsSpansInBytesAfterNonAsciiText) {
  const Parsed p("\xEF\xBB\xBF/* é */ const a = 1;");
  EXPECT_FALSE(p.codes().empty());
  const Parsed q("const a = \"日本\" + b;");
  EXPECT_TRUE(q.Has("NameExpr b 1:22-1:23")) << q.tree();
}

TEST(Parse, SkipsAByteOrderMarkAndReadsCarriageReturns) {
  const Parsed p(
      "\xEF\xBB\xBF"
      "const a = 1;\r\n// note\r\nconst b = 2;\r\n");
  EXPECT_EQ(p.codes(), Codes{});
  EXPECT_EQ(p.file->decls.size(), 2u);
  EXPECT_EQ(p.file->comments[0].text, "// note");
}

TEST(Parse, ReportsOneMistakeForEachStatementAndGoesOn) {
  const Parsed p("workflow W() -> (y: i32) {\n  let a = ;\n  let b = 2;\n  node c = f(;\n  return (y: b);\n}\nconst d = ;\nconst e = 1;\n");
  EXPECT_EQ(p.codes(), (Codes{diag::kUnexpectedToken, diag::kUnexpectedToken, diag::kUnexpectedToken}));
  EXPECT_TRUE(p.Has("LetStmt b"));
  EXPECT_TRUE(p.Has("ReturnStmt"));
  EXPECT_TRUE(p.Has("ConstDecl e"));
}

TEST(Parse, MarksWhatFailedAndKeepsItsName) {
  const Parsed p("workflow W() -> (y: i32) {\n  let a = ;\n  return (y: 1);\n}\nfn broken(x i32) -> i32 = 1;\nfn fine() -> i32 = 1;\n");
  ASSERT_EQ(p.file->decls.size(), 3u);
  EXPECT_TRUE(p.file->decls[0]->has_errors);
  EXPECT_TRUE(p.Has("ErrorStmt"));
  EXPECT_EQ(p.file->decls[1]->kind, ast::DeclKind::kErrorDecl);
  EXPECT_EQ(p.file->decls[1]->name.text, "broken");
  EXPECT_FALSE(p.file->decls[2]->has_errors);
}

TEST(Parse, MarksDeclarationsWithMistakesThatTheLexerOrTheBuilderFound) {
  const Parsed p("const a = \"open;\nconst b = 1;\nconst c = \"{\";\nconst d = 1 < 2 < 3;\nconst e = 2;\n");
  std::vector<bool> marks;
  for (const auto& decl : p.file->decls) marks.push_back(decl->has_errors);
  EXPECT_EQ(marks, (std::vector<bool>{true, false, true, true, false}));
}

TEST(Parse, ReadsHolesWithTheirPlaces) {
  const Parsed p("const a = \"x {b.c[10].d} y\";\n");
  EXPECT_TRUE(p.Has("\"x \"\n      hole: MemberExpr .d 1:15-1:24\n        IndexExpr 1:15-1:22\n")) << p.tree();
}

TEST(Parse, LeavesBracesAloneInPathsAndNames) {
  const Parsed p("model M = onnx(\"a{b}.onnx\");\nerror E = 100001 \"{x}\";\ntest \"{y}\" { }\n");
  EXPECT_EQ(p.codes(), Codes{});
  EXPECT_TRUE(p.Has("\"a{b}.onnx\""));
}

TEST(Parse, TellsTheFallbackOfANodeFromTheElseOfAnIf) {
  const Parsed p("workflow W() -> (y: i32) { node a = if b { 1 } else { 2 } else 3; node c = d { retry 1; } else 4; }\n");
  EXPECT_EQ(p.codes(), Codes{});
  EXPECT_TRUE(p.Has("      else: NumberExpr int 3")) << p.tree();
  EXPECT_TRUE(p.Has("      else: NumberExpr int 4"));
}

TEST(Parse, SuggestsAUnitWrittenApartWithItsFix) {
  const Parsed p("service S { timeout 2 ms; }\n");
  ASSERT_EQ(p.codes(), Codes{diag::kUnitApart});
  EXPECT_EQ(p.emitter.Sorted().front().fixes.front().replacement, "2ms");
}

TEST(Parse, YieldsTheSameTreeTwice) {
  const std::string text = "fn f(x: f32[h, w]) -> f32[w] = [i] => sum[k](x[k, i]);\n";
  EXPECT_EQ(Parsed(text).tree(), Parsed(text).tree());
}

}  // namespace
}  // namespace wf::parse
