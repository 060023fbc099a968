#include <cstdint>
#include <string_view>

#include "runtime/base/check.h"
#include "runtime/protocol/oip/message_reader.h"
#include "runtime/protocol/oip/question_body.h"
#include "runtime/protocol/oip/settings.h"
#include "runtime/protocol/protobuf/wire.h"
#include "tests/unit/runtime/protocol/oip/infer.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"

namespace {

bool IsMessage(std::string_view bytes) {
  wf::protobuf::Reader reader({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  wf::protobuf::Field field;
  while (reader.Next(&field)) {
  }
  return !reader.broken();
}

void ReadQuestions(wf_bytes message) {
  wf::test::Scratch scratch(wf::test::TypesPlan());
  bool ready = false;
  wf::oip::Setting rows[6];
  for (const std::string_view method : {"ModelInfer", "RepositoryModelLoad", "ServerLive"}) {
    wf::oip::Route route;
    uint64_t raw_bytes = 0;
    wf::oip::ReadRoute(method, message, wf::oip::kFieldsAtOnce, &route, &raw_bytes);
    WF_CHECK(raw_bytes <= message.len, raw_bytes, message.len);
  }
  wf::oip::ReadIndexRequest(scratch.ctx(), {message, true}, &ready);
  wf::oip::CheckLoad(scratch.ctx(), {message, true});
  wf::oip::CheckSettingsMessage(scratch.ctx(), message, wf::oip::LogSettings({}, rows));
  wf::oip::CheckSettingsMessage(scratch.ctx(), message, wf::oip::TraceSettings());
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  static auto& infer = *new wf::test::Infer(wf::test::TypesPlan());  // kept: what one call leaves behind must not hurt the next
  if (size == 0) return 0;
  const std::string_view message(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto reply = infer.CallMessage(data[0] % 6, message);
  WF_CHECK(reply.code == 0 ? IsMessage(reply.text) : !reply.text.empty(), reply.code);
  WF_CHECK(reply.code != 0 || IsMessage(message), reply.code);
  ReadQuestions({data + 1, size - 1});
  return 0;
}
