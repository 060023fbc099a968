#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/interpret.h"
#include "compiler/lower/lower.h"
#include "runtime/abi/plan.h"
#include "tests/unit/support/native.h"

// Stands in for the runtime: the tests' way of running lowered code without a server.
namespace wf::lower::testing {

// What the stand-in runtime keeps for one call.
struct Job {
  wf_ctx ctx;  // first: generated code sees only this
  uint32_t stop = 0;
  struct Chunk {
    std::unique_ptr<char, void (*)(void*)> memory;
    uint64_t bytes;  // that were asked for
  };
  std::vector<Chunk> chunks;
  uint64_t bytes = 0, most_bytes = 0, budget = uint64_t{256} << 20;
  uint64_t turns = 0;  // of folds that gave memory back: each turn does
  int32_t code = 0;
  std::string message, reply;
  uint32_t line = 0;
  std::map<std::string, std::string> meta, annotations;
  const wf_plan* plan = nullptr;
  uint64_t row_padding = 0;  // elements after each row of tensors given to a body, and of WF_STAGED slots
  Job() { ctx.stop = &stop; }
  static Job& Of(wf_ctx* ctx) { return *reinterpret_cast<Job*>(ctx); }
  void* Allocate(uint64_t size);
  // Moves what the value points at to new chunks, and frees the others from `first` on.
  void GiveBack(size_t first, const wf_type* types, uint32_t type, void* value);
};

class Loaded : public test::Native {
 public:
  Loaded(const ir::Program& program, const std::string& cpu, int opt_level = 2, bool watch = false, uint64_t part_weight = 0)
      : Native(program, cpu, opt_level, watch, part_weight), program_(program) {}
  const ir::Program& program() const { return program_; }

  // Runs the body of a task of the root region 0; `inputs` by slot (only those that it reads need be there).
  ir::Outcome Run(size_t task, const std::vector<ir::Value>& inputs, Job* job = nullptr) const;
  // What the plan says of how much work that is. REQUIRES: the task has a cost per unit.
  uint64_t Work(size_t task, const std::vector<ir::Value>& inputs) const;

 private:
  // The root region's frame in `memory`, with the inputs.
  char* Filled(size_t task, const std::vector<ir::Value>& inputs, Job* job, std::vector<char>* memory) const;

  const ir::Program& program_;
};

// Writes a value as the runtime would.
void Put(const ir::TypeTable& types, ir::TypeId type, const ir::Value& value, void* address, Job* job);
using test::Take;

// A program of one root region in which every case is a task with slots of its own.
class Cases {
 public:
  struct Case {
    std::string name;
    std::vector<ir::SlotId> in;
    size_t task;
  };
  using Make = std::function<ir::ValueId(ir::Builder&, const std::vector<ir::ValueId>& in)>;
  ir::Program program;
  std::vector<Case> cases;

  Cases();
  ir::TypeTable& types() { return program.types; }
  // kNone as `out`: a body without a result.
  void Add(const std::string& name, const std::vector<ir::TypeId>& in, ir::TypeId out, const Make& make);
};

// A value of the type: axes that it leaves open get the extents of `open` in turn (the same for every tensor). Floats include the awkward
// ones.
ir::Value RandomValue(const ir::TypeTable& types, ir::TypeId type, const std::vector<int64_t>& open, uint64_t* seed);
uint64_t Random(uint64_t* seed);

// "value 3" or "failure 7001: ..", for comparison and for messages.
std::string Describe(const ir::Program& program, ir::TypeId type, const ir::Outcome& outcome);

}  // namespace wf::lower::testing
