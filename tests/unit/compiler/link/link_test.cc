#include "compiler/link/link.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "compiler/codegen/codegen.h"
#include "compiler/ir/builder.h"
#include "compiler/link/inspect.h"
#include "compiler/lower/lower.h"

namespace wf::link {
namespace {

using ir::DType;
using ir::OpKind;

// Twice(x: list<f32>) -> (text: string): the sum of x, doubled, in words.
ir::Program MakeProgram() {
  ir::Program program;
  const ir::TypeId vector = program.types.Tensor(DType::kF32, {-1}), text = program.types.String();
  program.source_name = "twice.wf";
  program.source_hash = {0xab, 0xcd};
  program.regions.emplace_back();
  program.regions[0].slots = {ir::SlotId{0}, ir::SlotId{1}};
  program.regions[0].tasks = {ir::TaskId{0}, ir::TaskId{1}};
  program.slots = {{.name = "x", .type = vector, .region = ir::RegionId{0}}, {.name = "text", .type = text, .region = ir::RegionId{0}}};
  program.tasks.resize(2);
  program.tasks[0].region = program.tasks[1].region = ir::RegionId{0};
  program.tasks[0].in = {ir::SlotId{0}};
  program.tasks[0].out = ir::SlotId{1};
  program.tasks[1].kind = ir::TaskKind::kReturn;
  program.tasks[1].in = {ir::SlotId{1}};
  ir::Builder b(program, program.tasks[0].body);
  const ir::ValueId x = b.Slot(ir::SlotId{0}), n = b.Dim(x, 0);
  const ir::BlockId block = b.Open({b.ScalarType(DType::kI64)});
  b.Close(b.Mul(b.Load(x, {b.Param(0)}), b.F32(2)));
  const ir::ValueId sum = b.Reduce(ir::ReduceKind::kSum, DType::kF32, n, block);
  b.Close(b.Emit(OpKind::kText, text, {sum}, ir::AddText(program, "twice is {}")));
  ir::Workflow workflow;
  workflow.name = "Twice";
  workflow.service = "S";
  workflow.root = ir::RegionId{0};
  workflow.in = {{.name = "x", .type = vector, .slot = ir::SlotId{0}, .if_missing = {}, .required = true}};
  workflow.out = {{.name = "text", .type = text, .slot = ir::SlotId{1}, .if_missing = {}, .required = true}};
  program.workflows.push_back(std::move(workflow));
  return program;
}

class LinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/wf-link-test-XXXXXX";
    dir_ = mkdtemp(name);
    llvm::LLVMContext context;
    const ir::Program program = MakeProgram();
    const auto module = lower::Lower(program, context, {.graph_json = R"({"nodes":[]})", .compiler_version = "0.1"});
    ASSERT_TRUE(codegen::EmitObject(*module, {.verify = true}, object_).ok());
    options_ = {.output = dir_ + "/server", .runtime_dir = WF_STAND_IN};
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  base::Status LinkIt() { return Link({std::string(object_.data(), object_.size())}, options_); }
  size_t Files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(dir_), std::filesystem::directory_iterator()));
  }
  static std::string Output(const std::string& command) {
    FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
    pclose(pipe);
    return text;
  }
  static std::string Bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string dir_;
  llvm::SmallVector<char, 0> object_;
  Options options_;
};

TEST_F(LinkTest, AServerRunsAndSaysWhatItHolds) {
  const base::Status status = LinkIt();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Output(options_.output + " '{\"x\":[1,2,3.5]}'"), "{\"text\":\"twice is 13\"}\n");
  const auto note = ReadNote(options_.output);
  ASSERT_TRUE(note.ok()) << note.status().message();
  EXPECT_NE(note->find("\"source_hash\":\"abcd00"), std::string::npos) << *note;
  EXPECT_NE(note->find("\"graph\":{\"nodes\":[]}"), std::string::npos) << *note;
  EXPECT_EQ(Files(), 1u);
}

TEST_F(LinkTest, TheSameInputGivesTheSameBytesAnywhere) {
  ASSERT_TRUE(LinkIt().ok());
  const std::string first = Bytes(options_.output);
  std::filesystem::create_directory(dir_ + "/elsewhere");
  options_.output = dir_ + "/elsewhere/another_name";
  ASSERT_TRUE(LinkIt().ok());
  EXPECT_TRUE(first == Bytes(options_.output));
}

TEST_F(LinkTest, AnOutputThatCannotBeWrittenSaysWhyAndLeavesNothing) {
  options_.output = dir_ + "/no/such/folder/server";
  EXPECT_EQ(LinkIt().message(), "no such folder");
  options_.output = dir_;
  EXPECT_EQ(LinkIt().message(), "it is a folder");
  EXPECT_EQ(Files(), 0u);
}

// A file system without room refuses as this limit does: while the linker writes.
TEST_F(LinkTest, AFileThatCannotGrowLeavesTheOldOne) {
  std::ofstream(options_.output) << "old";
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{object_.size() + 8192, object_.size() + 8192};  // room for the object's file in memory, not for a server
    setrlimit(RLIMIT_FSIZE, &limit);
    const base::Status status = LinkIt();
    _exit(status.code() == base::kResourceExhausted && status.message() == "file too large" ? 0 : 1);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << state;
  EXPECT_EQ(Bytes(options_.output), "old");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(LinkTest, AThreadThatLinkedEndsAsItBegan) {
  stack_t before{}, after{};
  std::thread([&] {
    sigaltstack(nullptr, &before);
    EXPECT_TRUE(LinkIt().ok());
    sigaltstack(nullptr, &after);
  }).join();
  EXPECT_EQ(before.ss_sp, after.ss_sp);
}

TEST_F(LinkTest, AMissingRuntimeIsNamed) {
  options_.runtime_dir = dir_ + "/lib";
  const base::Status status = LinkIt();
  EXPECT_EQ(status.code(), base::kNotFound);
  EXPECT_NE(status.message().find("wf_link.txt"), std::string::npos);
}

}  // namespace
}  // namespace wf::link
