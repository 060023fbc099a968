#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace wf::source {

// Goes through a JSON text, which is taken to be UTF-8, piece by piece; what the pieces may be is the caller's to know.
// Thread: loop-confined.   Borrows: the text.   Errors: kInvalidArgument with line, column (in bytes) and what was wanted.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  base::Status Wrong(std::string_view wanted) const;
  base::Status Unexpected(std::string_view wanted);  // the same, with what stands here past space
  void Space();
  bool Take(char c);                     // past space and the character, if it is next
  bool TakeWord(std::string_view word);  // exactly here
  char Peek();                           // past space; 0 at the end
  std::string_view Digits();             // what looks like a number, from here; not taken
  void Skip(size_t bytes) { at_ += bytes; }
  base::Status String(std::string& out);
  base::Status End();  // nothing but space is left

  // [a, b, ..] with `each` for every element.
  template <typename Each>
  base::Status Array(Each each) {
    if (!Take('[')) return Unexpected("`[`");
    if (Take(']')) return base::Status::Ok();
    do {
      WF_RETURN_IF_ERROR(each());
    } while (Take(','));
    return Take(']') ? base::Status::Ok() : Unexpected("`,` or `]`");
  }
  // {"a": x, ..} with `each` for every member, given its name, at its value.
  template <typename Each>
  base::Status Object(Each each) {
    if (!Take('{')) return Unexpected("`{`");
    if (Take('}')) return base::Status::Ok();
    do {
      std::string name;
      WF_RETURN_IF_ERROR(String(name));
      if (!Take(':')) return Unexpected("`:`");
      WF_RETURN_IF_ERROR(each(std::move(name)));
    } while (Take(','));
    return Take('}') ? base::Status::Ok() : Unexpected("`,` or `}`");
  }

 private:
  std::string Found();
  bool Hex4(char32_t& value);
  bool Escape(std::string& out);

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace wf::source
