#include "runtime/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace wf::base {
namespace {
thread_local const char* check_context = nullptr;
}  // namespace

CheckContext::CheckContext(const char* what) : outer_(check_context) { check_context = what; }
CheckContext::~CheckContext() { check_context = outer_; }

void CheckFailed(const char* expression, const std::string& values, std::source_location where) {
  std::fprintf(stderr, "internal error: %s:%u: check failed: %s%s%s%s\n", where.file_name(), where.line(), expression,
               values.empty() ? "" : " with", values.c_str(), check_context == nullptr ? "" : "; while in:");
  if (check_context != nullptr) std::fprintf(stderr, "  %s\n", check_context);
  std::abort();
}

}  // namespace wf::base
