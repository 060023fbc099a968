// The numbers of fields are those of open_inference_grpc.proto.
#include "runtime/protocol/oip/message_reader.h"

#include <algorithm>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/json/number.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/oip/parameters.h"
#include "runtime/protocol/protobuf/wire.h"

namespace wf::oip {
namespace {

using protobuf::Field;
using protobuf::FieldLimit;
using protobuf::Reader;
using protobuf::Wire;

constexpr uint32_t kId = 3, kRawInputContents = 7;

struct Parameter {
  std::string_view name, value;
  bool quoted = false;
};

// A parameter's value as JSON has it. A text is cut, and what JSON would escape is `?` there: those that mean something are short words.
class ParameterText {
 public:
  struct Place {
    std::string_view list;  // "inputs"
    uint64_t index;
  };
  ParameterText(wf_ctx* ctx, const Place& place, const Parameter& parameter) {
    const std::string_view value = base::Cut(parameter.value, kMostBytes);
    uint8_t* at = text_;
    if (parameter.quoted) *at++ = '"';
    at = std::ranges::replace_copy_if(value, at, [](char c) { return static_cast<uint8_t>(c) < 0x20 || c == '"' || c == '\\'; }, '?').out;
    if (parameter.quoted) *at++ = '"';
    in_ = {.ctx = ctx, .begin = nullptr, .at = text_, .end = at, .depth = 4, .member = 0, .path = {}};
    const wf_bytes path[] = {json::Bytes(place.list), {nullptr, place.index + 1}, json::Bytes("parameters"), json::Bytes(parameter.name)};
    std::ranges::copy(path, in_.path);
  }
  ParameterText(const ParameterText&) = delete;
  ParameterText& operator=(const ParameterText&) = delete;
  wf_json* in() { return &in_; }

 private:
  static constexpr size_t kMostBytes = 64, kPadding = 64;  // readable behind it
  uint8_t text_[1 + kMostBytes + 1 + kPadding] = {};
  wf_json in_;
};

template <size_t kCount>
uint32_t IndexOf(std::string_view name, const std::string_view (&names)[kCount]) {
  return static_cast<uint32_t>(std::ranges::find(names, name) - std::begin(names));
}

class MessageReader {
 public:
  MessageReader(InferRequest* request, wf_bytes message) : request_(*request), message_(message), raw_(message, &raw_limit_) {}
  wf_code Read();

 private:
  wf_code ReadField(const Field& field);
  wf_code ReadParameter(wf_bytes entry, Parameter* parameter);
  wf_code ReadValue(wf_bytes message, Parameter* parameter);
  wf_code ReadInput(wf_bytes message);
  wf_code ReadInputField(const Field& field, GivenInput* input, bool* has_contents);
  wf_code ReadInputParameter(wf_bytes entry, GivenInput* input);
  wf_code TakeData(GivenInput* input, bool has_contents);
  wf_code ReadOutput(wf_bytes message);
  wf_code ReadOutputParameter(wf_bytes entry, AskedOutput* asked);
  bool NextRaw(wf_bytes* raw);
  wf_code Number(std::string_view digits, Parameter* parameter);
  wf_code Fail(std::string_view what, std::string_view name = {}, wf_code code = code::kInputParams);
  wf_code Broken() { return Fail(limit_.passed ? kTooManyFields : "the message is no ModelInferRequest"); }
  wf_code CheckText(std::string_view text, std::string_view what) { return base::IsUtf8(text) ? 0 : Fail(what); }

  InferRequest& request_;
  const wf_bytes message_;
  FieldLimit limit_ = {kMaxFields}, raw_limit_ = {kMaxFields};  // what both walk counts for both
  Reader raw_;                                                  // walks ahead over raw_input_contents
  bool any_raw_ = false;
  uint64_t inputs_ = 0, outputs_ = 0;  // that were read
};

wf_code MessageReader::Fail(std::string_view what, std::string_view name, wf_code code) {
  base::TextBuilder message;
  message << what;
  if (!name.empty()) message.Quote(name) << "`";
  return json::Record(request_.ctx(), code, message);
}

bool MessageReader::NextRaw(wf_bytes* raw) {
  Field field;
  while (raw_.Next(&field)) {
    if (!field.Is(kRawInputContents, Wire::kBytes)) continue;
    *raw = field.bytes;
    return true;
  }
  return false;
}

wf_code MessageReader::Read() {
  wf_bytes raw{};
  any_raw_ = NextRaw(&raw);
  raw_limit_ = {kMaxFields};
  raw_ = Reader(message_, &raw_limit_);
  request_.set_binary_unless_said(true);
  Reader reader(message_, &limit_);
  Field field;
  while (reader.Next(&field)) {
    if (field.wire == Wire::kBytes && ReadField(field) != 0) return WF_FAILED;
  }
  if (reader.broken()) return Broken();
  if (any_raw_ && NextRaw(&raw)) return Fail("there are more `raw_input_contents` than inputs");
  return request_.Finish();
}

wf_code MessageReader::ReadField(const Field& field) {
  constexpr uint32_t kParameters = 4, kInputs = 5, kOutputs = 6;
  switch (field.number) {
    case kId:
      return CheckText(field.text(), "`id` is no UTF-8") != 0 ? WF_FAILED : request_.SetId(field.text());
    case kParameters: {
      Parameter parameter;
      if (ReadParameter(field.bytes, &parameter) != 0) return WF_FAILED;
      return request_.SetParameter(parameter.name, parameter.value, parameter.quoted);
    }
    case kInputs:
      return ReadInput(field.bytes);
    case kOutputs:
      return ReadOutput(field.bytes);
    default:
      return 0;
  }
}

// An entry of map<string, InferParameter>.
wf_code MessageReader::ReadParameter(wf_bytes entry, Parameter* parameter) {
  constexpr uint32_t kKey = 1, kValue = 2;
  Reader reader(entry, &limit_);
  Field field;
  wf_bytes value = {entry.ptr, 0};
  while (reader.Next(&field)) {
    if (field.Is(kKey, Wire::kBytes)) parameter->name = field.text();
    if (field.Is(kValue, Wire::kBytes)) value = field.bytes;
  }
  if (reader.broken()) return Broken();
  return CheckText(parameter->name, "a parameter's name is no UTF-8") != 0 ? WF_FAILED : ReadValue(value, parameter);
}

wf_code MessageReader::Number(std::string_view digits, Parameter* parameter) {
  auto* const kept = static_cast<char*>(wf_alloc(request_.ctx(), digits.size(), 1));
  if (kept == nullptr) return WF_FAILED;
  std::copy(digits.begin(), digits.end(), kept);
  parameter->value = {kept, digits.size()};
  parameter->quoted = false;
  return 0;
}

// Of an InferParameter.
constexpr uint32_t kBool = 1, kInt64 = 2, kString = 3, kDouble = 4, kUint64 = 5;

Wire WireOfValue(uint32_t number) {
  if (number == kString) return Wire::kBytes;
  return number == kDouble ? Wire::kFixed64 : Wire::kVarint;
}

// With a point or an exponent: a double is not written as an integer.
std::string_view DoubleText(uint64_t bits, char (&number)[json::kMaxElementText]) {
  char* end = json::PrintElementText(WF_F64, &bits, number);
  if (std::all_of(number, end, [](char c) { return c == '-' || (c >= '0' && c <= '9'); })) end = std::copy_n(".0", 2, end);
  return {number, static_cast<size_t>(end - number)};
}

// Of several values the last counts, as everywhere in protobuf.
wf_code MessageReader::ReadValue(wf_bytes message, Parameter* parameter) {
  Reader reader(message, &limit_);
  Field field, last;
  while (reader.Next(&field)) {
    if (field.number <= kUint64 && field.wire == WireOfValue(field.number)) last = field;
  }
  if (reader.broken()) return Broken();
  base::TextBuilder digits;
  char number[json::kMaxElementText];
  switch (last.number) {
    case kBool:
      parameter->value = last.value != 0 ? "true" : "false";
      return 0;
    case kInt64:
      return Number((digits << static_cast<int64_t>(last.value)).view(), parameter);
    case kUint64:
      return Number((digits << last.value).view(), parameter);
    case kDouble:
      return Number(DoubleText(last.value, number), parameter);
    case kString:
      parameter->value = last.text();
      parameter->quoted = true;
      return CheckText(last.text(), "a parameter's value is no UTF-8");
    default:
      return Fail("no value is given to the parameter `", parameter->name);
  }
}

wf_code MessageReader::ReadInput(wf_bytes message) {
  GivenInput input;
  input.data = {message.ptr, 0};
  bool has_contents = false;
  Reader reader(message, &limit_);
  Field field;
  while (reader.Next(&field)) {
    if (ReadInputField(field, &input, &has_contents) != 0) return WF_FAILED;
  }
  if (reader.broken()) return Broken();
  ++inputs_;
  return TakeData(&input, has_contents) != 0 ? WF_FAILED : request_.AddInput(input);
}

wf_code MessageReader::ReadInputField(const Field& field, GivenInput* input, bool* has_contents) {
  constexpr uint32_t kName = 1, kDatatype = 2, kShape = 3, kParameters = 4, kContents = 5;
  if (field.Is(kName, Wire::kBytes)) input->name = field.text();
  if (field.Is(kDatatype, Wire::kBytes)) input->datatype = field.text();
  if (field.Is(kShape, Wire::kVarint) && !input->AddExtent(static_cast<int64_t>(field.value))) return Fail("a shape of more than 9 axes");
  if (field.Is(kShape, Wire::kBytes)) {
    const uint8_t* at = field.bytes.ptr;
    for (uint64_t extent = 0; at != field.bytes.ptr + field.bytes.len;) {
      if (!protobuf::TakeVarint(&at, field.bytes.ptr + field.bytes.len, &extent)) return Broken();
      if (!input->AddExtent(static_cast<int64_t>(extent))) return Fail("a shape of more than 9 axes");
    }
  }
  if (field.Is(kParameters, Wire::kBytes)) return ReadInputParameter(field.bytes, input);
  if (!field.Is(kContents, Wire::kBytes)) return 0;
  if (*has_contents) return Fail("`contents` is given twice");
  *has_contents = true;
  input->data = field.bytes;
  return 0;
}

wf_code MessageReader::TakeData(GivenInput* input, bool has_contents) {
  input->coding = any_raw_ ? Coding::kRaw : Coding::kTyped;
  if (!any_raw_) return 0;
  if (has_contents) return Fail("`contents` beside `raw_input_contents`: of the input `", input->name);
  return NextRaw(&input->data) ? 0 : Fail("there are no `raw_input_contents` for the input `", input->name);
}

wf_code MessageReader::ReadInputParameter(wf_bytes entry, GivenInput* input) {
  Parameter parameter;
  if (ReadParameter(entry, &parameter) != 0) return WF_FAILED;
  const uint32_t index = IndexOf(parameter.name, kInputParameters);
  ParameterText text(request_.ctx(), {"inputs", inputs_}, parameter);
  return index == std::size(kInputParameters) ? 0 : oip::ReadInputParameter(text.in(), index, input);
}

wf_code MessageReader::ReadOutput(wf_bytes message) {
  constexpr uint32_t kName = 1, kParameters = 2;
  std::string_view name;
  AskedOutput asked;
  Reader reader(message, &limit_);
  Field field;
  while (reader.Next(&field)) {
    if (field.Is(kName, Wire::kBytes)) name = field.text();
    if (field.Is(kParameters, Wire::kBytes) && ReadOutputParameter(field.bytes, &asked) != 0) return WF_FAILED;
  }
  ++outputs_;
  return reader.broken() ? Broken() : request_.AddOutput(name, asked);
}

wf_code MessageReader::ReadOutputParameter(wf_bytes entry, AskedOutput* asked) {
  Parameter parameter;
  if (ReadParameter(entry, &parameter) != 0) return WF_FAILED;
  const uint32_t index = IndexOf(parameter.name, kOutputParameters);
  ParameterText text(request_.ctx(), {"outputs", outputs_}, parameter);
  return index == std::size(kOutputParameters) ? 0 : oip::ReadOutputParameter(text.in(), index, asked);
}

struct Method {
  std::string_view name;
  Call call;
  uint32_t model = 0, version = 0;  // fields of the request; 0: it has none
};

constexpr Method kMethods[] = {
    {"ModelInfer", Call::kInfer, 1, 2},  // first: nearly all calls
    {"ServerLive", Call::kServerLive},
    {"ServerReady", Call::kServerReady},
    {"ModelReady", Call::kModelReady, 1, 2},
    {"ServerMetadata", Call::kServerMetadata},
    {"ModelMetadata", Call::kModelMetadata, 1, 2},
    {"ModelStreamInfer", Call::kInfer, 1, 2},
    {"ModelConfig", Call::kModelConfig, 1, 2},
    {"ModelStatistics", Call::kStatistics, 1, 2},
    {"RepositoryIndex", Call::kIndex},
    {"RepositoryModelLoad", Call::kLoad, 2},
    {"RepositoryModelUnload", Call::kUnload, 2},
    {"TraceSetting", Call::kTrace, 2},
    {"LogSettings", Call::kLog},
    {"SystemSharedMemoryStatus", Call::kSharedMemory},
    {"SystemSharedMemoryRegister", Call::kSharedMemory},
    {"SystemSharedMemoryUnregister", Call::kSharedMemory},
    {"CudaSharedMemoryStatus", Call::kSharedMemory},
    {"CudaSharedMemoryRegister", Call::kSharedMemory},
    {"CudaSharedMemoryUnregister", Call::kSharedMemory},
};

const Method* FindMethod(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kMethods), std::end(kMethods), [name](const Method& row) { return row.name == name; });
  return found == std::end(kMethods) ? nullptr : found;
}

}  // namespace

Call CallOf(std::string_view method) {
  const Method* const found = FindMethod(method);
  return found == nullptr ? Call::kNone : found->call;
}

RouteRead ReadRoute(std::string_view method, wf_bytes message, uint32_t most_fields, Route* route, uint64_t* raw_bytes) {
  const Method* const found = FindMethod(method);
  *route = {};
  *raw_bytes = 0;
  if (found == nullptr) return RouteRead::kDone;
  route->call = found->call;
  FieldLimit limit = {most_fields};
  Reader reader(message, &limit);
  Field field;
  while (reader.Next(&field)) {
    if (field.Is(kRawInputContents, Wire::kBytes)) *raw_bytes += field.bytes.len;
    if (found->model != 0 && field.Is(found->model, Wire::kBytes)) route->model = field.text();
    if (found->version != 0 && field.Is(found->version, Wire::kBytes)) route->version = field.text();
    if (found->call == Call::kInfer && field.Is(kId, Wire::kBytes)) route->id = field.text();
  }
  if (limit.passed) return RouteRead::kManyFields;
  return reader.broken() ? RouteRead::kBroken : RouteRead::kDone;
}

std::string_view IdOf(const Route& route, wf_bytes message) {
  const bool is_read = !route.id.empty();
  FieldLimit limit = {kFieldsAtOnce};
  Reader reader(is_read ? wf_bytes{message.ptr, 0} : message, &limit);
  Field field;
  std::string_view id = route.id;
  while (reader.Next(&field)) {
    if (field.Is(kId, Wire::kBytes)) id = field.text();
  }
  return id.size() <= kMaxIdBytes && base::IsUtf8(id) ? id : std::string_view();
}

size_t RawAt(std::span<const uint8_t> begin) {
  const uint8_t* at = begin.data();
  const uint8_t* const end = at + begin.size();
  uint64_t tag = 0, size = 0;
  while (protobuf::TakeVarint(&at, end, &tag) && (tag & 7) == static_cast<uint64_t>(Wire::kBytes) &&
         protobuf::TakeVarint(&at, end, &size)) {
    if (tag >> 3 == kRawInputContents) return static_cast<size_t>(at - begin.data());
    if (size > static_cast<uint64_t>(end - at)) break;
    at += size;
  }
  return 0;
}

wf_code ReadMessage(InferRequest* request, wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, wf_bytes message) {
  request->Begin(scratch, plan, workflow, message.ptr);
  return MessageReader(request, message).Read();
}

}  // namespace wf::oip
