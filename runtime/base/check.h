#pragma once

#include <source_location>
#include <sstream>
#include <string>

namespace wf::base {

// What the thread is doing, printed by a failed check: a pass name, a node path, a request id.
// Thread: confined to the one that makes it; scopes nest.   Borrows: the text (outlives this).
class CheckContext {
 public:
  explicit CheckContext(const char* what);
  ~CheckContext();
  CheckContext(const CheckContext&) = delete;
  CheckContext& operator=(const CheckContext&) = delete;

 private:
  const char* outer_;
};

[[noreturn]] void CheckFailed(const char* expression, const std::string& values, std::source_location where);

template <typename... Values>
std::string DescribeValues(const Values&... values) {
  std::ostringstream text;
  ((text << ' ' << values), ...);
  return text.str();
}

}  // namespace wf::base

// For our own mistakes only, never for bytes from outside: prints the condition, the values and the context, then aborts (wfc: exit 101).
#define WF_CHECK(cond, ...)                                                                                     \
  do {                                                                                                          \
    if (!(cond)) [[unlikely]]                                                                                   \
      ::wf::base::CheckFailed(#cond, ::wf::base::DescribeValues(__VA_ARGS__), std::source_location::current()); \
  } while (0)
