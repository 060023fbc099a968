// How much an expression, as it is written, says of its type.

#include <algorithm>

#include "compiler/sema/check_call.h"
#include "compiler/sema/names.h"

namespace wf::sema {
namespace {

// The function of the library whose result is of the type of its arguments; null when `callee` is none.
const Signature* GenericSignature(const Body& body, const ast::Expr& callee) {
  const auto* member = ast::DynAs<ast::MemberExpr>(callee);
  const auto* name = member != nullptr ? ast::DynAs<ast::NameExpr>(*member->object) : ast::DynAs<ast::NameExpr>(callee);
  if (name == nullptr) return nullptr;
  const Entity* entity = FindEntity(body.module, name->name);
  if (member != nullptr) {
    if (entity == nullptr || entity->kind != EntityKind::kModule || entity->target == nullptr) return nullptr;
    const auto found = entity->target->entities.find(member->member.text);
    entity = found == entity->target->entities.end() ? nullptr : &found->second;
  }
  const bool is_generic =
      entity != nullptr && entity->kind == EntityKind::kFn && entity->signature && entity->signature->result->is_unknown;
  return is_generic ? entity->signature.get() : nullptr;
}

Certainty CertaintyOfCall(const Body& body, const Call& call) {
  const Signature* signature = GenericSignature(body, *call.expr.callee);
  if (signature == nullptr) return Certainty::kWhole;
  Certainty all = Certainty::kOpen;
  size_t next = 0;
  for (const GivenArgument& given : GivenArguments(call)) {
    const auto is_it = [&](const SigParam& param) { return param.name == given.label->text; };
    const auto begin = signature->params.begin(), end = signature->params.end();
    const auto param = given.label != nullptr ? std::find_if(begin, end, is_it)
                                              : begin + static_cast<ptrdiff_t>(std::min(next++, signature->params.size()));
    if (param != end && param->type->is_unknown) all = std::min(all, CertaintyOf(body, *given.value));
  }
  return all;
}

}  // namespace

Certainty CertaintyOf(const Body& body, const ast::Expr& expr) {
  const ast::Expr& bare = Bare(expr);
  if (IsLiteral(bare)) return Certainty::kNumber;
  Certainty all = Certainty::kOpen;
  const auto add = [&](const ast::Expr& part) { all = std::min(all, CertaintyOf(body, part)); };
  const auto add_block = [&](const ast::Block& block) {
    if (block.value) add(*block.value);
  };
  if (const auto* literal = ast::DynAs<ast::LiteralExpr>(bare)) {
    if (literal->literal != ast::LiteralKind::kNone) return Certainty::kWhole;
  } else if (const auto* list = ast::DynAs<ast::ListExpr>(bare)) {
    for (const ast::ExprPtr& element : list->elements) add(*element);
  } else if (const auto* tuple = ast::DynAs<ast::TupleExpr>(bare)) {
    for (const ast::TupleExpr::Field& field : tuple->fields) add(*field.value);
  } else if (const auto* loop = ast::DynAs<ast::ComprehensionExpr>(bare)) {
    add(*loop->value);
  } else if (const auto* choice = ast::DynAs<ast::IfExpr>(bare)) {
    for (const ast::IfExpr::Arm& arm : choice->arms) add_block(arm.block);
    add_block(choice->otherwise);
  } else if (const auto* match = ast::DynAs<ast::MatchExpr>(bare)) {
    for (const ast::MatchExpr::Arm& arm : match->arms) add(*arm.value);
  } else if (const auto* call = ast::DynAs<ast::CallExpr>(bare)) {
    return TakesTypeOfPlace(body, bare) ? Certainty::kOpen : CertaintyOfCall(body, {*call});
  } else if (const auto* piped = ast::DynAs<ast::BinaryExpr>(bare); piped != nullptr && piped->op == ast::BinaryOp::kPipe) {
    const auto* into = ast::DynAs<ast::CallExpr>(*piped->right);
    return into != nullptr ? CertaintyOfCall(body, {*into, piped->left.get()}) : Certainty::kWhole;
  } else if (bare.kind != ast::ExprKind::kFailExpr) {
    return Certainty::kWhole;
  }
  return all;
}

}  // namespace wf::sema
