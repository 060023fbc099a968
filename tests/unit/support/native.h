#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ir/memory.h"
#include "runtime/abi/plan.h"

namespace wf::test {

// A program compiled into a shared object that finds the runtime's functions in the executable: a file in TMPDIR, which nothing has
// loaded, until this goes.
// Thread: any.   Errors: a program that does not lower is a bug: WF_CHECK.
class SharedObject {
 public:
  // cpu: an Options::target_cpu. watch: instrumented, where the test itself runs under AddressSanitizer. part_weight: of Options; 0: as
  // usual.
  SharedObject(const ir::Program& program, const std::string& cpu, int opt_level = 2, bool watch = false, uint64_t part_weight = 0);
  ~SharedObject();
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  const std::string& path() const { return path_; }
  const std::vector<std::string>& objects() const { return objects_; }  // what was linked

 private:
  std::string path_;
  std::vector<std::string> objects_;
};

// A program as machine code in this process, and no file; the CPU must be one that the code is for.
// Thread: any.
class Native {
 public:
  Native(const ir::Program& program, const std::string& cpu, int opt_level = 2, bool watch = false, uint64_t part_weight = 0);
  ~Native();
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;
  const wf_plan& plan() const { return *plan_; }
  const std::vector<std::string>& objects() const { return objects_; }  // what was linked

 private:
  std::vector<std::string> objects_;
  void* handle_ = nullptr;
  const wf_plan* plan_ = nullptr;
};

using ir::Take;

}  // namespace wf::test
