// Plain JSON and raw bodies: POST /{service}/{workflow}.
#include "runtime/base/ascii.h"
#include "runtime/base/error_codes.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {
namespace {

bool TakeHead(WorkflowSite& site, Exchange& exchange, std::string_view path) {
  exchange.workflow = site.shared().router.Find(path);
  if (exchange.workflow == nullptr) return false;
  constexpr std::string_view kMultipart = "multipart/";
  if (exchange.head.method != http::Method::kPost) {
    exchange.allow_post = true;
    exchange.Refuse(405, code::kInputParams, "a workflow is called with POST");
  } else if (base::EqualIgnoringCase(exchange.head.Find("content-type").substr(0, kMultipart.size()), kMultipart)) {
    exchange.Refuse(415, code::kInputParams,
                    "a form of several parts is not read: send JSON, or a file as the body itself, as `curl --data-binary @FILE` does");
  } else {
    site.AdmitTo(exchange);
  }
  return true;
}

wf_code Read(Exchange& exchange, bus::Bus&, wf_bytes body) { return plain::ReadRequest(*exchange.bus, exchange.head, body); }

void Start(WorkflowSite& site, Exchange& exchange, wf_bytes body) {
  if (site.Create(exchange, 1, 0) == nullptr) return;
  if (body.len >= site.shared().large_bytes && site.ReadElsewhere(exchange, body, Read, nullptr)) return;
  site.Begin(exchange, Read(exchange, *exchange.bus, body));
}

protocol::Answer Write(Exchange& exchange, wf_sink* body, std::vector<http::Header>* headers) {
  return plain::WriteAnswer(*exchange.bus, body, headers);
}

void WriteError(Exchange&, const protocol::ErrorText& error, base::StatusCode, wf_sink* body) { plain::WriteError(error, body); }

}  // namespace

constexpr ProtocolRow plain_protocol = {"plain", TakeHead, Start, Write, WriteError, base::HttpStatus, kRetryAfter};

}  // namespace wf::server
