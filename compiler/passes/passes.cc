#include "compiler/passes/passes.h"

#include <array>

#include "compiler/ir/verify.h"
#include "runtime/base/check.h"

namespace wf::passes {
namespace {

struct Pass {
  PassInfo info;
  void (*run)(ir::Program&);
};
constexpr std::array kPasses = {
#define PASS(function, flag, help) Pass{{flag, help}, &function},
#include "compiler/passes/passes.def"
#undef PASS
};
constexpr auto kInfos = [] {
  std::array<PassInfo, kPasses.size()> infos;
  for (size_t i = 0; i < kPasses.size(); ++i) infos[i] = kPasses[i].info;
  return infos;
}();

}  // namespace

std::span<const PassInfo> AllPasses() { return kInfos; }

void Run(ir::Program& program, const std::function<void(std::string_view, const ir::Program&)>& after) {
  for (const Pass& pass : kPasses) {
    const base::CheckContext context(pass.info.flag.data());
    pass.run(program);
#ifndef NDEBUG
    const auto broken = ir::Verify(program);
    WF_CHECK(!broken.has_value(), *broken);
#endif
    if (after) after(pass.info.flag, program);
  }
}

}  // namespace wf::passes
