#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "compiler/sema/body.h"

namespace wf::sema {

// What a dimension symbol that is not known yet means where a type is written.
enum class SymbolRule : uint8_t {
  kDeclare,  // a signature: it begins to exist
  kUse,      // inside a body: it must exist
  kNone,     // a `type`, a `const`: only integers and `_`
};

inline constexpr std::string_view kAnySymbol = "_";  // the dimension `_`; each read of it is a new symbol
inline Dim AnyDim() { return Dim::Symbol(std::string(kAnySymbol)); }
bool IsAny(const Dim& dim);
bool IsReservedDimension(std::string_view symbol);  // `batch`, which marks an axis in the signatures of models

// Reports what is no extent: a dimension that is too large to compute with or divides by 0, a number below 0 or beyond any memory. `text`:
// how it is written. Nothing: it is one.
std::optional<diag::Builder> ReportNoExtent(const Env& env, const Dim& dim, const Span& span, std::string_view text);

// The meaning of a written type; Types::Error() after a report.
TypeRef ResolveType(Body& body, const ast::Type& type, SymbolRule rule);
std::optional<DType> DTypeNamed(std::string_view name);

// The signature of what is declared, with its name and place; the rest is to be read.
Signature& NewSignature(Entity& entity);

// Resolves parameters and result of a signature in `body`, declares the parameters there as its first locals, and fills `out` (but for its
// name). `result` may be null.
void ReadSignature(Body& body, const std::vector<ast::Param>& params, const ast::Type* result, Signature& out);

// The type with each of its dimensions replaced. Nominal records keep theirs.
TypeRef MapDims(Types& types, TypeRef type, const std::function<Dim(const Dim&)>& map);
TypeRef WithoutSymbols(Types& types, TypeRef type);  // by `_`, but for numbers
// Reports what has more than kMaxParts parts at `span`; `what` is "`T` has" or the like.
bool HasTooManyParts(Env& env, size_t parts, const std::string& what, const Span& span);
inline constexpr const char* kTupleHas = "this tuple has";
// Every dimension of a type, also those in elements of lists.
void ForEachDim(TypeRef type, const std::function<void(const Dim&)>& visit);

}  // namespace wf::sema
