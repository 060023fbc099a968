// `*s`, any number of axes: only signatures of the standard library have it.
#pragma once

#include <string>

#include "compiler/sema/body.h"

namespace wf::sema {

inline bool IsRest(const Dim& dim) {
  const auto symbol = dim.symbol();
  return symbol && symbol->starts_with("*");
}

// `[y, x] => px[y, x]` makes a `u8[h, w, *s]` too: the lambda runs over the axes of `*s` besides, by indices that no program can name, and
// what is indexed by all but as many axes takes these.
inline std::string RestIndexName(size_t axis) { return "*" + std::to_string(axis); }

// How many such indices are in scope.
inline size_t CountRestIndices(const Body& body) {
  size_t count = 0;
  while (body.Find(RestIndexName(count))) ++count;
  return count;
}

}  // namespace wf::sema
