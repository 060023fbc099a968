#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/parse/grammar_check.h"
#include "tests/unit/compiler/parse/parsed.h"
#include "tests/unit/support/source_path.h"

namespace wf::parse {
namespace {

std::string ReadText(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Every .wf of the project that is meant to parse.
std::vector<std::filesystem::path> Corpus() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"tests/lang", "stdlib", "examples"}) {
    const std::filesystem::path root = SourcePath(folder);
    if (!std::filesystem::exists(root)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string path = entry.path().string();
      const bool fails = path.find("fail_") != std::string::npos || path.find("lang/mistakes/") != std::string::npos;
      const bool begins_as_text = path.find("r42_crlf") == std::string::npos;  // its byte order mark never reaches the grammar
      if (entry.path().extension() == ".wf" && !fails && begins_as_text) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Grammar, HasNoAmbiguityAndNeedsNoFullContextOnTheCorpus) {
  const auto files = Corpus();
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) {
    EXPECT_EQ(PredictionConflicts(ReadText(file)), std::vector<std::string>{}) << file;
  }
}

TEST(Grammar, ReportsConflictsIfThereAreAny) { EXPECT_FALSE(PredictionConflicts("const a = ;").empty()) << "the listener is heard"; }

TEST(Grammar, EveryRuleAndTokenStandsInTheCorpusFile) {
  const auto used = ConstructsOf(ReadText(SourcePath("tests/lang/parse/every_construct.wf")));
  const auto all = AllConstructs();
  std::vector<std::string> missing;
  std::set_difference(all.begin(), all.end(), used.begin(), used.end(), std::back_inserter(missing));
  EXPECT_EQ(missing, std::vector<std::string>{});
}

TEST(Grammar, EveryKindOfNodeStandsInTheTreeOfTheCorpusFile) {
  const Parsed p(ReadText(SourcePath("tests/lang/parse/every_construct.wf")));
  ASSERT_EQ(p.codes(), std::vector<diag::Code>{});
  const std::string tree = p.tree();
  const auto expect = [&](std::string_view kind, std::string_view failed) {
    EXPECT_TRUE(kind == failed || tree.find(kind) != std::string::npos) << kind;
  };
#define EXPR(name) expect(#name, "ErrorExpr");
#define DECL(name) expect(#name, "ErrorDecl");
#define STMT(name) expect(#name, "ErrorStmt");
#include "compiler/ast/node_kinds.def"
}

}  // namespace
}  // namespace wf::parse
