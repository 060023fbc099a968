#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/base/error_codes.h"
#include "runtime/bus/arena.h"
#include "runtime/bus/failure.h"

namespace wf::bus {

class Bus;
struct Instance;

struct Annotation {
  std::string_view key, value;
  uint16_t place;  // in textual order: the last one wins
  Annotation* next;
};

const Failure& WhyFailed(const wf_sink& answer) noexcept;  // one that has failed: kNoRoom, kTooLong or kWithdrawn
const Failure& WhyRefused(const Budget& budget) noexcept;  // its last allocation: kNoRoom or kOutOfMemory

// What stands behind a wf_ctx: one job of one request. Generated code sees the head only and calls wf_alloc, wf_fail,
// wf_meta, wf_annotate and wf_out, which context.cc defines.
// Thread: the thread that runs the job; the loop before and after.   Borrows: bus, arena, instance.
struct Context {
  wf_ctx head{nullptr};  // first: a wf_ctx* is a Context*
  Bus* bus = nullptr;
  Arena* arena = nullptr;
  const Instance* instance = nullptr;  // whose task runs; null outside tasks
  const Failure* failure = nullptr;    // the first one recorded
  Annotation* annotations = nullptr;   // newest first
  uint16_t task = WF_NONE;             // that runs now

  static Context& Of(wf_ctx* ctx) { return *reinterpret_cast<Context*>(ctx); }

  // Records a failure unless there is one already, and returns it. `text` is copied.
  const Failure& Fail(wf_code code, uint32_t site, std::string_view text, bool for_memory = false) noexcept;
  // The last allocation of the request was refused.
  const Failure& NoMemory() noexcept;
  // The recorded failure, which is taken, or one made from a code that a body returned without recording it.
  const Failure& TakeFailure(wf_code returned) noexcept;

 private:
  const Failure& Record(const Failure& what) noexcept;
};

}  // namespace wf::bus
