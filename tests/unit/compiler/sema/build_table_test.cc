// Choices between many literals yield what a chain of comparisons yields.

#include "compiler/sema/build_table.h"

#include <gmock/gmock.h>

#include <functional>

#include "tests/unit/compiler/sema/answer.h"

namespace wf::sema {
namespace {

using testing::HasSubstr;

std::string Each(int count, const std::function<std::string(int)>& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text(i);
  return all;
}

std::string Served(const std::string& parameter, const std::string& result, const std::string& value, const std::string& before = "") {
  return before + "workflow W(" + parameter + ") -> (r: " + result + ") { return (r: " + value + "); } service S { workflow W; }";
}

size_t Count(const ir::Program& program, ir::OpKind kind) {
  size_t count = 0;
  for (const ir::Task& task : program.tasks) {
    for (const ir::Op& op : task.body.ops) count += op.kind == kind;
  }
  return count;
}

std::string Number(size_t value) { return "r=" + std::to_string(value); }

TEST(BuildTable, MoreThanSixteenNamesAreLookedUp) {
  for (const int arms : {16, 17, 100}) {
    const Answers answers(Served("x: string", "i64", "match x { " + Each(arms, [](int i) {
                                                       return "\"k" + std::to_string(i) + "\" => " + std::to_string(i * i) + ", ";
                                                     }) + "_ => -1 }"));
    for (int i = 0; i < arms; ++i) EXPECT_EQ(answers("W", {Text("k" + std::to_string(i))}), Number(static_cast<size_t>(i) * i));
    for (const char* other : {"", "k", "k100", "K1", "k1 ", "k01"}) EXPECT_EQ(answers("W", {Text(other)}), "r=-1") << other;
    EXPECT_EQ(Count(answers.before(), ir::OpKind::kMapGet), arms > 16 ? 1 : 0) << arms;
  }
}

TEST(BuildTable, NumbersOfEveryTypeUpToTheirBounds) {
  struct Row {
    const char* type;
    std::vector<int64_t> far;  // beside 0, 3, 6 .. 57
  };
  const Row rows[] = {
      {"i8", {-128, 127}}, {"u8", {255}}, {"i32", {INT32_MIN, INT32_MAX}}, {"u32", {UINT32_MAX}}, {"i64", {-1, INT64_MIN + 1, INT64_MAX}},
      {"u64", {INT64_MAX}}};
  for (const Row& row : rows) {
    std::vector<int64_t> keys = row.far;
    for (int64_t i = 0; i < 20; ++i) keys.push_back(3 * i);
    std::string arms;
    for (size_t i = 0; i < keys.size(); ++i) arms += std::to_string(keys[i]) + " => " + std::to_string(100 + i) + ", ";
    const Answers answers(Served(std::string("x: ") + row.type, "i64", "match x { " + arms + "_ => 7 }"));
    ASSERT_EQ(answers.diagnostics(), "");
    for (size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(answers("W", {Int(keys[i])}), Number(100 + i)) << row.type << " " << keys[i];
    for (const int64_t other : {1, 58, 60, 100, 126}) EXPECT_EQ(answers("W", {Int(other)}), "r=7") << row.type << " " << other;
    EXPECT_EQ(Count(answers.before(), ir::OpKind::kIf), 0) << row.type;
  }
}

TEST(BuildTable, TheFirstArmOfAKeyCountsAndOneArmHasSeveral) {
  const Answers answers(Served("x: string", "string", "if x == \"a\" { \"first\" } " + Each(20, [](int i) {
                                                        const std::string k = std::to_string(i);
                                                        return "else if x == \"b" + k + "\" || x == \"c" + k + "\" { \"arm " + k + "\" } ";
                                                      }) + "else if x == \"a\" { \"second\" } else { \"none\" }"));
  EXPECT_EQ(answers("W", {Text("a")}), "r=\"first\"");
  EXPECT_EQ(answers("W", {Text("b7")}), "r=\"arm 7\"");
  EXPECT_EQ(answers("W", {Text("c7")}), "r=\"arm 7\"");
  EXPECT_EQ(answers("W", {Text("b20")}), "r=\"none\"");
  EXPECT_GT(Count(answers.before(), ir::OpKind::kMapGet), 0);
}

TEST(BuildTable, WhatMayBeNoneAndWhatIsComputed) {
  const std::string arms = Each(20, [](int i) { return "\"k" + std::to_string(i) + "\" => x ?? \"\", "; });
  const Answers names(Served("x: string?", "string", "match x { none => \"nothing\", " + arms + "_ => \"other\" }"));
  EXPECT_EQ(names("W", {None()}), "r=\"nothing\"");
  EXPECT_EQ(names("W", {Some(Text("k19"))}), "r=\"k19\"");
  EXPECT_EQ(names("W", {Some(Text("k20"))}), "r=\"other\"");

  const Answers failing(Served("x: i64, d: i64", "i64", "f(x, d)",
                               "error Odd = 100001 \"odd\"; fn f(x: i64, d: i64) -> i64 = match x { " + Each(20, [](int i) {
                                 const std::string k = std::to_string(i);
                                 return k + " => " + (i % 2 == 1 ? "fail Odd" : k + " / d") + ", ";
                               }) + "_ => d };"));
  EXPECT_EQ(failing("W", {Int(4), Int(2)}), "r=2");
  EXPECT_EQ(failing("W", {Int(40), Int(0)}), "r=0");
  EXPECT_THAT(failing("W", {Int(4), Int(0)}), HasSubstr("!7002"));
  EXPECT_THAT(failing("W", {Int(5), Int(0)}), HasSubstr("!100001 odd"));
}

// Keys of one local, a comparison of another kind between them, then keys of another local: in the order of the text.
TEST(BuildTable, TablesAndComparisonsStandInTheOrderOfTheText) {
  const auto keys = [](const char* local, int from) {
    return Each(20, [=](int i) {
      const std::string k = std::to_string(from + i);
      return "else if " + std::string(local) + " == " + k + " { " + (from == 0 ? k : std::to_string(1000 + from + i)) + " } ";
    });
  };
  const Answers answers(Served("x: i64, y: i64", "i64",
                               "if x == -5 { -1 } " + keys("x", 0) + "else if x + y == 200 { -2 } " + keys("y", 95) + "else { -3 }"));
  EXPECT_EQ(answers("W", {Int(-5), Int(100)}), "r=-1");
  EXPECT_EQ(answers("W", {Int(7), Int(193)}), "r=7");
  EXPECT_EQ(answers("W", {Int(100), Int(100)}), "r=-2");
  EXPECT_EQ(answers("W", {Int(50), Int(100)}), "r=1100");
  EXPECT_EQ(answers("W", {Int(50), Int(115)}), "r=-3");
}

}  // namespace
}  // namespace wf::sema
