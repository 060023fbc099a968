#pragma once

#include "compiler/sema/body.h"
#include "compiler/sema/typed.h"

namespace wf::sema {

// A default, or a part of one, which is of `type` as far as that was known where it is written: of `[]` only the first extent is.
struct DefaultPart {
  TypeRef type = nullptr;
  const ir::Value* value = nullptr;  // null: there is none

  DefaultPart Field(uint32_t field) const {
    return value == nullptr ? DefaultPart{} : DefaultPart{type->fields[field].type, &(*value->items)[field]};
  }
  DefaultPart Held() const;              // what an optional holds, if it does; else itself
  bool LeavesOpen(uint32_t axis) const;  // of a tensor
  bool LeavesOpen() const;               // an axis of it, or of a tensor in it
};

// The default of a parameter as an argument of the call at `span`. Axes that it leaves open are as `wanted` has them; null: nothing is
// known of them.
ExprPtr ReadDefault(Body& body, const std::string& name, const DefaultPart& known, TypeRef wanted, const Span& span);

// Whether an argument is `[]`, or holds it, where a tensor with axes within is wanted: it says nothing of them.
bool LeavesAxesOpen(const ast::Expr& written, TypeRef wanted);

// `[]`, `[[], []]`, where a tensor is wanted.
bool IsWrittenEmpty(const Expr& value);
// Whether such values are all whose axes are not known, in a tuple too.
bool IsKnownButEmpty(const Expr& value);
// Gives the axes that such a value, or one in a tuple, leaves open the extents that `wanted` has.
void CloseAxes(Body& body, ExprPtr& value, TypeRef wanted);

}  // namespace wf::sema
