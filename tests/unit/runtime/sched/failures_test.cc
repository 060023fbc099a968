#include "runtime/sched/failures.h"

#include <gtest/gtest.h>

#include <vector>

namespace wf::sched {
namespace {

std::vector<const bus::Failure*> All(const Failures& failures) { return {failures.all().begin(), failures.all().end()}; }

TEST(Failures, KeepsEachOnceInTheOrderInWhichTheyCame) {
  const bus::Failure first, second;
  Failures failures;
  failures.Add(second);
  failures.Add(first);
  failures.Add(second);
  EXPECT_EQ(All(failures), (std::vector<const bus::Failure*>{&second, &first}));
}

TEST(Failures, ForgetsWhatWasTaken) {
  const bus::Failure first, second;
  Failures failures;
  failures.Add(first);
  failures.Add(second);
  const auto is_first = [&](const bus::Failure& failure) { return &failure == &first; };
  failures.Take(is_first);
  failures.Take(is_first);
  EXPECT_EQ(All(failures), std::vector<const bus::Failure*>{&second});
  failures.Clear();
  EXPECT_TRUE(failures.all().empty());
}

TEST(Failures, KeepsNoMoreThanItsBound) {
  const std::vector<bus::Failure> many(Failures::kMost + 3);
  Failures failures;
  for (const bus::Failure& failure : many) failures.Add(failure);
  EXPECT_EQ(failures.all().size(), Failures::kMost);
}

}  // namespace
}  // namespace wf::sched
