#pragma once

#include <functional>
#include <string>

namespace wf::diff {

inline constexpr const char* kLate = "no end in time";

// What a child process said before it ended; `broke` says how when it did not end well: a check, a sanitizer, a signal, or kLate.
struct Said {
  std::string text, broke;
};

// A child of this process, so that what crashes or hangs is one program of many.
// Thread: the one that made it.
class Child {
 public:
  Child(const std::function<std::string()>& work, unsigned most_seconds);
  Said Wait();  // once

 private:
  int pid_ = -1, from_ = -1;
};

}  // namespace wf::diff
