#include "compiler/sema/model_workflow.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/dims.h"
#include "compiler/sema/model_outputs.h"

namespace wf::sema {
namespace {

ExprPtr Read(LocalId local, TypeRef type, const Span& span) {
  ExprPtr expr = Make(ExprKind::kLocal, type, span);
  expr->local = local;
  return expr;
}

// A symbol is read from the first axis that is it; all further axes must agree with it.
void AddDimensions(const ModelPort& port, uint32_t index, std::set<std::string>& bound, Workflow& out) {
  for (uint32_t axis = 0; axis < port.type->dims.size(); ++axis) {
    const Dim& dim = port.type->dims[axis];
    if (dim.is_constant()) continue;  // the codec compares it
    const auto linear = dim.AsLinear();
    const bool binds = linear && bound.insert(linear->symbol).second;
    if (binds) out.param_symbols.push_back({linear->symbol, {index}, axis, linear->mul, linear->add});
    if (binds && linear->mul == 1) continue;
    const std::string found = port.name + "." + std::to_string(axis);
    out.param_symbols.push_back({found, {index}, axis});
    const std::string place = "axis " + std::to_string(axis) + " of `" + port.wire_name + "` ";
    out.param_checks.push_back({dim, Dim::Symbol(found), place + ExtentText(dim, binds)});
  }
}

}  // namespace

std::string NameIn(const Program& program, const Model& model) {
  const auto has_name = [&](const Model& other) { return other.name == model.name; };
  return std::count_if(program.models.begin(), program.models.end(), has_name) > 1 ? model.qualified : model.name;
}

Workflow WorkflowOf(const Model& model, uint32_t index) {
  Workflow out;
  out.name = model.name;
  out.span = model.span;
  out.stages = {{"s1", false}};
  ExprPtr call = Make(ExprKind::kCallModel, model.result, model.span);
  call->index = index;
  std::set<std::string> bound;
  for (uint32_t i = 0; i < model.in.size(); ++i) {
    const ModelPort& port = model.in[i];
    out.locals.push_back({port.name, port.type, model.span});
    out.params.push_back({i, port.wire_name, true, std::nullopt});
    AddDimensions(port, i, bound, out);
    call->args.push_back(Read(i, port.type, model.span));
  }
  const auto answer = static_cast<LocalId>(out.locals.size());
  out.locals.push_back({model.name, model.result, model.span});
  const auto is_bound = [&](const std::string& symbol) { return bound.contains(symbol); };
  const auto as_it_is = [&](const std::string& symbol) { return is_bound(symbol) ? std::nullopt : std::optional(Dim::Symbol(symbol)); };
  LocateOutputs(model, as_it_is, *call);
  for (const FreshSymbol& fresh : call->fresh) bound.insert(fresh.symbol);
  CheckOutputs(model, [n = 0]() mutable { return Dim::Symbol(".." + std::to_string(n++)); }, is_bound, *call);
  Stmt node;
  node.kind = StmtKind::kNode;
  node.span = model.span;
  node.local = answer;
  node.value = std::move(call);
  node.policy = model.defaults;
  Stmt reply;
  reply.kind = StmtKind::kReturn;
  reply.span = model.span;
  for (uint32_t i = 0; i < model.out.size(); ++i) {
    const ModelPort& port = model.out[i];
    out.results.push_back({port.name, port.type});
    out.result_wire_names.push_back(port.wire_name);
    ExprPtr value = Read(answer, model.result, model.span);
    if (model.out.size() > 1) {
      ExprPtr field = Make(ExprKind::kField, port.type, model.span);
      field->index = i;
      field->args.push_back(std::move(value));
      value = std::move(field);
    }
    reply.results.push_back(std::move(value));
  }
  out.body.push_back(std::move(node));
  out.body.push_back(std::move(reply));
  return out;
}

}  // namespace wf::sema
