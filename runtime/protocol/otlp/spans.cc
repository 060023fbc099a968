#include "runtime/protocol/otlp/spans.h"

#include <bit>
#include <string>

#include "runtime/protocol/protobuf/wire.h"

namespace wf::otlp {
namespace {

using protobuf::PutFixed32;
using protobuf::PutFixed64;
using protobuf::PutHead;
using protobuf::PutInteger;
using protobuf::PutMessage;
using protobuf::PutText;

// Numbers of fields, of opentelemetry/proto/{collector/trace,trace,common,resource}/v1.
constexpr uint32_t kResourceSpans = 1;
constexpr uint32_t kResource = 1, kScopeSpans = 2;
constexpr uint32_t kScope = 1, kSpans = 2, kScopeName = 1, kScopeVersion = 2;
constexpr uint32_t kResourceAttributes = 1, kSpanAttributes = 9;
constexpr uint32_t kTraceId = 1, kSpanId = 2, kState = 3, kParentId = 4, kName = 5, kKind = 6, kBegin = 7, kEnd = 8, kStatus = 15,
                   kFlags = 16;
constexpr uint32_t kStatusCode = 3, kKey = 1, kValue = 2, kTextValue = 1, kIntegerValue = 3;
constexpr uint64_t kInternal = 1, kServer = 2, kError = 2;
constexpr uint32_t kSampled = 1, kKnowsParent = 0x100, kParentIsRemote = 0x200;
constexpr int kFirstServerStatus = 500;

void PutAttribute(wf_sink* out, uint32_t number, std::string_view key, std::string_view text) {
  const size_t value = 1 + protobuf::VarintBytes(text.size()) + text.size();
  PutHead(out, number, 1 + protobuf::VarintBytes(key.size()) + key.size() + 1 + protobuf::VarintBytes(value) + value);
  PutText(out, kKey, key);
  PutHead(out, kValue, value);
  PutText(out, kTextValue, text);
}

void PutAttribute(wf_sink* out, uint32_t number, std::string_view key, int64_t integer) {
  const size_t value = 1 + protobuf::VarintBytes(static_cast<uint64_t>(integer));
  PutHead(out, number, 1 + protobuf::VarintBytes(key.size()) + key.size() + 1 + protobuf::VarintBytes(value) + value);
  PutText(out, kKey, key);
  PutHead(out, kValue, value);
  PutInteger(out, kIntegerValue, static_cast<uint64_t>(integer));
}

// Ids are bytes, the first one first.
void PutId(wf_sink* out, uint64_t id) {
  static_assert(std::endian::native == std::endian::little);
  const uint64_t bytes = __builtin_bswap64(id);
  out->Put(&bytes, sizeof bytes);
}

void PutRequest(const Span& span, wf_sink* out) {
  PutText(out, kName, span.workflow.empty() ? "request" : std::string(span.service) + "/" + std::string(span.workflow));
  PutAttribute(out, kSpanAttributes, "wf.protocol", span.protocol);
  if (!span.workflow.empty()) {
    PutAttribute(out, kSpanAttributes, "wf.service", span.service);
    PutAttribute(out, kSpanAttributes, "wf.workflow", span.workflow);
  }
  PutAttribute(out, kSpanAttributes, "http.response.status_code", int64_t{span.status});
  PutAttribute(out, kSpanAttributes, "wf.data_id", static_cast<int64_t>(span.data_id));
  if (span.left_out != 0) PutAttribute(out, kSpanAttributes, "wf.nodes_left_out", int64_t{span.left_out});
}

void PutNode(const Span& span, wf_sink* out) {
  constexpr int64_t kNsPerUs = 1000;
  PutText(out, kName, span.node);
  if (span.rows != 0) {
    PutAttribute(out, kSpanAttributes, "wf.batch.rows", int64_t{span.rows});
    PutAttribute(out, kSpanAttributes, "wf.batch.wait_us", span.wait_ns / kNsPerUs);
  }
  if (span.element >= 0) PutAttribute(out, kSpanAttributes, "wf.element", span.element);
  if (span.attempt != 0) PutAttribute(out, kSpanAttributes, "wf.attempt", int64_t{span.attempt});
}

void PutSpan(const Span& span, int64_t unix_offset_ns, wf_sink* out) {
  const bool is_request = span.node.empty();
  PutHead(out, kTraceId, 2 * sizeof span.id);
  PutId(out, span.trace_high);
  PutId(out, span.trace_low);
  PutHead(out, kSpanId, sizeof span.id);
  PutId(out, span.id);
  if (span.state != nullptr) PutText(out, kState, *span.state);
  if (span.parent != 0) {
    PutHead(out, kParentId, sizeof span.id);
    PutId(out, span.parent);
  }
  PutInteger(out, kKind, is_request ? kServer : kInternal);
  PutFixed64(out, kBegin, static_cast<uint64_t>(span.begin + unix_offset_ns));
  PutFixed64(out, kEnd, static_cast<uint64_t>(span.end + unix_offset_ns));
  is_request ? PutRequest(span, out) : PutNode(span, out);
  if (span.code != 0) PutAttribute(out, kSpanAttributes, "wf.code", int64_t{span.code});
  if (is_request ? span.status >= kFirstServerStatus : span.code != 0) {
    PutHead(out, kStatus, 2);
    PutInteger(out, kStatusCode, kError);
  }
  PutFixed32(out, kFlags, kSampled | kKnowsParent | (is_request && span.parent != 0 ? kParentIsRemote : 0));
}

}  // namespace

void PutTraces(std::span<const Span> spans, const Teller& teller, wf_sink* out) {
  wf_sink scope_spans, part;
  PutText(&part, kScopeName, "wf");
  PutText(&part, kScopeVersion, teller.version);
  PutMessage(&scope_spans, kScope, &part);
  for (const Span& span : spans) {
    part.Clear();
    PutSpan(span, teller.unix_offset_ns, &part);
    PutMessage(&scope_spans, kSpans, &part);
  }
  wf_sink resource_spans;
  part.Clear();
  PutAttribute(&part, kResourceAttributes, "service.name", teller.service);
  PutMessage(&resource_spans, kResource, &part);
  PutMessage(&resource_spans, kScopeSpans, &scope_spans);
  PutMessage(out, kResourceSpans, &resource_spans);
}

}  // namespace wf::otlp
