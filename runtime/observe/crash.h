#pragma once

#include "runtime/base/working.h"

namespace wf::observe {

using base::working;

// On SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT writes one JSON line to stderr: the signal, the address, and what the thread worked on
// (runtime/base/working.h). Then the process dies of the signal as it would have. Never forks, never goes on.
// Thread: once per process, before other threads start.
void InstallCrashHandler() noexcept;

// The stack that the handler runs on, so that a stack overflow is told too. Once per thread that runs generated code; lives as long as the
// process.
void UseAlternateStack() noexcept;

}  // namespace wf::observe
