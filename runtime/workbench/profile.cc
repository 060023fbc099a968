#include "runtime/workbench/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/base/json_text.h"

namespace wf::workbench {

using base::Result;
using base::Status;

std::string OperatorOf(const model::Program& program, const model::Plan& plan, size_t step) {
  const int node = plan.steps()[step].node;
  const std::string_view where = plan.Where(step);
  return std::string(node < 0 ? where.substr(0, where.find(' ')) : onnx::OpName(program.graph.nodes[static_cast<size_t>(node)].op));
}

Result<std::unique_ptr<SteppedPlan>> SteppedPlan::Bind(const model::Plan& plan, const base::Clock& clock) {
  std::unique_ptr<SteppedPlan> bound(new SteppedPlan(plan, clock));
  bound->memory_ = kernels::Allocate(std::max<int64_t>(plan.arena_bytes(), 1));
  if (bound->memory_ == nullptr)
    return Status(base::kResourceExhausted, fmt::format("no memory for {} bytes of activations", plan.arena_bytes()));
  const auto address = [&](int index) -> uint8_t* {
    if (index < 0) return nullptr;
    const int64_t offset = plan.buffers()[static_cast<size_t>(index)].offset;
    return offset < 0 ? nullptr : bound->memory_.get() + offset;
  };
  for (const model::Plan::Step& step : plan.steps()) {
    kernels::Buffers buffers;
    for (const int in : step.in) {
      const uint8_t* const constant = in < 0 ? nullptr : plan.buffers()[static_cast<size_t>(in)].constant.get();
      buffers.in.push_back(constant != nullptr ? constant : address(in));
    }
    for (const int out : step.out) buffers.out.push_back(address(out));
    buffers.scratch = bound->memory_.get() + plan.scratch_offset();
    auto call = step.kernel->Bind(buffers);
    if (!call.ok()) return call.status();
    bound->calls_.push_back(*std::move(call));
  }
  return bound;
}

Status SteppedPlan::Run(std::span<const wf_tensor> inputs, std::vector<int64_t>& stamps) {
  stamps.clear();
  for (size_t i = 0; i < calls_.size(); ++i) {
    const model::Plan::Step& step = plan_.steps()[i];
    for (size_t k = 0; k < step.in.size(); ++k) {
      const int input = step.in[k] < 0 ? -1 : plan_.buffers()[static_cast<size_t>(step.in[k])].input;
      if (input >= 0) calls_[i]->SetIn(k, inputs[static_cast<size_t>(input)].data);
    }
    stamps.push_back(clock_.Now());
    if (const char* const failure = calls_[i]->Run()) return Status(base::kInvalidArgument, fmt::format("{}: {}", plan_.Where(i), failure));
  }
  stamps.push_back(clock_.Now());
  return Status::Ok();
}

Result<Profile> ProfileRuns(const model::Program& program, const model::Plan& plan, std::span<const wf_tensor> inputs, int64_t ns) {
  const base::SystemClock clock;
  auto bound = SteppedPlan::Bind(plan, clock);
  if (!bound.ok()) return bound.status();
  Profile profile;
  WF_RETURN_IF_ERROR((*bound)->Run(inputs, profile.stamps));  // memory and caches are warm afterwards
  std::vector<int64_t> spent(plan.steps().size());
  const int64_t begin = clock.Now();
  do {
    WF_RETURN_IF_ERROR((*bound)->Run(inputs, profile.stamps));
    for (size_t i = 0; i < spent.size(); ++i) spent[i] += profile.stamps[i + 1] - profile.stamps[i];
    ++profile.runs;
  } while (clock.Now() - begin < ns);
  int64_t total = 0;
  std::map<std::pair<std::string, std::string>, Share> shares;
  for (size_t i = 0; i < spent.size(); ++i) {
    const model::Plan::Step& step = plan.steps()[i];
    Share& share = shares[{OperatorOf(program, plan, i), step.kernel->impl}];
    ++share.steps;
    share.ns += spent[i] / profile.runs;
    total += spent[i] / profile.runs;
    profile.slowest.emplace_back(i, spent[i] / profile.runs);
  }
  for (auto& [names, share] : shares) {
    std::tie(share.op, share.impl) = names;
    share.share = static_cast<double>(share.ns) / static_cast<double>(std::max<int64_t>(total, 1));
    profile.shares.push_back(std::move(share));
  }
  std::stable_sort(profile.shares.begin(), profile.shares.end(), [](const Share& a, const Share& b) { return a.ns > b.ns; });
  std::stable_sort(profile.slowest.begin(), profile.slowest.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return profile;
}

std::string TraceJson(const model::Program& program, const model::Plan& plan, const Profile& profile) {
  std::string text = "{\"traceEvents\": [";
  for (size_t i = 0; i + 1 < profile.stamps.size(); ++i) {
    const model::Plan::Step& step = plan.steps()[i];
    text += fmt::format(
        "{}\n{{\"name\": {}, \"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": {:.3f}, \"dur\": {:.3f}, \"args\": {{\"node\": {}, \"kernel\": "
        "{}}}}}",
        i == 0 ? "" : ",", base::QuoteJson(OperatorOf(program, plan, i)), static_cast<double>(profile.stamps[i] - profile.stamps[0]) / 1e3,
        static_cast<double>(profile.stamps[i + 1] - profile.stamps[i]) / 1e3, base::QuoteJson(plan.Where(i)),
        base::QuoteJson(step.kernel->impl));
  }
  return text + "\n]}\n";
}

}  // namespace wf::workbench
