#include "runtime/server/admin_site.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

#include "runtime/base/units.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/server/codings.h"
#include "runtime/server/config_file.h"
#include "runtime/server/intake.h"
#include "runtime/server/own_answers.h"
#include "runtime/server/trace_page.h"

namespace wf::server {
namespace {

constexpr std::string_view kMetricsPath = "/metrics", kSchedulePath = "/debug/schedule", kTracePath = "/debug/trace";
constexpr std::string_view kPaths[] = {kMetricsPath, kSchedulePath, kTracePath};
constexpr int64_t kCollectEveryNs = 20'000'000;
constexpr int kMostSeconds = 60;

// What is wrong with a query in which `name` may stand, once; empty: nothing. `value` is null data where it does not.
std::string ReadQuery(std::string_view query, std::string_view name, std::string_view* value) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.empty()) continue;
    const std::string_view given = part.substr(0, part.find('='));
    if (given != name) return "unknown parameter " + Quoted(given) + " in the query, which takes " + Quoted(name);
    if (value->data() != nullptr) return "given twice: " + Quoted(name) + " in the query";
    *value = part.substr(std::min(part.size(), given.size() + 1));
  }
  return {};
}

std::string ReadFormat(const http::Head& head, bool* json) {
  std::string_view format;
  std::string wrong = ReadQuery(head.query, "format", &format);
  if (wrong.empty() && format.data() != nullptr && format != "json" && format != "text") wrong = "`format` is `json` or `text`";
  *json = format.data() != nullptr ? format == "json" : head.Find("accept").find(plain::kJson) != std::string_view::npos;
  return wrong;
}

// How long to record.
std::string ReadSeconds(const http::Head& head, int* seconds) {
  std::string_view text;
  std::string wrong = ReadQuery(head.query, "seconds", &text);
  if (!wrong.empty() || text.data() == nullptr) return wrong;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *seconds);
  if (error == std::errc() && end == text.data() + text.size() && *seconds >= 1 && *seconds <= kMostSeconds) return {};
  return "`seconds` is a whole number from 1 to " + std::to_string(kMostSeconds);
}

}  // namespace

void AdminSite::OnHead(Exchange& exchange) noexcept {
  const http::Head& head = exchange.head;
  exchange.max_body_bytes = kMaxDiscarded;
  std::string_view path;
  if (!http::PercentDecode(head.path, http::Part::kPath, &path, &path_)) path = {};
  if (TakeOwn(exchange, path)) return;
  const auto* const found = std::find(std::begin(kPaths), std::end(kPaths), path);
  if (found == std::end(kPaths)) {
    return exchange.Refuse(404, code::kNoService, "the admin port serves /metrics, /debug/schedule, /debug/trace, /livez and /readyz");
  }
  exchange.own_path = *found;
  if (head.method == http::Method::kGet || head.method == http::Method::kHead) return;
  exchange.allow_get = true;
  exchange.Refuse(405, code::kInputParams, "the admin port takes GET");
}

// A page that is larger by itself goes out beside nothing else.
bool AdminSite::ClaimUnsent(int64_t bytes) noexcept {
  if (unsent_bytes_ != 0 && bytes > kMostUnsent - unsent_bytes_) return false;
  unsent_bytes_ += bytes;
  return true;
}

void AdminSite::OnRequest(Exchange& exchange) noexcept {
  body_.Clear();
  if (exchange.own_path == kMetricsPath) {
    const std::string text = pages_.Metrics();
    body_.Put(text.data(), text.size());
    ReplyCoded(exchange, code_from_, {200, "text/plain; version=0.0.4", {}, {}}, body_);
  } else if (exchange.own_path == kSchedulePath) {
    bool json = false;
    if (const std::string wrong = ReadFormat(exchange.head, &json); !wrong.empty()) return RefuseQuery(exchange, wrong);
    pages_.Schedule(json, &body_);
    ReplyCoded(exchange, code_from_, {200, json ? plain::kJson : "text/plain; charset=utf-8", {}, {}}, body_);
  } else if (exchange.own_path == kTracePath) {
    StartRecording(exchange);
  } else {
    AnswerOwn(shared_, exchange, &body_);
  }
}

void AdminSite::RefuseQuery(Exchange& exchange, const std::string& wrong) noexcept {
  exchange.Refuse(400, code::kInputParams, wrong);
  AnswerRefusal(exchange);
}

void AdminSite::StartRecording(Exchange& exchange) noexcept {
  int seconds = 1;
  if (const std::string wrong = ReadSeconds(exchange.head, &seconds); !wrong.empty()) return RefuseQuery(exchange, wrong);
  if (recording_) {
    exchange.Refuse(409, code::kInputParams, "a recording is under way; there is one at a time");
    return AnswerRefusal(exchange);
  }
  asker_ = &exchange;
  recording_.emplace(&collect_);
  recorded_at_ = recording_->begin() + seconds * base::kNsPerSecond;
  collect_at_ = recording_->begin() + kCollectEveryNs;
}

void AdminSite::LeaveRecording(const Exchange& exchange) noexcept {
  if (asker_ != &exchange) return;
  asker_ = nullptr;
  recording_.reset();
}

void AdminSite::Collect::Deliver() noexcept {
  posted.store(false);
  if (site.recording_) site.recording_->Collect();
}

void AdminSite::OnTime() noexcept {
  const base::TimePoint now = shared_.clock.Now();
  if (!recording_ || now < collect_at_) return;
  recording_->Collect();
  collect_at_ = std::min(now + kCollectEveryNs, std::max(now + 1, recorded_at_));
  if (now >= recorded_at_) FinishRecording();
}

bool AdminSite::FinishRecording() noexcept {
  if (!recording_) return false;
  recording_->Collect();
  recording_->Stop();
  body_.Clear();
  TracePage(*recording_, &body_);
  recording_.reset();
  Exchange& asker = *std::exchange(asker_, nullptr);
  if (body_.failed()) {
    asker.Refuse(500, code::kInference, "there is no memory for the recording");
    AnswerRefusal(asker);
  } else {
    ReplyCoded(asker, code_from_, {200, plain::kJson, {}, {}}, body_);
  }
  return true;
}

}  // namespace wf::server
