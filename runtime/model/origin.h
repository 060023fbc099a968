#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/model/numbers.h"
#include "runtime/model/plan.h"

namespace wf::model {

// Follows runs of a plan step by step, to tell where numbers that are not finite come from: the first step that makes one of finite
// numbers, and whether it is the weights' doing, which no input mends. That is certain, and told, of steps that compute with a NaN, or
// multiply by matrices and filters with an infinity; not of those that choose among numbers, and not of an infinity that is added: masks
// are made so.
// Thread: one at a time, that which makes plans.   Borrows: program, plan.   Cost: each result is read once more.
class Origin {
 public:
  Origin(const Program& program, const Plan& plan) : program_(program), plan_(plan) {}

  void Begin();                                  // of a run, with finite inputs
  void Note(size_t step, const uint8_t* arena);  // the step has run, and its results lie there
  // Of the run: where numbers first were not finite, nothing when no step has made one; where weights have made one that reaches an
  // output, else nothing.
  std::optional<std::string_view> first() const { return WhereOf(first_); }
  std::optional<std::string_view> weights() const;

 private:
  static constexpr size_t kNoStep = SIZE_MAX;
  struct State {
    bool finite = true;
    size_t weights = kNoStep;  // the step whose weights made it what it is
  };
  bool HasBadWeights(const onnx::Node& node);
  bool IsFinite(int buffer, const uint8_t* arena) const;
  void NoteResult(size_t step, int out, bool is_finite);
  std::optional<std::string_view> WhereOf(size_t step) const { return step == kNoStep ? std::nullopt : std::optional(plan_.Where(step)); }
  Kinds KindsOfWeight(int weight);

  const Program& program_;
  const Plan& plan_;
  std::vector<State> buffers_;
  std::map<int, Kinds> weights_;  // those that were looked at
  size_t first_ = kNoStep;
};

}  // namespace wf::model
