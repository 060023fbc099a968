#include "compiler/passes/passes.h"

#include "compiler/ir/verify.h"
#include "runtime/base/check.h"

namespace wf::passes {
namespace {

struct Pass {
  void (*run)(ir::Program&);
  const char* name;
};
constexpr Pass kPasses[] = {
#define PASS(function, name) {function, name},
#include "compiler/passes/passes.def"
#undef PASS
};

}  // namespace

void RunPasses(ir::Program& program, const Options& options) {
  for (const Pass& pass : kPasses) {
    const base::CheckContext context(pass.name);
    pass.run(program);
    if (options.verify) {
      const std::optional<std::string> broken = ir::Verify(program);
      WF_CHECK(!broken, broken.value_or(""));
    }
    if (options.after) options.after(pass.name, program);
  }
}

std::vector<std::string_view> PassNames() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) names.emplace_back(pass.name);
  return names;
}

}  // namespace wf::passes
