#include "compiler/sema/dims.h"

#include <gtest/gtest.h>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/dim_bounds.h"
#include "compiler/sema/resolve_type.h"

namespace wf::sema {
namespace {

// A call of a signature with the symbols h, w (and n, an integer parameter), from a body with the symbols a, b.
class DimSolverTest : public ::testing::Test {
 protected:
  DimSolverTest() : env_{input_, diag_, program_, *program_.types, {}, nullptr, {}}, body_(env_, module_, nullptr) {
    signature_.name = "callee";
    signature_.symbols = {"h", "w"};
    for (const char* symbol : {"a", "b"}) body_.symbols.emplace(symbol, Span{});
  }
  static Program MakeProgram() {
    Program program;
    program.types = std::make_unique<Types>();
    return program;
  }
  // Unifies one tensor parameter with one argument.
  void Pass(DimSolver& solver, std::vector<Dim> wanted, std::vector<Dim> found) {
    const TypeRef w = types().Tensor(DType::kF32, std::move(wanted)), f = types().Tensor(DType::kF32, std::move(found));
    std::vector<DimPair> pairs;
    ASSERT_TRUE(MatchTypes(types(), w, f, nullptr, pairs));
    arguments_.push_back(Make(ExprKind::kNone, f, Span{}));
    for (const DimPair& pair : pairs) solver.Add(pair, w, *arguments_.back());
  }
  Types& types() { return *program_.types; }

  const Dim h_ = Dim::Symbol("h"), w_ = Dim::Symbol("w"), a_ = Dim::Symbol("a"), b_ = Dim::Symbol("b");
  source::SourceMap sources_;
  CheckInput input_{{}, sources_, {}};
  diag::Emitter diag_;
  Program program_ = MakeProgram();
  Env env_;
  Module module_;
  Body body_;
  Signature signature_;
  std::vector<ExprPtr> arguments_;
};

TEST_F(DimSolverTest, BindsABareSymbolToWhateverTheArgumentHas) {
  DimSolver solver(body_, signature_);
  Pass(solver, {h_, w_}, {a_ * Dim(2), Dim(3)});
  solver.Finish();
  EXPECT_EQ(solver.ValueOf(h_ * w_), a_ * Dim(6));
  EXPECT_TRUE(solver.TakeChecks().empty());
}

TEST_F(DimSolverTest, LeavesWhatItsArgumentWasCheckedForUnchecked) {
  DimSolver solver(body_, signature_);
  Pass(solver, {h_}, {a_});
  arguments_.push_back(Make(ExprKind::kNone, types().Tensor(DType::kF32, {b_}), Span{}));
  arguments_.back()->checks.push_back(CheckOf(body_, b_, a_, ""));
  solver.Add({.wanted = h_, .found = b_}, arguments_.back()->type, *arguments_.back());
  Pass(solver, {h_}, {b_ * Dim(2)});
  Pass(solver, {h_}, {b_ * Dim(2)});
  solver.Finish();
  const std::vector<DimCheck> checks = solver.TakeChecks();
  ASSERT_EQ(checks.size(), 3u);
  EXPECT_TRUE(checks[0].is_held) << "the argument has found that b is a";
  EXPECT_FALSE(checks[1].is_held);
  EXPECT_TRUE(checks[2].is_held) << "the same equality of one call";
}

TEST_F(DimSolverTest, SolvesLinearDimensionsExactly) {
  DimSolver solver(body_, signature_);
  Pass(solver, {h_ * Dim(2) + Dim(1)}, {Dim(7)});
  Pass(solver, {w_ * Dim(3)}, {a_ * Dim(6)});
  solver.Finish();
  EXPECT_FALSE(solver.failed());
  EXPECT_EQ(solver.ValueOf(h_), Dim(3));
  EXPECT_EQ(solver.ValueOf(w_), a_ * Dim(2));
}

TEST_F(DimSolverTest, KnowsWhatExtentsLieBetween) {
  const auto bounds = [this](const Dim& dim) -> std::string {
    const auto found = BoundsOf(body_, dim);
    if (!found) return "unknown";
    return std::to_string(found->least) + (found->most == DimBounds::kFarBound ? " .. far" : " .. " + std::to_string(found->most));
  };
  EXPECT_EQ(bounds(a_ + Dim(1)), "unknown") << "any integer";
  body_.extents = {"a", "b"};
  EXPECT_EQ(bounds(a_ + Dim(1)), "1 .. 1099511627777");
  EXPECT_EQ(bounds(a_ * Dim(2) - b_), "-1099511627776 .. 2199023255552");
  EXPECT_EQ(bounds(Dim::FloorDiv(a_ + Dim(1), Dim(2)) * Dim(3) + Dim(5)), "5 .. 1649267441669");
  EXPECT_EQ(bounds(a_ * b_ + Dim(7)), "7 .. far");
  EXPECT_EQ(bounds(a_ * b_ * b_ * b_ * b_ + Dim(7)), "7 .. far");
  EXPECT_EQ(bounds(a_ - a_ * b_), "unknown") << "it may wrap";
  EXPECT_EQ(bounds(Dim::FloorDiv(a_ - Dim(1), Dim(2))), "-1 .. 549755813887") << "it rounds down";
  EXPECT_EQ(bounds(Dim::FloorDiv(a_, b_)), "unknown") << "by what may be 0";
  EXPECT_EQ(bounds(a_ + w_), "unknown");
}

TEST_F(DimSolverTest, ChecksNoLeastThatIsProved) {
  const Dim::Linear stated{.symbol = "n", .mul = 1, .add = 2};
  EXPECT_TRUE(LeastCheck(body_, stated, a_ + Dim(2), ""));
  body_.extents = {"a", "b"};
  EXPECT_FALSE(LeastCheck(body_, stated, a_ + Dim(2), ""));
  EXPECT_FALSE(LeastCheck(body_, stated, a_ * b_ * Dim(3) + Dim(2), ""));
  EXPECT_TRUE(LeastCheck(body_, stated, a_ + Dim(1), "")) << "1 where a is 0";
  EXPECT_TRUE(LeastCheck(body_, stated, a_ + b_, ""));
  EXPECT_TRUE(LeastCheck(body_, {.symbol = "n", .mul = -1, .add = 5}, a_ + Dim(2), ""));
}

TEST_F(DimSolverTest, ReportsWhatDoesNotDivide) {
  DimSolver solver(body_, signature_);
  Pass(solver, {h_ * Dim(2)}, {Dim(7)});
  EXPECT_TRUE(solver.failed());
  EXPECT_EQ(diag_.error_count(), 1u);
}

TEST_F(DimSolverTest, AnUnknownRemainderIsCheckedWhenItRuns) {
  DimSolver solver(body_, signature_);
  Pass(solver, {h_ * Dim(2)}, {a_});
  solver.Finish();
  EXPECT_FALSE(solver.failed());
  EXPECT_EQ(solver.TakeChecks().size(), 1u);
}

TEST_F(DimSolverTest, ASecondUseIsProvedRefutedOrChecked) {
  struct Case {
    Dim second;
    bool failed;
    size_t checks;
  };
  for (const Case& test : {Case{a_, false, 0}, Case{a_ + Dim(1), true, 0}, Case{b_, false, 1}}) {
    DimSolver solver(body_, signature_);
    Pass(solver, {h_, h_}, {a_, test.second});
    solver.Finish();
    EXPECT_EQ(solver.failed(), test.failed) << test.second.ToString();
    EXPECT_EQ(solver.TakeChecks().size(), test.checks) << test.second.ToString();
  }
}

TEST_F(DimSolverTest, WaitsForSymbolsThatLaterArgumentsBind) {
  DimSolver solver(body_, signature_);
  Pass(solver, {h_ * w_}, {Dim(12)});
  Pass(solver, {h_, w_}, {Dim(3), Dim(5)});
  solver.Finish();
  EXPECT_TRUE(solver.failed());
}

TEST_F(DimSolverTest, AnIntegerParameterIsItsValue) {
  DimSolver solver(body_, signature_);
  solver.Bind("n", Dim(28), Span{});
  Pass(solver, {h_, Dim::Symbol("n")}, {Dim(1), Dim(27)});
  EXPECT_TRUE(solver.failed());
}

TEST_F(DimSolverTest, ElementsOfListsAreComparedAtOnce) {
  DimSolver solver(body_, signature_);
  Pass(solver, {h_}, {a_});
  const TypeRef wanted = types().List(types().Tensor(DType::kF32, {h_})), found = types().List(types().Tensor(DType::kF32, {b_}));
  std::vector<DimPair> pairs;
  ASSERT_TRUE(MatchTypes(types(), wanted, found, nullptr, pairs));
  arguments_.push_back(Make(ExprKind::kNone, found, Span{}));
  for (const DimPair& pair : pairs) solver.Add(pair, wanted, *arguments_.back());
  EXPECT_TRUE(solver.failed());  // no check can stand inside a list
}

TEST_F(DimSolverTest, StructureThatDiffersDoesNotMatch) {
  std::vector<DimPair> pairs;
  const TypeRef vector = types().Tensor(DType::kF32, {h_}), matrix = types().Tensor(DType::kF32, {h_, w_});
  EXPECT_FALSE(MatchTypes(types(), vector, matrix, nullptr, pairs));
  EXPECT_FALSE(MatchTypes(types(), vector, types().Tensor(DType::kF64, {h_}), nullptr, pairs));
  EXPECT_FALSE(MatchTypes(types(), types().List(vector), vector, nullptr, pairs));
  EXPECT_TRUE(MatchTypes(types(), vector, types().Error(), nullptr, pairs));
}

TEST_F(DimSolverTest, SettlingNamesWhatWasBornInside) {
  const uint32_t mark = body_.NextSymbol();
  const Dim inner = body_.NewSymbol("h", {});
  Expr expr;
  expr.type = types().Record(
      "", {{"px", types().Tensor(DType::kU8, {a_, inner, inner * inner})}, {"all", types().List(types().Tensor(DType::kU8, {AnyDim()}))}});
  Settle(body_, expr, mark);
  ASSERT_EQ(expr.fresh.size(), 1u);
  EXPECT_EQ(expr.fresh[0].path, std::vector<uint32_t>{0});
  EXPECT_EQ(expr.fresh[0].axis, 1u);
  EXPECT_EQ(ToString(expr.type), "(px: u8[a, h, h*h], all: list<u8[_]>)");
}

TEST_F(DimSolverTest, SettlingReplacesWhatCannotBeReadBack) {
  const uint32_t mark = body_.NextSymbol();
  const Dim one = body_.NewSymbol("p", {}), two = body_.NewSymbol("q", {});
  Expr expr;
  expr.type = types().Tensor(DType::kU8, {one * two});
  Settle(body_, expr, mark);
  ASSERT_EQ(expr.fresh.size(), 1u);
  EXPECT_EQ(expr.type->dims[0].symbol(), expr.fresh[0].symbol);
  EXPECT_EQ(ToString(expr.type), "u8[_]");
}

}  // namespace
}  // namespace wf::sema
