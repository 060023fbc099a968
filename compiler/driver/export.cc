#include "compiler/driver/export.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/backend/backend.h"
#include "compiler/base/quote.h"
#include "compiler/diag/emitter.h"
#include "compiler/driver/interface_of.h"
#include "compiler/interface/proto.h"

namespace wf::driver {
namespace {

// The service that is meant; null: it has said why there is none.
const interface::Service* Choose(const interface::Interface& interface, const std::string& name, Console& console) {
  const auto& services = interface.services;
  if (name.empty() && services.size() == 1) return &services.front();
  const auto row = std::find_if(services.begin(), services.end(), [&](const interface::Service& service) { return service.name == name; });
  if (row != services.end()) return &*row;
  std::vector<std::string> names;
  for (const interface::Service& service : services) names.push_back(service.name);
  const std::string known = fmt::format("there {} {}", names.size() == 1 ? "is" : "are", fmt::join(names, ", "));
  const auto near = diag::Suggest(name, names);
  console.err << (name.empty() ? fmt::format("wfc: several services; choose with `--service`: {}\n", known)
                               : fmt::format("wfc: no service is called `{}`; {}\n", name, near ? *near : known));
  return nullptr;
}

}  // namespace

int ExportService(const Options& options, Console& console) {
  const auto interface = InterfaceOf(options.inputs.front(), options, console);
  if (!interface) return kProgramHasErrors;
  const interface::Service* service = Choose(*interface, options.service, console);
  if (service == nullptr) return kUsage;
  console.out << (options.format == Format::kOpenApi ? source::SeenJson(backend::Get().open_api(*interface, *service))
                                                     : interface::Proto(*interface, *service));
  return kFine;
}

}  // namespace wf::driver
