// What holds for every program of the tree, comments at each place of a third of them: formatting keeps the tree and the comments, and
// formats to itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/unit/compiler/format/formatted.h"
#include "tests/unit/support/source_path.h"

namespace wf::format {
namespace {

struct Program {
  std::string name, text;
};

// Every .wf of the project that parses, but the one that is as deep as a program may be: wfc has a stack for it, a test has not.
std::vector<Program> Programs() {
  std::vector<Program> programs;
  for (const char* folder : {"tests", "stdlib", "examples", "docs"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SourcePath(folder))) {
      if (entry.path().extension() != ".wf" || entry.path().filename() == "r41_limits.wf") continue;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      if (FormatText(text.str())) programs.push_back({entry.path().string(), text.str()});
    }
  }
  std::sort(programs.begin(), programs.end(), [](const Program& a, const Program& b) { return a.name < b.name; });
  return programs;
}

// A third of them: which one, a test says. All of them, changed in each way, are a minute of a sanitized run and more.
std::vector<Program> ThirdOfPrograms(size_t which) {
  std::vector<Program> third, all = Programs();
  for (size_t i = which; i < all.size(); i += 3) third.push_back(std::move(all[i]));
  return third;
}

std::vector<std::string> TokensOf(const std::string& text) {
  source::SourceMap sources;
  diag::Emitter emitter;
  const auto file = parse::Parse(sources.Add("a.wf", text), sources, emitter);
  std::vector<std::string> tokens;
  for (const source::Span& span : file->tokens) tokens.emplace_back(sources.Text(span));
  return tokens;
}

TEST(Corpus, KeepsTreeAndCommentsAndFormatsToItself) {
  const auto programs = Programs();
  ASSERT_GT(programs.size(), 20u);
  for (const Program& program : programs) EXPECT_EQ(BrokenPromise(program.text), "") << program.name;
}

TEST(Corpus, HoldsForProgramsOnOneLine) {
  for (const Program& program : Programs()) {
    std::string line;
    for (const std::string& token : TokensOf(program.text)) line += token + " ";
    EXPECT_EQ(BrokenPromise(line), "") << program.name;
  }
}

TEST(Corpus, HoldsForProgramsWithATokenOnEachLine) {
  for (const Program& program : Programs()) {
    std::string lines;
    for (const std::string& token : TokensOf(program.text)) lines += token + "\n\n\n";
    EXPECT_EQ(BrokenPromise(lines), "") << program.name;
  }
}

TEST(Corpus, HoldsWithACommentAfterEveryToken) {
  for (const Program& program : ThirdOfPrograms(0)) {
    std::string trailing, own;
    size_t number = 0;
    for (const std::string& token : TokensOf(program.text)) {
      trailing += token + "// " + std::to_string(++number) + "\n";
      own += token + "\n// " + std::to_string(number) + "\n\n";
    }
    EXPECT_EQ(BrokenPromise(trailing), "") << program.name;
    EXPECT_EQ(BrokenPromise(own), "") << program.name;
  }
}

// Behind a fifth of its tokens, with some tokens to the next comment: other ones in each of five programs.
TEST(Corpus, KeepsACommentWhereItStands) {
  constexpr size_t kTurns = 5;
  size_t turn = 0;
  for (const Program& program : ThirdOfPrograms(1)) {
    const auto tokens = TokensOf(program.text);
    std::string trailing, own;
    for (size_t number = 0; number < tokens.size(); ++number) {
      const bool commented = number % kTurns == turn;
      trailing += tokens[number] + (commented ? " // c" + std::to_string(number) + "\n" : " ");
      own += tokens[number] + (commented ? "\n// c" + std::to_string(number) + "\n" : " ");
    }
    ASSERT_EQ(BrokenPlace(trailing), "") << program.name;
    ASSERT_EQ(BrokenPlace(own), "") << program.name;
    turn = (turn + 1) % kTurns;
  }
}

TEST(Corpus, HoldsWithSpacesAndCommentsAnywhere) {
  std::mt19937 random(7);
  for (const Program& program : ThirdOfPrograms(2)) {
    const auto tokens = TokensOf(program.text);
    for (int round = 0; round < 6; ++round) {
      std::string text;
      for (const std::string& token : tokens) {
        static constexpr const char* kBetween[] = {
            " ", " ", " ", " ", "\n", "\n\n", " // t\n", "\n// o\n", "\n\n// a\n\n// b\n\n", "// x\n// y\n"};
        text += token + kBetween[random() % (round % 2 == 0 ? 6 : std::size(kBetween))];
      }
      ASSERT_EQ(BrokenPromise(text), "") << program.name;
    }
  }
}

}  // namespace
}  // namespace wf::format
