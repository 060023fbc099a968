#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace wf::batch {

// t(B): what a run of B rows takes, learned. Only the sizes 1, 2, 4, .. and max_rows are ever run, and of those only what is ready.
// Thread: thread-safe; of two samples that are learned at once one may be lost.   Cost: O(log max_rows).
class CostCurve {
 public:
  // by_steps: larger sizes are tried one by one, each once the one below is measured: nothing measures them before there are requests.
  explicit CostCurve(int64_t max_rows, bool by_steps = false);

  int64_t max_rows() const { return max_rows_; }
  // From now on no two rows share a run, or they do again: the best size is 1 then, whatever runs take.
  void set_alone(bool alone) { alone_.store(alone, std::memory_order_relaxed); }
  // From now on runs may have this size, or none has it, for who needed its plan would wait for that. REQUIRES: size > 1; 1 is always
  // ready.
  void set_ready(int64_t size, bool is_ready);
  int unready() const { return std::popcount(unready_.load(std::memory_order_relaxed)); }  // sizes
  void Learn(int64_t size, int64_t ns);                                                    // size: a size that is run
  void LearnFrom(const CostCurve& other);                                                  // what both run and this one does not know
  bool known(int64_t size) const;
  // The first row of its sort has come: false from then on.
  bool Meet() { return !met() && !met_.exchange(true, std::memory_order_relaxed); }
  bool met() const { return met_.load(std::memory_order_relaxed); }
  int64_t RunNs(int64_t size) const;       // measured, else guessed from the nearest measured sizes; 0: nothing measured yet
  int64_t SizeFor(int64_t rows) const;     // the smallest size that holds `rows`
  int64_t RunSizeFor(int64_t rows) const;  // of those that are ready, as a run of `rows` rows has now
  int64_t BestRows() const;  // B*: the smallest ready size with t(B)/B within 5 % of the best; of those measured, and larger ones
  int64_t RowsToRun(
      int64_t waiting) const;  // how many of them run next: all padded up, or the largest size below, whichever is cheaper in all
  // Batching gains next to nothing: t(1) <= 100 us and t(1) - t(B*)/B* <= 20 us. False while t(1) is unknown.
  bool InlinePays() const;

 private:
  static constexpr int kMaxSizes = 24;
  int IndexOf(int64_t size) const;
  int LargestKnown() const;  // -1: none
  bool ready(int at) const { return (unready_.load(std::memory_order_relaxed) >> at & 1) == 0; }
  int LargestReady() const;
  int64_t CheapestNs(int64_t rows) const;

  int64_t max_rows_;
  const bool by_steps_;
  int n_sizes_ = 0;
  std::atomic<bool> alone_{false}, met_{false};
  std::atomic<uint32_t> unready_{0};  // bit set, by index
  std::array<int64_t, kMaxSizes> sizes_{};
  std::array<std::atomic<int64_t>, kMaxSizes> ns_{};
};

}  // namespace wf::batch
