#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/abi/plan.h"

namespace wf::oip {

enum class Call : uint8_t {
  kNone,
  kServerMetadata,
  kServerLive,
  kServerReady,
  kModelMetadata,
  kModelReady,
  kModelConfig,
  kStatistics,  // of a model, or of all
  kInfer,
  kIndex,
  kLoad,
  kUnload,
  kTrace,
  kLog,
  kSharedMemory,  // not built, whichever it is
};

struct Route {
  Call call = Call::kNone;
  std::string_view model;
  std::string_view version;  // empty: none
  std::string_view id;       // of a call over gRPC, as it stands there; empty: none
};

bool NamesModel(Call call);  // always: it has to be one of ours

// How a path of REST is called.
enum class Verb : uint8_t { kGet, kPost, kEither };
Verb VerbOf(Call call);

// A path under /v2, without a slash at its end; kNone for one that is not served.
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
  std::vector<std::string> All() const;  // each workflow once, as `Service.workflow`

 private:
  std::map<std::string, const wf_workflow*, std::less<>> by_name_;
};

}  // namespace wf::oip
