#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "runtime/workbench/arguments.h"

namespace wf::workbench {

// `wfc model NAME`, each with its exit status. `out` and `err`: what people read, and what went wrong.
int Inspect(const Arguments& arguments, std::ostream& out, std::ostream& err);
int RunModel(const Arguments& arguments, std::ostream& out, std::ostream& err);
int BenchModel(const Arguments& arguments, std::ostream& out, std::ostream& err);
int RunTests(const Arguments& arguments, std::ostream& out, std::ostream& err);
int CompareModels(const Arguments& arguments, std::ostream& out, std::ostream& err);

int RunCommand(const std::vector<std::string>& given, std::ostream& out, std::ostream& err);  // the first is the command

}  // namespace wf::workbench
