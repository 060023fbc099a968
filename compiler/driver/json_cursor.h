#pragma once

#include <string>
#include <string_view>

namespace wf::driver {

// Reads what our own servers write, member after member. What does not fit leaves `ok` false and yields nothing more.
// Thread: one at a time.   Borrows: the text.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  bool Take(char c);         // skips it if it is next
  std::string Key();         // of the next member, with its colon
  std::string String();      // its value
  std::string_view Value();  // any value, as it stands
  bool ok() const { return ok_; }

 private:
  void SkipString();
  std::string_view text_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace wf::driver
