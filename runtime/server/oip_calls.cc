#include "runtime/server/oip_calls.h"

#include <memory>
#include <string>

namespace wf::server {
namespace {

wf_code Fill(Exchange& exchange, bus::Bus&, wf_bytes) { return exchange.infer->Fill(*exchange.bus); }

// The bus of a call whose samples are known, or which failed. Names and parameters are views of the body, or of the scratch memory where
// they were escaped: those that outlive this call move to the bus.
wf_code CreateBus(WorkflowSite& site, Exchange& exchange, bus::Bus& scratch, wf_code read) {
  oip::InferRequest& infer = *exchange.infer;
  bus::Bus* const bus = site.Create(exchange, read == 0 ? infer.samples() : 1, read == 0 ? infer.timeout_ns() : 0);
  if (bus == nullptr) return WF_FAILED;
  const wf_code kept = infer.KeepTexts(*bus);
  if (exchange.log_id.empty()) exchange.log_id = bus->log_id_ = infer.id();
  exchange.metadata.insert(exchange.metadata.begin(), infer.parameters().begin(), infer.parameters().end());
  bus->metadata = exchange.metadata;
  if (read == 0) return kept;
  const bus::Failure& failure = scratch.main.TakeFailure(read);
  return bus->main.Fail(failure.code, 0, failure.message, failure.for_memory).code;
}

void GoOn(WorkflowSite& site, Exchange& exchange, bus::Bus& scratch, wf_bytes body, wf_code read) {
  const wf_code code = CreateBus(site, exchange, scratch, read);
  if (exchange.bus == nullptr) return;
  const bool large = code == 0 && body.len >= site.shared().large_bytes && exchange.infer->fill_bytes() >= site.shared().large_bytes;
  if (large && site.ReadElsewhere(exchange, body, Fill, nullptr)) return;
  site.Begin(exchange, code != 0 ? code : Fill(exchange, scratch, body));
}

}  // namespace

void StartInfer(WorkflowSite& site, Exchange& exchange, wf_bytes body, WorkflowSite::ReadFunction read, bool long_work) {
  if (exchange.infer == nullptr) exchange.infer = std::make_unique<oip::InferRequest>();
  if (long_work && site.ReadElsewhere(exchange, body, read, GoOn)) return;
  bus::Bus& scratch = site.TakeScratch();
  GoOn(site, exchange, scratch, body, read(exchange, scratch, body));
  scratch.arena.Reset(true);
}

void RefuseWith(Exchange& exchange, bus::Bus& scratch, wf_code code) {
  const bus::Failure& failure = scratch.main.TakeFailure(code);
  const base::StatusCode status = protocol::InfoOf(scratch.plan(), failure.code).status;
  exchange.Refuse(RowOf(exchange.protocol).status_of(status), failure.code, std::string(failure.message));
  exchange.for_memory = protocol::IsForLoad(failure.code);
}

}  // namespace wf::server
