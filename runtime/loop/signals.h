#pragma once

#include <initializer_list>
#include <memory>
#include <vector>

#include "runtime/loop/loop.h"

namespace wf::loop {

// Signals as calls on a loop.
// Thread: loop-confined.   Owns: its handles, closed with the loop.   Borrows: loop, listener.   Errors: of Watch, those of the system.
class Signals {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnSignal(int signal) noexcept = 0;
  };

  Signals(Loop& loop, Listener& listener);
  ~Signals();  // REQUIRES: Loop::Close was called
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  base::Status Watch(std::initializer_list<int> signals);  // besides those that it watches already

 private:
  struct Handle;
  Loop& loop_;
  Listener& listener_;
  std::vector<std::unique_ptr<Handle>> handles_;
};

}  // namespace wf::loop
