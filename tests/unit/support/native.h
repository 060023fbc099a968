#pragma once

#include <string>

#include "compiler/ir/ir.h"
#include "runtime/abi/plan.h"

namespace wf::test {

// A program as machine code in this process: compiled into a shared object that finds the runtime's functions in the executable.
// Thread: any.   Errors: a program that does not lower is a bug: WF_CHECK.
class Native {
 public:
  // cpu: an Options::target_cpu. watch: instrumented, where the test itself runs under AddressSanitizer.
  Native(const ir::Program& program, const std::string& cpu, int opt_level = 2, bool watch = false);
  ~Native();
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;
  const wf_plan& plan() const { return *plan_; }
  const std::string& path() const { return path_; }  // of the shared object

 private:
  void* handle_ = nullptr;
  std::string path_;
  const wf_plan* plan_ = nullptr;
};

// Reads a value as the runtime would.
ir::Value Take(const ir::TypeTable& types, ir::TypeId type, const void* address);

}  // namespace wf::test
