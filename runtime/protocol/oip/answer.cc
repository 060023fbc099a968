#include "runtime/protocol/oip/answer.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/json/number.h"
#include "runtime/protocol/oip/metadata.h"

namespace wf::oip {
namespace {

void Put(wf_sink* out, std::string_view text) { out->Put(text.data(), text.size()); }
void PutNumber(wf_sink* out, int64_t number) {
  base::TextBuilder text;
  text << number;
  Put(out, text.view());
}

template <typename T>
T Load(const void* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Writes one result of every sample.
struct OutputWriter {
  bus::Bus& bus;
  const InferRequest& request;
  const wf_port& port;
  const Shape shape;
  wf_sink* out;
  bool first = true;

  const std::byte* ValueOf(uint32_t sample) const {
    return static_cast<const std::byte*>(bus.frame(sample)) + bus.plan().slots[port.slot].offset;
  }

  wf_code Fail(uint32_t sample, std::string_view what) {
    base::TextBuilder message;
    message << "output `" << json::View(port.name) << "` of sample " << sample << " " << what;
    return json::Record(bus.ctx(), code::kInference, message);
  }

  // Extents of a sample's value, without the axis of samples.
  uint32_t Extents(uint32_t sample, int64_t (&dim)[WF_MAX_RANK]) const {
    if (shape.form == Form::kTensor && shape.type->kind == WF_T_TENSOR) {
      const auto tensor = Load<wf_tensor>(ValueOf(sample));
      std::copy(tensor.dim, tensor.dim + tensor.rank, dim);
      return tensor.rank;
    }
    if (shape.form != Form::kScalars && shape.form != Form::kStrings && shape.form != Form::kByteses) return 0;
    dim[0] = static_cast<int64_t>(Load<wf_list>(ValueOf(sample)).len);
    return 1;
  }

  wf_code PutHead() {
    int64_t dim[WF_MAX_RANK];
    const uint32_t rank = Extents(0, dim);
    for (uint32_t s = 1; s < bus.samples(); ++s) {
      int64_t other[WF_MAX_RANK];
      if (Extents(s, other) != rank || !std::equal(dim, dim + rank, other))
        return Fail(s, "has another shape than that of sample 0, so they cannot be stacked");
    }
    Put(out, "{\"name\":");
    json::PutString(out, json::View(port.name));
    Put(out, ",\"datatype\":\"");
    Put(out, shape.datatype);
    Put(out, "\",\"shape\":[");
    if (request.stacked()) PutNumber(out, bus.samples());
    for (uint32_t axis = 0; axis < rank; ++axis) {
      if (axis != 0 || request.stacked()) Put(out, ",");
      PutNumber(out, dim[axis]);
    }
    Put(out, shape.form == Form::kBytes || shape.form == Form::kByteses ? "],\"parameters\":{\"content_type\":\"base64\"},\"data\":["
                                                                        : "],\"data\":[");
    return 0;
  }

  void Separate() {
    if (!first) Put(out, ",");
    first = false;
  }

  wf_code PutElement(uint32_t dtype, const void* element) {
    Separate();
    return wf_json_put_scalar(bus.ctx(), out, dtype, element);
  }

  // Recursion is on the rank.
  wf_code PutElements(const wf_tensor& tensor, uint32_t axis, const std::byte* data) {
    if (axis == tensor.rank) return PutElement(tensor.dtype, data);
    const int64_t step = tensor.stride[axis] * static_cast<int64_t>(json::DtypeBytes(tensor.dtype));
    for (int64_t i = 0; i < tensor.dim[axis]; ++i) {
      if (const wf_code code = PutElements(tensor, axis + 1, data + i * step); code != 0) return code;
    }
    return 0;
  }

  // The JSON of a value, as the text of a JSON string.
  wf_code PutJson(const std::byte* value) {
    wf_sink text;
    Separate();
    if (const wf_code code = wf_json_put_value(bus.ctx(), &text, bus.plan().types, port.type, value); code != 0) return code;
    const std::span<const base::SinkPiece> pieces = text.Pieces();
    if (pieces.size() == 1) {
      json::PutString(out, {reinterpret_cast<const char*>(pieces[0].data), pieces[0].bytes});
      return 0;
    }
    auto* joined = static_cast<char*>(wf_alloc(bus.ctx(), text.size() + 1, 1));
    if (joined == nullptr) return WF_FAILED;
    char* at = joined;
    for (const base::SinkPiece& piece : pieces) at = std::copy(piece.data, piece.data + piece.bytes, at);
    json::PutString(out, {joined, static_cast<size_t>(at - joined)});
    return 0;
  }

  wf_code PutBytes(const wf_bytes& bytes) {
    Separate();
    if (shape.form == Form::kString || shape.form == Form::kStrings) return wf_json_put_string(bus.ctx(), out, &bytes);
    Put(out, "\"");
    json::PutBase64(out, bytes.ptr, bytes.len);
    Put(out, "\"");
    return 0;
  }

  wf_code PutSample(const std::byte* value) {
    switch (shape.form) {
      case Form::kTensor: {
        if (shape.type->kind != WF_T_TENSOR) return PutElement(shape.dtype, value);
        const auto tensor = Load<wf_tensor>(value);
        if (std::find(tensor.dim, tensor.dim + tensor.rank, 0) != tensor.dim + tensor.rank) return 0;
        return PutElements(tensor, 0, static_cast<const std::byte*>(tensor.data));
      }
      case Form::kScalars: {
        const auto list = Load<wf_list>(value);
        const size_t step = json::DtypeBytes(shape.dtype);
        for (uint64_t i = 0; i < list.len; ++i) {
          if (const wf_code code = PutElement(shape.dtype, static_cast<const std::byte*>(list.ptr) + i * step); code != 0) return code;
        }
        return 0;
      }
      case Form::kString:
      case Form::kBytes:
        return PutBytes(Load<wf_bytes>(value));
      case Form::kStrings:
      case Form::kByteses: {
        const auto list = Load<wf_list>(value);
        for (uint64_t i = 0; i < list.len; ++i) {
          if (const wf_code code = PutBytes(static_cast<const wf_bytes*>(list.ptr)[i]); code != 0) return code;
        }
        return 0;
      }
      case Form::kJson:
        return PutJson(value);
    }
    return 0;
  }

  wf_code Run() {
    if (const wf_code code = PutHead(); code != 0) return code;
    for (uint32_t s = 0; s < bus.samples(); ++s) {
      const wf_code code = PutSample(ValueOf(s));
      if (code == 0) continue;
      const bus::Failure& failure = bus.main.TakeFailure(code);
      base::TextBuilder message;
      message << "output `" << json::View(port.name) << "`";
      if (request.stacked()) message << " of sample " << s;
      message << ": " << failure.message;
      return json::Record(bus.ctx(), failure.code, message);
    }
    Put(out, "]}");
    return 0;
  }
};

// Of one key the textually last counts, of one place the newest.   Cost: O(annotations x keys).
void PutAnnotations(const bus::Bus& bus, wf_sink* out) {
  std::vector<const bus::Annotation*> standing;
  for (const bus::Annotation* at = bus.annotations(); at != nullptr; at = at->next) {
    const auto same = std::find_if(standing.begin(), standing.end(), [at](const bus::Annotation* other) { return other->key == at->key; });
    if (same == standing.end())
      standing.push_back(at);
    else if (at->place > (*same)->place)
      *same = at;
  }
  if (standing.empty()) return;
  for (const bus::Annotation* at : standing) {
    Put(out, at == standing.front() ? ",\"parameters\":{" : ",");
    json::PutString(out, at->key);
    Put(out, ":");
    json::PutString(out, at->value);
  }
  Put(out, "}");
}

// Failures of tasks say which sample they are of; those of the whole call (its inputs, its deadline) do not.
protocol::Answer WriteFailure(const bus::Bus& bus, const bus::Failure& failure, const InferRequest& request, wf_sink* body) {
  const protocol::CodeInfo info = protocol::InfoOf(bus.plan(), failure.code);
  const std::string_view text = failure.message.empty() ? info.name : failure.message;
  const std::string path = bus::PathOf(bus.plan(), failure);
  base::TextBuilder message;
  const bool of_sample = request.stacked() && failure.task != WF_NONE;
  if (of_sample) message << "sample " << failure.sample << ": " << text;
  WriteError({failure.code, info.name, of_sample ? message.view() : text, path, bus.data_id(), bus.log_id()}, body);
  return {failure.code, OipStatus(info.status), failure.message};
}

}  // namespace

protocol::Answer WriteAnswer(bus::Bus& bus, const InferRequest& request, std::string_view model, int64_t version, wf_sink* body) {
  if (bus.failure() != nullptr) return WriteFailure(bus, *bus.failure(), request, body);
  const wf_workflow& workflow = bus.workflow();
  Put(body, "{\"model_name\":");
  json::PutString(body, model);
  base::TextBuilder number;
  number << ",\"model_version\":\"" << version << "\"";
  Put(body, number.view());
  if (!request.id().empty()) {
    Put(body, ",\"id\":");
    json::PutString(body, request.id());
  }
  PutAnnotations(bus, body);
  Put(body, ",\"outputs\":[");
  for (uint32_t i = 0; i < request.n_answered(); ++i) {
    if (i != 0) Put(body, ",");
    const wf_port& result = workflow.out[request.answered(i)];
    const wf_code code = OutputWriter{bus, request, result, ResultShapeOf(bus.plan(), result), body}.Run();
    if (code == 0) continue;
    body->Clear();
    return WriteFailure(bus, bus.main.TakeFailure(code), request, body);
  }
  Put(body, "]}");
  if (!body->failed()) return {};
  body->Clear();
  return WriteFailure(bus, bus::kOutOfMemory, request, body);
}

}  // namespace wf::oip
