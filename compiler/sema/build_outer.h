#pragma once

#include <optional>
#include <string>

#include "compiler/ir/builder.h"
#include "compiler/sema/typed.h"

namespace wf::sema {

class BodyWriter;

// What surrounds a body: the locals and symbols of the workflow, and the calls that were cut out of its expressions.
class Outer {
 public:
  virtual ~Outer() = default;
  virtual bool Has(LocalId local) const = 0;
  virtual ir::ValueId Read(BodyWriter& writer, LocalId local) = 0;  // called AtRoot
  virtual std::optional<ir::ValueId> Symbol(BodyWriter& writer, const std::string& symbol) = 0;
  virtual bool IsAtHand(const ir::Builder& body,
                        const std::string& symbol) const = 0;             // reading it waits for nothing more than `body` does
  virtual std::optional<ir::SlotId> CutSlot(const Expr& expr) const = 0;  // the value is in this slot
  virtual bool IsFlattened(const Expr& block) const = 0;                  // its steps are tasks of their own
};

}  // namespace wf::sema
