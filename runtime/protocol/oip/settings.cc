#include "runtime/protocol/oip/settings.h"

#include <algorithm>
#include <charconv>
#include <string>

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

using Kind = Setting::Kind;

uint32_t FieldOf(Kind kind) {
  switch (kind) {
    case Kind::kBool:
    case Kind::kTexts:
    case Kind::kLonely:
      return 1;
    case Kind::kInteger:
      return 2;
    case Kind::kText:
      return 3;
  }
  return 0;
}

void PutValue(Fields& fields, Key key, const Setting& setting) {
  int64_t number = 0;
  switch (setting.kind) {
    case Kind::kBool:
      return fields.Bool(key, setting.text == "true");
    case Kind::kInteger:
      std::from_chars(setting.text.data(), setting.text.data() + setting.text.size(), number);
      return fields.Integer(key, number);
    case Kind::kText:
    case Kind::kLonely:
      return fields.Text(key, setting.text);
    case Kind::kTexts:
      return fields.Texts(key, {&setting.text, 1});
  }
}

std::string_view WordOf(Kind kind) {
  switch (kind) {
    case Kind::kBool:
      return "true or false";
    case Kind::kInteger:
      return "a number";
    case Kind::kText:
    case Kind::kLonely:
      return "a text";
    case Kind::kTexts:
      return "a list of texts";
  }
  return {};
}

// What a client gives for a setting.
struct Given {
  enum class What : uint8_t { kNothing, kText, kNumber, kBool, kOther } what = What::kNothing;
  std::string_view text;                  // the first, of a list
  bool is_list = false, differs = false;  // differs: it has more than one, or others

  bool Fits(Kind kind) const {
    const bool takes_list = kind == Kind::kTexts || kind == Kind::kLonely;
    if (what == What::kNothing) return true;
    if (is_list && !takes_list) return false;
    return what == (kind == Kind::kBool ? What::kBool : kind == Kind::kInteger ? What::kNumber : What::kText);
  }
};
using What = Given::What;

// Nothing: the client clears the setting, which is what it is without clients.
wf_code Compare(wf_ctx* scratch, std::string_view name, const Given& given, std::span<const Setting> settings) {
  const auto found = std::find_if(settings.begin(), settings.end(), [name](const Setting& row) { return row.name == name; });
  base::TextBuilder message;
  if (found == settings.end()) {
    message << "there is no setting `";
    message.Quote(name) << "`";
    return json::Record(scratch, code::kInputParams, message);
  }
  if (!given.Fits(found->kind)) {
    message << "the setting `" << found->name << "` is " << WordOf(found->kind);
    return json::Record(scratch, code::kInputParams, message);
  }
  if (given.what == What::kNothing || (!given.differs && found->text == given.text)) return 0;
  message << "clients change no settings of traces and logs: `" << found->name << "` stays `" << found->text << "`";
  return json::Record(scratch, code::kNotImplemented, message);
}

// Any value; of arrays and objects only that they are.
wf_code ReadScalar(wf_json* in, Given* given) {
  const uint8_t first = json::Peek(in);
  wf_bytes text{};
  if (first == '"') {
    given->what = What::kText;
    if (wf_json_string(in, &text) != 0) return WF_FAILED;
  } else {
    text.ptr = in->at;
    if (json::SkipValue(in) != 0) return WF_FAILED;
    text.len = static_cast<uint64_t>(in->at - text.ptr);
    given->what = first == 't' || first == 'f'   ? What::kBool
                  : first == 'n'                 ? What::kNothing
                  : first == '[' || first == '{' ? What::kOther
                                                 : What::kNumber;
  }
  given->text = json::View(text);
  return 0;
}

wf_code ReadGiven(wf_json* in, Given* given) {
  if (json::Peek(in) != '[') return ReadScalar(in, given);
  int32_t more = json::EnterArray(in) != 0 ? -1 : 0;
  for (uint64_t count = 0; more >= 0 && (more = json::NextElement(in, count)) == 1; ++count) {
    Given element;
    if (ReadScalar(in, &element) != 0) return WF_FAILED;
    if (element.what != What::kText) element.what = What::kOther;
    given->differs = count > 0;
    if (count == 0 || element.what == What::kOther) given->what = element.what;
    if (count == 0) given->text = element.text;
  }
  given->is_list = true;
  return more < 0 ? WF_FAILED : 0;
}

// The value of an entry of the map. The first field is a text in messages of traces, which may come several times, and a truth in those of
// logs.
bool ReadValue(wf_bytes message, Given* given, std::string* text) {
  Reader reader(message);
  Field field;
  while (reader.Next(&field)) {
    const What before = given->what;
    given->what = What::kOther;
    if (field.wire == Wire::kBytes && (field.number == 1 || field.number == 3)) {
      given->differs = before != What::kNothing;
      given->what = What::kText;
      given->is_list = field.number == 1;
      if (!given->differs) *text = field.text();
    } else if (field.Is(1, Wire::kVarint)) {
      given->what = What::kBool;
      *text = field.value != 0 ? "true" : "false";
    } else if (field.Is(2, Wire::kVarint)) {
      given->what = What::kNumber;
      *text = std::to_string(field.value);
    }
  }
  given->text = *text;
  return !reader.broken();
}

}  // namespace

std::span<const Setting> TraceSettings() {
  static constexpr Setting kRows[] = {{"trace_level", Kind::kTexts, "OFF"},
                                      {"trace_rate", Kind::kLonely, "1000"},
                                      {"trace_count", Kind::kLonely, "-1"},
                                      {"log_frequency", Kind::kLonely, "0"},
                                      {"trace_mode", Kind::kLonely, "triton"}};
  return kRows;
}

std::span<const Setting> LogSettings(const LogFacts& facts, Setting (&rows)[6]) {
  const auto text = [](bool on) { return on ? std::string_view("true") : std::string_view("false"); };
  rows[0] = {"log_file", Kind::kText, ""};
  rows[1] = {"log_info", Kind::kBool, text(facts.infos)};
  rows[2] = {"log_warning", Kind::kBool, text(facts.warnings)};
  rows[3] = {"log_error", Kind::kBool, "true"};
  rows[4] = {"log_verbose_level", Kind::kInteger, facts.verbose ? "1" : "0"};
  rows[5] = {"log_format", Kind::kText, "json"};
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
    Given given;
    if (ReadGiven(&in, &given) != 0 || Compare(scratch, json::View(name), given, settings) != 0) return WF_FAILED;
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
    std::string text;
    Given given;
    while (entry.Next(&field)) {
      if (field.Is(kKey, Wire::kBytes)) name = field.text();
      if (field.Is(kValue, Wire::kBytes)) broken = broken || !ReadValue(field.bytes, &given, &text);
    }
    broken = broken || entry.broken();
    if (!broken && Compare(scratch, name, given, settings) != 0) return WF_FAILED;
  }
  if (!broken && !reader.broken()) return 0;
  base::TextBuilder what;
  what << "the message is no message of settings";
  return json::Record(scratch, code::kInputParams, what);
}

}  // namespace wf::oip
