#include "runtime/server/own_answers.h"

#include <array>

#include "runtime/base/error_codes.h"
#include "runtime/base/reserve.h"
#include "runtime/server/session.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {
namespace {

std::string_view ProbeOf(std::string_view path) {
  for (const std::string_view probe : {kLivePath, kReadyPath})
    if (path == probe) return probe;
  return {};
}

}  // namespace

// A loop that answers turns; the others may not.
const char* ProbeFailure(const Shared& shared, std::string_view probe) {
  if (probe == kLivePath) return shared.all_turn() ? nullptr : "a loop has not turned for 5 s\n";
  const bool ready = shared.ready.load(std::memory_order_relaxed) && !shared.draining.load(std::memory_order_relaxed);
  if (!ready) return "not ready\n";
  return base::Reserve::memory_is_short() ? "the process has no memory left\n" : nullptr;
}

bool TakeOwn(Exchange& exchange, std::string_view path) {
  const http::Head& head = exchange.head;
  if (head.method_name == "CONNECT") {
    exchange.Refuse(501, code::kNotImplemented, "the server is no proxy: it takes no CONNECT");
    return true;
  }
  if (head.target == kWholeServer) {  // RFC 9110 9.3.7
    exchange.own_path = kWholeServer;
    if (head.method_name != "OPTIONS") exchange.Refuse(400, code::kInputParams, "the target `*` goes with OPTIONS alone");
    return true;
  }
  exchange.own_path = ProbeOf(path);
  if (exchange.own_path.empty()) return false;
  if (head.method == http::Method::kGet || head.method == http::Method::kHead) return true;
  exchange.allow_get = true;
  exchange.Refuse(405, code::kInputParams, "the probes take GET");
  return true;
}

void AnswerOwn(const Shared& shared, Exchange& exchange, wf_sink* body) noexcept {
  body->Clear();
  if (exchange.own_path == kWholeServer) {
    const std::array methods = {http::Header{"allow", "GET, HEAD, POST, OPTIONS"}};
    return exchange.session->Reply(exchange, {200, {}, methods, {}}, *body);
  }
  const char* const failure = ProbeFailure(shared, exchange.own_path);
  const std::string_view text = failure == nullptr ? "ok\n" : failure;
  body->Put(text.data(), text.size());
  exchange.session->Reply(exchange, {failure == nullptr ? 200 : 503, "text/plain", {}, {}}, *body);
}

}  // namespace wf::server
