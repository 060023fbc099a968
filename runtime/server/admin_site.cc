#include "runtime/server/admin_site.h"

#include "runtime/protocol/codes.h"
#include "runtime/server/session.h"

namespace wf::server {

void AdminSite::OnHead(Exchange& exchange) noexcept {
  constexpr std::string_view kMetrics = "/metrics";
  const http::Head& head = exchange.head;
  exchange.max_body_bytes = kMaxDiscarded;
  std::string_view path;
  if (!http::PercentDecode(head.path, http::Part::kPath, &path, &path_)) path = {};
  exchange.own_path = path == kMetrics ? kMetrics : ProbeOf(path);
  if (exchange.own_path.empty()) return exchange.Refuse(404, code::kNoService, "the admin port serves /metrics, /livez and /readyz");
  if (head.method == http::Method::kGet || head.method == http::Method::kHead) return;
  exchange.allow_get = true;
  exchange.Refuse(405, code::kInputParams, "the admin port takes GET");
}

void AdminSite::OnRequest(Exchange& exchange) noexcept {
  const std::string_view path = exchange.own_path;
  int status = 200;
  std::string text;
  std::string_view type = "text/plain";
  if (path == "/metrics") {
    text = page_();
    type = "text/plain; version=0.0.4";
  } else {
    status = path == "/livez" ? (alive_() ? 200 : 503) : ProbeStatus(shared_, path);
    text = status == 200 ? "ok\n" : path == "/livez" ? "a loop has not turned for 5 s\n" : "not ready\n";
  }
  body_.Clear();
  body_.Put(text.data(), text.size());
  exchange.session->Reply(exchange, {status, type, {}, {}}, body_);
}

}  // namespace wf::server
