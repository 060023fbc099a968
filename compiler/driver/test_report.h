#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wf::driver {

struct TestResult {
  std::string file, name;
  uint32_t line = 0;
  bool passed = false;
  bool is_built = true;  // false: its file was not built, and this stands for all its tests
  int64_t time_ns = 0;
  std::string reason;   // of a failure, in one line
  std::string details;  // whole lines, for people
};

std::string TestLine(const TestResult& result);  // as it ends, with its details
// `left_out`: tests that a filter kept from running.
std::string TestSummary(const std::vector<TestResult>& results, size_t left_out, int64_t time_ns);
std::string TapReport(const std::vector<TestResult>& results,
                      size_t left_out);  // TAP 13: perl's parser knows no later one, and those of TAP 14 read it
std::string JunitReport(const std::vector<TestResult>& results, int64_t time_ns);

}  // namespace wf::driver
