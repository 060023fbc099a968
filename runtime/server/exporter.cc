#include "runtime/server/exporter.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "runtime/abi/version.h"
#include "runtime/base/units.h"
#include "runtime/observe/log.h"

namespace wf::server {
namespace {

constexpr int64_t kLookEveryNs = 200 * base::kNsPerMs;  // at what has collected
constexpr int64_t kSendEveryNs = base::kNsPerSecond;    // however little it is
constexpr int64_t kAnswerNs = 10 * base::kNsPerSecond, kFirstPauseNs = base::kNsPerSecond, kTellEveryNs = 60 * base::kNsPerSecond;
constexpr int64_t kMostPauseS = 30, kNotSaid = -1;
constexpr int kMostAttempts = 4;

// What the collector may take another time.
bool IsPassing(int status) { return status == 0 || status == 408 || status == 429 || status == 502 || status == 503 || status == 504; }

int64_t UnixOffset(const base::Clock& clock) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * base::kNsPerSecond + now.tv_nsec - clock.Now();
}

}  // namespace

Exporter::Exporter(loop::Loop& loop, const base::Clock& clock, net::PostTarget target, std::string service,
                   std::span<const std::unique_ptr<SpanRing>> rings)
    : clock_(clock),
      service_(std::move(service)),
      rings_(rings),
      poster_(loop, *this, std::move(target)),
      timer_at_(clock.Now() + kLookEveryNs) {
  batch_.reserve(kMostSpans);
}

size_t Exporter::held() const {
  size_t sum = 0;
  for (const auto& ring : rings_) sum += ring->held();
  return sum;
}

Exporter::Counts Exporter::counts() const {
  Counts counts = counts_;
  for (const auto& ring : rings_) counts.dropped += ring->dropped();
  return counts;
}

void Exporter::OnTime() {
  const base::TimePoint now = clock_.Now();
  if (now < timer_at_) return;
  timer_at_ = now + kLookEveryNs;
  if (poster_.busy()) {
    if (now - sent_at_ < kAnswerNs) return;
    poster_.Drop();
    return OnPosted(0, kNotSaid);
  }
  if (!batch_.empty()) {
    if (now >= again_at_) Send();
    return;
  }
  const size_t count = held();
  if (count == 0 || (count < kMostSpans / 2 && now - sent_at_ < kSendEveryNs && !flushing_)) return;
  TakeBatch();
  Send();
}

void Exporter::BeginFlush() {
  flushing_ = true;
  timer_at_ = again_at_ = clock_.Now();
}

void Exporter::Close() {
  poster_.Drop();
  const size_t count = std::exchange(untold_, 0) + batch_.size() + held();
  if (count == 0) return;
  observe::Log(observe::Level::kWarning, "spans are lost, since the collector does not take them before the server stops",
               {{"count", static_cast<int64_t>(count)}});
  batch_.clear();
  for (const auto& ring : rings_) ring->Skip();
}

void Exporter::TakeBatch() {
  attempts_ = 0;
  for (const auto& ring : rings_) {
    ring->Take([this](const otlp::Span& span) {
      if (batch_.size() == kMostSpans) return false;
      batch_.push_back(span);
      return true;
    });
  }
}

void Exporter::Send() {
  wf_sink body;
  otlp::PutTraces(batch_, {service_, WF_ABI_SYMBOL_TEXT, UnixOffset(clock_)}, &body);
  ++attempts_;
  sent_at_ = clock_.Now();
  poster_.Post("application/x-protobuf", body);
}

void Exporter::OnPosted(int status, int64_t retry_after_s) noexcept {
  constexpr int kFirstOk = 200, kBehindOk = 300;
  timer_at_ = clock_.Now() + (held() >= kMostSpans / 2 || flushing_ ? 0 : kLookEveryNs);
  if (status >= kFirstOk && status < kBehindOk) {
    ++counts_.taken_requests;
    counts_.exported += batch_.size();
    batch_.clear();
    return;
  }
  ++counts_.failed_requests;
  if (!IsPassing(status) || attempts_ == kMostAttempts || flushing_) return GiveUp(status);
  const int64_t asked_ns = std::min(retry_after_s, kMostPauseS) * base::kNsPerSecond;
  again_at_ = clock_.Now() + (retry_after_s == kNotSaid ? kFirstPauseNs << (attempts_ - 1) : asked_ns);
}

// Told once in kTellEveryNs, of all since the last line; the rest at the end of a flush.
void Exporter::GiveUp(int status) {
  counts_.failed += batch_.size();
  untold_ += batch_.size();
  batch_.clear();
  const base::TimePoint now = clock_.Now();
  const bool due = told_at_ == 0 || now - told_at_ >= kTellEveryNs;
  if (flushing_ ? held() != 0 : !due) return;
  told_at_ = now;
  observe::Log(observe::Level::kWarning, "spans are lost, since the collector does not take them",
               {{"status", status}, {"count", static_cast<int64_t>(std::exchange(untold_, 0))}});
}

}  // namespace wf::server
