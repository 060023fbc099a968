#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace wf::test {

// A call of the workflow `W` of a ServedPlan by the Open Inference Protocol: one sample, whose inputs are the numbers `a` and `b`.
struct SimInference {
  int64_t a = 0, b = 0;
  std::string id;          // that must come back; empty: none
  int64_t timeout_us = 0;  // its own limit; 0: none
  size_t padding = 0;      // bytes that mean nothing
  bool raw_in = false, raw_out = false;
};

struct SimBody {
  std::string bytes;
  size_t json_bytes = 0;  // of them; raw tensors follow. 0: all
};
SimBody RestBody(const SimInference& call);
std::string MessageBody(const SimInference& call);  // of gRPC, with its prefix

// The one number that the answer holds; nothing: it is none, or not that of this call.
std::optional<int64_t> RestValue(const SimInference& call, std::string_view body);
std::optional<int64_t> MessageValue(const SimInference& call, std::string_view body);

}  // namespace wf::test
