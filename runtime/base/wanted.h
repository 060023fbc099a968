#pragma once

#include <atomic>

namespace wf::base {

// Asked now and then by work of which nobody knows beforehand how long it takes.
// Thread: that of the work.
class Wanted {
 public:
  virtual bool IsWanted() const noexcept = 0;  // false: nobody waits for it any more

 protected:
  ~Wanted() = default;
};

// Until a flag is raised, which it borrows.
class UntilStopped final : public Wanted {
 public:
  explicit UntilStopped(const std::atomic<bool>& stop) : stop_(stop) {}
  bool IsWanted() const noexcept override { return !stop_.load(std::memory_order_relaxed); }

 private:
  const std::atomic<bool>& stop_;
};

}  // namespace wf::base
