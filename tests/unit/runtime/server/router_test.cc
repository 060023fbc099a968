#include "runtime/server/router.h"

#include <gtest/gtest.h>

extern "C" const wf_plan wf_plan_main;

namespace wf::server {
namespace {

TEST(Router, FindsWorkflowsByTheirPath) {
  const Router router(wf_plan_main);
  EXPECT_EQ(router.Find("/Test/Greet"), &wf_plan_main.workflows[0]);
  EXPECT_EQ(router.Find("/Slow/Sleep"), &wf_plan_main.workflows[3]);
  for (const char* path : {"", "/", "/Test", "/Test/", "/Test/greet", "/Test/Greet/", "Test/Greet", "//Test/Greet"})
    EXPECT_EQ(router.Find(path), nullptr) << path;
  EXPECT_EQ(router.Nearest("/Test/Gret"), "/Test/Greet");
  EXPECT_EQ(router.Nearest("/entirely/other"), "");
  EXPECT_EQ(router.Nearest("/Test/Grass"), "") << "far from `Greet`, near to `/Test/Greet`";
  EXPECT_EQ(router.services(), 2U);
}

}  // namespace
}  // namespace wf::server
