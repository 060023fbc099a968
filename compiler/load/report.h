#pragma once

#include <optional>
#include <string>

#include "compiler/load/generator.h"
#include "compiler/load/server_times.h"

namespace wf::load {

// What was asked, what came of it, and what the server says of the measured time, if it was asked.
struct Report {
  const Plan& plan;
  const Outcome& outcome;
  std::string url;
  int64_t warm_up_ns = 0;  // before it
  std::optional<ServerTimes> server;
};

std::string ReportText(const Report& report);
std::string ReportJson(const Report& report);  // one object on a line; docs/tools.md has its members

}  // namespace wf::load
