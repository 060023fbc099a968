// Text that nobody means well: an answer, in bounded time and memory, never a crash.

#include <gtest/gtest.h>

#include <chrono>

#include "tests/unit/compiler/parse/parsed.h"

namespace wf::parse {
namespace {

std::string Repeat(std::string_view text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t round = 0; round < times; ++round) all += text;
  return all;
}

struct Case {
  const char* name;
  std::string text;
  diag::Code code;
};

TEST(Hostile, GetsOneClearAnswer) {
  const std::vector<Case> cases = {
      {"empty", "", diag::kEmptyFile},
      {"only a mark", "\xEF\xBB\xBF", diag::kEmptyFile},
      {"only comments", "// a\n\n// b", diag::kEmptyFile},
      {"not UTF-8", "const a = \"\xE9\";", diag::kNotUtf8},
      {"ten megabytes of brackets", Repeat("(", 10'000'000), diag::kNestedTooDeep},
      {"brackets in an expression", "const a = " + Repeat("[", 100'000), diag::kNestedTooDeep},
      {"signs", "const a = " + Repeat("-", 100'000) + "1;", diag::kTooManyPrefixes},
      {"operators", "const a = 1" + Repeat(" + 1", 100'000) + ";", diag::kTooManyOperators},
      {"coalescing", "const a = 1" + Repeat(" ?? 1", 100'000) + ";", diag::kTooManyOperators},
      {"nested ifs", "const a = " + Repeat("if ", 100'000) + ";", diag::kTooManyOperators},
      {"nested types", "const a: " + Repeat("list<", 100'000) + ";", diag::kTooManyOperators},
      {"calls of calls", "const a = f" + Repeat("()", 100'000) + ";", diag::kTooManyOperators},
      {"members of members", "const a = f" + Repeat(".a", 100'000) + ";", diag::kTooManyOperators},
      {"tokens", Repeat("1 ", 1'000'000), diag::kTooManyTokens},
      {"a string of ten megabytes", "const a = \"" + std::string(10'000'000, 'x'), diag::kUnterminatedString},
      {"holes", "const a = \"" + Repeat("{a}", 4'000'000) + "\";", diag::kTooManyTokens},
      {"members in holes", "const a = \"" + Repeat("{a.a.a}", 2'000'000) + "\";", diag::kTooManyTokens},
      {"a hole of ten megabytes", "const a = \"{" + std::string(10'000'000, '!') + "}\";", diag::kBadHole},
      {"nothing but NUL", std::string(1'000'000, '\0'), diag::kStrayCharacter},
      {"a name of ten megabytes", std::string(10'000'000, 'x'), diag::kUnknownStart},
  };
  for (const Case& one : cases) {
    const auto start = std::chrono::steady_clock::now();
    const Parsed p(one.text);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    ASSERT_FALSE(p.codes().empty()) << one.name;
    EXPECT_EQ(p.codes().front(), one.code) << one.name;
    EXPECT_LT(p.emitter.Sorted().front().message.size(), 1000) << one.name;
    EXPECT_LT(taken.count(), 20) << one.name;
  }
}

TEST(Hostile, StaysWithinTheStackAtTheLimitItself) {
  const std::vector<std::string> texts = {
      "const a = 1" + Repeat(" + 1", 4096) + ";",
      "const a = 1" + Repeat(" ?? 1", 256) + ";",
      "const a = " + Repeat("if ", 256) + "1;",
      "const a = if b == 0 { 0 }" + Repeat(" else if b == 1 { 1 }", 20'000) + " else { 2 };",
      "const a = match b {" + Repeat(" 0 => 1,", 20'000) + " _ => 2 };",
      "const a: " + Repeat("list<", 800) + "i32" + Repeat("> ", 800) + "= 1;",
      "const a = f" + Repeat(".a", 4096) + ";",
      "const a = " + Repeat("[a] => ", 240) + "1;",
      "const a = " + Repeat("(- ", 200) + "1" + Repeat(")", 200) + ";",
      "const a = " + Repeat("(----", 200) + "1" + Repeat(")", 200) + ";",
  };
  for (const std::string& text : texts) {
    const Parsed p(text);
    EXPECT_TRUE(p.file.has_value()) << text.substr(0, 40);
  }
}

TEST(Hostile, StopsAfterAHundredMistakes) {
  EXPECT_LE(Parsed(Repeat("const a = ;\n", 10'000)).codes().size(), 101u);
  EXPECT_LE(Parsed(Repeat("@ ;\n", 10'000)).codes().size(), 101u);
  EXPECT_LE(Parsed(Repeat("}\n", 10'000)).codes().size(), 101u);
}

TEST(Hostile, EveryPrefixOfAProgramGetsAnAnswer) {
  const std::string text =
      "package a.b; import c;\n/// d\nfn f(x: f32[2*h, w]) -> f32[w] = [i] => sum[k](x[k, i]) / 2;\n"
      "workflow W(x: i32 = 3) -> (y: string) {\n  stage s { node a = for b in x { f(b) else 1 } { batch 2 within 2ms; } else 3; }\n"
      "  if x > 1 { return (y: \"{x} \\n\"); } else { fail E; }\n}\nservice S { workflow W as \"w\"; }\n";
  for (size_t length = 0; length <= text.size(); ++length) {
    const Parsed p(text.substr(0, length));
    EXPECT_TRUE(p.file.has_value() || !p.codes().empty()) << length;
  }
}

// What is told of a token looks at those behind it.
TEST(Hostile, AFileThatEndsWithAMistakeGetsAnAnswer) {
  const std::vector<std::string> begun = {"fn f(x: i64) -> i64 = ",
                                          "fn f(x: i64) -> i64 { let y = ",
                                          "const a = ",
                                          "fn f(",
                                          "workflow W(x: i32) -> (y: i32) { ",
                                          "service S { ",
                                          "model M = onnx(\"m\") { batch ",
                                          "type T { ",
                                          "test \"t\" { expect ",
                                          ""};
  const std::vector<std::string> ends = {"{",   "}",  "(",  ")",    "[",   "]",   ";",     ",",     ":",      ".",   "=",
                                         "=>",  "->", "+",  "-",    "/",   "*",   "!",     "?",     "??",     "|",   "|>",
                                         "<",   ">",  ">=", "x",    "1",   "1.0", "2ms",   "\"s\"", "not",    "std", "from",
                                         "int", "fn", "if", "else", "for", "in",  "match", "fail",  "import", "node"};
  for (const std::string& text : begun) {
    for (const std::string& end : ends) {
      for (const std::string& last : {std::string(), std::string("x"), end}) {
        const Parsed p(text + end + " " + last);
        EXPECT_TRUE(p.file.has_value() || !p.codes().empty()) << text << end << last;
      }
    }
  }
}

TEST(Hostile, EveryTokenLeftOutGetsAnAnswer) {
  const std::vector<std::string> words = {
      "workflow", "W", "(", "x", ":", "i32", ")",    "->", "(",     "y", ":", "i32",   ")", "{", "node", "a",    "=", "if",
      "x",        ">", "1", "{", "2", "}",   "else", "{",  "3",     "}", "{", "retry", "1", ";", "}",    "else", "4", ";",
      "return",   "(", "y", ":", "a", ")",   ";",    "}",  "const", "b", "=", "[",     "1", ",", "2",    "]",    ";"};
  for (size_t left_out = 0; left_out < words.size(); ++left_out) {
    std::string text;
    for (size_t at = 0; at < words.size(); ++at) text += at == left_out ? "" : words[at] + " ";
    const Parsed p(text);
    EXPECT_TRUE(p.file.has_value() || !p.codes().empty()) << words[left_out];
  }
}

}  // namespace
}  // namespace wf::parse
