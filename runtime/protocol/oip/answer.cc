#include "runtime/protocol/oip/answer.h"

#include <algorithm>
#include <span>
#include <string>

#include "runtime/protocol/json/number.h"
#include "runtime/protocol/oip/metadata.h"
#include "runtime/protocol/oip/result.h"

namespace wf::oip {
namespace {

constexpr std::string_view kRawType = "application/octet-stream";

void PutNumber(wf_sink* out, int64_t number) {
  base::TextBuilder text;
  text << number;
  out->Put(text.view());
}

// The JSON of one result; raw ones say how many bytes follow it.
void PutHead(const Result& result, wf_sink* out) {
  out->Put("{\"name\":");
  json::PutString(out, result.name());
  out->Put(",\"datatype\":\"");
  out->Put(result.datatype());
  out->Put("\",\"shape\":[");
  bool first = true;
  for (const int64_t extent : result.extents()) {
    if (!first) out->Put(",");
    first = false;
    PutNumber(out, extent);
  }
  if (result.binary()) {
    out->Put("],\"parameters\":{\"binary_data_size\":");
    PutNumber(out, static_cast<int64_t>(result.raw_bytes()));
    out->Put("}}");
    return;
  }
  out->Put(result.is_bytes() && !result.is_text() ? "],\"parameters\":{\"content_type\":\"base64\"},\"data\":[" : "],\"data\":[");
}

wf_code PutElements(bus::Bus& bus, const Result& result, wf_sink* out) {
  bool first = true;
  for (const wf_bytes& element : result.elements()) {
    if (!first) out->Put(",");
    first = false;
    if (result.is_text()) {
      if (const wf_code code = wf_json_put_string(bus.ctx(), out, &element); code != 0) return code;
    } else {
      out->Put("\"");
      json::PutBase64(out, element.ptr, element.len);
      out->Put("\"");
    }
  }
  return 0;
}

wf_code PutNumbers(bus::Bus& bus, const Result& result, wf_sink* out) {
  bool first = true;
  const size_t size = json::DtypeBytes(result.dtype());
  return result.ForRuns(bus, [&](const std::byte* run, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      if (!first) out->Put(",");
      first = false;
      if (const wf_code code = wf_json_put_scalar(bus.ctx(), out, result.dtype(), run + i * size); code != 0) return code;
    }
    return 0;
  });
}

wf_code PutResult(bus::Bus& bus, const Result& result, wf_sink* out) {
  PutHead(result, out);
  if (result.binary()) return 0;
  const wf_code code = result.is_bytes() ? PutElements(bus, result, out) : PutNumbers(bus, result, out);
  if (code == 0) out->Put("]}");
  return code;
}

void PutAnnotations(const bus::Bus& bus, wf_sink* out) {
  const std::vector<const bus::Annotation*> standing = StandingAnnotations(bus);
  if (standing.empty()) return;
  for (const bus::Annotation* at : standing) {
    out->Put(at == standing.front() ? ",\"parameters\":{" : ",");
    json::PutString(out, at->key);
    out->Put(":");
    json::PutString(out, at->value);
  }
  out->Put("}");
}

protocol::Answer WriteFailure(bus::Bus& bus, const bus::Failure& failure, const InferRequest& request, wf_sink* body) {
  const protocol::ErrorText error = FailureOf(bus, failure, request);
  WriteError(error, body);
  return {failure.code, OipStatus(protocol::InfoOf(bus.plan(), failure.code).status), failure.message, error.path};
}

// All of the answer before its outputs.
void PutCall(const bus::Bus& bus, const InferRequest& request, const Served& served, wf_sink* body) {
  body->Put("{\"model_name\":");
  json::PutString(body, served.model);
  base::TextBuilder number;
  number << ",\"model_version\":\"" << served.version << "\"";
  body->Put(number.view());
  if (!request.id().empty()) {
    body->Put(",\"id\":");
    json::PutString(body, request.id());
  }
  PutAnnotations(bus, body);
  body->Put(",\"outputs\":[");
}

// JSON, then the bytes of raw results in the same order.
wf_code PutBody(bus::Bus& bus, const InferRequest& request, const Served& served, wf_sink* body, size_t* json_bytes) {
  const std::span<const Result> results = PrepareAll(bus, request);
  if (results.size() != request.n_answered()) return WF_FAILED;
  PutCall(bus, request, served, body);
  bool any_raw = false;
  for (const Result& result : results) {
    if (&result != results.data()) body->Put(",");
    if (PutResult(bus, result, body) != 0) return WF_FAILED;
    any_raw = any_raw || result.binary();
  }
  body->Put("]}");
  *json_bytes = any_raw ? body->size() : 0;
  for (const Result& result : results) {
    if (result.binary()) result.PutRaw(bus, body);
  }
  return 0;
}

// The header that says where the raw bytes begin; its text is in the memory of the bus.
bool PutJsonBytes(bus::Bus& bus, size_t json_bytes, std::vector<http::Header>* headers) {
  base::TextBuilder digits;
  digits << static_cast<uint64_t>(json_bytes);
  const std::string_view kept = Keep(bus, digits.view());
  headers->push_back({kJsonBytesHeader, kept});
  return !kept.empty();
}

}  // namespace

protocol::Answer WriteAnswer(bus::Bus& bus, const InferRequest& request, const Served& served, wf_sink* body,
                             std::vector<http::Header>* headers) {
  if (bus.failure() != nullptr) return WriteFailure(bus, *bus.failure(), request, body);
  size_t json_bytes = 0;
  const wf_code code = PutBody(bus, request, served, body, &json_bytes);
  const bool kept = code != 0 || json_bytes == 0 || PutJsonBytes(bus, json_bytes, headers);
  if (code == 0 && kept && !body->failed()) return {.content_type = json_bytes == 0 ? std::string_view() : kRawType};
  const bus::Failure& why = code == 0 && kept ? bus::WhyFailed(*body) : bus.main.TakeFailure(WF_FAILED);
  body->Clear();
  headers->clear();
  return WriteFailure(bus, why, request, body);
}

}  // namespace wf::oip
