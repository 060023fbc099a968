#include "compiler/natives/natives.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "compiler/ir/memory.h"
#include "compiler/natives/type_rows.h"
#include "runtime/base/error_codes.h"
#include "runtime/bus/bus.h"
#include "runtime/bus/memory.h"
#include "runtime/nodes/nodes.h"

namespace wf::natives {
namespace {

// A job without a request.
struct Job {
  explicit Job(uint64_t max_bytes) : memory(INT64_MAX, static_cast<int64_t>(std::min<uint64_t>(max_bytes, INT64_MAX))) {
    bus.plan_ = &no_plan;
    bus.budget.StartWith(memory);
    bus.arena.Open(memory, bus.budget, kFirstBytes);
    bus.main.bus = &bus;
    bus.main.arena = &bus.arena;
    bus.main.head.stop = &bus.stop_word;
  }
  static constexpr size_t kFirstBytes = 65536 - 64;

  ir::Outcome Failed(wf_code code) {
    const bus::Failure& failure = bus.main.TakeFailure(code);
    return {.value = {}, .failure = ir::Failure{.code = failure.code, .message = std::string(failure.message)}};
  }

  bus::ChunkMemory memory;
  wf_plan no_plan{};
  bus::Bus bus;
};

// A value's fixed part.
class Place {
 public:
  Place(const ir::TypeTable& types, ir::TypeId type) : words_(ir::LayoutOf(types, type).size / sizeof(uint64_t) + 1) {}
  void* address() { return words_.data(); }

 private:
  std::vector<uint64_t> words_;
};

wf_bytes ViewOf(const ir::Value& text) { return {reinterpret_cast<const uint8_t*>(text.text->data()), text.text->size()}; }

ir::Outcome Parse(const ir::TypeTable& types, const ir::Value& text, ir::TypeId type, Job& job) {
  const wf_bytes view = ViewOf(text);
  const TypeRows rows(types);
  Place place(types, type);
  const wf_code code = wf_n_json_parse(job.bus.ctx(), &view, rows.data(), static_cast<uint32_t>(type), place.address());
  if (code != 0) return job.Failed(code);
  return {.value = ir::Take(types, type, place.address()), .failure = {}};
}

ir::Outcome ParseTime(const ir::Value& text, Job& job) {
  const wf_bytes view = ViewOf(text);
  int64_t ns = 0;
  const wf_code code = wf_n_parse_time(job.bus.ctx(), &view, &ns);
  if (code != 0) return job.Failed(code);
  return {.value = ir::Value::Scalar(static_cast<uint64_t>(ns)), .failure = {}};
}

ir::Outcome Build(const ir::TypeTable& types, const ir::Value& value, ir::TypeId type, Job& job) {
  const TypeRows rows(types);
  Place place(types, type);
  const ir::Allocate allocate = [&job](uint64_t bytes) { return wf_alloc(job.bus.ctx(), std::max<uint64_t>(bytes, 1), WF_ALIGN); };
  if (!ir::Put(types, type, value, place.address(), allocate)) return job.Failed(WF_FAILED);
  wf_bytes text{};
  const wf_code code = wf_n_json_build(job.bus.ctx(), place.address(), rows.data(), static_cast<uint32_t>(type), &text);
  if (code != 0) return job.Failed(code);
  return {.value = ir::Value::Text(std::string(reinterpret_cast<const char*>(text.ptr), text.len)), .failure = {}};
}

ir::Outcome FirstEqual(const ir::TypeTable& types, const ir::Value& list, ir::TypeId type, Job& job) {
  const TypeRows rows(types);
  wf_list xs{};
  const ir::Allocate allocate = [&job](uint64_t bytes) { return wf_alloc(job.bus.ctx(), std::max<uint64_t>(bytes, 1), WF_ALIGN); };
  if (!ir::Put(types, type, list, &xs, allocate)) return job.Failed(WF_FAILED);
  wf_tensor first{};
  const wf_code code = wf_n_first_equal(job.bus.ctx(), &xs, rows.data(), static_cast<uint32_t>(type), &first);
  if (code != 0) return job.Failed(code);
  ir::TypeTable own;
  return {.value = ir::Take(own, own.Tensor(ir::DType::kI64, {-1}), &first), .failure = {}};
}

}  // namespace

ir::Outcome Call(const ir::TypeTable& types, const std::string& symbol, std::span<const ir::Value> args, ir::TypeId type,
                 uint64_t max_bytes) {
  Job job(max_bytes);
  if (symbol == "wf_n_json_parse") return Parse(types, args[0], type, job);
  if (symbol == "wf_n_json_build") return Build(types, args[0], type, job);
  if (symbol == "wf_n_first_equal") return FirstEqual(types, args[0], type, job);
  if (symbol == "wf_n_parse_time") return ParseTime(args[0], job);
  constexpr std::string_view kPrefix = "wf_n_";
  const std::string name = symbol.starts_with(kPrefix) ? symbol.substr(kPrefix.size()) : symbol;
  return {.value = {}, .failure = ir::Failure{.code = code::kInference, .message = "`" + name + "` is computed by servers alone"}};
}

}  // namespace wf::natives
