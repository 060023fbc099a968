#pragma once

#include <string_view>

#include "compiler/driver/options.h"

namespace wf::driver {

// A phase in the trace that `--time-trace` asks for; nothing without it.
class TraceScope {
 public:
  TraceScope(const Options& options, std::string_view phase);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  const bool is_on_;
};

}  // namespace wf::driver
