#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wf::kernels {

enum class RecurrentCell : uint8_t { kRnn, kGru, kLstm };
enum class ActivationOp : uint8_t {
  kAffine,
  kElu,
  kHardSigmoid,
  kLeakyRelu,
  kRelu,
  kScaledTanh,
  kSigmoid,
  kSoftplus,
  kSoftsign,
  kTanh,
  kThresholdedRelu,
};
struct Activation {
  ActivationOp op = ActivationOp::kTanh;
  float alpha = 0, beta = 0;
};

constexpr int64_t GatesOf(RecurrentCell cell) { return cell == RecurrentCell::kRnn ? 1 : cell == RecurrentCell::kGru ? 3 : 4; }
// Functions of one direction: f, then g and h where the cell has them.
constexpr size_t ActivationsOf(RecurrentCell cell) { return cell == RecurrentCell::kRnn ? 1 : cell == RecurrentCell::kGru ? 2 : 3; }

// One layer over all steps, as ONNX has it. Inputs: x [steps, batch, in], W [directions, gates * hidden, in], R [.., hidden], bias
// [directions, 2 * gates * hidden], lengths [batch] i32, first h, first c, peepholes [directions, 3 * hidden]; all behind R may be absent.
// Outputs: all h [steps, directions, batch, hidden], the last h and c [directions, batch, hidden]. batch_first: the batch is axis 0 of x,
// the outputs and the first h and c. Behind its length a row gives 0. A length beyond the steps fails the call.
struct Recurrent {
  RecurrentCell cell = RecurrentCell::kRnn;
  bool forward = true, backward = false;
  std::vector<Activation> activation;  // ActivationsOf(cell) for each direction
  float clip = 0;                      // of what the functions are applied to; 0: none
  bool linear_before_reset = false, input_forget = false, batch_first = false;
  bool in_bytes = false;  // of an LSTM with axis 0 for steps: x, and the states before each step, are first rounded as bytes.h says
};

}  // namespace wf::kernels
