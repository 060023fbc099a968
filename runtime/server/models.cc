#include "runtime/server/models.h"

namespace wf::server {

struct Models::Loaded {};

Models::Models(const wf_plan& plan, const Settings& settings, const base::Clock& clock) : plan_(plan), settings_(settings), clock_(clock) {}
Models::~Models() = default;

base::Status Models::Load(int, int) {
  catalogue_ = std::make_unique<sched::Catalogue>(1, plan_.n_tasks);
  if (plan_.n_models == 0) return {};
  static_cast<void>(settings_);
  static_cast<void>(clock_);
  return {base::kUnimplemented, "serving models is not built yet"};
}

void Models::Stop() { executor_.reset(); }

}  // namespace wf::server
