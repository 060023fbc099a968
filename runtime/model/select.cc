#include "runtime/model/select.h"

#include <fmt/format.h>

#include <algorithm>

namespace wf::model {

base::Result<std::vector<onnx::VersionFile>> SelectVersions(const std::string& path, const VersionPolicy& policy) {
  auto found = onnx::FindVersions(path);
  if (!found.ok()) return found.status();
  std::reverse(found->begin(), found->end());
  switch (policy.kind) {
    case VersionPolicy::Kind::kAll:
      return found;
    case VersionPolicy::Kind::kLatest: {
      WF_CHECK(policy.versions.size() == 1 && policy.versions[0] > 0, policy.versions.size());
      if (static_cast<int64_t>(found->size()) > policy.versions[0]) found->erase(found->begin() + policy.versions[0], found->end());
      return found;
    }
    case VersionPolicy::Kind::kSpecific:
      break;
  }
  for (const int64_t wanted : policy.versions) {
    const bool there = std::any_of(found->begin(), found->end(), [&](const onnx::VersionFile& each) { return each.version == wanted; });
    if (!there)
      return base::Status(base::kNotFound,
                          fmt::format("`{}`: version {} is not there; the newest is {}", path, wanted, (*found)[0].version));
  }
  std::erase_if(*found, [&](const onnx::VersionFile& each) {
    return std::find(policy.versions.begin(), policy.versions.end(), each.version) == policy.versions.end();
  });
  return found;
}

}  // namespace wf::model
