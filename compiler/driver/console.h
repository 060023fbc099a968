#pragma once

#include <functional>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>

#include "compiler/sema/check.h"

namespace wf::driver {

enum ExitStatus : int { kFine = 0, kProgramHasErrors = 1, kUsage = 2, kOurBug = 101 };

// The world outside, as far as commands see it; tests bring their own.
// Borrows: the streams.
struct Console {
  std::ostream& out;  // products
  std::ostream& err;  // diagnostics
  bool err_is_terminal = false;
  std::function<const char*(const char*)> environment;  // null for a variable that is not set
  std::string executable;                               // absolute path of wfc, to find what is installed beside it
  std::istream* in = nullptr;                           // for `wfc fmt -` alone
  sema::Natives natives = nullptr;                      // that constants may call
};

// "wfc: message"; what a command that ends with it returns.
inline int Fail(Console& console, std::string_view message, ExitStatus status = kProgramHasErrors) {
  console.err << "wfc: " << message << "\n";
  return status;
}

inline int Usage(Console& console, std::string_view message) { return Fail(console, message, kUsage); }

}  // namespace wf::driver
