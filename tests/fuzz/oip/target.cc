#include <cstdint>
#include <string_view>

#include "runtime/base/check.h"
#include "tests/unit/runtime/protocol/oip/infer.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"

int OneInput(const uint8_t* data, size_t size) {
  static auto& infer = *new wf::test::Infer(wf::test::TypesPlan());  // kept: what one call leaves behind must not hurt the next
  if (size == 0) return 0;
  const auto reply = infer.Call(data[0] % 4, {reinterpret_cast<const char*>(data + 1), size - 1});
  WF_CHECK(reply.status == 200 || reply.status == 400 || reply.status == 500 || reply.status == 501 || reply.status == 503, reply.status);
  WF_CHECK((reply.code == 0) == (reply.status == 200), reply.code, reply.status);
  WF_CHECK(!reply.text.empty());
  return 0;
}
