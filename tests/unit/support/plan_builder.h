#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/abi/plan.h"

namespace wf::test {

enum class Kind : uint8_t { kInt, kTensor, kList, kError };  // i64, i64[w], list<i64>, {code, message, node}

// What a body of a built plan does: mixes everything that it reads into one number, and perhaps fails.
struct Body {
  int64_t salt = 0;
  int64_t fail_modulus = 0, fail_at = 0;  // fails with fail_code when mix % fail_modulus == fail_at; modulus 0: never
  wf_code fail_code = 100001;
  int64_t arms = 0;  // pick: mix % arms; 0: not a pick
};

struct RunOptions {
  Body body;
  bool control = false, compute = false, blocking = false;
  float cost_ns = 500;
  std::vector<int> after = {};
  bool lets_in_early = false;  // SELECT: what its arms read, they wait for themselves
};

// Of tasks that are parts of nodes.
struct TaskOptions {
  int policy = -1;
  std::vector<int> after = {};
};
struct Arms {
  int first, count = 1;  // regions, made one after another
};
struct Fan {
  int body, window;
};

// Builds plans of any shape for tests: regions, slots and tasks by handle, edges from what is read. Bodies are deterministic functions of
// their inputs. Only one built plan may be alive at a time: bodies are compiled functions that look their work up in it.
class PlanBuilder {
 public:
  PlanBuilder();
  ~PlanBuilder();

  int Region(int parent = -1);
  int Slot(int region, Kind kind);
  int Run(int region, std::vector<int> in, int out, const RunOptions& options = {});
  int Model(int region, int model, int in, int out, const TaskOptions& options = {});
  int Enter(int region, int target, std::vector<int> in, int out, const TaskOptions& options = {});
  int Select(int region, Arms arms, std::vector<int> in, int out, const RunOptions& options);  // picks mix % options.body.arms
  int Each(int region, Fan fan, std::vector<int> in, int out, const RunOptions& options);      // mix % options.body.arms elements
  int Return(int region, std::vector<int> in, std::vector<int> after = {});
  void SameNode(int task, int as);  // both are parts of the node of `as`
  void SetResult(int region, int slot);
  void SetFallback(int region, int fallback);  // the fallback's first slot is made here; returns through FirstSlot
  int FirstSlot(int region) const;
  int Policy(const wf_policy& policy);
  int AddModel(bool batched);
  void Workflow(int root, std::vector<int> in, std::vector<int> out, int64_t timeout_ns = 0);

  const wf_plan& Finish(bool with_strands);  // valid while the builder lives

  uint16_t TaskOf(int handle) const { return task_ids_[static_cast<size_t>(handle)]; }
  uint64_t bodies_run() const { return bodies_run_; }  // those of picks left out
  uint16_t SlotOf(int handle) const { return slot_ids_[static_cast<size_t>(handle)]; }

 private:
  struct RegionRow {
    int parent = -1, result = -1, on_error = -1, entering = -1;
    std::vector<int> tasks, slots;
  };
  struct SlotRow {
    int region, writer = -1;
    Kind kind;
  };
  struct TaskRow {
    wf_task row{};
    int region, out = -1, as = -1;
    std::vector<int> in, after, next;
    Body body;
    bool lets_in_early = false;
  };
  struct Input {
    int hops;
    uint32_t offset;
    Kind kind;
  };
  struct Spec {
    std::vector<Input> in;
    bool has_out = false;
    uint32_t out_offset = 0;
    uint16_t out_slot = 0;
    Kind out_kind = Kind::kInt;
    uint32_t element_offset = 0;  // of the body's index; 0: none
    int element_hops = 0;
    Body body;
  };
  template <int kTask>
  struct BodyOf;
  friend struct BodyTable;

  int AddTask(int region, uint8_t kind, std::vector<int> in, int out, std::vector<int> after);
  int Waiter(int task, int home) const;
  int Depth(int region) const;
  void AddEdges();
  void NumberRows();
  void LayOutFrames();
  void EmitTasks(bool with_strands);
  void EmitRegions();
  Spec SpecOf(const TaskRow& task) const;
  static int64_t Mix(const Spec& spec, void* const* frame);
  static wf_code RunBody(int task, wf_ctx* ctx, void* const* frame);
  static int64_t RunPick(int task, wf_ctx* ctx, void* const* frame);

  std::atomic<uint64_t> bodies_run_{0};
  std::vector<RegionRow> regions_;
  std::vector<SlotRow> slots_;
  std::vector<TaskRow> tasks_;
  std::vector<wf_policy> policies_;
  std::vector<wf_model> models_;
  std::vector<int> workflow_in_, workflow_out_;
  int root_ = 0;
  int64_t timeout_ns_ = 0;

  std::vector<uint16_t> task_ids_, slot_ids_;
  std::vector<Spec> specs_;
  std::deque<std::vector<uint16_t>> lists_;
  std::deque<std::string> texts_;
  std::vector<uint32_t> offsets_, frame_bytes_, element_offsets_;
  std::vector<wf_task> task_rows_;
  std::vector<wf_slot> slot_rows_;
  std::vector<wf_region> region_rows_;
  std::vector<wf_node> nodes_;
  std::vector<wf_stage> stages_;
  std::vector<wf_port> in_ports_, out_ports_;
  std::vector<wf_workflow> workflows_;
  wf_plan plan_{};
};

// Reads a value of a built plan for comparison: the mix that a body would see.
int64_t ReadValue(const wf_plan& plan, uint16_t slot, const void* frame);
void WriteInt(const wf_plan& plan, uint16_t slot, void* frame, int64_t value);

}  // namespace wf::test
