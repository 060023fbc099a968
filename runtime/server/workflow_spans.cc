// Which requests are traced or told in the log, and what is told of those that are traced.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "runtime/abi/view.h"
#include "runtime/bus/bus.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {
namespace {

// Of a trace that a client has begun.
std::shared_ptr<const std::string> StateOf(const Exchange& exchange, const http::Trace::Ids& ids) {
  if (ids.parent == 0) return nullptr;
  std::string state = http::StateOf(exchange.call_head());
  return state.empty() ? nullptr : std::make_shared<const std::string>(std::move(state));
}

}  // namespace

// One after the other, spread over all there are (splitmix64).
uint64_t WorkflowSite::NextSpan() noexcept {
  uint64_t bits = span_ += 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return std::max<uint64_t>(bits ^ bits >> 31, 1);
}

bool WorkflowSite::Draw(double part) noexcept { return part >= 1 || static_cast<double>(NextSpan()) * 0x1p-64 < part; }

bool WorkflowSite::IsTold(const Exchange& exchange, int status) noexcept {
  constexpr int kFirstServerStatus = 500;
  return status >= kFirstServerStatus || exchange.trace.sampled() || Draw(settings_->access_sample.value);
}

// A client's traces are kept when it says so. Of the others a part begins here.
void WorkflowSite::Sample(Exchange& exchange) noexcept {
  if (exchange.trace.known() || !Draw(settings_->trace_sample.value)) return;
  const uint64_t high = NextSpan(), low = NextSpan();
  exchange.trace.Begin(high, low, NextSpan());
}

void WorkflowSite::PutRequestSpan(const Exchange& exchange, int status, wf_code code, base::TimePoint end) noexcept {
  const http::Trace::Ids ids = exchange.trace.ids();
  otlp::Span span;
  span.trace_high = ids.trace_high;
  span.trace_low = ids.trace_low;
  span.id = ids.span;
  span.parent = ids.parent;
  span.begin = exchange.received_at;
  span.end = end;
  span.protocol = RowOf(exchange.protocol).name;
  if (exchange.workflow != nullptr) {
    span.service = abi::View(exchange.workflow->service);
    span.workflow = abi::View(exchange.workflow->name);
  }
  span.data_id = exchange.data_id;
  span.status = static_cast<int16_t>(status);
  span.state = StateOf(exchange, ids);
  span.code = code;
  if (exchange.bus != nullptr && exchange.bus->spans() != nullptr) span.left_out = exchange.bus->spans()->left_out;
  spans_->Put(span);
}

void WorkflowSite::OnTraced(const Exchange& exchange, const bus::Bus& bus) noexcept {
  const http::Trace::Ids ids = exchange.trace.ids();
  otlp::Span span;
  span.trace_high = ids.trace_high;
  span.trace_low = ids.trace_low;
  span.parent = ids.span;
  span.state = StateOf(exchange, ids);
  for (const bus::NodeSpan* at = bus.spans()->last; at != nullptr; at = at->next) {
    span.id = NextSpan();
    span.begin = at->begin;
    span.end = at->end;
    span.node = abi::View(shared_.plan.nodes[at->node].path);
    span.wait_ns = at->wait_ns;
    span.element = at->element;
    span.rows = at->rows;
    span.attempt = at->attempt;
    span.code = at->code;
    spans_->Put(span);
  }
}

}  // namespace wf::server
