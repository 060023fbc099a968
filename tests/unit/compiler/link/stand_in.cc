// A runtime of one page for the linker's tests: its main runs the first workflow on the JSON given as argument, one task after the other.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/abi/interpret.h"
#include "runtime/abi/plan.h"
#include "runtime/abi/verify.h"
#include "runtime/abi/version.h"
#include "runtime/base/sink.h"

namespace {

struct Job {
  wf_ctx ctx{nullptr};
  uint32_t stop = 0;
  wf_code code = 0;
  std::string message;
};
Job g_job;

void* Allocate(uint64_t bytes) {
  static std::vector<std::unique_ptr<void, decltype(&std::free)>> chunks;
  chunks.emplace_back(aligned_alloc(64, (bytes + 127) / 64 * 64), &std::free);
  return chunks.back().get();
}

}  // namespace

extern "C" {
extern const char WF_ABI_SYMBOL;
const char WF_ABI_SYMBOL = 1;
void* wf_alloc(wf_ctx*, uint64_t bytes, uint64_t) noexcept { return Allocate(bytes); }
void* wf_grow(wf_ctx*, const void* block, uint64_t used, uint64_t bytes) noexcept { return std::memcpy(Allocate(bytes + 64), block, used); }
wf_code wf_fold_begin(wf_ctx*, wf_fold*) noexcept { return 0; }
int32_t wf_fold_is_full(wf_ctx*, const wf_fold*, uint32_t) noexcept { return 0; }
int32_t wf_fold_keep(wf_ctx*, wf_fold*, const wf_type*, uint32_t, void*) noexcept { return 0; }
wf_code wf_fail(wf_ctx*, wf_code code, uint32_t, wf_bytes text) noexcept {
  g_job.code = code;
  g_job.message.assign(reinterpret_cast<const char*>(text.ptr), text.len);
  return WF_FAILED;
}
int32_t wf_meta(const wf_ctx*, wf_bytes, wf_bytes*) noexcept { return 0; }
wf_code wf_annotate(wf_ctx*, wf_bytes, wf_bytes) noexcept { return 0; }
wf_code wf_out(wf_ctx*, void* const* frame, uint16_t slot) noexcept {
  auto* tensor = reinterpret_cast<wf_tensor*>(static_cast<char*>(frame[0]) + wf_plan_main.slots[slot].offset);
  int64_t elements = 1;
  for (int axis = tensor->rank; axis-- > 0; elements *= tensor->dim[axis]) tensor->stride[axis] = elements;
  tensor->data = Allocate(static_cast<uint64_t>(elements) * 8);
  return 0;
}
}

int main(int argc, char** argv) {
  g_job.ctx.stop = &g_job.stop;
  const wf::base::Status verified = wf::abi::Verify(wf_plan_main);
  if (!verified.ok()) {
    std::printf("%s\n", verified.message().c_str());
    return 1;
  }
  const std::string body = std::string(argc > 1 ? argv[1] : "{}") + std::string(64, '\0');
  const wf_workflow& workflow = wf_plan_main.workflows[0];
  void* frame = Allocate(wf_plan_main.regions[workflow.root].frame_bytes);
  wf::abi::Hooks hooks;
  hooks.ctx = &g_job.ctx;
  hooks.allocate = Allocate;
  hooks.take_failure = [](wf_code) { return wf::abi::PlanFailure{g_job.code, g_job.message, WF_NONE, WF_NONE}; };
  wf_sink sink;
  bool fine = workflow.read_json(&g_job.ctx, {reinterpret_cast<const uint8_t*>(body.data()), body.size() - 64}, frame) == 0;
  if (fine) {
    const wf::abi::Outcome outcome = wf::abi::Interpret(wf_plan_main, workflow, frame, 0, hooks);
    fine = outcome.failure.code == 0 && workflow.write_json(&g_job.ctx, frame, &sink) == 0;
  }
  if (!fine) {
    std::printf("%d: %s\n", g_job.code, g_job.message.c_str());
    return 2;
  }
  for (const wf::base::SinkPiece& piece : sink.Pieces()) std::fwrite(piece.data, 1, piece.bytes, stdout);
  std::printf("\n");
  return 0;
}
