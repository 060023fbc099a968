#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/command_info.h"

namespace wf::driver {

// What the shell reads to complete the arguments of wfc: commands, flags, their words, files. Nothing for a shell that is not known.
// `shell`: bash, zsh or fish. `modules`: of the standard library, `std.nn`.
std::optional<std::string> CompletionScript(std::string_view shell, const std::vector<CommandInfo>& commands,
                                            const std::vector<std::string>& modules);

}  // namespace wf::driver
