#pragma once

#include <cstdint>
#include <optional>

#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"
#include "compiler/ir/interpret.h"
#include "compiler/sema/check.h"
#include "compiler/sema/folded.h"
#include "compiler/sema/typed.h"

namespace wf::sema {

// The program of tasks that the checked program means: functions inlined, dimensions bound, nodes cut into tasks where they wait. Published
// workflows only.
// Errors: limits of size, into `diag`; everything else has been checked.   Cost: linear in the inlined program.
std::optional<ir::Program> BuildIr(const Program& program, const source::SourceMap& sources, diag::Emitter& diag);

struct TestBuild {
  std::vector<size_t> tests;  // of Program::tests
  int64_t timeout_ns = 0;     // of each
};
// The program whose workflows are these tests, in this order, with `stub`s in the place of models and remotes; it holds the models that
// they call.
std::optional<ir::Program> BuildTests(const Program& program, const TestBuild& build, const source::SourceMap& sources,
                                      diag::Emitter& diag);

// The value of a pure expression without locals of its own surroundings: an initialiser of `const`. Failures are those of the program
// (an index out of range, `fail`), ir::kOutOfSteps and kMemoryCap; the line is 0. Neither value nor failure: a function that it
// calls has no body, which has been reported. Steps that it took are taken off `left`; of what `folded` knows, as many as it took then.
// `natives`: null where it calls none.
ir::Outcome EvaluateConst(const Program& program, const Expr& expr, ir::Limits& left, Folded* folded = nullptr,
                          const Natives& natives = nullptr);

}  // namespace wf::sema
