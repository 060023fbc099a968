#include "runtime/protocol/plain/plain.h"

#include <algorithm>

#include "runtime/protocol/http1/encoder.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/plain/query.h"

namespace wf::plain {
namespace {

bool Put(wf_sink* out, std::string_view text) { return out->Put(text.data(), text.size()); }

bool IsJson(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  constexpr std::string_view kPlainJson = "application/json", kSuffix = "+json";
  const auto equal = [](std::string_view a, std::string_view b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
  };
  return equal(type, kPlainJson) || (type.size() > kSuffix.size() && equal(type.substr(type.size() - kSuffix.size()), kSuffix));
}

// Newest first, of one key the textually last counts: an entry stands unless an equal key elsewhere has a higher task.
bool Stands(const bus::Annotation& annotation, const bus::Annotation* all) {
  for (const bus::Annotation* other = all; other != nullptr; other = other->next) {
    if (other == &annotation || other->key != annotation.key) continue;
    if (other->task > annotation.task) return false;
    if (other->task == annotation.task && other < &annotation) return false;
  }
  return true;
}

// "wf-<key>" in the request's memory; annotations that no header can carry are left out.
void AddAnnotations(bus::Bus& bus, std::vector<http1::Header>* headers) {
  constexpr std::string_view kPrefix = "wf-";
  for (const bus::Annotation* at = bus.annotations(); at != nullptr; at = at->next) {
    if (!http1::IsToken(at->key) || !http1::IsHeaderText(at->value) || !Stands(*at, bus.annotations())) continue;
    auto* name = static_cast<char*>(wf_alloc(bus.ctx(), kPrefix.size() + at->key.size(), 1));
    if (name == nullptr) return;
    char* end = std::copy(kPrefix.begin(), kPrefix.end(), name);
    end =
        std::transform(at->key.begin(), at->key.end(), end, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    headers->push_back({{name, static_cast<size_t>(end - name)}, at->value});
  }
}

Answer WriteFailure(const bus::Bus& bus, const bus::Failure& failure, wf_sink* body) {
  const protocol::CodeInfo info = protocol::InfoOf(bus.plan(), failure.code);
  const std::string path = bus::PathOf(bus.plan(), failure);
  WriteError({failure.code, info.name, failure.message, path, bus.data_id(), bus.log_id()}, body);
  return {failure.code, base::HttpStatus(info.status), false};
}

}  // namespace

bool TakesRawBody(const wf_plan& plan, const wf_workflow& workflow) {
  int required = 0;
  bool bytes = false;
  for (uint32_t i = 0; i < workflow.n_in; ++i) {
    if (workflow.in[i].required == 0) continue;
    ++required;
    bytes = workflow.in[i].type != WF_NONE && plan.types[workflow.in[i].type].kind == WF_T_BYTES;
  }
  return required == 1 && bytes;
}

wf_code ReadRequest(bus::Bus& bus, const http1::Head& head, wf_bytes body) {
  const wf_workflow& workflow = bus.workflow();
  if (TakesRawBody(bus.plan(), workflow) && !IsJson(head.Find("content-type"))) return ReadRawRequest(bus, head, body);
  return workflow.read_json(bus.ctx(), body, bus.frame());
}

Answer WriteAnswer(bus::Bus& bus, wf_sink* body, std::vector<http1::Header>* headers) {
  if (bus.failure() != nullptr) {
    AddAnnotations(bus, headers);
    return WriteFailure(bus, *bus.failure(), body);
  }
  const wf_code code = bus.workflow().write_json(bus.ctx(), bus.frame(), body);
  AddAnnotations(bus, headers);
  if (code == 0) return {0, 200, body->refers()};
  body->Clear();
  return WriteFailure(bus, bus.main.TakeFailure(code), body);
}

void WriteError(const protocol::ErrorText& error, wf_sink* body) {
  base::TextBuilder numbers;
  numbers << "{\"error\":{\"code\":" << static_cast<int64_t>(error.code) << ",\"name\":";
  Put(body, numbers.view());
  json::PutString(body, error.name);
  Put(body, ",\"message\":");
  json::PutString(body, error.message.empty() ? error.name : error.message);
  Put(body, ",\"path\":");
  json::PutString(body, error.path);
  base::TextBuilder ids;
  ids << ",\"data_id\":" << error.data_id << ",\"log_id\":";
  Put(body, ids.view());
  json::PutString(body, error.log_id);
  Put(body, "}}\n");
}

}  // namespace wf::plain
