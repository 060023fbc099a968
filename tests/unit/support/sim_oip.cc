#include "tests/unit/support/sim_oip.h"

#include <charconv>
#include <cstring>

#include "runtime/protocol/protobuf/wire.h"

namespace wf::test {
namespace {

using protobuf::Field;
using protobuf::Reader;
using protobuf::Wire;

constexpr size_t kPrefix = 5;  // of a message of gRPC
constexpr std::string_view kModel = "W";

std::string Raw(int64_t value) { return {reinterpret_cast<const char*>(&value), sizeof value}; }

int64_t Number(std::string_view raw) {
  int64_t value = 0;
  std::memcpy(&value, raw.data(), sizeof value);
  return value;
}

wf_bytes BytesOf(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

// InferParameter: bool = 1, int64 = 2.
void PutParameter(std::string_view key, uint32_t field, uint64_t value, wf_sink* message) {
  wf_sink parameter, entry;
  protobuf::PutInteger(&parameter, field, value);
  protobuf::PutText(&entry, 1, key);
  protobuf::PutMessage(&entry, 2, &parameter);
  protobuf::PutMessage(message, 4, &entry);
}

void PutInput(std::string_view name, int64_t value, bool raw, wf_sink* message) {
  wf_sink input;
  protobuf::PutText(&input, 1, name);
  protobuf::PutText(&input, 2, "INT64");
  protobuf::PutInteger(&input, 3, 1);  // shape [1]
  if (!raw) {
    wf_sink packed, contents;
    protobuf::PutVarint(&packed, static_cast<uint64_t>(value));
    protobuf::PutMessage(&contents, 3, &packed);
    protobuf::PutMessage(&input, 5, &contents);
  }
  protobuf::PutMessage(message, 5, &input);
}

// Of an InferOutputTensor.
std::optional<int64_t> TypedValue(wf_bytes output) {
  Reader reader(output);
  Field field;
  std::optional<int64_t> value;
  while (reader.Next(&field)) {
    if (!field.Is(5, Wire::kBytes)) continue;
    Reader contents(field.bytes);
    while (contents.Next(&field)) {
      uint64_t number = 0;
      const uint8_t* at = field.bytes.ptr;
      if (field.Is(3, Wire::kBytes) && protobuf::TakeVarint(&at, at + field.bytes.len, &number)) value = static_cast<int64_t>(number);
    }
  }
  return value;
}

}  // namespace

SimBody RestBody(const SimInference& call) {
  const auto input = [&call](const char* name, int64_t value) {
    const std::string head = std::string("{\"name\":\"") + name + "\",\"datatype\":\"INT64\",\"shape\":[1],";
    return head + (call.raw_in ? "\"parameters\":{\"binary_data_size\":8}}" : "\"data\":[" + std::to_string(value) + "]}");
  };
  std::string json = "{";
  if (!call.id.empty()) json += "\"id\":\"" + call.id + "\",";
  if (call.timeout_us != 0) json += "\"parameters\":{\"timeout\":" + std::to_string(call.timeout_us) + "},";
  json += std::string(call.padding, ' ') + "\"inputs\":[" + input("b", call.b) + "," + input("a", call.a) + "]";
  if (call.raw_out) json += ",\"outputs\":[{\"name\":\"value\",\"parameters\":{\"binary_data\":true}}]";
  json += "}";
  if (!call.raw_in) return {json, 0};
  return {json + Raw(call.b) + Raw(call.a), json.size()};
}

std::string MessageBody(const SimInference& call) {
  wf_sink message;
  protobuf::PutText(&message, 1, kModel);
  if (!call.id.empty()) protobuf::PutText(&message, 3, call.id);
  if (call.timeout_us != 0) PutParameter("timeout", 2, static_cast<uint64_t>(call.timeout_us), &message);
  if (!call.raw_out) PutParameter("binary_data_output", 1, 0, &message);
  if (call.padding != 0) protobuf::PutText(&message, 100, std::string(call.padding, 'x'));  // a field that nobody knows
  PutInput("a", call.a, call.raw_in, &message);
  PutInput("b", call.b, call.raw_in, &message);
  if (call.raw_in) protobuf::PutText(&message, 7, Raw(call.a));
  if (call.raw_in) protobuf::PutText(&message, 7, Raw(call.b));
  std::string bytes;
  for (const base::SinkPiece& piece : message.Pieces()) bytes.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  std::string prefixed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) prefixed += static_cast<char>(bytes.size() >> shift);
  return prefixed + bytes;
}

std::optional<int64_t> RestValue(const SimInference& call, std::string_view body) {
  const auto has = [&body](std::string_view text) { return body.find(text) != std::string_view::npos; };
  if (!has("{\"model_name\":\"W\"") || has("\"id\":") == call.id.empty()) return std::nullopt;
  if (!call.id.empty() && !has("\"id\":\"" + call.id + "\"")) return std::nullopt;
  constexpr std::string_view kData = "\"data\":[", kEndOfRaw = "\"binary_data_size\":8}}]}";
  if (call.raw_out) {
    const size_t at = body.find(kEndOfRaw);
    return at == std::string_view::npos || at + kEndOfRaw.size() + 8 != body.size() ? std::nullopt
                                                                                    : std::optional(Number(body.substr(body.size() - 8)));
  }
  const size_t at = body.find(kData);
  int64_t value = 0;
  if (at == std::string_view::npos || !body.ends_with("]}]}")) return std::nullopt;
  const char* const end = body.data() + body.size();
  return std::from_chars(body.data() + at + kData.size(), end, value).ptr + 4 == end ? std::optional(value) : std::nullopt;
}

std::optional<int64_t> MessageValue(const SimInference& call, std::string_view body) {
  if (body.size() < kPrefix) return std::nullopt;
  size_t length = 0;
  for (size_t i = 1; i < kPrefix; ++i) length = length << 8 | static_cast<uint8_t>(body[i]);
  if (body[0] != 0 || length != body.size() - kPrefix) return std::nullopt;
  Reader reader(BytesOf(body.substr(kPrefix)));
  Field field;
  std::string_view model, id;
  std::optional<int64_t> typed, raw;
  while (reader.Next(&field)) {
    if (field.Is(1, Wire::kBytes)) model = field.text();
    if (field.Is(3, Wire::kBytes)) id = field.text();
    if (field.Is(5, Wire::kBytes)) typed = TypedValue(field.bytes);
    if (field.Is(6, Wire::kBytes) && field.bytes.len == 8) raw = Number(field.text());
  }
  if (reader.broken() || model != kModel || id != call.id || (call.raw_out ? typed : raw).has_value()) return std::nullopt;
  return call.raw_out ? raw : typed;
}

}  // namespace wf::test
