#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// What the standard library has that a program did not import: its files lie beside the prelude. Internal to Check.
namespace wf::sema {

struct Env;

// Read once, by the first name that nothing declares.
struct Library {
  std::set<std::string> modules;                                         // `nn`
  std::map<std::string, std::vector<std::string>, std::less<>> holding;  // modules, by the functions that they declare
};

bool IsOfLibrary(Env& env, const std::string& module);
// A module that declares it, of several the one that is preferred; empty: none.
std::string LibraryWith(Env& env, std::string_view function, std::string_view preferred = "");
std::string HelpToImport(const std::string& module);

}  // namespace wf::sema
