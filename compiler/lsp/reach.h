#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wf::lsp {

// Names that may be used where a text ends: parameters, dimensions, `let`s, nodes, names of loops and of indices, told by its tokens alone.
// So they are known in a declaration that does not parse yet.
// Thread: loop-confined.   Cost: Read O(1), amortised; Names O(names).
class Reach {
 public:
  void Read(std::string_view token);
  std::vector<std::string> Names() const;

 private:
  using Words = std::vector<std::string>;
  struct Frame {         // what stands between brackets
    char opener = 0;     // 0: the file
    Words declared;      // by statements that have ended, or by what the brackets belong to
    Words of_statement;  // of the one that is being read: parameters of a function, say
    Words of_value;      // until the next `,`: indices of `=>`
    Words words;         // of the statement, without what inner brackets hold
    Words in_brackets;   // that the last `[..]` of it began its parts with
    Words dims;          // that stand between the `[]` of it
  };

  Frame& top() { return frames_.back(); }
  void Open(std::string_view opener);
  void Close(std::string_view closer);
  void EndStatement();

  std::vector<Frame> frames_{1};
};

}  // namespace wf::lsp
