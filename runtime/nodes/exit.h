#pragma once

#include <csetjmp>

namespace wf::nodes {

// The way out of libraries of C whose errors must not return to them.
// Thread: confined to the call.
class Exit {
 public:
  // False when `body` was left by Leave, at whatever depth: nothing in between may have a destructor.
  template <typename Body>
  [[gnu::noinline]] bool Try(const Body& body) {
    if (setjmp(place_) != 0) return false;
    body();
    return true;
  }
  [[noreturn]] void Leave() { std::longjmp(place_, 1); }

 private:
  std::jmp_buf place_;
};

}  // namespace wf::nodes
