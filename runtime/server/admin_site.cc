#include "runtime/server/admin_site.h"

#include "runtime/protocol/codes.h"
#include "runtime/server/codings.h"

namespace wf::server {
namespace {

constexpr std::string_view kMetricsPath = "/metrics";

}  // namespace

void AdminSite::OnHead(Exchange& exchange) noexcept {
  const http::Head& head = exchange.head;
  exchange.max_body_bytes = kMaxDiscarded;
  std::string_view path;
  if (!http::PercentDecode(head.path, http::Part::kPath, &path, &path_)) path = {};
  exchange.own_path = path == kMetricsPath ? kMetricsPath : ProbeOf(path);
  if (exchange.own_path.empty()) return exchange.Refuse(404, code::kNoService, "the admin port serves /metrics, /livez and /readyz");
  if (head.method == http::Method::kGet || head.method == http::Method::kHead) return;
  exchange.allow_get = true;
  exchange.Refuse(405, code::kInputParams, "the admin port takes GET");
}

void AdminSite::OnRequest(Exchange& exchange) noexcept {
  if (exchange.own_path != kMetricsPath) return AnswerProbe(shared_, exchange, &body_);
  const std::string text = page_();
  body_.Clear();
  body_.Put(text.data(), text.size());
  ReplyCoded(exchange, code_from_, {200, "text/plain; version=0.0.4", {}, {}}, body_);
}

}  // namespace wf::server
