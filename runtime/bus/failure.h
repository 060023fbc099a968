#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/base/error_codes.h"

namespace wf::bus {

// Why a value is missing, or why a request failed. Immutable once made, but for Hide; lives in the request's arena, or is one of the
// constants below.
struct Failure {
  struct Crumb {
    uint16_t node;
    uint32_t element;
  };  // "texts[3]": the fan-out node and the element, outermost first
  static constexpr int kMaxCrumbs = 4;

  wf_code code = code::kUnknown;
  uint32_t site = 0;  // source line, 0 unknown
  uint16_t node = WF_NONE, task = WF_NONE;
  uint32_t sample = 0;
  std::string_view message;
  bool for_memory = false;  // that others hold
  uint16_t n_crumbs = 0;
  Crumb crumbs[kMaxCrumbs] = {};
  mutable bool is_hidden = false;

  // Somebody has caught it, or did not need its value: true the first time, and always of the constants, which are of all requests. On the
  // loop of its request.
  bool Hide() const;
};
extern const Failure kOutOfMemory;  // kMemoryCap
extern const Failure kTooLong;      // kMemoryCap, of an answer beyond wf_sink::kMaxBytes
extern const Failure kNoRoom;       // kRefused, for memory that others hold
extern const Failure kWithdrawn;    // kCancelled

// "Read/texts[3]/Recognise"; empty when the failure is not in a node.
std::string PathOf(const wf_plan& plan, const Failure& failure);

// The state of a slot: pending, ready, or failed with a reason.
// Thread: loop-confined.   Borrows: the reason, in the arena of its request.
class Channel {
 public:
  bool pending() const { return state_ == nullptr; }
  bool ready() const { return state_ == &kReady; }
  bool failed() const { return !pending() && !ready(); }
  const Failure* failure() const { return failed() ? state_ : nullptr; }
  void SetReady() { state_ = &kReady; }
  void SetFailed(const Failure& why) { state_ = &why; }

 private:
  static const Failure kReady;
  const Failure* state_ = nullptr;
};

}  // namespace wf::bus
