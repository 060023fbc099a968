#include "runtime/base/slices.h"

#include <pthread.h>

#include <new>

#include "runtime/base/ring.h"

namespace wf::base {

constinit std::atomic<bool> slices_on{false};

namespace {

constexpr size_t kRingSlices = 16'384;

// Lives for ever, since its thread may end before it is read.
struct ThreadSlices {
  Ring<Slice, kRingSlices> ring;
  ThreadSlices* next = nullptr;
  size_t index = 0;  // in the order of their making
  char name[16] = {};
};

std::atomic<ThreadSlices*> all_threads{nullptr};
std::atomic<Waker*> waker{nullptr};
std::atomic<bool> asked{false};

TimePoint Now() noexcept { return SystemClock().Now(); }

ThreadSlices* OfThisThread() noexcept {
  thread_local ThreadSlices* const own = [] {
    auto* const made = new (std::nothrow) ThreadSlices;
    if (made == nullptr) return made;
    pthread_getname_np(pthread_self(), made->name, sizeof made->name);
    made->next = all_threads.load(std::memory_order_acquire);
    do {
      made->index = made->next == nullptr ? 0 : made->next->index + 1;
    } while (!all_threads.compare_exchange_weak(made->next, made, std::memory_order_acq_rel, std::memory_order_acquire));
    return made;
  }();
  return own;
}

template <typename Function>
void ForThreads(Function&& function) {
  for (ThreadSlices* at = all_threads.load(std::memory_order_acquire); at != nullptr; at = at->next) function(*at);
}

}  // namespace

void NoteSlice(const Slice& slice) noexcept {
  if (!SlicesOn()) return;
  ThreadSlices* const own = OfThisThread();
  if (own == nullptr) return;
  own->ring.Put(slice);
  if (own->ring.held() < kRingSlices / 4 || asked.load(std::memory_order_relaxed)) return;
  Waker* const wake = waker.load(std::memory_order_acquire);
  if (wake != nullptr && !asked.exchange(true, std::memory_order_acq_rel)) wake->Wake();
}

void SliceScope::Begin(SliceKind kind, std::string_view name, uint64_t data_id) noexcept {
  on_ = true;
  new (&slice_) Slice;
  slice_.kind = kind;
  slice_.name = name;
  slice_.data_id = data_id;
  slice_.begin = Now();
}

void SliceScope::End() noexcept {
  slice_.end = Now();
  NoteSlice(slice_);
}

SliceRecording::SliceRecording(Waker* wake, size_t most_slices) noexcept
    : most_slices_(most_slices), begin_(Now()), dropped_before_(DroppedByThreads()) {
  ForThreads([](ThreadSlices& thread) { thread.ring.Skip(); });  // of the last one
  asked.store(false, std::memory_order_relaxed);
  waker.store(wake, std::memory_order_release);
  slices_on.store(true, std::memory_order_relaxed);
}

uint64_t SliceRecording::DroppedByThreads() const noexcept {
  uint64_t sum = 0;
  ForThreads([&sum](const ThreadSlices& thread) { sum += thread.ring.dropped(); });
  return sum;
}

void SliceRecording::Collect() {
  asked.store(false, std::memory_order_relaxed);
  ForThreads([this](ThreadSlices& thread) {
    if (lanes_.size() <= thread.index) lanes_.resize(thread.index + 1);
    Lane& lane = lanes_[thread.index];
    if (lane.name.empty()) lane.name = thread.name;
    thread.ring.Take([&](const Slice& slice) {
      if (slice.begin < begin_) return true;  // its end came late
      if (n_slices_ == most_slices_) {
        ++dropped_here_;
        return true;
      }
      lane.slices.push_back(slice);
      ++n_slices_;
      return true;
    });
  });
  dropped_ = dropped_here_ + DroppedByThreads() - dropped_before_;
}

void SliceRecording::Stop() noexcept {
  slices_on.store(false, std::memory_order_relaxed);
  waker.store(nullptr, std::memory_order_release);
}

}  // namespace wf::base
