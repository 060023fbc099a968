#pragma once

#include <cstdint>

namespace wf::bus {

// One immutable state of the world that requests see: models, versions, configuration. A bus takes the loop's current one when it is
// created and keeps it until it is drained, so one request never mixes two. What is in it is the business of sched (sched/catalogue.h).
// Thread: immutable once published.   Owns: nothing by itself; freed by its publisher when every loop has released it.
class Catalogue {
 public:
  explicit Catalogue(uint64_t epoch) : epoch_(epoch) {}
  virtual ~Catalogue() = default;
  uint64_t epoch() const { return epoch_; }  // increasing with each publication

 private:
  const uint64_t epoch_;
};

}  // namespace wf::bus
