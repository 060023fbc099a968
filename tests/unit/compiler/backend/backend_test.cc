#include "compiler/backend/backend.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "compiler/ir/builder.h"

namespace wf::backend {
namespace {

// Zeros() -> (x: f32[n]): a constant.
ir::Program ProgramWithConstant(int64_t elements) {
  ir::Program program;
  const ir::TypeId type = program.types.Tensor(ir::DType::kF32, {elements});
  program.source_name = "zeros.wf";
  const ir::Value value = ir::Value::Tensor({elements}, std::string(static_cast<size_t>(elements) * 4, 'z'));
  const size_t constant = program.constants.Add(program.types, type, value);
  program.regions.emplace_back();
  program.regions[0].slots = {ir::SlotId{0}};
  program.regions[0].tasks = {ir::TaskId{0}, ir::TaskId{1}};
  program.slots = {{.name = "x", .type = type, .region = ir::RegionId{0}}};
  program.tasks.resize(2);
  program.tasks[0].region = program.tasks[1].region = ir::RegionId{0};
  program.tasks[0].out = ir::SlotId{0};
  program.tasks[1].kind = ir::TaskKind::kReturn;
  program.tasks[1].in = {ir::SlotId{0}};
  ir::Builder b(program, program.tasks[0].body);
  b.Close(b.Emit(ir::OpKind::kConstant, type, {}, constant));
  ir::Workflow workflow;
  workflow.name = "Zeros";
  workflow.service = "S";
  workflow.root = ir::RegionId{0};
  workflow.out = {{.name = "x", .type = type, .slot = ir::SlotId{0}, .if_missing = {}, .required = true}};
  program.workflows.push_back(std::move(workflow));
  return program;
}

std::string Emitted(const ir::Program& program, codegen::Emit emit, const std::string& cpu = "generic") {
  const auto code = Get().lower(program, {.target_cpu = cpu, .graph_json = "{}", .compiler_version = "0.1"});
  const base::Result<std::string> out = code->Emit({.emit = emit, .verify = true});
  EXPECT_TRUE(out.ok()) << out.status().message();
  return *out;
}

TEST(Backend, KnowsTheProcessorsThatItMakesCodeFor) {
  for (const char* cpu : {"generic", "native", "x86-64-v3", "skylake-avx512"}) EXPECT_TRUE(Get().knows_cpu(cpu)) << cpu;
  for (const char* cpu : {"", "i386", "cortex-a72", "Generic"}) EXPECT_FALSE(Get().knows_cpu(cpu)) << cpu;
}

TEST(Backend, MakesCodeForTheProcessorThatIsNamed) {
  const ir::Program program = ProgramWithConstant(4);
  const std::string generic = Emitted(program, codegen::Emit::kLlvm), named = Emitted(program, codegen::Emit::kLlvm, "skylake");
  EXPECT_NE(generic.find("\"target-cpu\"=\"x86-64-v3\""), std::string::npos);
  EXPECT_NE(named.find("\"target-cpu\"=\"skylake\""), std::string::npos);
  EXPECT_EQ(named.find("\"target-cpu\"=\"x86-64-v3\""), std::string::npos);
}

TEST(Backend, OfASmallProgramThereIsOneObject) {
  const ir::Program program = ProgramWithConstant(4);
  const auto objects = Get().lower(program, {.graph_json = "{}", .compiler_version = "0.1"})->EmitObjects({.verify = true});
  ASSERT_TRUE(objects.ok()) << objects.status().message();
  ASSERT_EQ(objects->size(), 1U);
  EXPECT_EQ(objects->front().substr(1, 3), "ELF");
}

// Of the program's own bytes: LLVM is not shown them.
TEST(Backend, GivesLargeConstantsToTheObjectAsTheyAre) {
  constexpr int64_t kElements = 1 << 20;
  const ir::Program program = ProgramWithConstant(kElements);
  const std::string text = Emitted(program, codegen::Emit::kLlvm), object = Emitted(program, codegen::Emit::kObject);
  EXPECT_LT(text.size(), size_t{1} << 20);
  EXPECT_GT(object.size(), size_t{kElements} * 4);
  EXPECT_NE(object.find(std::string(size_t{kElements} * 4, 'z')), std::string::npos);
}

TEST(Backend, TracesPhasesByName) {
  const Trace& trace = Get().trace;
  trace.start();
  trace.begin("Outer phase");
  const std::string object = Emitted(ProgramWithConstant(4), codegen::Emit::kObject);  // what is too short is left out
  trace.end();
  const std::string json = trace.finish();
  EXPECT_TRUE(json.starts_with("{")) << json;
  EXPECT_NE(json.find("Outer phase"), std::string::npos);
}

}  // namespace
}  // namespace wf::backend
