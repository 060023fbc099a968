#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/support/sim_process.h"

namespace wf::test {

// A process whose requests come straight to the engines: a request arrives, a client leaves, a loop takes a turn, and what SimProcess does.
// After each step the invariants are checked; every answer is compared with the interpreter, which is told what timing decided.
class SimWorld final : public SimProcess {
 public:
  explicit SimWorld(const SimOptions& options);
  ~SimWorld() override;

 private:
  struct Loop;
  struct InFlight;

  void Step() override;
  bool AtRest() const override;
  void TearDown() override;
  void CheckInvariants() override;
  void CheckAtRest() override;
  void DropLoops() override;
  size_t loops() const override { return loops_.size(); }
  sched::Engine& engine(size_t loop) override;
  base::TimePoint NextTimerAt() override;

  void Arrive();
  void Leave();
  void Turn(Loop& loop);
  void ReleaseOne();
  void CheckAnswer(InFlight& request);
  void CheckSample(InFlight& request, uint32_t sample);

  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::unique_ptr<InFlight>> requests_;
  int to_arrive_ = 0;
};

}  // namespace wf::test
