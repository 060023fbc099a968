#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/base/clock.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/mailbox.h"
#include "runtime/base/status.h"

namespace wf::batch {

class Batcher;
struct Group;

enum class RowState : uint8_t {
  kIdle,       // with its submitter; may hold a credit
  kWaiting,    // linked in a batcher
  kTaken,      // in a run; will be delivered
  kDelivered,  // posted to its home
};

// What a row fails with when its run did.
inline wf_code CodeOf(const base::Status& failure) {
  if (failure.code() == base::kResourceExhausted) return code::kRefused;  // another time there may be memory
  if (failure.code() == base::kFailedPrecondition) return code::kInputParams;
  return failure.code() == base::kOutOfRange ? code::kMemoryCap : code::kInference;
}

// Hashes of inputs that rows of one request share, so that each is read once. Where other content has come to lie at the same place a row
// has a key that others do not share, or runs alone: bytes decide.
struct SharedHashes {
  static constexpr uint32_t kSlots = 4;
  static constexpr uint64_t kLeastBytes = 4096;  // fewer are hashed in no time
  struct Slot {
    const void* data = nullptr;
    uint64_t bytes = 0, hash = 0;
  };
  Slot slots[kSlots];       // by port
  uint64_t read_bytes = 0;  // by hashing; whoever counts them sets it to 0
};

// One sample of one model call. Embedded in the job that makes it; delivered to `home` when the run is over.
// Thread: the submitter's until Submit; the executor's until delivery or a successful Withdraw. State and links are guarded by the
// executor's mutex.
class Row : public base::Message {
 public:
  // Memory that lives as long as the request; null when its budget is spent. Called by the executor's thread.
  virtual void* Allocate(uint64_t bytes) noexcept = 0;
  // How much more Allocate may give. Called by the executor's thread.
  virtual int64_t memory_left() const noexcept { return INT64_MAX; }
  // The run failed, or the row is too late. Called by the executor's thread, at most once.
  virtual void Fail(wf_code code, std::string_view text) noexcept = 0;

  // Set before Submit. Inputs and outputs in port order; the executor writes the outputs whole.
  const wf_tensor* const* inputs = nullptr;
  wf_tensor* const* outputs = nullptr;
  base::Mailbox* home = nullptr;
  base::TimePoint deadline = INT64_MAX;
  int64_t delay_ns = 0;  // most that it waits for company
  uint8_t priority = WF_NORMAL;
  SharedHashes* hashes = nullptr;  // null: each is hashed. The submitter's thread's

  // The batcher's.
  Row* previous = nullptr;
  Row* next = nullptr;
  Group* group = nullptr;
  uint64_t key = 0;  // of the rows that may share its run; Policy::Prepare
  // Of the queue: into it, out of it (to run, too late, or withdrawn).
  base::TimePoint arrived_at = 0, taken_at = 0, ran_at = 0;
  int64_t run_ns = 0;         // of its batch, for the caller's statistics
  uint32_t batch_rows = 0;    // 0: it has not run
  uint16_t kind = 0;          // of its padding
  uint16_t sort = 0;          // of those that have a t(B) of their own
  uint8_t level = WF_NORMAL;  // priority after ageing
  RowState state = RowState::kIdle;
  bool withdrawn = false;              // before it was submitted: Submit refuses it
  std::atomic<bool> abandoned{false};  // while it runs; the run asks
  bool has_credit = false;
};

// Which of two rows goes first.
inline bool IsBefore(const Row& a, const Row& b) { return a.level != b.level ? a.level < b.level : a.deadline < b.deadline; }

}  // namespace wf::batch
