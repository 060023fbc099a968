#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "runtime/onnx/reader.h"
#include "tests/bench/loop/recorder.h"

namespace wf::bench {
namespace {

[[noreturn]] void Stop(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

}  // namespace

std::unique_ptr<model::Version> LoadModel(const wf_model& row, const std::string& root) {
  const std::string_view path(reinterpret_cast<const char*>(row.path.ptr), row.path.len);
  const auto versions = onnx::FindVersions(root + "/" + std::string(path));
  if (!versions.ok()) Stop(versions.status().message());
  if (versions->empty()) Stop("no version of " + std::string(path));
  auto loaded = model::Version::Load(versions->back().path, model::LoadOptions{.name = std::string(path)});
  if (!loaded.ok()) Stop(loaded.status().message());
  return std::move(*loaded);
}

}  // namespace wf::bench
