#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/base/clock.h"
#include "runtime/bus/arena.h"
#include "runtime/bus/catalogue.h"
#include "runtime/bus/context.h"
#include "runtime/bus/failure.h"
#include "runtime/bus/span.h"
#include "runtime/bus/spent.h"

namespace wf::bus {

class Bus;
struct Instance;

struct Metadata {
  std::string_view key, value;
};

// Who sent the request. Called on the bus's loop.
class Client {
 public:
  virtual ~Client() = default;
  // The outcome is certain: bus.failure() is null and the out slots of every sample are ready, or it says why not. Called once, never after
  // Cancel; may happen inside Engine::Start. The client encodes, then calls Engine::Release.
  virtual void OnAnswered(Bus& bus) noexcept = 0;
  // `cause` is not what the request is answered with: a fallback caught it and failed itself with `by`, or (null) the outcome did not need
  // it.
  virtual void OnHidden(Bus& /*bus*/, const Failure& /*cause*/, const Failure* /*by*/) noexcept {}
  // A fallback has given a value in place of `cause`.
  virtual void OnCaught(const Failure& /*cause*/) noexcept {}
  // Nothing refers to the bus any more: body and metadata may go. Called once for every bus, also after Cancel. The bus is not valid
  // afterwards.
  virtual void OnDrained(Bus& bus) noexcept = 0;
};

enum class BusState : uint8_t { kDecoding, kRunning, kAnswered, kFree };

// One request in flight: its memory, frames, deadline, ids and outcome. kDecoding -> kRunning -> kAnswered -> kFree.
// Thread: loop-confined, but for wf_* calls of its jobs, which only read.   Owns: arena, frames.
// Borrows: workflow, catalogue, client, metadata.
// Bounds: Budget::kBytes of memory.
class Bus {
 public:
  Bus() = default;
  virtual ~Bus() = default;
  Bus(const Bus&) = delete;
  Bus& operator=(const Bus&) = delete;

  // ---- for the decoder and the encoder ----
  wf_ctx* ctx() { return &main.head; }     // allocates in this request's arena; valid until drained
  void* frame(uint32_t sample = 0) const;  // of the root region: read_json fills it, write_json reads it
  uint32_t samples() const { return n_samples; }
  const wf_workflow& workflow() const { return *workflow_; }
  const wf_plan& plan() const { return *plan_; }
  const Catalogue& catalogue() const { return *catalogue_; }
  const Failure* failure() const { return failure_; }                 // null: fine so far
  const SpanList* spans() const { return spans_; }                    // null: not traced
  const Annotation* annotations() const { return main.annotations; }  // newest first; of one key the highest `task` wins
  uint64_t data_id() const { return data_id_; }
  std::string_view log_id() const { return log_id_; }
  BusState state() const { return state_; }
  base::TimePoint deadline() const { return deadline_; }
  base::TimePoint received_at() const { return received_at_; }
  const Spent& spent() const { return spent_; }
  void NoteWriting(base::TimePoint from, base::TimePoint to) { spent_.Write(from, to); }  // the answer
  // "Read/texts[3]/Recognise", as long as the bus lives; empty when the failure is not in a node.
  std::string_view PathOf(const Failure& failure);

  void* user = nullptr;                // the client's own
  std::span<const Metadata> metadata;  // for wf_meta; set before Start, immutable afterwards, outlives the bus

  // ---- for the scheduler ----
  Context main;  // the job of everything that runs on the loop
  Arena arena;
  Budget budget;
  Instance** roots = nullptr;  // one per sample
  uint32_t n_samples = 0;
  uint32_t stop_word = 0;  // of `main` where there is no engine: stays 0
  uint32_t pins = 0;       // the client, and everything under way on other threads
  BusState state_ = BusState::kFree;
  const wf_plan* plan_ = nullptr;
  const wf_workflow* workflow_ = nullptr;
  const Catalogue* catalogue_ = nullptr;
  Client* client_ = nullptr;
  const Failure* failure_ = nullptr;
  SpanList* spans_ = nullptr;  // in the arena
  uint64_t data_id_ = 0;
  std::string_view log_id_;
  base::TimePoint deadline_ = 0, received_at_ = 0;
  Spent spent_;
};

}  // namespace wf::bus
