// What wf_diff writes, makes smaller and keeps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "tests/diff/choices.h"
#include "tests/diff/kept.h"
#include "tests/diff/shrink.h"

namespace wf::diff {
namespace {

using ::testing::ElementsAre;

Workflow Named(const std::string& name) { return {.name = name, .declarations = {}, .inputs = {}, .choices = {}}; }

std::vector<Workflow> Many(size_t count) {
  std::vector<Workflow> workflows;
  for (size_t i = 0; i < count; ++i) workflows.push_back(Named("W" + std::to_string(i)));
  return workflows;
}

std::vector<std::string> NamesOf(const std::vector<Workflow>& workflows) {
  std::vector<std::string> names;
  for (const Workflow& one : workflows) names.push_back(one.name);
  return names;
}

bool Holds(const std::vector<Workflow>& workflows, const std::string& name) {
  return std::any_of(workflows.begin(), workflows.end(), [&](const Workflow& one) { return one.name == name; });
}

// Of a literal below zero, which has to fit the type; the type that a literal has anyway is not meant.
bool ConvertsBelowZero(const std::string& text) {
  static const std::set<std::string> kTypes = {"i8", "i16", "i32", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"};
  for (size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at + 1)) {
    const size_t end = text.find_first_not_of("0123456789", at + 1);
    if (end == at + 1 || end == std::string::npos || text[end] != ')') continue;
    const size_t last = text.find_last_not_of("(-", at);
    if (last == std::string::npos || text[last + 1] != '(') continue;
    size_t first = last + 1;
    while (first > 0 && std::isalnum(static_cast<unsigned char>(text[first - 1])) != 0) --first;
    if (kTypes.contains(text.substr(first, last + 1 - first))) return true;
  }
  return false;
}

TEST(Generated, NoLiteralBelowZeroIsConverted) {
  ASSERT_TRUE(ConvertsBelowZero("= u64((-1));"));
  ASSERT_TRUE(ConvertsBelowZero("u32((-(-7)))"));
  ASSERT_FALSE(ConvertsBelowZero("u32(i64((-7))) - u64((-n1))"));
  for (uint64_t seed = 0; seed < 1500; ++seed)
    ASSERT_FALSE(ConvertsBelowZero(Generate(0, seed).declarations)) << Generate(0, seed).declarations;
}

// wfc once ended with a crash where such an element had a short axis beside one that is known when it runs.
TEST(Generated, AnElementMayBeASumWithAnIndexAndNothingElse) {
  const std::regex sum(R"(at\d+ < [nmpq], at\d+ < [2-8]\] => \(\w+ \+ at\d+\)\))");
  size_t count = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) count += std::regex_search(Generate(0, seed).declarations, sum) ? 1 : 0;
  EXPECT_GE(count, 5U);
}

// Whoever changes what is written writes the new number here. Where only one of two compilers finds another number, an expression asks
// twice (InOrder in words.h), and a seed of one of them tells nothing to the other.
TEST(Generated, ASeedIsTheSameProgramWithEveryCompiler) {
  uint64_t digest = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const Workflow made = Generate(0, seed);
    for (const uint32_t answer : made.choices) digest = Mix(digest ^ answer);
    for (const char c : made.declarations) digest = Mix(digest ^ static_cast<unsigned char>(c));
  }
  EXPECT_EQ(digest, 5018184688533822367U);
}

struct Form {
  const char *what, *text;
};

// Loops that the lowering has ways of its own for: each has to be written often enough for a run to meet it.
TEST(Generated, LoopsOfEveryFormAreWritten) {
  const Form forms[] = {
      {"axes exchanged", R"(\[(at\d+) < \w+, (at\d+) < \w+\] => \w+\[\2, \1\]\))"},
      {"axes backwards", R"(=> \w+\[(at\d+, )?\w+ - 1 - at\d+)"},
      {"places that are read", R"(\[clamp\(i64\(\w+\[at)"},
      {"channels mixed", R"(f32\(\w+\[at\d+, (at\d+, )?\d\]\) \* 0\.)"},
      {"rows by rows or columns", R"(\] => (sum|max|min)\[k\d+ < \w+\]\(\(?\w+\[at\d+, k\d+\])"},
      {"sums of what is in memory", R"(\] => (sum|prod)\[(k\d+) < \w+\]\(\(*(f\d\d\()?\w+\[(at\d+, )*\2(, at\d+)?\])"},
      {"sums of roots by rows", R"(=> f\d\d\(sqrt.*\] => (sum|prod)\[(k\d+) < \w+\]\(.*v\d+\[(at\d+, )+\2\])"},
      {"sums of roots by columns", R"(=> f\d\d\(sqrt.*\] => (sum|prod)\[(k\d+) < \w+\]\(.*v\d+\[\2, at\d+\])"},
      {"a reduction of reductions", R"((sum|max|min|any|all)\[k\d+ < \w+\]\((sum|max|min|any|all)\[k\d+ < \w+\]\(\w+\[k)"},
      {"a choice by a reduction", R"(if \((sum|max|min|prod)\[k)"},
  };
  std::vector<std::string> programs;
  for (uint64_t seed = 0; seed < 500; ++seed) programs.push_back(Generate(0, seed).declarations);
  for (const Form& form : forms) {
    const std::regex pattern(form.text);
    const auto count =
        std::count_if(programs.begin(), programs.end(), [&](const std::string& one) { return std::regex_search(one, pattern); });
    EXPECT_GE(count, 2) << form.what;
    RecordProperty(form.what, static_cast<int>(count));
  }
}

size_t Count(const std::string& text, const std::string& of) {
  size_t count = 0;
  for (size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++count;
  return count;
}

TEST(Generated, WhatWorkflowsShareIsDeclaredOnce) {
  std::vector<Workflow> workflows;
  std::set<std::string> shared;
  for (uint32_t k = 0; k < kPerFile; ++k) {
    workflows.push_back(Generate(k, uint64_t{k}));
    shared.insert(workflows.back().shared.begin(), workflows.back().shared.end());
  }
  ASSERT_GT(shared.size(), 3U);
  for (const std::string& declaration : shared) EXPECT_EQ(Count(FileOf(workflows), declaration), 1U) << declaration;
}

TEST(Fewest, LeavesThoseThatDifferTogether) {
  const auto differ = [](const std::vector<Workflow>& some) { return Holds(some, "W3") && Holds(some, "W60"); };
  EXPECT_THAT(NamesOf(Fewest(Many(64), differ, 1000)), ElementsAre("W3", "W60"));
}

TEST(Fewest, LeavesAtLeastOne) {
  EXPECT_EQ(Fewest(Many(7), [](const std::vector<Workflow>&) { return true; }, 1000).size(), 1U);
}

TEST(Fewest, TriesNoMoreThanItMay) {
  int tries = 0;
  const auto never = [&](const std::vector<Workflow>&) { return ++tries == 0; };
  EXPECT_EQ(Fewest(Many(64), never, 10).size(), 64U);
  EXPECT_EQ(tries, 10);
}

TEST(Kept, SaysItsCallsAndHowItWasRun) {
  Workflow first = Named("W3"), second = Named("W12");
  first.inputs = {{R"({"x": [1, 2]})", {{"m0", "a: b"}, {"m1", ""}}}, {"{}", {}}};
  second.inputs = {{R"({"x": "// W9"})", {}}};
  const std::string text =
      ToText({{first, second}, CompareOptions{.seed = UINT64_MAX, .schedules = 7, .native = 2, .expectations = {}, .server = {}}});
  const KeptProgram read = ReadKept(text);
  ASSERT_EQ(NamesOf(read.workflows), NamesOf({first, second}));
  ASSERT_EQ(read.workflows[0].inputs.size(), 2U);
  EXPECT_EQ(read.workflows[0].inputs[0].json, first.inputs[0].json);
  EXPECT_EQ(read.workflows[0].inputs[0].metadata, first.inputs[0].metadata);
  EXPECT_TRUE(read.workflows[0].inputs[1].metadata.empty());
  EXPECT_EQ(read.workflows[1].inputs.at(0).json, second.inputs[0].json);
  ASSERT_TRUE(read.run.has_value());
  EXPECT_EQ(read.run->seed, UINT64_MAX);
  EXPECT_EQ(read.run->schedules, 7);
  EXPECT_EQ(read.run->native, 2);
}

TEST(Kept, IsRunAsUsualWhereItSaysNothing) { EXPECT_FALSE(ReadKept("// W0 {}\nworkflow W0() -> (r: i64) { return (r: 1); }\n").run); }

}  // namespace
}  // namespace wf::diff
