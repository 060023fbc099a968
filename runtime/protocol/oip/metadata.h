#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/base/sink.h"
#include "runtime/base/status.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/oip/fields.h"

namespace wf::oip {

// A model as questions name it.
struct ModelFacts {
  std::string_view name;
  const wf_workflow* workflow = nullptr;
  std::span<const int64_t> versions = {};  // ascending
  bool ready = false;
};

// What was counted of a model's calls, by all protocols.
struct Statistics {
  struct Duration {
    uint64_t count = 0, ns = 0;
  };
  uint64_t last_ms = 0;                   // since the epoch; 0: none
  uint64_t inferences = 0;                // samples of calls that succeeded
  Duration success, fail;                 // calls
  uint64_t queue_ns = 0, compute_ns = 0;  // of success.ns: that rows waited, that nodes ran
  // Executions: runs of a model, each as far as calls to it had part in it; of a workflow its calls. What they took: bodies read, nodes
  // run, answers written, as far as they were timed.
  struct Parts {
    double count = 0;
    uint64_t input_ns = 0, compute_ns = 0, output_ns = 0;
    void Add(const Parts& other) {
      count += other.count;
      input_ns += other.input_ns;
      compute_ns += other.compute_ns;
      output_ns += other.output_ns;
    }
  };
  std::map<uint32_t, Parts> by_samples;  // of what calls that succeeded have executed
  Parts of_others;                       // that had other numbers of samples
};

void PutServerMetadata(Fields& fields);
void PutModelReady(Fields& fields, std::string_view name, bool ready);
// Shapes begin with -1: the axis of samples.
void PutModelMetadata(Fields& fields, const wf_plan& plan, const ModelFacts& model);
// Dims are those of one sample; a scalar is [1], reshaped to [].
void PutModelConfig(Fields& fields, const wf_plan& plan, const ModelFacts& model);
void PutStatistics(Fields& fields, std::string_view name, int64_t version, const Statistics& statistics);  // an element of a list
void PutIndex(Fields& fields, const ModelFacts& model);  // elements of a list, one a version

// {"error": message, "code", "name", "path", "data_id", "log_id"}
void WriteError(const protocol::ErrorText& error, wf_sink* out);

// The HTTP status of this dialect, by the canonical one: refusals and deadlines are 503.
int OipStatus(base::StatusCode code);

}  // namespace wf::oip
