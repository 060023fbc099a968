#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

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
// Thread: immutable.   Borrows: plan.   Cost: Find O(log names).
class Names {
 public:
  using Entry = std::pair<const std::string, const wf_workflow*>;
  explicit Names(const wf_plan& plan);
  const Entry* Find(std::string_view model) const;  // null: none
  std::string_view Nearest(std::string_view model) const;

 private:
  std::map<std::string, const wf_workflow*, std::less<>> by_name_;
};

}  // namespace wf::oip
