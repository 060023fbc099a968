#pragma once

#include <string>

namespace wf::diff {

// The externs of programs, as wfc compiles them: source and object stand in `folder` as externs.cc and externs.o, and machine code in this
// process and in what it forks finds them. Once.   Errors: no compiler of C++ is told and ends the process.
void LoadExterns(const std::string& folder);

}  // namespace wf::diff
