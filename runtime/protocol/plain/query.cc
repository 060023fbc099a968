#include "runtime/protocol/plain/query.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/plain/plain.h"

namespace wf::plain {
namespace {

// One `name=value` pair at a time, decoded into memory of the request where it was escaped.
struct QueryReader {
  bus::Bus& bus;
  const wf_workflow& workflow;
  const wf_port* raw;  // the body
  bool* seen;          // by parameter
  std::vector<char> name_storage, value_storage;

  wf_code Refuse(std::string_view what, std::string_view name) {
    base::TextBuilder message;
    message << what << " `";
    message.Quote(name) << "` in the query";
    return json::Record(bus.ctx(), code::kInputParams, message);
  }

  int32_t Find(std::string_view name) const {
    for (uint32_t i = 0; i < workflow.n_in; ++i) {
      if (json::View(workflow.in[i].name) == name) return static_cast<int32_t>(i);
    }
    return -1;
  }

  wf_code RefuseBody(std::string_view name) {
    base::TextBuilder message;
    message << "the body is the parameter `";
    message.Quote(name) << "`, which the query gives as well";
    return json::Record(bus.ctx(), code::kInputParams, message);
  }

  wf_code Unknown(std::string_view name) {
    std::vector<std::string_view> names;
    for (uint32_t i = 0; i < workflow.n_in; ++i) names.push_back(json::View(workflow.in[i].name));
    const std::string_view nearest = base::Nearest(name, names);
    base::TextBuilder message;
    message << "unknown parameter `";
    message.Quote(name) << "` in the query";
    if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
    return json::Record(bus.ctx(), code::kInputParams, message);
  }

  wf_code Missing(std::string_view name) const {
    base::TextBuilder message;
    message << "`" << name << "` is missing: beside a body that is not JSON, parameters stand in the query";
    return json::Record(bus.ctx(), code::kInputParams, message);
  }

  void* SlotOf(const wf_port& port) const { return static_cast<std::byte*>(bus.frame()) + bus.plan().slots[port.slot].offset; }

  // Strings as they are; everything else is the JSON text of the value.
  wf_code Store(const wf_port& port, std::string_view name, std::string_view value) {
    const wf_plan& plan = bus.plan();
    const wf_type* type = &plan.types[port.type];
    auto* out = static_cast<std::byte*>(SlotOf(port));
    const wf_type* plain = type->kind == WF_T_OPTIONAL ? &plan.types[type->element] : type;
    auto* copy = static_cast<char*>(wf_alloc(bus.ctx(), value.size() + 64, 64));
    if (copy == nullptr) return WF_FAILED;
    if (!value.empty()) std::memcpy(copy, value.data(), value.size());
    std::memset(copy + value.size(), 0, 64);
    const std::string_view kept(copy, value.size());
    if (plain->kind == WF_T_STRING || plain->kind == WF_T_BYTES) {
      if (plain->kind == WF_T_STRING && !base::IsUtf8(kept)) return Refuse("not UTF-8:", name);
      const wf_bytes text = json::Bytes(kept);
      std::memcpy(out, &text, sizeof text);
      if (plain != type) out[type->has_offset] = std::byte{1};
      return 0;
    }
    wf_json in;
    if (value.empty()) return Refuse("no value for", name);
    wf_json_open(&in, bus.ctx(), json::Bytes(kept));
    in.begin = nullptr;  // the client counts bytes of the URL, escapes and all
    in.depth = 1;        // messages begin with the parameter's name
    in.path[0] = json::Bytes(name);
    if (wf_json_value(&in, plan.types, port.type, out) != 0) return WF_FAILED;
    return wf_json_close(&in);
  }

  wf_code TakePair(std::string_view pair) {
    const size_t equals = std::min(pair.find('='), pair.size());
    std::string_view name, value;
    if (!http::PercentDecode(pair.substr(0, equals), http::Part::kQuery, &name, &name_storage) ||
        !http::PercentDecode(pair.substr(std::min(equals + 1, pair.size())), http::Part::kQuery, &value, &value_storage)) {
      return Refuse("a broken escape in", pair);
    }
    const int32_t index = Find(name);
    if (index < 0) return Unknown(name);
    const wf_port& port = workflow.in[index];
    if (&port == raw) return RefuseBody(name);
    if (seen[index]) return Refuse("given twice:", name);
    seen[index] = true;
    return Store(port, json::View(port.name), value);
  }
};

}  // namespace

wf_code ReadRawRequest(bus::Bus& bus, const http::Head& head, wf_bytes body) {
  const wf_workflow& workflow = bus.workflow();
  auto* seen = static_cast<bool*>(wf_alloc(bus.ctx(), workflow.n_in, alignof(bool)));
  if (seen == nullptr) return WF_FAILED;
  std::fill_n(seen, workflow.n_in, false);
  QueryReader reader{bus, workflow, RawBodyOf(bus.plan(), workflow), seen, {}, {}};
  std::string_view rest = head.query;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('&'), rest.size());
    if (end != 0 && reader.TakePair(rest.substr(0, end)) != 0) return WF_FAILED;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (uint32_t i = 0; i < workflow.n_in; ++i) {
    const wf_port& port = workflow.in[i];
    if (&port == reader.raw) {
      std::memcpy(reader.SlotOf(port), &body, sizeof body);
    } else if (!reader.seen[i] && port.required != 0) {
      return reader.Missing(json::View(port.name));
    } else if (!reader.seen[i]) {
      const size_t size = bus.plan().types[port.type].size;
      if (port.if_missing != nullptr) {
        std::memcpy(reader.SlotOf(port), port.if_missing, size);
      } else {
        std::memset(reader.SlotOf(port), 0, size);
      }
    }
  }
  return 0;
}

}  // namespace wf::plain
