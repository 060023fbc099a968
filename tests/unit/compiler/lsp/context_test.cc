#include "compiler/lsp/context.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "compiler/lsp/scope.h"
#include "tests/unit/compiler/lsp/open_text.h"
#include "tests/unit/support/source_path.h"

namespace wf::lsp {
namespace {

// The context at `|`.
Context At(std::string text) {
  const size_t at = text.find('|');
  text.erase(at, 1);
  return ContextAt(*AnalysisOfText(text), static_cast<uint32_t>(at));
}

TEST(Context, KnowsTheBlock) {
  const std::pair<const char*, Block> kRows[] = {
      {"|", Block::kFile},
      {"workflow W() -> (x: i64) { |", Block::kBody},
      {"workflow W() -> (x: i64) { node a = f(1) { |", Block::kNodeSettings},
      {"workflow W() -> (x: i64) { node a = if b { |", Block::kOther},
      {"workflow W() -> (x: i64) { node a = if b { f(1) } else { f(2) } { |", Block::kNodeSettings},
      {"workflow W() -> (x: i64) { node a = for x in f(y) { |", Block::kOther},
      {"workflow W() -> (x: i64) { stage s { |", Block::kStage},
      {"workflow W() -> (x: i64) { stage s { node a = f(1); } { |", Block::kStageSettings},
      {"workflow W() -> (x: i64) { stage s { node a = f(1); } |", Block::kBody},
      {"workflow W() -> (x: i64) { if a { |", Block::kBody},
      {"model M = onnx(\"m\") { |", Block::kModelSettings},
      {"remote R() -> f32 = http(\"m\") { |", Block::kRemoteSettings},
      {"service S { |", Block::kService},
      {"type T { |", Block::kRecord},
      {"test \"t\" { |", Block::kTest},
      {"fn f() -> i64 { |", Block::kFn},
      {"fn f() -> i64 { 1 } |", Block::kFile},
  };
  for (const auto& [text, block] : kRows) EXPECT_EQ(At(text).block, block) << text;
}

TEST(Context, KnowsWhatClosesTheText) {
  const std::pair<const char*, const char*> kRows[] = {
      {"const a = b.|", ";"},
      {"fn f() -> i64 { g(a[b.|", "])}"},
      {"fn f() -> i64 { g(a[0].|) }", ")}"},
      {"workflow W() -> (x: i64) { node a = for b in c { b.|", "};}"},
      {"workflow W() -> (x: i64) { node a = if b { c.|", "}else{x};}"},
      {"workflow W() -> (x: i64) { node a = f(if b { 1 } else { c.|", "});}"},
      {"workflow W() -> (x: i64) { stage s { node a = b.|", ";}}"},
      {"fn f() -> string { \"{a.|", "}\"}"},
  };
  for (const auto& [text, closers] : kRows) EXPECT_EQ(At(text).closers, closers) << text;
}

TEST(Context, HasTheWordsOfTheStatement) {
  EXPECT_EQ(At("const a = b.c|").words, (std::vector<std::string>{"const", "a", "=", "b", "."}));
  EXPECT_EQ(At("const a = 1; const b|").words, (std::vector<std::string>{"const"}));
  EXPECT_TRUE(At("const a = \"te|xt\";").inside);
  EXPECT_TRUE(At("const a = 1;  // wo|rds").inside);
  EXPECT_FALSE(At("const a = \"text\"|;").inside);
}

// A `let` that the place stands in means nothing there.
TEST(Context, HasTheNamesInReach) {
  EXPECT_EQ(At("fn f() -> i64 { let a = 1; let b = |").names, std::vector<std::string>{"a"});
  EXPECT_EQ(At("fn f(a: bool) -> i64 { let b = if a { let c = \"{|").names, std::vector<std::string>{"a"});
  EXPECT_EQ(At("fn f() -> i64 { let b = |1; let c = 2; c }").names, std::vector<std::string>());
}

// The declaration that a byte stands in, by its number.
size_t DeclarationOf(const Analysis& analysis, uint32_t byte) {
  const auto& decls = analysis.tree()->decls;
  return static_cast<size_t>(std::count_if(decls.begin(), decls.end(), [&](const ast::DeclPtr& one) { return one->span.begin <= byte; }));
}

// A sanitized build looks at so many of the uses, for each reads its file from the front.
#ifdef WF_ADDRESS_SANITIZER
constexpr size_t kEvery = 4;
#else
constexpr size_t kEvery = 1;
#endif

// The uses of local names in a file that are not in reach where they stand, "name@byte", and how many there are. Not those in what a
// comprehension begins with, whose names stand behind it, and not names of arguments, which are of another declaration.
size_t FindOutOfReach(const std::filesystem::path& path, std::vector<std::string>& found) {
  std::ifstream stream(path);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const auto analysis = AnalysisOfModules({{"", text}, {"unread", "fn"}});  // what it imports is not there, which is an error
  size_t used = 0;
  for (const Occurrence& one : analysis->index().occurrences()) {
    const Thing& thing = *analysis->index().Find(one.thing);
    if (one.thing >= PlaceOf(one.span) || !IsLocal(thing.kind) || thing.kind == ThingKind::kDimension) continue;
    if (DeclarationOf(*analysis, one.thing.begin) != DeclarationOf(*analysis, one.span.begin)) continue;
    if (++used % kEvery != 0) continue;
    const auto names = ContextAt(*analysis, one.span.begin).names;
    if (std::find(names.begin(), names.end(), thing.name) == names.end())
      found.push_back(thing.name + "@" + std::to_string(one.span.begin));
  }
  return used;
}

TEST(Context, HasEveryNameThatIsUsed) {
  size_t used = 0;
  for (const char* folder : {"examples/", "stdlib/"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SourcePath(folder))) {
      std::vector<std::string> found;
      if (entry.path().extension() == ".wf") used += FindOutOfReach(entry.path(), found);
      EXPECT_EQ(found, std::vector<std::string>()) << entry.path();
    }
  }
  EXPECT_GT(used, 1000U);
}

TEST(Context, HasTheStatementAroundABlock) {
  EXPECT_EQ(At("workflow W() -> (x: i64) { node a = f(1); node b = for c in d { let e = g(c); e } { |").around,
            (std::vector<std::string>{"node", "b", "=", "for", "c", "in", "d", "let", "e", "=", "g", "(", "c", ")", "e"}));
  EXPECT_TRUE(At("fn f() -> i64 = 1; |").around.empty());
}

TEST(Context, HasTheStringBeforeThePlace) {
  EXPECT_EQ(At("model M = onnx(\"a/b|c\");").string, "a/b");
  EXPECT_EQ(At("model M = onnx(\"a|").string, "a");
  EXPECT_EQ(At("const a = b|;").string, "");
}

TEST(Context, HasTheWordsOfAHole) {
  const std::pair<const char*, std::vector<std::string>> kRows[] = {
      {"const a = \"x {|", {}},
      {"const a = \"x {b.|", {"b", "."}},
      {"const a = \"x {b[0].le|ft}\";", {"b", "[", "0", "]", "."}},
      {"const a = \"{{ {n|}\";", {}},
  };
  for (const auto& [text, words] : kRows) {
    EXPECT_TRUE(At(text).in_hole) << text;
    EXPECT_EQ(At(text).words, words) << text;
  }
  for (const char* text : {"const a = \"{{b.|", "const a = \"{b} |\";", "const a = r\"{b.|\";", "const a = \"\\u{1|\";"}) {
    EXPECT_FALSE(At(text).in_hole) << text;
  }
}

}  // namespace
}  // namespace wf::lsp
