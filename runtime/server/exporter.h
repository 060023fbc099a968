#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/ring.h"
#include "runtime/net/post.h"
#include "runtime/protocol/otlp/spans.h"

namespace wf::server {

// Of one loop, which puts; the exporter takes.
using SpanRing = base::Ring<otlp::Span, 8192>;

// Sends the spans of all loops to a collector, some at a time.
// Thread: the admin loop.   Owns: the batch under way.   Borrows: rings.   Errors: what a collector does not take after a few attempts,
// which come when it asks for them, or refuses, is counted and told once in a while; requests see nothing of it.   Bounds: kMostSpans on
// their way; the rings hold the rest, or drop it.
class Exporter final : public net::Poster::User {
 public:
  static constexpr size_t kMostSpans = 2048;

  Exporter(loop::Loop& loop, const base::Clock& clock, net::PostTarget target, std::string service,
           std::span<const std::unique_ptr<SpanRing>> rings);

  base::TimePoint NextTimerAt() const { return timer_at_; }
  void OnTime();      // NextTimerAt may have come
  void BeginFlush();  // what there is goes at once, and is tried once
  bool flushed() const { return batch_.empty() && held() == 0; }
  void Close();  // before the loop closes, or the process ends; what has not left is lost, and told
  bool holds_loop() const { return poster_.looks_up(); }  // it cannot close for now

  struct Counts {
    uint64_t exported = 0, failed = 0, dropped = 0;    // spans; dropped: they found no room
    uint64_t taken_requests = 0, failed_requests = 0;  // to the collector, that are over
  };
  Counts counts() const;

 private:
  void OnPosted(int status, int64_t retry_after_s) noexcept override;
  size_t held() const;
  void TakeBatch();
  void Send();
  void GiveUp(int status);

  const base::Clock& clock_;
  const std::string service_;
  const std::span<const std::unique_ptr<SpanRing>> rings_;
  net::Poster poster_;
  std::vector<otlp::Span> batch_;
  base::TimePoint timer_at_, sent_at_ = 0, again_at_ = 0, told_at_ = 0;
  int attempts_ = 0;
  uint64_t untold_ = 0;  // lost spans since the last line about them
  bool flushing_ = false;
  Counts counts_;
};

}  // namespace wf::server
