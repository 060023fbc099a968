#include <cstdint>
#include <string>

#include "runtime/base/check.h"
#include "tests/unit/compiler/format/formatted.h"

int OneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 1 << 14;
  if (size > kMaxBytes) return 0;
  const std::string broken = wf::format::BrokenPromise(std::string(reinterpret_cast<const char*>(data), size));
  WF_CHECK(broken.empty(), broken);
  return 0;
}
