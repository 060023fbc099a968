#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

// Runs bodies and workflows one operation after the other: what every operation means, bit for bit (docs/ir.md), and how constants are
// folded.
namespace wf::ir {

struct Failure {
  int32_t code = 0;
  std::string message;
  uint32_t line = 0;            // 0: unknown
  NodeId node = NodeId::kNone;  // of a workflow
  std::string path = {};        // of that node, with the elements of the loops around it
};
// What takes about as long as a step.
constexpr uint64_t kBytesOfAStep = 128, kMathOpsOfAStep = 4;
// Beside its own step, of what asks for memory: a text; a record, a list or an optional.
constexpr uint64_t kStepsOfAText = 12, kStepsOfItems = 6;
// Of a call of a native, beside what it is given and gives back.
constexpr uint64_t kStepsOfANative = 100;
// A remainder of floats takes a turn for each bit that the exponents are apart.
constexpr uint64_t kTurnsOfAStep = 2;
constexpr int32_t kOutOfSteps = -2;  // a code of Failure beside those of runtime/base/error_codes.def

// The text of a sticky failure.
std::string_view StickyText(int32_t code);

// A value, or why there is none. Neither: a body without a result that ended well.
struct Outcome {
  std::optional<Value> value;
  std::optional<Failure> failure;
};

// What a program asks of the world. All may be empty: natives and models then fail with 9000, metadata is absent.
struct Hooks {
  // `type`: what the native is told (TypeTold), else the result's.
  std::function<Outcome(const std::string& symbol, std::span<const Value> args, TypeId type)> native;
  std::function<Outcome(ModelId model, std::span<const Value> args, TypeId result)> model;  // several results: a record
  std::function<std::optional<std::string>(const std::string& key)> meta;
};
struct Limits {
  uint64_t max_steps = 1'000'000'000;        // operations; long ones count for several
  uint64_t max_bytes = uint64_t{256} << 20;  // elements, texts and items made, over the whole run: nothing is given back
};

struct Annotation {
  std::string key, text;
  bool is_certain = false;  // the reply waits for it; another may be cancelled with the node that it stands in
};

// Thread: loop-confined.   Borrows: program (must outlive this).   Errors: Failure; a program that verify refuses is a bug.
class Interpreter {
 public:
  explicit Interpreter(const Program& program, Hooks hooks = {}, Limits limits = {});
  ~Interpreter();

  // `slots`: value of each slot of the program, by SlotId; only those that the body reads need be there.
  Outcome RunBody(const Body& body, std::span<const Value> slots = {}, uint64_t element = 0);

  struct Reply {
    std::optional<std::vector<Value>> outputs;  // by port
    std::optional<Failure> failure;
  };
  Reply RunWorkflow(size_t workflow, std::vector<Value> inputs);

  // Of all runs so far, in textual order; the last text of a key wins.
  const std::vector<Annotation>& annotations() const { return annotations_; }
  uint64_t steps() const { return steps_; }
  uint64_t bytes() const { return bytes_; }
  bool is_spent() const { return is_spent_; }  // a limit was reached, which a fallback may have caught

 private:
  friend class BodyRun;
  friend class WorkflowRun;
  uint64_t Math(OpKind kind, DType dtype, uint64_t x, uint64_t y);

  const Program& program_;
  Hooks hooks_;
  Limits limits_;
  uint64_t steps_ = 0, bytes_ = 0;
  bool is_spent_ = false;
  std::vector<Annotation> annotations_;
  struct MathBody;
  static std::unique_ptr<MathBody> MakeMath(OpKind kind, DType dtype);
  std::array<std::unique_ptr<MathBody>, 16> math_;  // by kind and dtype, made at first use
};

}  // namespace wf::ir
