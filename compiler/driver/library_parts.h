#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace wf::driver {

// Which declarations of the standard library a program may name. Everything is named by its word: what has none among the words of the
// program (in comments and strings, too), and of the declarations that it names in turn, is nothing to the program. Types are needed all:
// there are few, and some the compiler itself names, as those that `text.tokenizer` has.
// A declaration of the library begins a line, and what is inside of it none, as `wfc fmt` writes it.
// Thread: one.   Borrows: the texts.   Cost: linear in them.
class LibraryParts {
 public:
  void AddProgram(std::string_view text);
  // A module; its number. REQUIRES: before the first TextOf.
  size_t AddModule(std::string_view text);
  // What a module imports, as "std.tensor".
  const std::vector<std::string>& ImportsOf(size_t module) const { return modules_[module].imports; }
  // Of the same length as the module's, with blanks where declarations stand that are not needed.
  std::string TextOf(size_t module);

 private:
  struct Part {
    size_t begin, header, end;  // with the comment above, and without
    bool is_needed = false;
  };
  struct Module {
    std::string_view text;
    std::vector<Part> parts;
    std::vector<std::string> imports;
  };
  struct Place {
    size_t module, part;
  };
  void AddPart(Module& module, size_t begin, size_t header, size_t end);
  void Name(std::string_view text);
  void FollowNames();

  std::vector<Module> modules_;
  std::unordered_multimap<std::string_view, Place> by_name_;
  std::unordered_set<std::string_view> words_;
  std::vector<std::string_view> new_words_;  // not looked up yet
};

}  // namespace wf::driver
