#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wf::format {

enum class Doc : uint32_t {};  // a document of a Docs

// Documents that say where lines may break (Wadler, "A prettier printer"), and the printer that decides where they do.
// Owns: all documents made by it.   Borrows: the texts.   Cost: printing is linear in documents times the width; no recursion.
class Docs {
 public:
  Doc Empty() { return Concat({}); }
  Doc Text(std::string_view text);  // without line breaks
  Doc Line();                       // a space, or a line break in a group that is broken
  Doc SoftLine();                   // nothing, or a line break in a group that is broken
  Doc HardLine();                   // a line break
  Doc Blank();                      // an empty line where a line break stands beside it; nothing in a group that is not broken
  Doc IfBroken(std::string_view text);
  Doc Concat(std::vector<Doc> parts);
  Doc Nest(Doc inner);                        // line breaks inside are followed by one more step of margin
  Doc Group(Doc inner, bool broken = false);  // on one line if it fits and nothing inside is forced to break
  // Comments reach to the end of their line: whatever follows begins a new one, and the groups around are broken.
  Doc TrailingComment(std::string_view text);
  Doc OwnComment(std::string_view text);  // on a line of its own

  std::string Print(Doc root, size_t width) const;

 private:
  friend class Printer;
  enum class Kind : uint8_t { kText, kLine, kSoftLine, kHardLine, kBlank, kIfBroken, kConcat, kNest, kGroup, kTrailing, kOwn };
  struct Node {
    Kind kind;
    bool forced = false;  // holds a line break that no group can undo
    std::string_view text = {};
    std::vector<Doc> parts = {};
  };
  Doc Add(Node node);
  const Node& operator[](Doc doc) const { return nodes_[static_cast<size_t>(doc)]; }

  std::vector<Node> nodes_;
};

}  // namespace wf::format
