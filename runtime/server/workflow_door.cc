// Who is let in: clients that show a key, and pages of other origins.
#include "runtime/base/ascii.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/oip/message_reader.h"
#include "runtime/server/grpc_service.h"
#include "runtime/server/intake.h"
#include "runtime/server/session.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {
namespace {

// A page is of one origin: two that differ are none.
std::string_view OriginOf(const http::Head& head) { return head.SaysTwo("origin") ? std::string_view() : head.Find("origin"); }

// Does the request ask how the server is, and no more?
bool AsksForHealth(const Exchange& exchange) {
  oip::Call call = exchange.oip.call;
  if (exchange.grpc.service == &grpc_health) return true;
  if (exchange.grpc.service == &grpc_inference) {
    call = oip::CallOf(exchange.grpc.method);
  }
  return call == oip::Call::kServerLive || call == oip::Call::kServerReady || call == oip::Call::kModelReady;
}

}  // namespace

bool WorkflowSite::IsFree(const Exchange& exchange) const {
  if (settings_->auth_free == AuthFree::kNothing) return false;
  return !exchange.own_path.empty() || (settings_->auth_free == AuthFree::kHealth && AsksForHealth(exchange));
}

// In place of any other refusal, which would tell what there is.
void WorkflowSite::Deny(Exchange& exchange) noexcept {
  const bool shows = exchange.head.Find("authorization").data() != nullptr || exchange.head.Find("x-api-key").data() != nullptr;
  constexpr std::string_view kAsked = "a key is asked for: `authorization: Bearer KEY`, or `x-api-key: KEY`",
                             kUnread =
                                 "no key was found in a form that is read: `authorization: Bearer KEY`, or `x-api-key: KEY`, each once",
                             kUnknown = "the key is none that is let in";
  counts_.refused_keys.Add();
  exchange.for_memory = false;
  exchange.fields.Clear();
  exchange.fields.Add("www-authenticate", "Bearer");
  exchange.Refuse(401, code::kInputParams, !shows ? kAsked : Keys::ShowsOne(exchange.head) ? kUnknown : kUnread);
}

bool WorkflowSite::IsPreflight(const http::Head& head) const {
  return !settings_->cors_origins.list.empty() && head.method_name == "OPTIONS" && OriginOf(head).data() != nullptr &&
         head.Find("access-control-request-method").data() != nullptr;
}

void WorkflowSite::AnswerPreflight(Exchange& exchange) noexcept {
  const http::Head& head = exchange.head;
  if (!settings_->cors_origins.Has(OriginOf(head))) {
    base::TextBuilder message;
    message << "pages of `";
    message.Quote(OriginOf(head)) << "` may not call this server (`cors.origins`)";
    exchange.Refuse(403, code::kInputParams, message.view());
    return AnswerRefusal(exchange);
  }
  base::TextBuilder seconds;
  seconds << settings_->cors_max_age.ms() / 1000;
  headers_.clear();
  headers_.push_back({"access-control-allow-methods", "GET, HEAD, POST"});
  headers_.push_back({"access-control-max-age", seconds.view()});
  const std::string_view asked = head.Find("access-control-request-headers");  // `*` would not stand for `authorization`
  if (!asked.empty()) headers_.push_back({"access-control-allow-headers", asked});
  body_.Clear();
  exchange.session->Reply(exchange, {200, {}, headers_, {}}, body_);
}

std::span<const http::Header> WorkflowSite::FieldsOf(const Exchange& exchange) noexcept {
  const setting::Origins& origins = settings_->cors_origins;
  size_t count = 0;
  if (exchange.trace.known()) fields_[count++] = {"traceparent", exchange.trace.parent()};
  if (exchange.grpc.service != nullptr && exchange.grpc.service->field != nullptr) {
    const http::Header field = exchange.grpc.service->field(exchange);
    if (field.value.data() != nullptr) fields_[count++] = field;
  }
  if (origins.list.empty() || exchange.grpc.on) return {fields_, count};
  if (!origins.any()) fields_[count++] = {"vary", "origin"};
  const std::string_view origin = OriginOf(exchange.head);
  if (!origin.empty() && origins.Has(origin)) {
    fields_[count++] = {"access-control-allow-origin", origins.any() ? "*" : origin};
    const std::string_view exposed = base::Trim(settings_->cors_expose);
    if (!exposed.empty()) fields_[count++] = {"access-control-expose-headers", exposed};
  }
  return {fields_, count};
}

}  // namespace wf::server
