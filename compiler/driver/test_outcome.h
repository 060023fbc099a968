#pragma once

#include <string>
#include <string_view>

#include "compiler/base/source.h"
#include "compiler/driver/test_report.h"
#include "compiler/sema/typed.h"

namespace wf::driver {

// Reads what a test's workflow answered (a result for each statement) and fills passed, reason and details.
void JudgeTest(const sema::Program& program, const sema::Test& test, std::string_view answer, const source::SourceMap& sources,
               TestResult& result);

}  // namespace wf::driver
