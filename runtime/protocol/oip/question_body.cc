#include "runtime/protocol/oip/question_body.h"

#include "runtime/base/error_codes.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/protobuf/wire.h"

namespace wf::oip {
namespace {

using protobuf::Field;
using protobuf::Reader;
using protobuf::Wire;

// Gives `take` every member, which it reads.
template <typename Take>
wf_code ReadObject(wf_ctx* scratch, wf_bytes json, Take&& take) {
  wf_json in;
  wf_bytes name;
  int32_t more = 0;
  if (json.len == 0) return 0;
  if (wf_json_open(&in, scratch, json) != 0 || wf_json_object(&in) != 0) return WF_FAILED;
  while ((more = wf_json_member(&in, &name)) == 1) {
    if (take(&in, json::View(name)) != 0) return WF_FAILED;
  }
  return more < 0 ? WF_FAILED : wf_json_close(&in);
}

template <typename Take>
wf_code ReadFields(wf_ctx* scratch, wf_bytes message, Take&& take) {
  Reader reader(message);
  Field field;
  while (reader.Next(&field)) take(field);
  if (!reader.broken()) return 0;
  base::TextBuilder what;
  what << "the message is no message of the repository";
  return json::Record(scratch, code::kInputParams, what);
}

// An object; whether it has members.
wf_code ReadParameters(wf_json* in, bool* any) {
  wf_bytes name;
  int32_t more = 0;
  if (wf_json_object(in) != 0) return WF_FAILED;
  while ((more = wf_json_member(in, &name)) == 1) {
    *any = true;
    if (json::SkipValue(in) != 0) return WF_FAILED;
  }
  return more < 0 ? WF_FAILED : 0;
}

}  // namespace

wf_code ReadIndexRequest(wf_ctx* scratch, QuestionBody body, bool* ready_only) {
  *ready_only = false;
  if (body.is_message) {
    return ReadFields(scratch, body.bytes, [ready_only](const Field& field) {
      if (field.Is(2, Wire::kVarint)) *ready_only = field.value != 0;
    });
  }
  return ReadObject(scratch, body.bytes, [ready_only](wf_json* in, std::string_view name) {
    uint8_t ready = 0;
    if (name != "ready") return json::SkipValue(in);
    if (wf_json_scalar(in, WF_BOOL, &ready) != 0) return wf_code{WF_FAILED};
    *ready_only = ready != 0;
    return wf_code{0};
  });
}

wf_code CheckLoad(wf_ctx* scratch, QuestionBody body) {
  bool any = false;
  const wf_code code = body.is_message ? ReadFields(scratch, body.bytes, [&any](const Field& field) { any = any || field.number == 3; })
                                       : ReadObject(scratch, body.bytes, [&any](wf_json* in, std::string_view name) {
                                           return name == "parameters" ? ReadParameters(in, &any) : json::SkipValue(in);
                                         });
  if (code != 0 || !any) return code;
  base::TextBuilder message;
  message << kNothingIsLoaded;
  return json::Record(scratch, code::kNotImplemented, message);
}

}  // namespace wf::oip
