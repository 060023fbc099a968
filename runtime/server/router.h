#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/abi/plan.h"

namespace wf::server {

// Paths to workflows.
// Thread: immutable.   Borrows: plan.   Cost: Find one hash look-up.
class Router {
 public:
  explicit Router(const wf_plan& plan);

  const wf_workflow* Find(std::string_view path) const;             // "/Service/workflow"; null: none
  std::string_view Nearest(std::string_view path) const;            // for messages; empty: none
  const std::vector<std::string>& paths() const { return paths_; }  // by workflow
  size_t services() const { return services_; }

 private:
  std::vector<std::string> paths_;
  std::unordered_map<std::string_view, const wf_workflow*> by_path_;
  size_t services_ = 0;
};

}  // namespace wf::server
