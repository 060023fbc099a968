#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wf::parse {

// Which brackets are open, as the tokens go by. A closer that fits a bracket further out closes that one and the ones inside; one that fits
// none closes nothing. No `(` or `[` reaches beyond a `;`, so one left open there is a mistake of that statement alone.
class OpenBrackets {
 public:
  int32_t innermost() const { return open_.empty() ? -1 : open_.back().number; }  // number of its token, -1 for none
  uint32_t braces() const { return braces_; }                                     // how many `{` are open
  void Add(size_t type, size_t number);

 private:
  struct Open {
    size_t type;
    int32_t number;
  };
  uint32_t& CountOf(size_t opener);
  void Pop();
  void Close(size_t closer);

  std::vector<Open> open_;
  uint32_t parens_ = 0, brackets_ = 0, braces_ = 0;  // in open_
};

}  // namespace wf::parse
