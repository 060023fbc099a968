#include "runtime/protocol/oip/fields.h"

#include "runtime/base/check.h"
#include "runtime/base/text.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/protobuf/wire.h"

namespace wf::oip {

JsonFields::JsonFields(wf_sink* out, bool bare) : out_(out), bare_(bare), nameless_(bare) {
  if (!bare_) Put("{");
}
JsonFields::~JsonFields() {
  if (!bare_) Put("}");
}

void JsonFields::Separate() {
  if (!first_) Put(",");
  first_ = false;
}

void JsonFields::PutName(Key key) {
  if (nameless_) {
    nameless_ = false;
    return;
  }
  Separate();
  json::PutString(out_, key.name);
  Put(":");
}

void JsonFields::Text(Key key, std::string_view text) {
  PutName(key);
  json::PutString(out_, text);
}

void JsonFields::Integer(Key key, int64_t value) {
  base::TextBuilder digits;
  digits << value;
  PutName(key);
  Put(digits.view());
}

void JsonFields::Bool(Key key, bool value) {
  PutName(key);
  Put(value ? "true" : "false");
}

void JsonFields::Texts(Key key, std::span<const std::string_view> texts) {
  PutName(key);
  Put("[");
  first_ = true;
  for (const std::string_view text : texts) {
    Separate();
    json::PutString(out_, text);
  }
  Put("]");
  first_ = false;
}

void JsonFields::Integers(Key key, std::span<const int64_t> values) {
  PutName(key);
  Put("[");
  first_ = true;
  for (const int64_t value : values) {
    base::TextBuilder digits;
    digits << value;
    Separate();
    Put(digits.view());
  }
  Put("]");
  first_ = false;
}

void JsonFields::Choice(Key key, std::string_view name, uint32_t) { Text(key, name); }

void JsonFields::Begin(Key key) {
  PutName(key);
  Put("{");
  first_ = true;
}
void JsonFields::End() {
  Put("}");
  first_ = false;
}
void JsonFields::BeginList(Key key) {
  PutName(key);
  Put("[");
  first_ = true;
}
void JsonFields::BeginElement() {
  Separate();
  Put("{");
  first_ = true;
}
void JsonFields::EndList() {
  Put("]");
  first_ = false;
}

void MessageFields::Text(Key key, std::string_view text) {
  if (key.number != 0) protobuf::PutText(out(), key.number, text);
}
void MessageFields::Integer(Key key, int64_t value) { protobuf::PutInteger(out(), key.number, static_cast<uint64_t>(value)); }

void MessageFields::Texts(Key key, std::span<const std::string_view> texts) {
  for (const std::string_view text : texts) protobuf::PutText(out(), key.number, text);
}

void MessageFields::Integers(Key key, std::span<const int64_t> values) {
  size_t bytes = 0;
  if (values.empty()) return;
  for (const int64_t value : values) bytes += protobuf::VarintBytes(static_cast<uint64_t>(value));
  protobuf::PutHead(out(), key.number, bytes);
  for (const int64_t value : values) protobuf::PutVarint(out(), static_cast<uint64_t>(value));
}

void MessageFields::Begin(Key key) {
  WF_CHECK(depth_ + 1 < kMaxDepth, key.name);
  open_[++depth_].number = key.number;
}
void MessageFields::End() {
  Open& done = open_[depth_--];
  protobuf::PutMessage(out(), done.number, done.out);
}

Key MessageFields::BeginEntry(Key map, std::string_view name, uint32_t value) {
  constexpr uint32_t kKey = 1, kValue = 2;
  Begin(map);
  Text({{}, kKey}, name);
  Begin({{}, kValue});
  return {{}, value};
}
void MessageFields::EndEntry() {
  End();
  End();
}

}  // namespace wf::oip
