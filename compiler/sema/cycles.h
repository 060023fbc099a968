#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/sema/mentions.h"

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

// Searches the declarations that know each other's names, those of a file or of a body, for the cycles that their uses make.
// Thread: loop-confined.   Borrows: the trees of what it has followed.
// Bounds: follows 100,000 names in all its searches; behind that there are no ways but those of one step.
// Cost: of each declaration the names are collected once.
class Cycles {
 public:
  using Find = std::function<std::optional<DeclaredBy>(const std::string& name)>;  // nothing for what is declared elsewhere

  // The shortest way from `from` to `wanted`, both ends named, over what each declaration mentions; nothing when there is none.
  std::optional<std::vector<Step>> WayTo(const std::string& from, const std::string& wanted, const Find& find);

 private:
  const NameSet& MentionedBy(const DeclaredBy& declared);

  std::map<decltype(DeclaredBy::tree), NameSet> mentioned_;
  size_t n_followed_ = 0;
};

}  // namespace wf::sema
