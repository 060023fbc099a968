#pragma once

#include <optional>
#include <string>

#include "compiler/sema/dims.h"

namespace wf::sema {

// The callee's type in the caller's terms: with what the arguments of a call gave its type variables, symbols and ranks.
// Thread: confined.   Borrows: all that it is made of.
class Instantiation {
 public:
  enum class Open : uint8_t { kUnknown, kNamed };  // what has no value yet: `_` and poison; or, for messages, its name and `any`
  Instantiation(Types& types, const DimSolver& solver, const TypeBindings& bindings, Open open = Open::kUnknown)
      : types_(types), solver_(solver), bindings_(bindings), open_(open) {}

  // Poison where a dimension has no value that can be computed; `faulty` is that of the callee then.
  TypeRef Of(TypeRef type);
  const std::optional<Dim>& faulty() const { return faulty_; }

 private:
  TypeRef Tensor(const Type& type);
  TypeRef Unbound(const std::string& name) const;
  TypeRef OfAny(Type tensor, TypeRef element) const;

  Types& types_;
  const DimSolver& solver_;
  const TypeBindings& bindings_;
  const Open open_;
  std::optional<Dim> faulty_;
};

}  // namespace wf::sema
