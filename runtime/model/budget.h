#pragma once

#include "runtime/base/memory_limit.h"
#include "runtime/base/status.h"
#include "runtime/base/wanted.h"

namespace wf::model {

// What one run may take whose work depends on data: all of its bodies, however deep, share it.
// Thread: one at a time.   Borrows: the limit; of a run, `wanted`.
class Budget final : public base::MemoryLimit {
 public:
  static constexpr int64_t kMostTurns = 1'000'000;

  explicit Budget(base::MemoryLimit* shared = nullptr, int64_t most_turns = kMostTurns) : shared_(shared), most_turns_(most_turns) {}

  // Before a run. most_bytes: that it may claim beyond what is held already; wanted: null when nobody will stop it.
  void Begin(int64_t most_bytes, const base::Wanted* wanted);

  // One more turn of any loop. Errors: kOutOfRange.
  base::Status Turn();
  // Errors: kCancelled, nobody waits for the run.
  base::Status Check() const;

  bool Claim(int64_t bytes) noexcept override;
  void Unclaim(int64_t bytes) noexcept override;
  // Why a Claim of so many was refused: kOutOfRange when the run may not have them, kResourceExhausted when they are not there.
  base::Status Refusal(int64_t bytes) const;
  int64_t bytes() const { return bytes_; }  // that are held

 private:
  base::MemoryLimit* const shared_;
  const int64_t most_turns_;
  const base::Wanted* wanted_ = nullptr;
  int64_t bytes_ = 0, most_bytes_ = INT64_MAX, turns_ = 0;
};

}  // namespace wf::model
