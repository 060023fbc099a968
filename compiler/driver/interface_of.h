#pragma once

#include <optional>
#include <string>

#include "compiler/driver/console.h"
#include "compiler/driver/options.h"
#include "compiler/interface/interface.h"

namespace wf::driver {

// What clients rely on in a .wf file, which is checked, or in a built server, by its note. Nothing: it has said why.
std::optional<interface::Interface> InterfaceOf(const std::string& path, const Options& options, Console& console);

}  // namespace wf::driver
