#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/abi/plan.h"

namespace wf::oip {

enum class Call : uint8_t { kNone, kServerMetadata, kServerLive, kServerReady, kModelMetadata, kModelReady, kInfer };

struct Route {
  Call call = Call::kNone;
  std::string_view model;
  std::string_view version;  // empty: none
};

// A path under /v2; kNone for one that is not served.
Route ParsePath(std::string_view path);
inline bool IsPath(std::string_view path) { return path == "/v2" || path.starts_with("/v2/"); }

// Model names: `Service` (its default workflow), `Service.workflow`, and `workflow` where only one service has it.
// Thread: immutable.   Borrows: plan.
class Names {
 public:
  explicit Names(const wf_plan& plan);
  const wf_workflow* Find(std::string_view model) const;
  std::string_view Nearest(std::string_view model) const;

 private:
  std::unordered_map<std::string, const wf_workflow*> by_name_;  // owns the names
  std::unordered_map<std::string_view, const wf_workflow*> views_;
};

}  // namespace wf::oip
