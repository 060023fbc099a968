#pragma once

#include <string>
#include <string_view>

#include "compiler/sema/env.h"

// What the standard library has that a program did not import: its files lie beside the prelude. Internal to Check.
namespace wf::sema {

bool IsOfLibrary(const Env& env, const std::string& module);         // `nn`
std::string LibraryWith(const Env& env, std::string_view function);  // the module that declares it; empty: none
std::string HelpToImport(const std::string& module);

}  // namespace wf::sema
