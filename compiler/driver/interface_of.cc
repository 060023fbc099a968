#include "compiler/driver/interface_of.h"

#include <fmt/format.h>

#include "compiler/backend/backend.h"
#include "compiler/driver/compile.h"
#include "compiler/link/inspect.h"

namespace wf::driver {

std::optional<interface::Interface> InterfaceOf(const std::string& path, const Options& options, Console& console) {
  const auto note = link::ReadNote(path);
  if (!note.ok() && path.ends_with(".wf")) {
    Options for_diagnostics = options;
    for_diagnostics.format = Format::kText;
    Compilation compilation(path, for_diagnostics, console);
    if (compilation.RunTo(Phase::kCheck, Compilation::Purpose::kServer)) return compilation.DescribeInterface();
    compilation.Finish();
    return std::nullopt;
  }
  auto read = note.ok() ? backend::Get().interface_of_note(*note) : base::Result<interface::Interface>(note.status());
  if (read.ok()) return *std::move(read);
  if (read.status().code() == base::kNotFound) {
    Fail(console, fmt::format("cannot read `{}`: {}", path, read.status().message()));
    return std::nullopt;
  }
  console.err << fmt::format("wfc: `{}` is neither a .wf file nor a server with its interface: {}\n", path, read.status().message());
  return std::nullopt;
}

}  // namespace wf::driver
