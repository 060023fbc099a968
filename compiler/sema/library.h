#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

// What the standard library has that a program did not import: its files lie beside the prelude. Internal to Check.
namespace wf::sema {

struct Env;

// Read once, by the first name that nothing declares.
struct Library {
  std::set<std::string> modules;                           // `nn`
  std::map<std::string, std::string, std::less<>> module;  // by the functions that they declare
};

bool IsOfLibrary(Env& env, const std::string& module);
std::string LibraryWith(Env& env, std::string_view function);  // the module that declares it; empty: none
std::string HelpToImport(const std::string& module);

}  // namespace wf::sema
