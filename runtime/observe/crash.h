#pragma once

#include "runtime/base/thread.h"
#include "runtime/base/working.h"

namespace wf::observe {

using base::UseAlternateStack;
using base::working;

// On SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT writes one JSON line to stderr, as of the log: the time, the signal, the address where
// there is one, and what the thread worked on (runtime/base/working.h), also when its stack has overflown where it is a base::Thread or
// called UseAlternateStack. Then the process dies of the signal as it would have. Never forks, never goes on. Thread: once per process,
// before other threads start.
void InstallCrashHandler() noexcept;

}  // namespace wf::observe
