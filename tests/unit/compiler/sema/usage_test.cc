// Which `let` of a workflow is a task, and whose.

#include <gmock/gmock.h>

#include "tests/unit/compiler/sema/answer.h"

namespace wf::sema {
namespace {

// The path of the node that pays for `z`.
std::string PayerOf(const std::string& statements) {
  const Answers answers("workflow W(x: i64) -> (y: i64) { node a = x * 7; let z = 10 / a; " + statements + " } service S { workflow W; }");
  const ir::Program& program = answers.before();
  for (const ir::Task& task : program.tasks)
    if (task.out != ir::SlotId::kNone && program[task.out].name == "z") return program.nodes[Index(task.node)].path;
  return "no task of its own";
}

TEST(Usage, ALetIsOfTheNodeThatAloneReadsIt) {
  EXPECT_EQ(PayerOf("node b = z * 2 { timeout 5s; } else 7; return (y: b);"), "W/b");
  EXPECT_EQ(PayerOf("require z > -3; node b = z * 2; return (y: b);"), "W");
  EXPECT_EQ(PayerOf("if z > 3 { return (y: 1); } node b = z * 2; return (y: b);"), "W");
  EXPECT_EQ(PayerOf("if x > 3 { node p = z * 2; return (y: p); } else { node q = z * 3; return (y: q); }"), "W");
  EXPECT_EQ(PayerOf("node b = z * 2; node c = z + b; return (y: c);"), "W");
  EXPECT_EQ(PayerOf("node b = z * 2; return (y: b + z);"), "W");
}

TEST(Usage, ALetThatTwoResultsReadIsATaskOfItsOwn) {
  std::string names, values;
  for (int i = 0; i <= 512; ++i) {
    const bool reads = i == 0 || i == 512;
    names += (i == 0 ? "r" : ", r") + std::to_string(i) + ": i64";
    values += (i == 0 ? "r" : ", r") + std::to_string(i) + (reads ? ": z" : ": n");
  }
  const Answers answers("workflow W(n: i64) -> (" + names + ") { let z = n * n + 1; return (" + values + "); } service S { workflow W; }");
  const std::string text = ir::Print(answers.before());
  EXPECT_THAT(text, testing::HasSubstr(" z: i64"));
  EXPECT_EQ(text.find("mul"), text.rfind("mul"));
}

}  // namespace
}  // namespace wf::sema
