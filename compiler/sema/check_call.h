#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/sema/check_expr.h"

namespace wf::sema {

// An argument as written, or what stands left of `|>`.
struct GivenArgument {
  const ast::Expr* value = nullptr;
  const ast::Name* label = nullptr;
  Span span;
};
std::vector<GivenArgument> GivenArguments(const Call& call);

// What is given for each parameter, in their order; value null where nothing is. Positional first, then by name (docs/semantics.md 28).
// Reports each mistake once. `declared`: where the callee stands, or an empty span.
struct ParamName {
  std::string name;
  bool required = true;
  Span declared = {};  // nowhere for what is built in
  bool takes_list = false;
};
std::optional<std::vector<GivenArgument>> BindArguments(Body& body, const Call& call, const std::string& callee, const Span& declared,
                                                        const std::vector<ParamName>& params);

// The symbol that stands in an instance for an axis of the tensor that a type variable is.
inline std::string VariableSymbol(const std::string& variable, size_t axis) { return variable + "_" + std::to_string(axis); }

// The function for these bindings of type variables and ranks, made when it is first called; nothing when there is
// none of these types, which is reported of the call.
std::optional<uint32_t> InstanceOf(Env& env, Entity& entity, const TypeBindings& bindings, const Span& call);

// `json.parse(..)`, which is of whatever type is wanted.
bool TakesTypeOfPlace(const Body& body, const ast::Expr& expr);

// Where `T?` is wanted of a plain value, `T`, which MakeSome puts the `?` around; else `wanted`.
TypeRef BelowOptional(TypeRef wanted, const Expr& value);
ExprPtr MakeSome(Body& body, ExprPtr value);

// Of a callee that is not known, or arguments that it does not take: poison. The arguments may hold mistakes of their own.
ExprPtr CheckArgumentsOnly(Body& body, const Call& call, const Where& where, TypeRef meant = nullptr);
// What a call of it yields, whatever its arguments: for editors, of a call that is wrong. Null: that depends on them.
TypeRef MeantBy(Body& body, const Entity& callee);

// check_signature.cc: a call of a signature whose types hold symbols: arguments in parameter order, checks, and the result's type. Used for
// fn, extern, model, remote, stubs and workflows. `expr` has its kind and index set already,
// and as type what is wanted of it: Error where that is not known.
ExprPtr CheckSignatureCall(Body& body, ExprPtr expr, Entity& callee, const Call& call, const Where& where);

}  // namespace wf::sema
