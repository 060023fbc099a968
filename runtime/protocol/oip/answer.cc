#include "runtime/protocol/oip/answer.h"

#include <algorithm>
#include <cstring>

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
    return json::Record(bus.ctx(), json::kOutputValue, message);
  }

  // Extents of a sample's value, without the axis of samples.
  uint32_t Extents(uint32_t sample, int64_t (&dim)[WF_MAX_RANK]) const {
    if (shape.form == Form::kTensor && shape.type->kind == WF_T_TENSOR) {
      const auto tensor = Load<wf_tensor>(ValueOf(sample));
      std::copy(tensor.dim, tensor.dim + tensor.rank, dim);
      return tensor.rank;
    }
    if (shape.form != Form::kStrings && shape.form != Form::kByteses) return 0;
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

  wf_code PutElements(const wf_tensor& tensor, uint32_t axis, const std::byte* data) {
    const int64_t step = axis == tensor.rank ? 0 : tensor.stride[axis] * static_cast<int64_t>(json::DtypeBytes(tensor.dtype));
    if (axis == tensor.rank) {
      Separate();
      return wf_json_put_scalar(bus.ctx(), out, tensor.dtype, data);
    }
    for (int64_t i = 0; i < tensor.dim[axis]; ++i) {
      if (const wf_code code = PutElements(tensor, axis + 1, data + i * step); code != 0) return code;
    }
    return 0;
  }

  // {"b64":".."} without what stands around the text.
  wf_code PutBase64(const wf_bytes& bytes) {
    constexpr size_t kBefore = 7, kAfter = 1;
    wf_sink text;
    Separate();
    if (const wf_code code = wf_json_put_bytes(bus.ctx(), &text, &bytes); code != 0) return code;
    size_t left = text.size() - kBefore - kAfter;
    text.Consume(kBefore);
    for (const base::SinkPiece& piece : text.Pieces()) {
      const size_t count = std::min(left, piece.bytes);
      out->Put(piece.data, count);
      left -= count;
    }
    return 0;
  }

  wf_code PutJson(const std::byte* value) {
    wf_sink text;
    Separate();
    if (const wf_code code = wf_json_put_value(bus.ctx(), &text, bus.plan().types, port.type, value); code != 0) return code;
    std::string joined;
    for (const base::SinkPiece& piece : text.Pieces()) joined.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
    json::PutString(out, joined);
    return 0;
  }

  wf_code PutBytes(const wf_bytes& bytes) {
    if (shape.form == Form::kBytes || shape.form == Form::kByteses) return PutBase64(bytes);
    Separate();
    return wf_json_put_string(bus.ctx(), out, &bytes);
  }

  wf_code PutSample(const std::byte* value) {
    switch (shape.form) {
      case Form::kTensor: {
        if (shape.type->kind == WF_T_TENSOR) {
          const auto tensor = Load<wf_tensor>(value);
          return PutElements(tensor, 0, static_cast<const std::byte*>(tensor.data));
        }
        Separate();
        return wf_json_put_scalar(bus.ctx(), out, shape.dtype, value);
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
      if (const wf_code code = PutSample(ValueOf(s)); code != 0) return code;
    }
    Put(out, "]}");
    return 0;
  }
};

// An optional result may be absent, which no numeric tensor can say: it travels as JSON.
Shape AnswerShape(const wf_plan& plan, const wf_port& port) {
  Shape shape = ShapeOf(plan, port);
  if (!shape.optional) return shape;
  shape.form = Form::kJson;
  shape.datatype = "BYTES";
  shape.rank = 0;
  return shape;
}

void PutAnnotations(const bus::Bus& bus, wf_sink* out) {
  bool any = false;
  for (const bus::Annotation* at = bus.annotations(); at != nullptr; at = at->next) {
    bool stands = true;
    for (const bus::Annotation* other = bus.annotations(); other != nullptr; other = other->next) {
      stands = stands && (other == at || other->key != at->key || other->task < at->task || (other->task == at->task && at < other));
    }
    if (!stands) continue;
    Put(out, any ? "," : ",\"parameters\":{");
    json::PutString(out, at->key);
    Put(out, ":");
    json::PutString(out, at->value);
    any = true;
  }
  if (any) Put(out, "}");
}

Answer WriteFailure(const bus::Bus& bus, const bus::Failure& failure, wf_sink* body) {
  const protocol::CodeInfo info = protocol::InfoOf(bus.plan(), failure.code);
  std::string message(failure.message.empty() ? info.name : failure.message);
  if (bus.samples() > 1) message = "sample " + std::to_string(failure.sample) + ": " + message;
  if (const std::string path = bus::PathOf(bus.plan(), failure); !path.empty()) message += " (" + path + ")";
  WriteError(failure.code, message, body);
  return {failure.code, OipStatus(info.status)};
}

}  // namespace

int OipStatus(base::StatusCode code) {
  switch (code) {
    case base::kOk:
      return 200;
    case base::kNotFound:
      return 404;
    case base::kDeadlineExceeded:
    case base::kResourceExhausted:
    case base::kUnavailable:
      return 503;
    case base::kUnimplemented:
      return 501;
    case base::kInternal:
    case base::kUnknown:
      return 500;
    case base::kPermissionDenied:
      return 403;
    case base::kCancelled:
    case base::kInvalidArgument:
    case base::kAlreadyExists:
    case base::kFailedPrecondition:
    case base::kOutOfRange:
      return 400;
  }
  return 500;
}

Answer WriteAnswer(bus::Bus& bus, const InferRequest& request, std::string_view model, wf_sink* body) {
  if (bus.failure() != nullptr) return WriteFailure(bus, *bus.failure(), body);
  const wf_workflow& workflow = bus.workflow();
  Put(body, "{\"model_name\":");
  json::PutString(body, model);
  Put(body, ",\"model_version\":\"1\"");
  if (!request.id().empty()) {
    Put(body, ",\"id\":");
    json::PutString(body, request.id());
  }
  PutAnnotations(bus, body);
  Put(body, ",\"outputs\":[");
  bool first = true;
  for (uint32_t i = 0; i < workflow.n_out; ++i) {
    if (!request.wants(i)) continue;
    if (!first) Put(body, ",");
    first = false;
    const wf_code code = OutputWriter{bus, request, workflow.out[i], AnswerShape(bus.plan(), workflow.out[i]), body}.Run();
    if (code == 0) continue;
    body->Clear();
    return WriteFailure(bus, bus.main.TakeFailure(code), body);
  }
  Put(body, "]}");
  if (!body->failed()) return {};
  body->Clear();
  return WriteFailure(bus, bus::kOutOfMemory, body);
}

}  // namespace wf::oip
