#include "runtime/batch/backlog.h"

#include <gtest/gtest.h>

namespace wf::batch {
namespace {

TEST(Backlog, HigherClassesGoBeforeAndLowerOnesDoNot) {
  Backlog backlog;
  backlog.Add(WF_HIGH, 900, 3);
  backlog.Add(WF_NORMAL, 100, 5);
  backlog.Add(WF_LOW, 100, 7);
  EXPECT_EQ(backlog.Before(WF_HIGH, 900), 3);
  EXPECT_EQ(backlog.Before(WF_NORMAL, 100), 8);
  EXPECT_EQ(backlog.Before(WF_LOW, 100), 15);
  backlog.Remove(WF_HIGH, 3);
  EXPECT_EQ(backlog.Before(WF_NORMAL, 100), 5);
}

TEST(Backlog, WhatMayBeDueLaterIsNotKnownToGoBefore) {
  Backlog backlog;
  backlog.Add(WF_NORMAL, 100, 1);
  backlog.Add(WF_NORMAL, 300, 1);
  backlog.Add(WF_NORMAL, 200, 1);
  EXPECT_EQ(backlog.Before(WF_NORMAL, 300), 3);
  EXPECT_EQ(backlog.Before(WF_NORMAL, 299), 0);
  EXPECT_EQ(backlog.Before(WF_LOW, 50), 3);
  backlog.Remove(WF_NORMAL, 3);
  backlog.Add(WF_NORMAL, 150, 2);  // what was there is forgotten once it is empty
  EXPECT_EQ(backlog.Before(WF_NORMAL, 150), 2);
}

}  // namespace
}  // namespace wf::batch
