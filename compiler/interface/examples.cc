#include <algorithm>

#include "compiler/interface/describe.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/walk.h"
#include "runtime/base/json_text.h"

namespace wf::interface {
namespace {

using sema::Expr;
using sema::ExprKind;

constexpr size_t kMostBytes = 2048;

// A value that is written out, as JSON; empty for one that is computed.
std::string WrittenOut(const sema::Program& program, const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kScalar:
      return JsonOf(expr.type, ir::Value::Scalar(expr.bits));
    case ExprKind::kText:
      return expr.args.empty() ? JsonOf(expr.type, ir::Value::Text(expr.text)) : "";
    case ExprKind::kConst: {
      const sema::Const& constant = program.consts[expr.index];
      const bool is_long = constant.value.text && constant.value.text->size() > kMostBytes;
      return is_long ? "" : JsonOf(constant.type, constant.value);
    }
    case ExprKind::kBuiltin:  // a tensor is a list that is stacked
      return static_cast<sema::Builtin>(expr.index) == sema::Builtin::kStack ? WrittenOut(program, *expr.args[0]) : "";
    case ExprKind::kNone:
      return "null";
    case ExprKind::kSome:
      return WrittenOut(program, *expr.args[0]);
    case ExprKind::kList:
    case ExprKind::kRecord: {
      const bool list = expr.kind == ExprKind::kList;
      std::string text;
      for (size_t i = 0; i < expr.args.size(); ++i) {
        const std::string part = WrittenOut(program, *expr.args[i]);
        if (part.empty() || text.size() > kMostBytes) return "";
        text += (i == 0 ? "" : ",") + (list ? "" : base::QuoteJson(expr.type->fields[i].name) + ":") + part;
      }
      return list ? "[" + text + "]" : "{" + text + "}";
    }
    default:
      return "";
  }
}

class Finder {
 public:
  explicit Finder(const sema::Program& program) : program_(program) {}

  void Search(const sema::Test& test) {
    for (const sema::Stmt& stmt : test.workflow.body) {
      sema::ForEachExpr(stmt, [&](const Expr& part) {
        sema::ForEachInside(part, [&](const Expr& expr) {
          if (expr.kind == ExprKind::kCallWorkflow || expr.kind == ExprKind::kCallModel) Look(test, expr);
        });
      });
    }
  }
  Examples Take() { return std::move(found_); }

 private:
  void Look(const sema::Test& test, const Expr& call) {
    const bool fails = std::any_of(test.outcomes.begin(), test.outcomes.end(), [&](const sema::Test::Outcome& outcome) {
      return outcome.kind == sema::Test::Kind::kFails && outcome.span.file == call.span.file && outcome.span.begin <= call.span.begin &&
             call.span.end <= outcome.span.end;
    });
    const std::string body = fails ? "" : BodyOf(call);
    if (!body.empty() && body.size() <= kMostBytes) found_.try_emplace({call.kind == ExprKind::kCallModel, call.index}, body);
  }

  std::string BodyOf(const Expr& call) const {
    const bool model = call.kind == ExprKind::kCallModel;
    std::string members;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const std::string value = WrittenOut(program_, *call.args[i]);
      if (value.empty()) return "";
      const std::string& name = model ? program_.models[call.index].in[i].wire_name : program_.workflows[call.index].params[i].wire_name;
      members += (i == 0 ? "" : ",") + base::QuoteJson(name) + ":" + value;
    }
    return "{" + members + "}";
  }

  const sema::Program& program_;
  Examples found_;
};

}  // namespace

Examples ExamplesIn(const sema::Program& program) {
  Finder finder(program);
  for (const sema::Test& test : program.tests) finder.Search(test);
  return finder.Take();
}

}  // namespace wf::interface
