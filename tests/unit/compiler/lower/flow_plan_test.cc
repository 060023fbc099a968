// Workflows with control flow: the lowered plan, run by abi::Interpret, ends as ir's interpreter says that the program does.

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/passes/passes.h"
#include "runtime/abi/interpret.h"
#include "runtime/abi/verify.h"
#include "tests/unit/compiler/lower/harness.h"
#include "tests/unit/compiler/sema/answer.h"

namespace wf::lower::testing {
namespace {

using sema::Floats;
using sema::Int;
using sema::None;
using sema::Some;
using sema::Text;

constexpr wf_code kRefusedByModel = 9000;

// A model adds 1; it refuses what begins below 0.
ir::Outcome PlusOne(std::span<const ir::Value> args) {
  std::vector<float> elements(args[0].text->size() / sizeof(float));
  if (!elements.empty()) std::memcpy(elements.data(), args[0].text->data(), args[0].text->size());
  if (!elements.empty() && elements[0] < 0) return {.value = {}, .failure = ir::Failure{.code = kRefusedByModel, .message = "negative"}};
  for (float& element : elements) element += 1;
  return {.value = sema::Tensor<float>(args[0].dims, elements), .failure = {}};
}

abi::PlanFailure RunModel(Job& job, const wf_tensor& in, wf_tensor& out) {
  int64_t count = 1;
  for (int i = 0; i < in.rank; ++i) count *= in.dim[i];
  const auto* const from = static_cast<const float*>(in.data);
  if (count > 0 && from[0] < 0) return {kRefusedByModel, "negative", WF_NONE, WF_NONE};
  out = in;
  auto* const to = static_cast<float*>(job.Allocate(static_cast<uint64_t>(count) * sizeof(float)));
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] + 1;
  out.data = to;
  return {};
}

std::string ByInterpreter(const ir::Program& program, size_t workflow, const std::vector<ir::Value>& inputs) {
  ir::Hooks hooks;
  hooks.model = [](ir::ModelId, std::span<const ir::Value> args, ir::TypeId) { return PlusOne(args); };
  ir::Interpreter interpreter(program, hooks);
  const ir::Interpreter::Reply reply = interpreter.RunWorkflow(workflow, inputs);
  if (reply.failure)
    return "!" + std::to_string(reply.failure->code) + " " + reply.failure->message + " @" + program[reply.failure->node].path;
  std::string text;
  const ir::Workflow& row = program.workflows[workflow];
  for (size_t i = 0; i < row.out.size(); ++i) text += ir::ToString(program.types, program[row.out[i].slot].type, (*reply.outputs)[i]) + ";";
  return text;
}

std::string ByPlan(const Loaded& loaded, size_t number, const std::vector<ir::Value>& inputs) {
  const ir::Program& program = loaded.program();
  const wf_plan& plan = loaded.plan();
  const wf_workflow& workflow = plan.workflows[number];
  Job job;
  job.plan = &plan;
  auto* const frame = static_cast<char*>(job.Allocate(plan.regions[workflow.root].frame_bytes));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const wf_port& port = workflow.in[i];
    Put(program.types, program[static_cast<ir::SlotId>(port.slot)].type, inputs[i], frame + plan.slots[port.slot].offset, &job);
  }
  abi::Hooks hooks;
  hooks.ctx = &job.ctx;
  hooks.allocate = [&](uint64_t bytes) { return job.Allocate(bytes); };
  hooks.take_failure = [&](wf_code code) {
    const abi::PlanFailure failure{code == WF_FAILED ? job.code : code, job.message, WF_NONE, WF_NONE};
    job.code = 0;
    return failure;
  };
  hooks.model = [&](uint64_t, uint16_t, const wf_tensor* const* in, wf_tensor* const* out) { return RunModel(job, *in[0], *out[0]); };
  const abi::Outcome outcome = abi::Interpret(plan, workflow, frame, 0, hooks);
  if (outcome.failure.code != 0) {
    const wf_bytes path = plan.nodes[outcome.failure.node].path;
    return "!" + std::to_string(outcome.failure.code) + " " + outcome.failure.message + " @" +
           std::string(reinterpret_cast<const char*>(path.ptr), path.len);
  }
  std::string text;
  for (int i = 0; i < workflow.n_out; ++i) {
    const uint16_t slot = workflow.out[i].slot;
    const ir::TypeId type = program.slots[slot].type;
    text += ir::ToString(program.types, type, Take(program.types, type, frame + plan.slots[slot].offset)) + ";";
  }
  return text;
}

// Both agree on every input; what they say.
std::vector<std::string> Agreed(const std::string& text, const std::vector<std::vector<ir::Value>>& inputs, int opt_level = 2) {
  sema::Built built = sema::BuildText(text);
  EXPECT_TRUE(built.program.has_value()) << built.diagnostics;
  if (!built.program) return {};
  const ir::Program before = *built.program;
  passes::Run(*built.program);
  const Loaded loaded(*built.program, "generic", opt_level);
  const base::Status verified = abi::Verify(loaded.plan());
  EXPECT_TRUE(verified.ok()) << verified.message() << "\n" << ir::Print(*built.program);
  std::vector<std::string> answers;
  for (const std::vector<ir::Value>& one : inputs) {
    answers.push_back(ByInterpreter(before, 0, one));
    EXPECT_EQ(ByPlan(loaded, 0, one), answers.back()) << ir::Print(*built.program);
  }
  return answers;
}

TEST(FlowPlan, StatementsDecideAsTheInterpreterDoes) {
  std::vector<std::vector<ir::Value>> inputs;
  for (int64_t n = -2; n < 13; ++n) {
    for (const float x : {2.0f, -5.0f}) inputs.push_back({Int(n), Floats({x, 1}), n % 2 == 0 ? None() : Some(Text("w"))});
  }
  const std::vector<std::string> answers = Agreed(R"(
    error Small = 200 "small";
    error Odd = 201 "odd";
    model M(x: f32[n]) -> f32[n] = onnx("m");
    workflow W(n: i64, x: f32[k], word: string?) -> (y: f32[k], how: string) {
      require len(x) == 2;
      node first = M(x);
      let known = match word { none => "nothing", "w" => "w", other => other };
      if n < 0 { fail Small("n is {n}"); } else if n == 0 { return (y: x, how: known); } else if n < 10 {
        node second = M(first);
        if n % 2 == 1 { require n != 7 else fail Odd; return (y: second, how: "odd {known}"); }
        annotate("path", "even");
      } else if n == 11 { return (y: first, how: "eleven"); }
      node third = M(M(first));
      return (y: third, how: "to the end");
    }
    service S { workflow W; })",
                                                  inputs);
  EXPECT_EQ(answers[4], "[2]{2, 1};\"nothing\";");   // n = 0
  EXPECT_EQ(answers[5], "[2]{-5, 1};\"nothing\";");  // M failed, and nobody asks
  EXPECT_EQ(answers[6], "[2]{4, 3};\"odd w\";");
  EXPECT_EQ(answers[18], "!201 odd @W");
}

TEST(FlowPlan, LoopsAndCalledWorkflowsDo) {
  std::vector<std::vector<ir::Value>> inputs;
  for (const std::vector<float>& row : std::vector<std::vector<float>>{{}, {1}, {3, 1, 2}, {3, -1, 2, 200}, {200, -1}}) {
    std::vector<ir::Value> items;
    for (const float value : row) items.push_back(sema::Float(value));
    for (int64_t n = 0; n < 4; ++n) inputs.push_back({ir::Value::Items(items), sema::Tensor<float>({2, 2}, {1, 2, 3, -4}), Int(n)});
  }
  Agreed(R"(
    error Big = 400 "big";
    model M(x: f32[n]) -> f32[n] = onnx("m");
    fn single(x: f32) -> f32[1] { require x < 100.0 else fail Big("big: {x}"); [i] => x }
    workflow Steps(x: f32[m], times: i64 = 2) -> (y: f32[m], n: i64) {
      if times == 0 { return (y: x, n: 0); }
      node once = M(x);
      if times == 1 { return (y: once, n: 1); } else if times == 3 { fail Big; }
      node twice = M(once);
      return (y: twice, n: 2);
    }
    workflow W(xs: list<f32>, rows: f32[n, k], times: i64) -> (a: list<f32[1]>, b: list<list<f32[_]>>, c: list<string>, d: i64) {
      node a = for x in xs { M(single(x)) } else [];
      node b = for i, row in enumerate(rows) { for x in xs { if x > 2.0 { row } else { M(row + f32(i)) } } } { limit 6; } else [];
      node c = for x in xs { let r = Steps(single(x), times: times); require r.n != 1; "{r.n} {r.y[0]}" else "{err.code} {err.message} {err.node}" };
      node d = Steps(rows[1], times);
      return (a: a, b: b, c: c, d: d.n);
    }
    service S { workflow W; })",
         inputs);
}

TEST(FlowPlan, AMatchOfThousandsOfArmsTakesTheOneThatIsMeant) {
  constexpr int64_t kArms = 4096;
  std::string arms;
  for (int64_t i = 0; i < kArms; ++i) arms += std::to_string(i) + " => " + std::to_string(5 * i + 7) + ", ";
  const std::vector<std::string> answers =
      Agreed("workflow W(n: i64) -> (y: i64) { node y = match n { " + arms + "_ => -1 }; return (y: y); } service S { workflow W; }",
             {{Int(0)}, {Int(1)}, {Int(kArms / 2)}, {Int(kArms - 1)}, {Int(kArms)}, {Int(-1)}}, /*opt_level=*/0);
  EXPECT_EQ(answers, (std::vector<std::string>{"7;", "12;", "10247;", "20482;", "-1;", "-1;"}));
}

}  // namespace
}  // namespace wf::lower::testing
