#pragma once

#include <string>

#include "compiler/sema/typed.h"

namespace wf::driver {

// Statements of C++ that compare what an extern has returned, `*result`, with what it declares: extents with those of the arguments `*a0`,
// `*a1`, .., text with UTF-8. Generated code relies on both.
std::string ResultChecks(const sema::Function& function);

}  // namespace wf::driver
