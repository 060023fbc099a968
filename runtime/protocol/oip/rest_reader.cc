#include "runtime/protocol/oip/rest_reader.h"

#include <algorithm>

#include "runtime/base/dtype.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/oip/parameters.h"

namespace wf::oip {
namespace {

using json::View;

// Members of one object, each at most once; others are passed over, since clients send those of other dialects.
struct Members {
  wf_json* in;
  uint32_t seen = 0;

  // The index of the next member in `names`, or one of these.
  static constexpr int32_t kEnd = -1, kBroken = -2;
  template <size_t kCount>
  int32_t Next(const std::string_view (&names)[kCount]) {
    while (true) {
      wf_bytes name;
      const int32_t more = wf_json_member(in, &name);
      if (more != 1) return more == 0 ? kEnd : kBroken;
      const auto index = static_cast<uint32_t>(std::find(std::begin(names), std::end(names), View(name)) - std::begin(names));
      if (index == kCount) {
        if (json::SkipValue(in) != 0) return kBroken;
        continue;
      }
      if ((seen >> index & 1) != 0) {
        wf_json_duplicate(in, name);
        return kBroken;
      }
      seen |= 1U << index;
      return static_cast<int32_t>(index);
    }
  }
  bool had(uint32_t index) const { return (seen >> index & 1) != 0; }
};

class RestReader {
 public:
  RestReader(InferRequest* request, wf_bytes body) : request_(*request), raw_(body.ptr), raw_end_(body.ptr + body.len) {}

  wf_code Read(uint64_t json_bytes) {
    const wf_bytes text = {raw_, json_bytes};
    raw_ += json_bytes;
    if (wf_json_open(&in_, request_.ctx(), text) != 0 || wf_json_object(&in_) != 0 || ReadMembers() != 0 || wf_json_close(&in_) != 0)
      return WF_FAILED;
    if (raw_ != raw_end_) {
      base::TextBuilder message;
      const auto left = static_cast<uint64_t>(raw_end_ - raw_);
      message << base::Counted(left, "byte") << (left == 1 ? " follows" : " follow") << " the JSON that no `binary_data_size` takes";
      return json::Record(request_.ctx(), code::kInputParams, message);
    }
    return request_.Finish();
  }

 private:
  wf_code ReadMembers();
  wf_code ReadMember(uint32_t index);
  wf_code ReadId();
  wf_code ReadParameters();
  wf_code ReadParameter(std::string_view name);
  wf_code ReadList(wf_code (RestReader::*element)());
  wf_code ReadInput();
  wf_code ReadInputMember(uint32_t index, GivenInput* input);
  wf_code ReadText(std::string_view* text);
  wf_code ReadExtents(GivenInput* input);
  wf_code ReadInputParameters(GivenInput* input);
  wf_code TakeRaw(GivenInput* input);
  wf_code ReadOutput();
  wf_code ReadOutputParameters(AskedOutput* asked);

  InferRequest& request_;
  wf_json in_{};
  const uint8_t* raw_;  // of the next raw tensor
  const uint8_t* const raw_end_;
};

wf_code RestReader::ReadMembers() {
  constexpr std::string_view kNames[] = {"id", "parameters", "inputs", "outputs"};
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kNames)) >= 0) {
    if (ReadMember(static_cast<uint32_t>(index)) != 0) return WF_FAILED;
  }
  if (index == Members::kBroken) return WF_FAILED;
  return members.had(2) || request_.workflow().n_in == 0 ? 0 : wf_json_missing(&in_, json::Bytes("inputs"));
}

wf_code RestReader::ReadMember(uint32_t index) {
  switch (index) {
    case 0:
      return ReadId();
    case 1:
      return ReadParameters();
    case 2:
      return ReadList(&RestReader::ReadInput);
    default:
      return ReadList(&RestReader::ReadOutput);
  }
}

wf_code RestReader::ReadId() {
  std::string_view id;
  return ReadText(&id) != 0 ? WF_FAILED : request_.SetId(id);
}

wf_code RestReader::ReadText(std::string_view* text) {
  wf_bytes bytes{};
  if (wf_json_string(&in_, &bytes) != 0) return WF_FAILED;
  *text = View(bytes);
  return 0;
}

wf_code RestReader::ReadParameters() {
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  wf_bytes name;
  while ((more = wf_json_member(&in_, &name)) == 1) {
    if (ReadParameter(View(name)) != 0) return WF_FAILED;
  }
  return more < 0 ? WF_FAILED : 0;
}

// Values are kept as text: strings as they are, numbers and bools as written.
wf_code RestReader::ReadParameter(std::string_view name) {
  const uint8_t next = json::Peek(&in_);
  if (next == '{' || next == '[' || next == 'n') return json::Expected(&in_, "a string, number or bool");
  std::string_view value;
  const bool quoted = next == '"';
  if (quoted) {
    if (ReadText(&value) != 0) return WF_FAILED;
  } else {
    const uint8_t* const begin = in_.at;
    if (json::SkipValue(&in_) != 0) return WF_FAILED;
    value = {reinterpret_cast<const char*>(begin), static_cast<size_t>(in_.at - begin)};
  }
  return request_.AddParameter(name, value, quoted);
}

wf_code RestReader::ReadList(wf_code (RestReader::*element)()) {
  if (json::EnterArray(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  uint64_t n = 0;
  while ((more = json::NextElement(&in_, n++)) == 1) {
    if ((this->*element)() != 0) return WF_FAILED;
  }
  return more < 0 ? WF_FAILED : 0;
}

wf_code RestReader::ReadInput() {
  constexpr std::string_view kNames[] = {"name", "datatype", "shape", "data", "parameters"};
  constexpr uint32_t kRequired = 3, kData = 3;
  GivenInput input;
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kNames)) >= 0) {
    if (ReadInputMember(static_cast<uint32_t>(index), &input) != 0) return WF_FAILED;
  }
  if (index == Members::kBroken) return WF_FAILED;
  for (uint32_t i = 0; i < kRequired; ++i) {
    if (!members.had(i)) return wf_json_missing(&in_, json::Bytes(kNames[i]));
  }
  if ((input.coding == Coding::kRaw) == members.had(kData)) {
    return members.had(kData) ? json::Refuse(&in_, "`data` beside `binary_data_size`: the data is given twice")
                              : wf_json_missing(&in_, json::Bytes(kNames[kData]));
  }
  return request_.AddInput(input);
}

wf_code RestReader::ReadInputMember(uint32_t index, GivenInput* input) {
  switch (index) {
    case 0:
      return ReadText(&input->name);
    case 1:
      return ReadText(&input->datatype);
    case 2:
      return ReadExtents(input);
    case 3: {
      if (json::Peek(&in_) != '[') return json::Expected(&in_, "an array");
      const uint8_t* const begin = in_.at;
      if (json::SkipValue(&in_) != 0) return WF_FAILED;
      if (input->coding == Coding::kJson) input->data = {begin, static_cast<uint64_t>(in_.at - begin)};
      return 0;
    }
    default:
      return ReadInputParameters(input);
  }
}

wf_code RestReader::ReadExtents(GivenInput* input) {
  if (json::EnterArray(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  while ((more = json::NextElement(&in_, input->axes)) == 1) {
    int64_t extent = 0;
    if (wf_json_scalar(&in_, WF_I64, &extent) != 0) return WF_FAILED;
    if (!input->AddExtent(extent)) return json::Refuse(&in_, "more than 9 axes");
  }
  return more < 0 ? WF_FAILED : 0;
}

wf_code RestReader::ReadInputParameters(GivenInput* input) {
  constexpr std::string_view kNames[] = {kInputParameters[0], kInputParameters[1], "binary_data_size"};
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kNames)) >= 0) {
    const auto number = static_cast<uint32_t>(index);
    if ((number < std::size(kInputParameters) ? ReadInputParameter(&in_, number, input) : TakeRaw(input)) != 0) return WF_FAILED;
  }
  return index == Members::kBroken ? WF_FAILED : 0;
}

// Raw tensors stand behind the JSON in the order of the inputs.
wf_code RestReader::TakeRaw(GivenInput* input) {
  int64_t size = 0;
  if (wf_json_scalar(&in_, WF_I64, &size) != 0) return WF_FAILED;
  if (size < 0) return json::Refuse(&in_, "a size below 0");
  const auto left = static_cast<uint64_t>(raw_end_ - raw_);
  if (static_cast<uint64_t>(size) > left) {
    base::TextBuilder what;
    what << "says " << base::Counted(static_cast<uint64_t>(size), "byte") << ", but " << left
         << " are left behind the JSON (`inference-header-content-length`)";
    return json::Refuse(&in_, what.view());
  }
  input->coding = Coding::kRaw;
  input->data = {raw_, static_cast<uint64_t>(size)};
  raw_ += size;
  return 0;
}

wf_code RestReader::ReadOutput() {
  constexpr std::string_view kNames[] = {"name", "parameters"};
  std::string_view name;
  AskedOutput asked;
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kNames)) >= 0) {
    if ((index == 0 ? ReadText(&name) : ReadOutputParameters(&asked)) != 0) return WF_FAILED;
  }
  if (index == Members::kBroken) return WF_FAILED;
  return members.had(0) ? request_.AddOutput(name, asked) : wf_json_missing(&in_, json::Bytes(kNames[0]));
}

wf_code RestReader::ReadOutputParameters(AskedOutput* asked) {
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kOutputParameters)) >= 0) {
    if (ReadOutputParameter(&in_, static_cast<uint32_t>(index), asked) != 0) return WF_FAILED;
  }
  return index == Members::kBroken ? WF_FAILED : 0;
}

// How many bytes a type is, but for the extents that it leaves open.
struct KnownBytes {
  uint64_t count = 1;  // of one element of each open extent
  uint32_t open = 0;
  bool fits = true;  // no body is as large as a type that does not
};

KnownBytes BytesOf(const Shape& shape) {
  KnownBytes known = {.count = static_cast<uint64_t>(base::DTypeSize(shape.dtype))};
  for (uint32_t axis = 0; axis < shape.rank; ++axis) {
    const int64_t extent = shape.dim == nullptr ? -1 : shape.dim[axis];
    if (extent < 0)
      ++known.open;
    else
      known.fits = !__builtin_mul_overflow(known.count, static_cast<uint64_t>(extent), &known.count) && known.fits;
  }
  return known;
}

wf_code RefuseBytes(wf_ctx* ctx, const wf_port& port, const Shape& shape, const KnownBytes& known, uint64_t bytes) {
  base::TextBuilder message;
  message << "input `" << View(port.name) << "` has " << base::Counted(bytes, "byte") << " as a raw body, expected ";
  if (known.fits)
    message << (known.open == 0 || known.count == 0 ? "" : "a multiple of ") << known.count << " (" << View(shape.type->name) << ")";
  else
    message << "more than a body has (" << View(shape.type->name) << ")";
  return json::Record(ctx, code::kInputParams, message);
}

// The only input as the whole body, of one sample. The extent that its type leaves open follows from the size.
wf_code ReadWhole(InferRequest* request, wf_bytes body) {
  const wf_workflow& workflow = request->workflow();
  base::TextBuilder message;
  if (workflow.n_in != 1) {
    message << "a raw body is the only input, but there are " << static_cast<uint32_t>(workflow.n_in);
    return json::Record(request->ctx(), code::kInputParams, message);
  }
  const Shape shape = ShapeOf(request->plan(), workflow.in[0]);
  GivenInput input;
  input.name = View(workflow.in[0].name);
  input.datatype = shape.datatype;
  input.data = body;
  input.coding = shape.dtype == 0 ? Coding::kWhole : Coding::kRaw;
  input.axes = shape.rank;
  if (shape.dtype == 0) {
    std::fill_n(input.extent, shape.rank, 1);
  } else {
    const KnownBytes known = BytesOf(shape);
    if (known.open > 1) {
      message << "a raw body says no shape, and " << View(shape.type->name) << " leaves " << known.open
              << " extents open; give `shape` in JSON";
      return json::Record(request->ctx(), code::kInputParams, message);
    }
    const uint64_t rest = known.open == 0 ? 1 : known.count == 0 ? 0 : body.len / known.count;
    if (!known.fits || known.count * rest != body.len) return RefuseBytes(request->ctx(), workflow.in[0], shape, known, body.len);
    for (uint32_t axis = 0; axis < shape.rank; ++axis) {
      const int64_t extent = shape.dim == nullptr ? -1 : shape.dim[axis];
      input.extent[axis] = extent < 0 ? static_cast<int64_t>(rest) : extent;
    }
  }
  request->set_binary_unless_said(true);
  return request->AddInput(input) != 0 ? WF_FAILED : request->Finish();
}

// Whether an object may end where raw tensors are said to begin; where it cannot, what else could be said of its text misleads. Of a long
// text the last byte alone is looked at.
bool EndsJson(wf_bytes body, uint64_t json_bytes) {
  constexpr uint64_t kLong = 4096;
  if (json_bytes == body.len) return true;
  const uint8_t* end = body.ptr + json_bytes;
  while (end != body.ptr && json::IsSpace(end[-1])) --end;
  if (end == body.ptr || end[-1] != '}') return false;
  if (json_bytes > kLong) return true;
  int64_t depth = 0;
  bool in_text = false;
  for (const uint8_t* at = body.ptr; at < end; ++at) {
    if (*at == '"') in_text = !in_text;
    if (in_text && *at == '\\') ++at;
    if (!in_text) depth += *at == '{' || *at == '[' ? 1 : *at == '}' || *at == ']' ? -1 : 0;
  }
  return depth <= 0;
}

}  // namespace

wf_code ReadRest(InferRequest* request, wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, const RestBody& body) {
  const auto [bytes, json_bytes] = body;
  request->Begin(scratch, plan, workflow, bytes.ptr);
  if (json_bytes == 0) return ReadWhole(request, bytes);
  if (json_bytes > static_cast<int64_t>(bytes.len)) {
    base::TextBuilder message;
    message << "`inference-header-content-length` is " << json_bytes << ", but the body has " << base::Counted(bytes.len, "byte");
    return json::Record(scratch, code::kInputParams, message);
  }
  if (json_bytes != kAllJson && !EndsJson(bytes, static_cast<uint64_t>(json_bytes))) {
    base::TextBuilder message;
    message << "the JSON does not end at byte " << json_bytes << ", as `inference-header-content-length` says";
    return json::Record(scratch, code::kInputParams, message);
  }
  return RestReader(request, bytes).Read(json_bytes == kAllJson ? bytes.len : static_cast<uint64_t>(json_bytes));
}

}  // namespace wf::oip
