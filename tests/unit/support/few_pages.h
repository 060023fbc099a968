#pragma once

#include <cstddef>

namespace wf::test {

// What base::MapPages finds in a test that is linked with --wrap=mmap64.
extern size_t most_mapped;  // at once; a larger piece the system has not
extern size_t mapped;       // bytes, since the test has set it

}  // namespace wf::test
