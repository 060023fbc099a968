#include <cstdint>
#include <string_view>

#include "runtime/base/check.h"
#include "tests/unit/runtime/protocol/oip/infer.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"

int OneInput(const uint8_t* data, size_t size) {
  static auto& infer = *new wf::test::Infer(wf::test::TypesPlan());  // kept: what one call leaves behind must not hurt the next
  if (size == 0) return 0;
  constexpr uint8_t kRaw = 0x80;
  const bool raw = (data[0] & kRaw) != 0 && size >= 3;
  const int64_t json_bytes = raw ? data[1] | data[2] << 8 : wf::oip::kAllJson;
  const size_t skipped = raw ? 3 : 1;
  const auto reply = infer.Call((data[0] & 0x7fU) % 6, {reinterpret_cast<const char*>(data + skipped), size - skipped}, json_bytes);
  WF_CHECK(reply.status == 200 || reply.status == 400 || reply.status == 500 || reply.status == 501 || reply.status == 503, reply.status);
  WF_CHECK((reply.code == 0) == (reply.status == 200), reply.code, reply.status);
  WF_CHECK(!reply.text.empty());
  return 0;
}
