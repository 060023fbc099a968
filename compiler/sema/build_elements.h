#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/sema/build_values.h"

// Internal to BuildIr.
namespace wf::sema {

// Counts the elements of a node's `for` and of those inside it against the node's `limit`, before any element starts: those loops that
// every element runs, over lists and tensors whose lengths no element has to compute.
// Thread: loop-confined.   Borrows: all constructor references.
class ElementCount {
 public:
  ElementCount(ir::Program& program, const Values& values, const Workflow& workflow, int64_t limit)
      : out_(program), values_(values), workflow_(workflow), limit_(limit) {}

  // The number of elements of `each`, which stands in no other loop and runs over `sources`.
  ir::ValueId Write(BodyWriter& writer, const Expr& each, const std::vector<ir::ValueId>& sources);
  void WriteCheck(BodyWriter& writer, ir::ValueId count) const;  // fails where it is more than the limit
  bool IsCounted(const Expr& each) const { return counted_.contains(&each); }

 private:
  // A list; or what is left of a tensor from `axis` on.
  struct Part {
    ir::ValueId value = ir::ValueId::kNone;
    size_t axis = 0;
  };
  struct Element {
    const Expr* source;
    Part list = {};                          // its value, of the outermost loop
    ir::ValueId index = ir::ValueId::kNone;  // where it is written
  };

  void Enter(const Expr& each, const Expr* known);
  void CountInside(BodyWriter& writer, const Expr& expr);
  void CountEach(BodyWriter& writer, const Expr& each);
  ir::ValueId SumFrom(BodyWriter& writer, size_t level, ir::ValueId count);

  bool IsCaught() const;
  const Expr& Meant(const Expr& expr) const;  // a `let` by its value
  bool IsKnown(const Expr& expr) const, Varies(const Expr& expr) const;
  const Expr* KnownSource(const Expr& each) const;  // null: there is none
  Part Read(BodyWriter& writer, const Expr& expr) const;
  ir::ValueId LengthOf(BodyWriter& writer, const Expr& source) const;

  ir::Program& out_;
  const Values& values_;
  const Workflow& workflow_;
  const int64_t limit_;
  ir::ValueId count_ = ir::ValueId::kNone;  // of the outermost
  struct Around {
    const Expr* each;
    const Expr* known;  // its KnownSource where it is entered; its own fallback is not around that. Null: of the outermost
  };
  std::vector<Around> around_;  // the loops that are being counted, the outermost first
  std::unordered_map<LocalId, Element> elements_;
  std::unordered_map<LocalId, const Expr*> lets_;  // inside elements
  std::unordered_set<const Expr*> counted_;
};

}  // namespace wf::sema
