#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/bus/bus.h"
#include "runtime/observe/metrics.h"
#include "runtime/protocol/http/breach.h"
#include "runtime/server/protocols.h"

namespace wf::server {

// Failures by their codes, of which those of the runtime have rows that those of the program cannot fill. Beyond, `other`.
// Thread: written by one, read by any.
struct CodeCounts {
  static constexpr int kRuntimeCodes = 24, kProgramCodes = 16, kCodes = kRuntimeCodes + kProgramCodes;
  struct ByCode {
    std::atomic<int32_t> code{0};
    observe::Counter count;
  };
  ByCode by_code[kCodes];  // the runtime's first
  observe::Counter other;
  void Add(wf_code code) noexcept;
  uint64_t sum() const noexcept;
};

// Requests of one workflow by one protocol, as one loop counted them.   Thread: written by its loop alone, read by any.
struct RequestCounts {
  // Executions of those that were fine, by their samples: of a published model its runs, as far as the requests had part in them, by their
  // rows; of a workflow each request, by how many samples it had. Of their time: bus::Spent.
  static constexpr int kSizes = 16;  // beyond, all in the last
  struct BySize {
    std::atomic<uint32_t> samples{0};  // 0: nobody has; in the last: of several sizes
    std::atomic<double> count{0};
    observe::Counter input_ns, compute_ns, output_ns;
  };
  CodeCounts failures;
  BySize by_size[kSizes];
  observe::Counter ok;
  observe::Counter ok_ns, samples, last_ms;  // of those that were fine: their time, their samples, the wall clock at the last
  observe::Counter queue_ns, compute_ns;     // of ok_ns
  observe::Histogram duration;
  // `bus`: null: it never had one.
  void Add(wf_code code, int64_t ns, const bus::Bus* bus = nullptr) noexcept;

 private:
  void AddExecutions(const bus::Bus& bus) noexcept;
  BySize& Of(uint32_t samples) noexcept;
};

// What one loop tells the others and the admin thread.   Thread: written by its loop alone, read by any.
struct LoopCounts {
  LoopCounts(size_t n_workflows, size_t n_services);
  // Before the first loop runs: of a published model, how many versions it has.
  void SetVersions(size_t workflow, size_t count);
  // `workflow` is an index of the plan; their number stands for requests that name none. `version`: from the newest of a published model; 0
  // of others.
  RequestCounts& Of(size_t workflow, Protocol protocol, size_t version = 0) const {
    return *requests[workflow][version * kProtocols + static_cast<size_t>(protocol)];
  }
  // Calls visit(counts) for each version.
  template <typename Visit>
  void ForVersions(size_t workflow, Protocol protocol, Visit&& visit) const {
    for (size_t version = 0; version * kProtocols < requests[workflow].size(); ++version) visit(Of(workflow, protocol, version));
  }

  std::vector<std::vector<std::unique_ptr<RequestCounts>>> requests;  // by workflow, and in it by version and protocol
  std::vector<observe::Counter> inflight;                             // by service
  observe::Counter inflight_all, connections;
  observe::Counter refused_inflight, refused_late, refused_bytes, refused_connections, refused_handshakes, refused_keys, broken_for_memory;
  CodeCounts hidden;                              // failures that are none of their request
  observe::Counter breaches[http::kBreachCount];  // connections that were ended for them
};

}  // namespace wf::server
