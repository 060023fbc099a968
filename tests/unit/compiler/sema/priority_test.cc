#include <gmock/gmock.h>

#include <set>

#include "tests/unit/compiler/sema/answer.h"

namespace wf::sema {
namespace {

TEST(Priority, IsThatOfWhatANodeComputesButForItsFallbackAndWhatItCalls) {
  const Answers answers(R"(
    fn costly(n: i64) -> i64 = sum[i < n](i * 31 % 1000003);
    fn half(n: i64) -> i64 { require n % 2 == 0; n / 2 }
    workflow Inner(n: i64) -> (y: i64) {
      node inside = costly(n);
      return (y: inside);
    }
    workflow W(n: i64) -> (y: i64, z: i64) {
      node first = half(n) { priority high; } else costly(n);
      node second = Inner(costly(n + 1)) { priority low; }
      node third = costly(n + 2);
      return (y: first + third, z: second.y);
    }
    service S { workflow W; })");
  for (const ir::Program* program : {&answers.before(), &answers.after()}) {
    std::set<std::string> found;
    for (const ir::Task& task : program->tasks) {
      if (task.kind != ir::TaskKind::kRun || task.node == ir::NodeId::kNone || task.policy == ir::PolicyId::kNone) continue;
      found.insert((*program)[task.node].path + " " + std::to_string(program->policies[static_cast<size_t>(task.policy)].priority));
    }
    EXPECT_THAT(found, testing::ElementsAre("W/first 0", "W/second 2")) << ir::Print(*program);
  }
}

}  // namespace
}  // namespace wf::sema
