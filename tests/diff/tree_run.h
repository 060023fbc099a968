#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/scalar.h"
#include "tests/diff/tree.h"

// Internal to Tree.
namespace wf::diff {

using sema::Expr;
using sema::ExprKind;
using sema::LocalId;
using sema::TypeRef;

// Of an expression. Both: what was noted in a loop, which goes on with the value and fails at its end. Neither: the run has stopped.
struct Made {
  std::optional<ir::Value> value;
  std::set<int32_t> codes;
  void Take(const Made& other) { codes.insert(other.codes.begin(), other.codes.end()); }
};

// The steps of exp .. pow, which the language defines by operations of the IR; each is made once.
class TreeMath {
 public:
  uint64_t Of(ir::OpKind kind, ir::DType dtype, uint64_t x, uint64_t y);

 private:
  struct One {
    ir::Program program;
    ir::Body body;
    std::unique_ptr<ir::Interpreter> interpreter;
  };
  std::map<std::pair<ir::OpKind, ir::DType>, std::unique_ptr<One>> made_;
};

class TreeRun {
 public:
  TreeRun(const sema::Program& checked, const ir::Program& program) : checked_(checked), program_(program) {}
  TreeAnswer Answer(const std::string& workflow, const std::vector<ir::Value>& inputs, const Input& input);

 private:
  // A function or workflow that is under way.
  struct Frame {
    const std::vector<sema::Local>* names = nullptr;
    std::vector<std::optional<Made>> locals;
    std::map<std::string, int64_t> symbols;
    const sema::Workflow* workflow = nullptr;         // null: of a function
    std::map<LocalId, const sema::Stmt*> statements;  // of the workflow: its nodes and lets, computed where they are read
    std::set<LocalId> under_way;                      // of those
    std::map<LocalId, std::set<int32_t>> errors;      // `err` of the fallbacks that are under way
    std::optional<std::vector<ir::Value>> returned = {};
  };

  // ---- tree_eval.cc ----
  Made Eval(const Expr& expr);
  Made Kind(const Expr& expr), OfArgs(const Expr& expr);
  const Made& Ref(const Expr& expr, Made& storage);
  bool Args(const Expr& expr, std::vector<ir::Value>& args, Made& made);
  bool Take(const Expr& expr, ir::Value& value, Made& made);  // false: there is none
  bool TakeI64(const Expr& expr, int64_t& value, Made& made);
  Made OfField(const Expr& expr), OfText(const Expr& expr), OfIf(const Expr& expr), OfLazy(const Expr& expr), OfBlock(const Expr& expr);
  Made OfListLoop(const Expr& expr), OfFold(const Expr& expr), OfMeta(const Expr& expr);
  Made OfListIndex(const Expr& expr), OfMapIndex(const Expr& expr);
  bool Sources(const sema::Loop& loop, std::vector<ir::Value>& sources, int64_t& count, Made& made);
  void BindLoop(const sema::Loop& loop, const std::vector<ir::Value>& sources, int64_t index);
  Made Failed(int32_t code, const Expr* message);
  Made Unknown(const std::string& why), Broken(const std::string& what);
  bool stopped() const { return !answer_.unknown.empty() || !answer_.broken.empty(); }
  bool Step(size_t steps = 1);          // false: the run has stopped
  void Note(Made& made, int32_t code);  // in a loop over elements it is noted that more may be; the value goes

  // ---- tree_tensors.cc ----
  using ScalarOf = std::function<uint64_t(const std::vector<uint64_t>& x, std::set<int32_t>& codes)>;
  Made Elementwise(const Expr& expr, const std::vector<ir::Value>& args, const ScalarOf& f);
  Made OfUnary(const Expr& expr), OfBinary(const Expr& expr), OfConvert(const Expr& expr), OfBuiltin(const Expr& expr);
  Made OfMath(const Expr& expr, const std::vector<ir::Value>& args);
  Made OfBuild(const Expr& expr), OfReduce(const Expr& expr), OfIndex(const Expr& expr);
  Made OfSlice(const Expr& expr, const ir::Value& tensor, Made made);
  Made OfStack(const Expr& expr, const ir::Value& list), OfReshape(const Expr& expr, const std::vector<ir::Value>& args);
  bool Extents(const Expr& expr, std::vector<int64_t>& extents, Made& made);
  bool IsEqual(TypeRef type, const ir::Value& a, const ir::Value& b);

  // ---- tree_calls.cc ----
  Made OfCall(const Expr& expr), OfModel(const Expr& expr), OfWorkflow(const Expr& expr), OfEach(const Expr& expr);
  void BindParams(Frame& frame, size_t n_params, Made& made, int32_t code);
  void CompareSymbols(const Expr& expr, Frame& callee, const Made& made);
  ir::TypeId TypeOf(TypeRef type);
  ir::Value Zero(TypeRef type);

  // ---- tree_shapes.cc ----
  const Made& Read(LocalId local);
  void Bind(LocalId local, Made made, bool is_again);
  std::optional<int64_t> Value(const base::Dim& dim, std::set<int32_t>& codes);  // nothing: a symbol has none, or `codes` say why
  const int64_t* Symbol(const std::string& name, std::set<int32_t>& codes);
  void AddSymbols(const Expr& expr, const ir::Value& value);
  void AddSymbols(TypeRef type, const ir::Value& value, bool is_again);
  // That the value has the extents which the type says; symbols without a value get one.
  bool HasShape(TypeRef type, const ir::Value& value, std::set<int32_t>& codes);
  void Check(const Expr& expr, Made& made);

  // ---- tree_workflow.cc ----
  using Awaited = std::vector<const sema::Stmt*>;
  const Awaited& AwaitedBy(const Expr& expr);
  Made EvalAwaited(const Expr& expr);  // an expression of a statement
  void Force(const sema::Stmt& stmt);
  Made NodeValue(const sema::Stmt& stmt);
  enum class Passed : uint8_t { kOn, kReturned, kFailed };
  Passed RunStatements(uint32_t block, std::set<int32_t>& codes);
  Passed RunStatement(const sema::Stmt& stmt, std::set<int32_t>& codes);
  Passed RunWorkflow(std::set<int32_t>& codes);  // of the frame

  const sema::Program& checked_;
  ir::Program program_;  // a copy, whose types grow
  TreeMath math_;
  std::map<const Expr*, Awaited> awaited_;
  Frame* frame_ = nullptr;
  const Input* input_ = nullptr;
  TreeAnswer answer_;
  size_t steps_ = 0;
  int tensor_depth_ = 0, loop_depth_ = 0, each_depth_ = 0;
  uint32_t limit_ = 0;  // of the node at hand
  int64_t elements_ = 0;
};

inline int64_t CountOf(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}
uint64_t ElementAt(const ir::Value& tensor, ir::DType dtype, int64_t place);  // of one without elements: 0
const std::vector<ir::Value>& ItemsOf(const ir::Value& value);
inline ir::Value I64(int64_t value) { return ir::Value::Scalar(static_cast<uint64_t>(value)); }

}  // namespace wf::diff
