#include "runtime/protocol/oip/settings.h"

#include <algorithm>
#include <charconv>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/protobuf/wire.h"

namespace wf::oip {
namespace {

using protobuf::Field;
using protobuf::Reader;
using protobuf::Wire;

constexpr uint32_t kSettings = 1, kKey = 1, kValue = 2;

uint32_t FieldOf(Setting::Kind kind) {
  switch (kind) {
    case Setting::Kind::kBool:
    case Setting::Kind::kTexts:
      return 1;
    case Setting::Kind::kInteger:
      return 2;
    case Setting::Kind::kText:
      return 3;
  }
  return 0;
}

void PutValue(Fields& fields, Key key, const Setting& setting) {
  int64_t number = 0;
  switch (setting.kind) {
    case Setting::Kind::kBool:
      return fields.Bool(key, setting.text == "true");
    case Setting::Kind::kInteger:
      std::from_chars(setting.text.data(), setting.text.data() + setting.text.size(), number);
      return fields.Integer(key, number);
    case Setting::Kind::kText:
      return fields.Text(key, setting.text);
    case Setting::Kind::kTexts:
      return fields.Texts(key, {&setting.text, 1});
  }
}

// `none`: the client clears the setting, which is what it is without clients.
wf_code Compare(wf_ctx* scratch, std::string_view name, std::string_view text, bool none, std::span<const Setting> settings) {
  const auto found = std::find_if(settings.begin(), settings.end(), [name](const Setting& row) { return row.name == name; });
  base::TextBuilder message;
  if (found == settings.end()) {
    message << "there is no setting `";
    message.Quote(name) << "`";
    return json::Record(scratch, code::kInputParams, message);
  }
  if (none || found->text == text) return 0;
  message << "clients change no settings of traces and logs: `" << name << "` stays `" << found->text << "`";
  return json::Record(scratch, code::kNotImplemented, message);
}

wf_code CheckMember(wf_json* in, std::string_view name, std::span<const Setting> settings) {
  const bool list = json::Peek(in) == '[';
  wf_bytes text{};
  bool none = false;
  int32_t more = 1;
  if (list && (json::EnterArray(in) != 0 || (more = json::NextElement(in, 0)) < 0)) return WF_FAILED;
  if (list && more == 0) {
    none = true;
  } else if (json::Peek(in) == '"') {
    if (wf_json_string(in, &text) != 0) return WF_FAILED;
  } else {
    json::SkipSpace(in);
    text.ptr = in->at;
    if (json::SkipValue(in) != 0) return WF_FAILED;
    text.len = static_cast<uint64_t>(in->at - text.ptr);
    none = json::View(text) == "null";
  }
  if (Compare(in->ctx, name, json::View(text), none, settings) != 0) return WF_FAILED;
  if (!list || more == 0) return 0;
  more = json::NextElement(in, 1);
  return more == 0 ? 0 : more < 0 ? WF_FAILED : json::Refuse(in, "more than one value");
}

// The value of an entry of the map, as text.
bool ReadValue(wf_bytes message, base::TextBuilder* text, bool* none) {
  Reader reader(message);
  Field field;
  *none = true;
  while (reader.Next(&field)) {
    if (field.wire == Wire::kBytes)
      text->Quote(field.text());
    else if (field.Is(1, Wire::kVarint))
      *text << (field.value != 0 ? std::string_view("true") : std::string_view("false"));
    else
      *text << field.value;
    *none = false;
  }
  return !reader.broken();
}

}  // namespace

std::span<const Setting> TraceSettings() {
  static constexpr Setting kRows[] = {{"trace_level", Setting::Kind::kTexts, "OFF"}};
  return kRows;
}

std::span<const Setting> LogSettings(const LogFacts& facts, Setting (&rows)[6]) {
  const auto text = [](bool on) { return on ? std::string_view("true") : std::string_view("false"); };
  rows[0] = {"log_file", Setting::Kind::kText, ""};
  rows[1] = {"log_info", Setting::Kind::kBool, text(facts.infos)};
  rows[2] = {"log_warning", Setting::Kind::kBool, text(facts.warnings)};
  rows[3] = {"log_error", Setting::Kind::kBool, "true"};
  rows[4] = {"log_verbose_level", Setting::Kind::kInteger, facts.verbose ? "1" : "0"};
  rows[5] = {"log_format", Setting::Kind::kText, "json"};
  return rows;
}

void PutSettings(Fields& fields, std::span<const Setting> settings) {
  for (const Setting& setting : settings) {
    const Key value = fields.BeginEntry({"settings", kSettings}, setting.name, FieldOf(setting.kind));
    PutValue(fields, value, setting);
    fields.EndEntry();
  }
}

wf_code CheckSettings(wf_ctx* scratch, wf_bytes json, std::span<const Setting> settings) {
  wf_json in;
  wf_bytes name;
  int32_t more = 0;
  if (json.len == 0) return 0;
  if (wf_json_open(&in, scratch, json) != 0 || wf_json_object(&in) != 0) return WF_FAILED;
  while ((more = wf_json_member(&in, &name)) == 1) {
    if (CheckMember(&in, json::View(name), settings) != 0) return WF_FAILED;
  }
  return more < 0 ? WF_FAILED : wf_json_close(&in);
}

wf_code CheckSettingsMessage(wf_ctx* scratch, wf_bytes message, std::span<const Setting> settings) {
  Reader reader(message);
  Field field;
  bool broken = false;
  while (!broken && reader.Next(&field)) {
    if (!field.Is(kSettings, Wire::kBytes)) continue;
    Reader entry(field.bytes);
    std::string_view name;
    base::TextBuilder text;
    bool none = true;
    while (entry.Next(&field)) {
      if (field.Is(kKey, Wire::kBytes)) name = field.text();
      if (field.Is(kValue, Wire::kBytes)) broken = broken || !ReadValue(field.bytes, &text, &none);
    }
    broken = broken || entry.broken();
    if (!broken && Compare(scratch, name, text.view(), none, settings) != 0) return WF_FAILED;
  }
  if (!broken && !reader.broken()) return 0;
  base::TextBuilder what;
  what << "the message is no message of settings";
  return json::Record(scratch, code::kInputParams, what);
}

}  // namespace wf::oip
