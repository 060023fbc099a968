#include "runtime/server/counts.h"

#include <gtest/gtest.h>

#include <map>

#include "runtime/base/error_codes.h"

namespace wf::server {
namespace {

std::map<int32_t, uint64_t> CodesOf(const RequestCounts& counts) {
  std::map<int32_t, uint64_t> by_code;
  for (const auto& row : counts.failures.by_code) {
    if (row.count.value() != 0) by_code[row.code.load()] = row.count.value();
  }
  return by_code;
}

TEST(RequestCounts, CodesOfTheProgramLeaveRoomForThoseOfTheRuntime) {
  RequestCounts counts;
  for (int32_t code = 100'000; code < 100'100; ++code) counts.Add(code, 1);
  for (const int32_t code : {code::kRefused, code::kTimeout, code::kInference, code::kRefused}) counts.Add(code, 1);
  const auto by_code = CodesOf(counts);
  EXPECT_EQ(by_code.size(), CodeCounts::kProgramCodes + 3u);
  EXPECT_EQ(by_code.at(code::kRefused), 2u);
  EXPECT_EQ(counts.failures.other.value(), 100u - CodeCounts::kProgramCodes);
}

// Of a published model; of a workflow each request is one.
TEST(RequestCounts, ARunThatRequestsShareIsOneExecution) {
  wf_workflow model{};
  model.is_model = 1;
  bus::Bus one, two;
  for (bus::Bus* const bus : {&one, &two}) bus->workflow_ = &model;
  one.n_samples = 1;
  one.spent_.TakePart(4, 1000);
  two.n_samples = 2;
  for (int row = 0; row < 2; ++row) two.spent_.TakePart(4, 1000);
  RequestCounts counts;
  counts.Add(0, 5, &one);
  counts.Add(0, 5, &one);
  counts.Add(0, 5, &two);
  EXPECT_EQ(counts.samples.value(), 4u);
  EXPECT_EQ(counts.by_size[0].samples.load(), 4u);
  EXPECT_EQ(counts.by_size[0].count.load(), 1);
  EXPECT_EQ(counts.by_size[0].compute_ns.value(), 1000u);
  model.is_model = 0;
  counts.Add(0, 5, &two);
  EXPECT_EQ(counts.by_size[1].samples.load(), 2u);
  EXPECT_EQ(counts.by_size[1].count.load(), 1);
}

TEST(LoopCounts, VersionsOfAModelAreApart) {
  LoopCounts counts(2, 1);
  counts.SetVersions(1, 3);
  counts.Of(1, Protocol::kGrpc, 2).Add(0, 5);
  counts.Of(1, Protocol::kGrpc).Add(0, 5);
  uint64_t all = 0, versions = 0;
  counts.ForVersions(1, Protocol::kGrpc, [&](const RequestCounts& one) {
    all += one.ok.value();
    ++versions;
  });
  EXPECT_EQ(all, 2u);
  EXPECT_EQ(versions, 3u);
  EXPECT_EQ(counts.Of(1, Protocol::kGrpc, 1).ok.value(), 0u);
  EXPECT_EQ(counts.Of(2, Protocol::kGrpc).ok.value(), 0u);  // those that name none
}

}  // namespace
}  // namespace wf::server
