#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/sema/type.h"

namespace wf::sema {

// Two dimensions that have to agree. `nested`: of an element of a list, map or optional, where no run-time check can stand. `bound`: both
// are the caller's, for `wanted` is of what a type variable or `*s` is; else it is the callee's.
struct DimPair {
  Dim wanted, found;
  uint32_t axis = 0;
  bool nested = false, bound = false;
  std::string member = {};  // of a tuple, that has the axis
};

// What the arguments of one call gave the callee's type variables and `*s`. Parts of several are joined; what a parameter that is `T`
// itself gives is compared with what others like it give, and what is demanded with all.
struct TypeBindings {
  std::map<std::string, TypeRef> types;
  std::map<std::string, std::vector<Dim>> rests;
  std::set<std::string> whole, demanded, in_maps;  // type variables; in_maps: those that values of a map are, which keep their form
};

// Compares the structure of two types and collects the dimensions that have to agree; false when the structure differs. Poison and `never`
// fit everything. `bindings`: null where `wanted` holds no variables.
bool MatchTypes(Types& types, TypeRef wanted, TypeRef found, TypeBindings* bindings, std::vector<DimPair>& pairs);

}  // namespace wf::sema
