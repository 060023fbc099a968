#include "runtime/nodes/failure.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

std::string Told(const std::string& text) {
  FakeJob job;
  EXPECT_EQ(Fail(&job.ctx, code::kType, "%s", text.c_str()), WF_FAILED);
  EXPECT_EQ(job.code, 7000);
  return job.message;
}

std::string Times(int count, const std::string& of) {
  std::string text;
  for (int i = 0; i < count; ++i) text += of;
  return text;
}

TEST(Fail, CutsATextBehindItsLastWholeCharacter) {
  EXPECT_EQ(Told(""), "");
  EXPECT_EQ(Told(Times(255, "a")), Times(255, "a"));
  EXPECT_EQ(Told(Times(300, "a")), Times(255, "a"));
  EXPECT_EQ(Told(Times(200, "\u00e9")), Times(127, "\u00e9"));
  EXPECT_EQ(Told("a" + Times(127, "\u00e9")), "a" + Times(127, "\u00e9"));
  EXPECT_EQ(Told("a" + Times(200, "\u00e9")), "a" + Times(127, "\u00e9"));
  EXPECT_EQ(Told(Times(100, "\u6642")), Times(85, "\u6642"));
  EXPECT_EQ(Told("ab" + Times(100, "\U0001f600")), "ab" + Times(63, "\U0001f600"));
}

}  // namespace
}  // namespace wf::nodes
