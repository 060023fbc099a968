#pragma once

#include <cstdint>

namespace wf::observe {

// What this thread works on, for the line that a crash leaves. Plain stores; read only by the handler on the same thread.
struct Working {
  uint64_t data_id = 0;
};
extern thread_local Working working;

// On SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT writes one line to stderr, then dies of the signal as it would have. Never forks, never
// goes on.
void InstallCrashHandler() noexcept;  // once per process
void UseAlternateStack() noexcept;    // once per thread that runs generated code, so that a stack overflow is told too

}  // namespace wf::observe
