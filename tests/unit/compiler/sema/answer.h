#pragma once

#include <string>
#include <vector>

#include "compiler/ir/scalar.h"
#include "tests/unit/compiler/sema/built.h"

namespace wf::sema {

inline ir::Value Text(std::string text) { return ir::Value::Text(std::move(text)); }
inline ir::Value Int(int64_t value) { return ir::Value::Scalar(static_cast<uint64_t>(value)); }
inline ir::Value Float(float value) { return ir::Value::Scalar(ir::F32Bits(value)); }
inline ir::Value None() { return {}; }
inline ir::Value Some(ir::Value value) {
  ir::Value some = ir::Value::Items({std::move(value)});
  some.bits = 1;
  return some;
}
template <typename T>
ir::Value Tensor(std::vector<int64_t> dims, const std::vector<T>& values) {
  return ir::Value::Tensor(std::move(dims), std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
}
inline ir::Value Floats(const std::vector<float>& values) { return Tensor<float>({static_cast<int64_t>(values.size())}, values); }

// The outputs as "name=value; ..", or "!code message @node" of the failure.
inline std::string Run(const ir::Program& program, const std::string& workflow, const std::vector<ir::Value>& inputs,
                       const ir::Hooks& hooks) {
  for (size_t i = 0; i < program.workflows.size(); ++i) {
    const ir::Workflow& found = program.workflows[i];
    if (found.name != workflow) continue;
    ir::Interpreter interpreter(program, hooks);
    const ir::Interpreter::Reply reply = interpreter.RunWorkflow(i, inputs);
    if (reply.failure) {
      const std::string node = reply.failure->node == ir::NodeId::kNone ? "" : program[reply.failure->node].path;
      return "!" + std::to_string(reply.failure->code) + " " + reply.failure->message + " @" + node;
    }
    std::string text;
    for (size_t k = 0; k < found.out.size(); ++k) {
      const ir::TypeId type = program[found.out[k].slot].type;
      text += (k ? "; " : "") + found.out[k].name + "=" + ir::ToString(program.types, type, (*reply.outputs)[k]);
    }
    std::map<std::string, std::string> annotated;
    for (const ir::Annotation& one : interpreter.annotations()) annotated[one.key] = one.text;
    for (const auto& [key, value] : annotated) text += "; @" + key + "=" + value;
    return text;
  }
  return "no workflow " + workflow;
}

// One program, asked before and after the passes: both must agree.
class Answers {
 public:
  explicit Answers(const std::string& text) : before_(BuildText(text)) {
    EXPECT_TRUE(before_.program.has_value()) << before_.diagnostics;
    if (!before_.program) return;
    after_ = *before_.program;
    passes::Run(after_);
    EXPECT_EQ(ir::Verify(after_), std::nullopt);
    if (std::getenv("WF_PRINT")) fprintf(stderr, "%s\n%s\n", ir::Print(*before_.program).c_str(), ir::Print(after_).c_str());
  }
  std::string operator()(const std::string& workflow, const std::vector<ir::Value>& inputs, const ir::Hooks& hooks = {}) const {
    if (!before_.program) return "not built: " + before_.diagnostics;
    const std::string before = Run(*before_.program, workflow, inputs, hooks), after = Run(after_, workflow, inputs, hooks);
    EXPECT_EQ(before, after) << ir::Print(after_);
    return after;
  }
  const ir::Program& before() const { return *before_.program; }
  const ir::Program& after() const { return after_; }
  std::string diagnostics() const { return before_.diagnostics; }

 private:
  Built before_;
  ir::Program after_;
};

}  // namespace wf::sema
