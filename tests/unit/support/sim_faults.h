#pragma once

#include <functional>

namespace wf::test {

// While one lives, allocations that may fail do so when `fails` says it: those by `new (std::nothrow)`, malloc and realloc of this thread,
// in what is linked into the test (target wf_sim turns them here). Others, such as those of containers, must not fail and do not.
class FailingAllocations {
 public:
  explicit FailingAllocations(const std::function<bool()>* fails);  // null: none does
  ~FailingAllocations();
  FailingAllocations(const FailingAllocations&) = delete;
  FailingAllocations& operator=(const FailingAllocations&) = delete;

 private:
  const std::function<bool()>* const before_;
};

}  // namespace wf::test
