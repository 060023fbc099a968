#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/mailbox.h"

// What threads do and when, noted while somebody looks: a recording of a few seconds, for people who ask where the time goes.
namespace wf::base {

enum class SliceKind : uint8_t {
  kServe,  // a loop reads a request and runs what of it is the loop's
  kRead,   // a codec's thread reads a body
  kTask,   // machine code
  kModel,  // a model's run of one row, on a loop
  kBatch,  // an executor's thread, with what follows inside
  kGather,
  kRun,
  kScatter,
  kWrite,    // an answer
  kRequest,  // from the end of its head to its answer; of no thread
  kWait,     // of a row for its batch; of no thread
};

struct Slice {
  SliceKind kind = SliceKind::kTask;
  int32_t rows = 0;       // of a batch
  std::string_view name;  // outlives the recording, as what is in a plan does
  TimePoint begin = 0, end = 0;
  uint64_t data_id = 0;          // 0: of several requests, or of one that has none yet
  const char* detail = nullptr;  // a constant
  int32_t code = 0;
};

extern constinit std::atomic<bool> slices_on;
inline bool SlicesOn() noexcept { return slices_on.load(std::memory_order_relaxed); }

// Adds to the recording, if there is one. Thread: any.   Bounds: 16,384 slices of a thread that have not been taken; more are dropped and
// counted.   Cost: no lock; the first one of a thread allocates its megabyte, which stays.
void NoteSlice(const Slice& slice) noexcept;

// What this thread does from here to the end of the scope; such scopes lie within one another.   Cost: a load when nobody looks.
class SliceScope {
 public:
  SliceScope(SliceKind kind, std::string_view name, uint64_t data_id = 0) noexcept {  // NOLINT(*-member-init): made when it is on
    if (SlicesOn()) [[unlikely]]
      Begin(kind, name, data_id);
  }
  ~SliceScope() {
    if (on_) [[unlikely]]
      End();
  }
  SliceScope(const SliceScope&) = delete;
  SliceScope& operator=(const SliceScope&) = delete;
  bool on() const noexcept { return on_; }
  Slice& slice() noexcept { return slice_; }  // what is known only later may be put in. REQUIRES: on

 private:
  void Begin(SliceKind kind, std::string_view name, uint64_t data_id) noexcept;
  void End() noexcept;
  bool on_ = false;
  union {
    Slice slice_;  // while on
  };
};

// The recording itself; there is one at a time.
// Thread: one.   Bounds: most_slices; later ones are dropped and counted.
class SliceRecording {
 public:
  static constexpr size_t kMostSlices = 250'000;

  // `wake`: told, by any thread, that Collect should not wait for long. It outlives every thread that notes slices, or this is stopped when
  // they have ended.
  explicit SliceRecording(Waker* wake, size_t most_slices = kMostSlices) noexcept;
  ~SliceRecording() { Stop(); }
  SliceRecording(const SliceRecording&) = delete;
  SliceRecording& operator=(const SliceRecording&) = delete;

  void Collect();  // takes what has been noted since
  void Stop() noexcept;

  struct Lane {
    std::string name;  // of the thread
    std::vector<Slice> slices;
  };
  const std::vector<Lane>& lanes() const { return lanes_; }  // one per thread that has noted something, ever
  TimePoint begin() const { return begin_; }
  uint64_t dropped() const { return dropped_; }

 private:
  uint64_t DroppedByThreads() const noexcept;
  const size_t most_slices_;
  const TimePoint begin_;
  const uint64_t dropped_before_;
  std::vector<Lane> lanes_;
  size_t n_slices_ = 0;
  uint64_t dropped_ = 0, dropped_here_ = 0;
};

}  // namespace wf::base
