#pragma once

#include <string_view>

namespace wf::driver {

// A row of commands.def.
struct CommandInfo {
  std::string_view name, arguments, summary, examples;
};

}  // namespace wf::driver
