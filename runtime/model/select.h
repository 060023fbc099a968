#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/onnx/reader.h"

namespace wf::model {

// Which versions of a model to load: `versions latest N`, `versions all`, `versions [2, 5]`.
struct VersionPolicy {
  enum class Kind : uint8_t { kLatest, kAll, kSpecific };
  Kind kind = Kind::kLatest;
  std::vector<int64_t> versions = {1};  // kLatest: one number, how many; kSpecific: which
};

// The files to load of what `path` offers, newest first. Errors: none is there, or one of the specific versions is not.
base::Result<std::vector<onnx::VersionFile>> SelectVersions(const std::string& path, const VersionPolicy& policy);

}  // namespace wf::model
