#pragma once

#include <cstdint>

namespace wf::test {

// Calls of operator new by the whole process so far. Only programs that compile count_new.cc have it.
int64_t Allocations();

}  // namespace wf::test
