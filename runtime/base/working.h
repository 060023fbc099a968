#pragma once

#include <cstdint>

#include "runtime/abi/values.h"

namespace wf::base {

// What this thread works on, for the line that a crash leaves. Plain stores; read only by the handler, on the same thread.
struct Working {
  uint64_t data_id = 0;             // of the request; 0: none, or rows of several
  const wf_bytes* task = nullptr;   // the node's path
  const wf_bytes* model = nullptr;  // its name
};
extern constinit thread_local Working working;

// Says so for as long as it lives.
// Thread: confined to the one that makes it; scopes nest.   Borrows: the texts (outlive this).   Cost: six plain stores.
class WorkingOn {
 public:
  WorkingOn(uint64_t data_id, const wf_bytes* task, const wf_bytes* model = nullptr) noexcept : before_(working) {
    working = {data_id, task, model};
  }
  ~WorkingOn() { working = before_; }
  WorkingOn(const WorkingOn&) = delete;
  WorkingOn& operator=(const WorkingOn&) = delete;

 private:
  const Working before_;
};

}  // namespace wf::base
