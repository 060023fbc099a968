#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "compiler/ast/nodes.h"

namespace wf::sema {

// A declaration on the way round a cycle.
struct Step {
  std::string name;
  source::Span span;
};

// What a name is declared by, and where it stands there.
struct DeclaredBy {
  source::Span span;
  std::variant<const ast::Decl*, const ast::Stmt*> tree;
};

// Searches the declarations that know each other's names, those of a file or of a block, for the cycles that their uses make.
// Thread: loop-confined.   Borrows: the trees of what it has followed.
// Bounds: looks at 10,000,000 uses to find which ways are the shortest; behind that there are none but those of one step.
// Cost: whether there is a way, of all searches together, linear in the declarations and their uses.
class Cycles {
 public:
  using Find = std::function<std::optional<DeclaredBy>(const std::string& name)>;  // nothing for what is declared elsewhere

  // The shortest way from `from` to `wanted`, which uses it, both ends named, over what each declaration mentions; nothing when there is
  // none. `find` means the same in every call.
  std::optional<std::vector<Step>> WayTo(const std::string& from, const std::string& wanted, const Find& find);

 private:
  using Id = uint32_t;
  static constexpr Id kNone = ~Id{0};
  struct Known {  // a name, and what is known of it
    std::string name;
    std::optional<DeclaredBy> declared;
    std::vector<Id> uses, used_by;    // of and by what is declared here too; `uses` in the order of their names
    uint32_t order = 0, reaches = 0;  // among those followed, from 1; the first of them that it leads back to
    Id circle = kNone;                // the same for all that use each other, once that is known
    Id towards = kNone;               // what `steps` leads to
    uint32_t steps = 0;
  };

  Id IdOf(const std::string& name, const Find& find);
  void Read(Id id, const Find& find);
  void Follow(Id first, const Find& find);
  void Measure(Id wanted);

  std::unordered_map<std::string, Id> ids_;
  std::vector<Known> known_;
  std::vector<Id> open_;  // followed, and of a circle that is not known yet
  uint32_t n_followed_ = 0;
  uint64_t n_looked_at_ = 0;  // uses, for ways
};

}  // namespace wf::sema
