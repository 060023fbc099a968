#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace wf::lower {

// What index-set splitting knows of a build's block: the row falls into pieces in which comparisons of its index do not change, and what
// is read lies side by side. `if i < m { a[i] } else { b[i - m] }` has two, `x[i % n]` one for each period.
// Thread: loop-confined.   Borrows: program types and body.
class Pieces {
 public:
  enum class Role : uint8_t {
    kVaries,  // nothing is known
    kSteady,  // the same all over a piece
    kLine,    // an i64 that grows by one from element to element of a piece
  };
  // An index whose check is left out where it is seen to hold before the piece is run, where these conditions are as said.
  struct Check {
    ir::ValueId id;
    std::vector<std::pair<ir::ValueId, bool>> path;
  };
  Pieces(const ir::TypeTable& types, const ir::Body& body, const ir::Block& block);

  bool is_worth_it() const { return is_worth_it_; }  // otherwise nothing else is of use
  Role Of(ir::ValueId id) const { return roles_[static_cast<size_t>(id)]; }
  const std::vector<ir::ValueId>& known() const { return known_; }      // steady values and lines, in their order; not the parameter
  const std::vector<ir::ValueId>& choices() const { return choices_; }  // steady conditions, by which elements are computed in other ways
  const std::vector<Check>& checks() const { return checks_; }
  bool IsChecked(ir::ValueId id) const;  // is it one of these?

 private:
  void Read(const ir::Block& block);
  bool ReadOp(ir::ValueId id);
  Role RoleOf(const ir::Op& op);
  Role RoleOfBinary(const ir::Op& op);
  bool IsSteady(ir::ValueId id) const { return Of(id) == Role::kSteady; }
  bool IsLine(ir::ValueId id) const { return Of(id) == Role::kLine; }
  void AddChoice(ir::ValueId condition);

  const ir::TypeTable& types_;
  const ir::Body& body_;
  std::vector<Role> roles_;    // by ValueId
  std::vector<bool> changes_;  // by ValueId: a steady value that is another in another piece
  std::vector<std::pair<ir::ValueId, bool>> path_;
  std::vector<ir::ValueId> known_, choices_;
  std::vector<Check> checks_;
  size_t ops_ = 0;
  bool is_worth_it_ = false, is_plain_ = true;
};

}  // namespace wf::lower
