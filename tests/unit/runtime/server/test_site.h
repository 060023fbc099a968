#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/server/session.h"

namespace wf::server {

// Answers at once, or when the test says so.
class TestSite final : public Site {
 public:
  void OnHead(Exchange& exchange) noexcept override {
    exchange.max_body_bytes = takes_body ? 1 << 20 : kMaxDiscarded;
    exchange.takes_body = takes_body;
    ++heads;
  }
  bool IsLate(const Exchange&) const noexcept override { return late; }
  void Arm(Exchange& exchange) noexcept override { armed.push_back(&exchange); }
  void Disarm(Exchange& exchange) noexcept override { std::erase(armed, &exchange); }
  void PassDeadlines() {
    late = true;
    for (Exchange* const exchange : std::exchange(armed, {})) exchange->session->OnLate(*exchange);
  }
  bool Claim(Exchange&, int64_t) noexcept override { return true; }
  bool ClaimUnsent(int64_t bytes) noexcept override {
    if (bytes > room - claimed) return false;
    claimed += bytes;
    return true;
  }
  void OnBrokenForMemory() noexcept override { ++broken_for_memory; }
  void OnBreach(http::Breach breach, std::string_view) noexcept override {
    told += std::string(http::kBreaches[static_cast<size_t>(breach)]) + " ";
  }
  bool ClaimLast(int64_t bytes) noexcept override {
    if (bytes > room + last - claimed) return false;
    claimed += bytes;
    return true;
  }
  void UnclaimUnsent(int64_t bytes) noexcept override { claimed -= bytes; }
  void OnRequest(Exchange& exchange) noexcept override {
    ++requests;
    body_bytes = exchange.body.size();
    asked = &exchange;
    waiting.push_back(&exchange);
    if (at_once) Answer();
  }
  void Answer() { Answer(*std::exchange(asked, nullptr)); }
  void Answer(Exchange& exchange) {
    wf_sink body;
    const std::string text(!asks_for_room || exchange.session->ClaimUnsent(answer_bytes) ? answer_bytes : 1, 'a');
    body.Put(text.data(), text.size());
    exchange.session->Reply(exchange, {200, "text/plain", {}, {}}, body);
  }
  void OnAnswered(Exchange&) noexcept override {}
  void OnHidden(const Exchange&, const bus::Bus&, const bus::Failure&, const bus::Failure*) noexcept override {}
  uint64_t OnRefused(Exchange& exchange) noexcept override {
    refused = exchange.refusal_code;
    refused_for_memory += exchange.for_memory ? 1 : 0;
    told += "refused ";
    return 1;
  }
  void Cancel(Exchange&) noexcept override { told += "cancelled "; }
  void OnGone(Exchange&) noexcept override { told += "gone "; }
  void OnFinished(Exchange& exchange) noexcept override {
    ++finished;
    std::erase(waiting, &exchange);
  }
  bool closing() const noexcept override { return drains; }

  bool at_once = true, takes_body = true, asks_for_room = true;
  size_t answer_bytes = 2, body_bytes = 0;
  bool late = false, drains = false;
  int64_t room = INT64_MAX / 2, last = 64 * 1024, claimed = 0;
  Exchange* asked = nullptr;       // the last one
  std::vector<Exchange*> waiting;  // all of them, in their order
  std::vector<Exchange*> armed;    // for their deadlines
  int heads = 0, requests = 0, finished = 0, refused_for_memory = 0, broken_for_memory = 0;
  wf_code refused = 0;
  std::string told;
};

}  // namespace wf::server
