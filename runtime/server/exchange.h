#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/error_codes.h"
#include "runtime/base/timer.h"
#include "runtime/bus/bus.h"
#include "runtime/protocol/coding/coding.h"
#include "runtime/protocol/http/breach.h"
#include "runtime/protocol/http/head.h"
#include "runtime/protocol/http/trace.h"
#include "runtime/protocol/oip/names.h"
#include "runtime/protocol/oip/request.h"
#include "runtime/server/body.h"
#include "runtime/server/codecs.h"
#include "runtime/server/grpc_call.h"
#include "runtime/server/protocols.h"

namespace wf::http2 {
class Stream;
}

namespace wf::server {

class Session;
class Site;
class ExchangePool;
struct Exchange;

inline constexpr size_t kMaxDiscarded = 64 * 1024;  // of a body that nobody reads, unless a setting says another

// What answers requests. Calls come on the loop of the site.
class Site {
 public:
  virtual ~Site() = default;
  // The head is there. Sets max_body_bytes, or calls Refuse.
  virtual void OnHead(Exchange& exchange) noexcept = 0;
  // Has the deadline of a request that is still coming passed?
  virtual bool IsLate(const Exchange&) const noexcept { return false; }
  // Session::OnLate comes when it has, of what is complete OnLate. Disarm: it does not; harmless when not armed.
  virtual void Arm(Exchange&) noexcept {}
  virtual void Disarm(Exchange&) noexcept {}
  // A body of so many bytes is to come. Only what comes of it counts. False: refused, for there is no room now.
  virtual bool Announce(Exchange&, int64_t /*bytes*/) noexcept { return true; }
  // A body has grown to `bytes`. False: refused.
  virtual bool Claim(Exchange& exchange, int64_t bytes) noexcept = 0;
  // A connection holds so many more bytes, of answers that wait to be sent or of requests that come. False: there is no room for them.
  virtual bool ClaimUnsent(int64_t bytes) noexcept = 0;
  virtual void UnclaimUnsent(int64_t bytes) noexcept = 0;
  // The same where the connection has to be closed else: a part of the memory is left for it.
  virtual bool ClaimLast(int64_t bytes) noexcept { return ClaimUnsent(bytes); }
  // There was none, and a connection is closed for it.
  virtual void OnBrokenForMemory() noexcept {}
  // A connection ends for what came on it, or did not in time. `why` ends with the call.
  virtual void OnBreach(http::Breach, std::string_view /*why*/) noexcept {}
  // The request is complete. Session::Reply is called now or later.
  virtual void OnRequest(Exchange& exchange) noexcept = 0;
  // A refusal is about to be answered. The data_id that the answer carries.
  virtual uint64_t OnRefused(Exchange& exchange) noexcept = 0;
  // Nobody waits for the answer of a request that is complete. Its bus may be gone afterwards.
  virtual void Cancel(Exchange& exchange) noexcept = 0;
  // The deadline of a request that is complete has passed while another thread reads it or writes its answer.
  virtual void OnLate(Exchange&) noexcept {}
  // The client left between the end of the head and the answer.
  virtual void OnGone(Exchange& exchange) noexcept = 0;
  // The exchange is about to be used again: what it took may be given back.
  virtual void OnFinished(Exchange& exchange) noexcept = 0;
  virtual void OnAnswered(Exchange& exchange) noexcept = 0;
  // The bus of a request that is traced is about to go.
  virtual void OnTraced(const Exchange&, const bus::Bus&) noexcept {}
  // A message of a call that streams is an exchange of its own: what OnHead is to others.
  virtual void OnPart(Exchange&) noexcept {}
  // All messages of a call that streams have been served. True: Session::Reply has ended it; else it ends well, without another message.
  virtual bool OnCallOver(Exchange&) noexcept { return false; }
  // A second has passed for a call that stays.
  virtual void OnLook(Exchange&) noexcept {}
  virtual void OnCaught(const bus::Failure&) noexcept {}
  virtual void OnHidden(const Exchange& exchange, const bus::Bus& bus, const bus::Failure& cause, const bus::Failure* by) noexcept = 0;
  // What every answer to the request carries beside its own; the view ends with the next call.
  virtual std::span<const http::Header> FieldsOf(const Exchange&) noexcept { return {}; }
  virtual bool closing() const noexcept = 0;  // answers carry `connection: close`
};

// What is of one request and owns nothing: each begins with these values.
struct RequestState {
  // ---- of the session ----
  Session* session = nullptr;       // null: detached, nobody waits for an answer
  Session* returns_to = nullptr;    // told when nothing uses the exchange any more; null: nobody cares
  http2::Stream* stream = nullptr;  // until it is answered or reset
  uint64_t head_read = 0;           // Session::reads() when the head was there
  int64_t look_ms = 0;              // until the next look at how a head or body comes
  Site* site = nullptr;
  coding::Coding coding = coding::Coding::kIdentity;  // of the body, until it is taken off
  uint64_t max_body_bytes = 0;
  std::string_view too_large;  // what a larger body asks for and nobody does, a constant; empty: it is only too large
  size_t kept_bytes = 0;       // of its head and body, as its session counts
  uint64_t came = 0, came_before = 0, discarded = 0;  // of the body: all of it; by the last look at how fast; what nobody reads
  bool takes_body = false;                            // somebody reads it; else what comes is dropped
  bool has_head = false;
  bool begun = false;  // complete, and given to the site
  bool answered = false;
  bool is_awaited() const { return session != nullptr && !answered; }  // else nobody is to be told anything more

  // ---- of the site ----
  bus::Bus* bus = nullptr;  // until it is drained
  const wf_workflow* workflow = nullptr;
  Protocol protocol = Protocol::kPlain;
  std::string_view own_path;              // of what the site answers itself, a constant; empty: none
  bool let = true;                        // in: what needs a key shows one
  bool needs_place = false;               // will count as in flight once it is whole
  bool admitted = false;                  // counts as in flight
  CodecQueue::Work* elsewhere = nullptr;  // on another thread: the loop touches its counts in bus, no more of bus, body and oip; null: here
  int64_t announced_bytes = 0;            // of a body that is to come; 0: nobody has said
  int64_t claimed_bytes = 0;              // of the process's budget
  int64_t timeout_ns = 0;                 // the client's own limit, of the head; 0: none
  base::TimePoint received_at = 0, whole_at = 0;
  base::TimePoint writes_at = 0;  // the answer's beginning; 0: it is too short to be timed
  uint64_t data_id = 0;
  std::string_view log_id;  // of the head, or in the memory of the bus
  oip::Route oip;           // of a path under /v2
  int64_t version = 0;      // of the model that was asked for; 0: none was named

  // ---- of a refusal, answered once the body is over or too long to wait for ----
  int refusal_status = 0;  // 0: none
  wf_code refusal_code = 0;
  int64_t retry_s = 1;                         // of one for load: when to come again
  bool for_memory = false;                     // there was none
  bool allow_post = false, allow_get = false;  // of a 405
  bool refused() const { return refusal_status != 0; }
};

// One request from its first byte until nothing refers to it: it may outlive its connection while work of its bus is under way.
// Thread: loop-confined.   Owns: head, body.   Pooled by its loop, with the room that its texts have taken.
struct Exchange final : bus::Client, RequestState {
  explicit Exchange(ExchangePool& owner) : pool(owner) {}
  void OnAnswered(bus::Bus& answered) noexcept override;
  void OnHidden(bus::Bus& asked, const bus::Failure& cause, const bus::Failure* by) noexcept override;
  void OnCaught(const bus::Failure& cause) noexcept override { site->OnCaught(cause); }
  void OnDrained(bus::Bus& drained) noexcept override;

  struct Late final : base::TimerNode {
    explicit Late(Exchange& of) : exchange(of) { on_time = OnTime; }
    static void OnTime(base::TimerNode& node) noexcept;
    Exchange& exchange;
  };

  ExchangePool& pool;
  Late late{*this};  // the site's, armed from the head to the end of the body, or of a call that streams; and while another thread has it
  http::Head head;
  Body body;
  Body expanded;  // the body without its coding, while that is taken off
  GrpcCall grpc;
  const http::Head& call_head() const { return grpc.call == nullptr ? head : grpc.call->head; }
  http::Trace trace;
  std::vector<bus::Metadata> metadata;
  std::unique_ptr<oip::InferRequest> infer;  // made when first needed, then kept
  http::Head fields;                         // of the answer, those whose texts are nobody else's

  std::string refusal;
  void Refuse(int status, wf_code code, std::string_view message) {
    refusal_status = status;
    refusal_code = code;
    retry_s = 1;
    refusal.assign(message);  // whose room stays with the exchange: a refusal in an overload allocates nothing
  }
  void RefuseForMemory(std::string_view message) {
    Refuse(429, code::kRefused, message);
    for_memory = true;
  }

  Exchange* next = nullptr;  // of the pool
};

// Thread: loop-confined.   Owns: idle exchanges; those in use come back before it dies.   Bounds: keeps 1,024.
class ExchangePool {
 public:
  ExchangePool() = default;
  ~ExchangePool();
  ExchangePool(const ExchangePool&) = delete;
  ExchangePool& operator=(const ExchangePool&) = delete;

  Exchange* Take(Session& session, Site& site) noexcept;  // null: no memory
  // The session no longer needs it: it goes back as soon as its bus is drained.
  void Detach(Exchange& exchange) noexcept;
  void GiveBackIfDone(Exchange& exchange) noexcept;
  void DropIdle() noexcept;
  uint32_t in_use() const { return in_use_; }

 private:
  static constexpr uint32_t kMaxIdle = 1024;
  Exchange* idle_ = nullptr;
  uint32_t idle_count_ = 0, in_use_ = 0;
};

}  // namespace wf::server
