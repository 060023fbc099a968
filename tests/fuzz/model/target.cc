#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "runtime/model/version.h"

int OneInput(const uint8_t* data, size_t size) {
  const int fd = memfd_create("model", MFD_CLOEXEC);
  WF_CHECK(fd >= 0);
  WF_CHECK(write(fd, data, size) == static_cast<ssize_t>(size));
  wf::model::LoadOptions options;
  options.max_rows = 2;
  options.max_bytes = 16 << 10;
  options.texts = wf::onnx::TextPorts::kAll;
  options.given = wf::onnx::Given{{{"x[0]", WF_F32, {wf::onnx::Dim(2)}}, {"x[1]", WF_F32, {wf::onnx::Dim(3)}}}, {"absent"}};
  const auto version = wf::model::Version::Load("/proc/self/fd/" + std::to_string(fd), options);
  if (!version.ok()) WF_CHECK(!version.status().message().empty());
  close(fd);
  return 0;
}
