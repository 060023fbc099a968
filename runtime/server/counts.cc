#include "runtime/server/counts.h"

#include <algorithm>
#include <ctime>
#include <numeric>
#include <span>

#include "runtime/base/error_codes.h"

namespace wf::server {

namespace {

uint64_t WallMs() noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

void Increase(std::atomic<double>& sum, double by) noexcept {  // with one writer
  sum.store(sum.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

}  // namespace

void RequestCounts::Add(wf_code code, int64_t ns, const bus::Bus* bus) noexcept {
  duration.Add(ns);
  if (code == 0) {
    ok.Add();
    ok_ns.Add(static_cast<uint64_t>(std::max<int64_t>(ns, 0)));
    samples.Add(bus == nullptr ? 1 : bus->samples());
    if (bus == nullptr)
      Increase(Of(1).count, 1);
    else
      AddExecutions(*bus);
    return last_ms.Set(WallMs());
  }
  failures.Add(code);
}

void CodeCounts::Add(wf_code code) noexcept {
  const bool of_program = code::IsOfProgram(code);
  for (ByCode& row : std::span(by_code).subspan(of_program ? kRuntimeCodes : 0, of_program ? kProgramCodes : kRuntimeCodes)) {
    const int32_t taken = row.code.load(std::memory_order_relaxed);
    if (taken != code && taken != 0) continue;
    row.code.store(code, std::memory_order_relaxed);
    row.count.Add();
    return;
  }
  other.Add();
}

uint64_t CodeCounts::sum() const noexcept {
  return std::accumulate(std::begin(by_code), std::end(by_code), other.value(),
                         [](uint64_t sum, const ByCode& row) { return sum + row.count.value(); });
}

// Reading and writing are the request's, and so its runs' by how many of its rows are in them.
void RequestCounts::AddExecutions(const bus::Bus& bus) noexcept {
  const bus::Spent& spent = bus.spent();
  const auto add = [&](uint32_t size, double count, double run_ns, double part) {
    BySize& row = Of(size);
    Increase(row.count, count);
    row.input_ns.Add(static_cast<uint64_t>(part * static_cast<double>(spent.input_ns())));
    row.compute_ns.Add(static_cast<uint64_t>(run_ns));
    row.output_ns.Add(static_cast<uint64_t>(part * static_cast<double>(spent.output_ns())));
  };
  queue_ns.Add(static_cast<uint64_t>(spent.queue_ns()));
  compute_ns.Add(static_cast<uint64_t>(spent.compute_ns()));
  if (bus.workflow().is_model == 0) return add(bus.samples(), 1, static_cast<double>(spent.compute_ns()), 1);
  spent.ForRuns(
      [&](const bus::Spent::Runs& runs) { add(runs.batch_rows, runs.count, runs.ns, static_cast<double>(runs.rows) / bus.samples()); });
}

RequestCounts::BySize& RequestCounts::Of(uint32_t size) noexcept {
  for (int i = 0; size != 0 && i < kSizes - 1; ++i) {
    const uint32_t taken = by_size[i].samples.load(std::memory_order_relaxed);
    if (taken != size && taken != 0) continue;
    by_size[i].samples.store(size, std::memory_order_relaxed);
    return by_size[i];
  }
  return by_size[kSizes - 1];
}

LoopCounts::LoopCounts(size_t n_workflows, size_t n_services) : inflight(n_services) {
  requests.resize(n_workflows + 1);
  for (size_t workflow = 0; workflow <= n_workflows; ++workflow) SetVersions(workflow, 1);
}

void LoopCounts::SetVersions(size_t workflow, size_t count) {
  while (requests[workflow].size() < count * kProtocols) requests[workflow].push_back(std::make_unique<RequestCounts>());
}

}  // namespace wf::server
