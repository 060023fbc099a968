#include "compiler/sema/build_ir.h"

#include <gmock/gmock.h>

#include "tests/unit/compiler/sema/built.h"

namespace wf::sema {
namespace {

TEST(BuildIr, BuildsTheExamples) {
  for (const char* name : {"hello/hello.wf", "fallback/fallback.wf", "digits/digits.wf"}) {
    Built built = BuildFile(std::string(WF_EXAMPLES) + name);
    ASSERT_TRUE(built.program.has_value()) << name << "\n" << built.diagnostics;
    if (std::getenv("WF_PRINT")) fprintf(stderr, "%s\n", ir::Print(*built.program).c_str());
    passes::Run(*built.program);
    if (std::getenv("WF_PRINT")) fprintf(stderr, "%s\n", ir::Print(*built.program).c_str());
  }
}

}  // namespace
}  // namespace wf::sema
