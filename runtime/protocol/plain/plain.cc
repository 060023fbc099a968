#include "runtime/protocol/plain/plain.h"

#include <algorithm>
#include <span>

#include "runtime/base/ascii.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/http/reply.h"
#include "runtime/protocol/json/open_axes.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/plain/query.h"

namespace wf::plain {
namespace {

bool Put(wf_sink* out, std::string_view text) { return out->Put(text.data(), text.size()); }

constexpr std::string_view kForm = "application/x-www-form-urlencoded";

bool IsJson(std::string_view type) {
  constexpr std::string_view kSuffix = "+json";
  return base::EqualIgnoringCase(type, kJson) ||
         (type.size() > kSuffix.size() && base::EqualIgnoringCase(type.substr(type.size() - kSuffix.size()), kSuffix));
}

std::string_view SkipSpace(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

// The name of the first member, when the text begins as an object does.
std::string_view FirstMember(std::string_view text) {
  text = SkipSpace(text);
  if (!text.starts_with('{')) return {};
  text = SkipSpace(text.substr(1));
  if (!text.starts_with('"')) return {};
  text.remove_prefix(1);
  const size_t end = text.find_first_of("\"\\");
  return end != std::string_view::npos && text[end] == '"' ? text.substr(0, end) : std::string_view();
}

wf_code RefuseQuery(bus::Bus& bus, std::string_view query) {
  const std::string_view first = query.substr(query.find_first_not_of('&'));
  base::TextBuilder message;
  message << "the query holds `";
  message.Quote(first.substr(0, first.find_first_of("=&"))) << "`, but parameters beside a JSON body are its members";
  return json::Record(bus.ctx(), code::kInputParams, message);
}

// Of one header the textually last counts, of one place the newest, which stands first.
bool Stands(const bus::Annotation& annotation, const bus::Annotation* all) {
  bool is_newer = true;
  for (const bus::Annotation* other = all; other != nullptr; other = other->next) {
    is_newer = is_newer && other != &annotation;
    if (other == &annotation || !base::EqualIgnoringCase(other->key, annotation.key)) continue;
    if (other->place > annotation.place || (is_newer && other->place == annotation.place)) return false;
  }
  return true;
}

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

// A control character would end the header, and a blank at an end of it is no part of it (RFC 9110, 5.5; HTTP/2 refuses it): they are
// written `%0A`, and for that to be told apart `%` is, too. Null data: no memory.
std::string_view HeaderText(bus::Bus& bus, std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  constexpr size_t kMost = 4096, kCoded = 3;  // all that clients take of headers is some 8 KiB and more
  const auto is_coded = [&text](size_t at) {
    const bool at_end = at == 0 || at + 1 == text.size();
    return text[at] == '%' || !http::IsHeaderText(text.substr(at, 1)) || (at_end && IsBlank(text[at]));
  };
  size_t bytes = 0, fit = 0;
  for (; fit < text.size(); ++fit) {
    const size_t more = is_coded(fit) ? kCoded : 1;
    if (bytes + more > kMost) break;
    bytes += more;
  }
  text = base::Cut(text, fit);
  if (bytes == fit && (text.empty() || !IsBlank(text.back()))) return text;
  auto* const encoded = static_cast<char*>(wf_alloc(bus.ctx(), kMost + kCoded, 1));  // what is the last of a cut text may be coded, too
  if (encoded == nullptr) return {};
  char* end = encoded;
  for (size_t at = 0; at < text.size(); ++at) {
    if (!is_coded(at)) {
      *end++ = text[at];
      continue;
    }
    const auto byte = static_cast<uint8_t>(text[at]);
    *end++ = '%';
    *end++ = kHex[byte >> 4];
    *end++ = kHex[byte & 15];
  }
  return {encoded, static_cast<size_t>(end - encoded)};
}

// "wf-<key>" in the request's memory; a key that is no name of a header is left out, and what is beyond that which clients take in all.
void AddAnnotations(bus::Bus& bus, std::vector<http::Header>* headers) {
  constexpr std::string_view kPrefix = "wf-";
  constexpr size_t kMostInAll = 16384;
  size_t all = 0;
  for (const bus::Annotation* at = bus.annotations(); at != nullptr; at = at->next) {
    if (!http::IsToken(at->key) || !Stands(*at, bus.annotations())) continue;
    const std::string_view value = HeaderText(bus, at->value);
    auto* name = static_cast<char*>(wf_alloc(bus.ctx(), kPrefix.size() + at->key.size(), 1));
    if (name == nullptr || value.data() == nullptr) return;
    all += kPrefix.size() + at->key.size() + value.size();
    if (all > kMostInAll) return;
    char* end = std::copy(kPrefix.begin(), kPrefix.end(), name);
    end = std::transform(at->key.begin(), at->key.end(), end, base::Lower);
    headers->push_back({{name, static_cast<size_t>(end - name)}, value});
  }
}

// The first result that has no text, found by writing them one by one; `body` is left empty.
const bus::Failure& NameResult(bus::Bus& bus, const bus::Failure& failure, wf_sink* body) {
  if (failure.code != code::kInference) return failure;
  const wf_workflow& workflow = bus.workflow();
  for (uint32_t i = 0; i < workflow.n_out; ++i) {
    const wf_port& port = workflow.out[i];
    const auto* value = static_cast<const std::byte*>(bus.frame()) + bus.plan().slots[port.slot].offset;
    const wf_code code = wf_json_put_value(bus.ctx(), body, bus.plan().types, port.type, value);
    body->Clear();
    if (code == 0) continue;
    const bus::Failure& own = bus.main.TakeFailure(code);
    base::TextBuilder message;
    message << "result `" << json::View(port.name) << "`: " << own.message;
    return bus.main.TakeFailure(json::Record(bus.ctx(), own.code, message));
  }
  return failure;
}

protocol::Answer WriteFailure(bus::Bus& bus, const bus::Failure& failure, wf_sink* body) {
  const protocol::CodeInfo info = protocol::InfoOf(bus.plan(), failure.code);
  const std::string_view path = bus.PathOf(failure), message = base::Cut(failure.message, protocol::kMostMessage);
  WriteError({failure.code, info.name, message, path, bus.data_id(), bus.log_id()}, body);
  return {failure.code, base::HttpStatus(info.status), message, path};
}

}  // namespace

const wf_port* RawBodyOf(const wf_plan& plan, const wf_workflow& workflow) {
  const wf_port* only = nullptr;
  for (const wf_port& port : std::span(workflow.in, workflow.n_in)) {
    if (port.required == 0 || port.type == WF_NONE || plan.types[port.type].kind != WF_T_BYTES) continue;
    if (only != nullptr) return nullptr;
    only = &port;
  }
  return only;
}

bool IsJsonBody(const wf_plan& plan, const wf_workflow& workflow, std::string_view content_type, wf_bytes body) {
  const std::string_view type = base::Trim(content_type.substr(0, content_type.find(';')));
  if (RawBodyOf(plan, workflow) == nullptr || IsJson(type)) return true;
  if (!type.empty() && !base::EqualIgnoringCase(type, kForm)) return false;
  const std::string_view name = FirstMember(json::View(body));
  const auto is_called = [name](const wf_port& port) { return json::View(port.name) == name; };
  return std::any_of(workflow.in, workflow.in + workflow.n_in, is_called);
}

wf_code ReadRequest(bus::Bus& bus, const http::Head& head, wf_bytes body) {
  const wf_workflow& workflow = bus.workflow();
  const bool is_json = IsJsonBody(bus.plan(), workflow, head.Find("content-type"), body);
  if (is_json && head.query.find_first_not_of('&') != std::string_view::npos) return RefuseQuery(bus, head.query);
  const wf_code code = is_json ? workflow.read_json(bus.ctx(), body, bus.frame()) : ReadRawRequest(bus, head, body);
  return code != 0 ? code : json::FillOpenAxes(bus.ctx(), bus.plan(), workflow, bus.frame(), body.len);
}

protocol::Answer WriteAnswer(bus::Bus& bus, wf_sink* body, std::vector<http::Header>* headers) {
  if (bus.failure() != nullptr) {
    AddAnnotations(bus, headers);
    return WriteFailure(bus, *bus.failure(), body);
  }
  const wf_code code = bus.workflow().write_json(bus.ctx(), bus.frame(), body);
  const bool is_told = bus.main.failure != nullptr || !body->failed();
  AddAnnotations(bus, headers);
  if (code == 0) return {};
  const bus::Failure& why = is_told ? bus.main.TakeFailure(code) : bus::WhyFailed(*body);
  body->Clear();
  return WriteFailure(bus, NameResult(bus, why, body), body);
}

void WriteError(const protocol::ErrorText& error, wf_sink* body) {
  base::TextBuilder numbers;
  numbers << "{\"error\":{\"code\":" << static_cast<int64_t>(error.code) << ",\"name\":";
  Put(body, numbers.view());
  json::PutString(body, error.name);
  Put(body, ",\"message\":");
  json::PutString(body, error.text());
  Put(body, ",\"path\":");
  json::PutString(body, error.path);
  base::TextBuilder ids;
  ids << ",\"data_id\":" << error.data_id << ",\"log_id\":";
  Put(body, ids.view());
  json::PutString(body, error.log_id);
  Put(body, "}}\n");
}

}  // namespace wf::plain
