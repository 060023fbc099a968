#pragma once

#include <span>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/protocol/oip/fields.h"

namespace wf::oip {

// A setting of traces or logs that clients may read.
struct Setting {
  std::string_view name;
  // kTexts: a list, of one element; kLonely: a text, which messages say as a list.
  enum class Kind : uint8_t { kBool, kInteger, kText, kTexts, kLonely } kind = Kind::kText;
  std::string_view text;
};

struct LogFacts {
  bool warnings = true, infos = true, verbose = false;
};

// The settings as they stand; nothing is traced for clients. Those of traces are Triton's, with what they are there until they are set.
std::span<const Setting> TraceSettings();
std::span<const Setting> LogSettings(const LogFacts& facts, Setting (&rows)[6]);

// As members of JSON, or as the map `settings` of the message.
void PutSettings(Fields& fields, std::span<const Setting> settings);

// A client asks for settings. 0: for those that stand, or for nothing. Errors: 3000 for another value, 5000 for what is no setting, or no
// value of it.
wf_code CheckSettings(wf_ctx* scratch, wf_bytes json, std::span<const Setting> settings);
wf_code CheckSettingsMessage(wf_ctx* scratch, wf_bytes message, std::span<const Setting> settings);

}  // namespace wf::oip
