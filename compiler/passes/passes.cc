#include "compiler/passes/passes.h"

#include <array>

#include "compiler/ir/verify.h"
#include "runtime/base/check.h"

namespace wf::passes {
namespace {

struct Row {
  PassInfo info;
  void (*run)(ir::Program&);
};
constexpr std::array kRows = {
#define PASS(function, flag, help) Row{{flag, help}, &function},
#include "compiler/passes/passes.def"
#undef PASS
};
constexpr auto kInfos = [] {
  std::array<PassInfo, kRows.size()> infos;
  for (size_t i = 0; i < kRows.size(); ++i) infos[i] = kRows[i].info;
  return infos;
}();

}  // namespace

std::span<const PassInfo> AllPasses() { return kInfos; }

void Run(ir::Program& program, const std::function<void(std::string_view, const ir::Program&)>& after) {
  for (const Row& row : kRows) {
    const base::CheckContext context(row.info.flag.data());
    row.run(program);
#ifndef NDEBUG
    const auto broken = ir::Verify(program);
    WF_CHECK(!broken.has_value(), *broken);
#endif
    if (after) after(row.info.flag, program);
  }
}

}  // namespace wf::passes
