#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/ast/nodes.h"
#include "compiler/base/source.h"

namespace wf::driver {

// Trees of imported files about which nothing was reported, for programs that import them again as they were: an editor's is read at each
// keystroke.
// Thread: one.   Bounds: kMostBytes of text; all are dropped where another would be beyond.   Cost: Find compares the text.
class ParsedFiles {
 public:
  static constexpr size_t kMostBytes = size_t{4} << 20;

  std::shared_ptr<const ast::File> Find(std::string_view name, source::FileId id, std::string_view text) const;  // null: it is not kept
  void Add(std::string_view name, std::string_view text, std::shared_ptr<const ast::File> file);

 private:
  struct Kept {
    std::string text;
    std::shared_ptr<const ast::File> file;
  };
  std::map<std::pair<std::string, source::FileId>, Kept> kept_;  // spans of a tree name the file by its number
  size_t bytes_ = 0;
};

}  // namespace wf::driver
