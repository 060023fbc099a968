#include "compiler/driver/trace.h"

#include "compiler/backend/backend.h"

namespace wf::driver {

TraceScope::TraceScope(const Options& options, std::string_view phase) : is_on_(!options.time_trace.empty()) {
  if (is_on_) backend::Get().trace.begin(phase);
}

TraceScope::~TraceScope() {
  if (is_on_) backend::Get().trace.end();
}

}  // namespace wf::driver
