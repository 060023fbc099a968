#include "runtime/kernels/choices.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "runtime/kernels/choices_file.h"
#include "runtime/kernels/measure.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Constant;
using testing::Random;
using testing::RunKernel;
using testing::Tensor;

struct Case {
  std::string name;
  Params params;
  std::vector<Tensor> in;
  std::vector<int64_t> out;
};

Operation OperationOf(const Case& of) {
  Operation operation{of.params, {}, {{WF_F32, of.out, nullptr, nullptr}}};
  for (const Tensor& in : of.in) operation.in.push_back(in.info);
  return operation;
}

Conv Square(int64_t stride, int64_t pad, int64_t group = 1, UnaryOp then = UnaryOp::kIdentity) {
  return {{stride, stride}, {1, 1}, {pad, pad}, group, {then}};
}

// Large enough to be measured.
Case Filters() {
  return {"filters",
          Square(1, 1, 1, UnaryOp::kRelu),
          {Random({1, 32, 24, 24}, 1), Constant(Random({32, 32, 3, 3}, 2)), Constant(Random({32}, 3))},
          {1, 32, 24, 24}};
}

std::vector<Case> Cases() {
  std::vector<Case> cases = {Filters()};
  Case joined = Filters();
  joined.name = "filters with an addend";
  joined.in.push_back(Random(joined.out, 4));
  cases.push_back(joined);
  cases.push_back({"strided", Square(2, 0), {Random({1, 64, 16, 16}, 1), Constant(Random({96, 64, 1, 1}, 2))}, {1, 96, 8, 8}});
  cases.push_back({"depthwise", Square(1, 1, 48), {Random({2, 48, 12, 12}, 1), Constant(Random({48, 1, 3, 3}, 2))}, {2, 48, 12, 12}});
  cases.push_back({"odd", Square(1, 1, 1, UnaryOp::kSwish), {Random({1, 5, 9, 7}, 1), Constant(Random({7, 5, 3, 3}, 2))}, {1, 7, 9, 7}});
  cases.push_back({"product",
                   MatMul{false, true, 1, 1, {UnaryOp::kGelu}},
                   {Random({9, 64}, 1), Constant(Random({48, 64}, 2)), Constant(Random({48}, 3))},
                   {9, 48}});
  cases.push_back({"one row", MatMul{}, {Random({1, 640}, 1), Constant(Random({640, 33}, 2))}, {1, 33}});
  cases.push_back({"product of two", MatMul{false, false, 0.5F}, {Random({3, 20, 16}, 1), Random({3, 16, 24}, 2)}, {3, 20, 24}});
  return cases;
}

Tensor RunWay(const Case& of, const std::string& way) {
  static std::string named;  // makers capture nothing
  named = way;
  const auto make = [](const Operation& operation) {
    Operation asked = operation;
    asked.way = named;
    return MakeKernel(asked);
  };
  return RunKernel(make, of.params, of.in, WF_F32, of.out).out;
}

void ExpectNear(const Tensor& is, const Tensor& wanted, const std::string& name) {
  const std::vector<float> a = is.As<float>(), b = wanted.As<float>();
  ASSERT_EQ(a.size(), b.size()) << name;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      ASSERT_TRUE(std::isnan(a[i])) << name << " at " << i;
    } else if (std::isinf(b[i])) {
      ASSERT_EQ(a[i], b[i]) << name << " at " << i;
    } else {
      ASSERT_NEAR(a[i], b[i], 2e-4F * (1 + std::abs(b[i]))) << name << " at " << i;
    }
  }
}

class ChoicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(onednn::Available()) << "without oneDNN there is one way of each";
    UseOneThread();
  }
};

TEST_F(ChoicesTest, EveryWayComputesWhatTheReferenceDoes) {
  for (const Case& each : Cases()) {
    const MakeFn make = std::holds_alternative<Conv>(each.params) ? ref::MakeConv : ref::MakeMatMul;
    const Tensor wanted = RunKernel(make, each.params, each.in, WF_F32, each.out).out;
    const std::vector<std::string> ways = Ways(OperationOf(each));
    const bool has_several = __builtin_cpu_supports("avx512f") != 0;  // elsewhere oneDNN may have one alone
    EXPECT_TRUE(!ways.empty() || !has_several) << each.name;
    for (const std::string& way : ways) ExpectNear(RunWay(each, way), wanted, each.name + " " + way);
  }
}

TEST_F(ChoicesTest, WhatIsNotFiniteReachesThoseWhoReadItInEveryWay) {
  for (const float odd : {testing::kNan, testing::kInf, -testing::kInf, 1e38F}) {
    Case filters = Filters();
    std::get<Conv>(filters.params).then = {UnaryOp::kIdentity};
    reinterpret_cast<float*>(filters.in[0].data.get())[5 * 24 + 7] = odd;
    const Tensor wanted = RunKernel(ref::MakeConv, filters.params, filters.in, WF_F32, filters.out).out;
    for (const std::string& way : Ways(OperationOf(filters))) ExpectNear(RunWay(filters, way), wanted, way);
  }
}

TEST_F(ChoicesTest, FiltersThatAreNotFiniteAreNotMixed) {
  Case filters = Filters();
  reinterpret_cast<float*>(filters.in[1].data.get())[3] = testing::kInf;
  for (const std::string& way : Ways(OperationOf(filters))) {
    Operation operation = OperationOf(filters);
    operation.way = way;
    const auto kernel = MakeKernel(operation);
    ASSERT_TRUE(kernel.ok());
    EXPECT_EQ((*kernel)->impl, way.starts_with("winograd") ? "onednn" : "onednn " + way);
  }
}

TEST_F(ChoicesTest, AWayThatIsNotThereIsTheRowsOwn) {
  for (const char* way : {"winograd nothing", "alike nothing", "nothing", "following jit"}) {
    Operation operation = OperationOf(Filters());
    operation.way = way;
    const auto kernel = MakeKernel(operation);
    ASSERT_TRUE(kernel.ok() && *kernel != nullptr) << way;
    EXPECT_EQ((*kernel)->impl, "onednn") << way;
  }
}

TEST_F(ChoicesTest, MeasuringFindsAWayOrKeepsTheOwnOne) {
  const Operation operation = OperationOf(Filters());
  const std::vector<std::string> ways = Ways(operation);
  int64_t left_ns = 60'000'000'000;
  const auto way = FastestWay(operation, ways, left_ns);
  ASSERT_TRUE(way.has_value());
  EXPECT_TRUE(way->empty() || std::find(ways.begin(), ways.end(), *way) != ways.end()) << *way;
  EXPECT_LT(left_ns, 60'000'000'000);
}

TEST_F(ChoicesTest, MeasuringEndsWithItsTime) {
  const Operation operation = OperationOf(Filters());
  for (int64_t left_ns : {int64_t{0}, int64_t{1}}) {
    EXPECT_FALSE(FastestWay(operation, Ways(operation), left_ns).has_value());
    EXPECT_EQ(left_ns, 0);
  }
}

TEST_F(ChoicesTest, WhatWasChosenOnceStays) {
  Choices choices;
  int64_t none = 0, much = 60'000'000'000;
  ASSERT_EQ((*choices.Make(OperationOf(Filters()), none))->impl, "onednn");
  EXPECT_EQ((*choices.Make(OperationOf(Filters()), much))->impl, "onednn");  // though there is time now
  EXPECT_EQ(much, 60'000'000'000);
}

TEST_F(ChoicesTest, ThreadsAgree) {
  Choices choices;
  std::vector<std::string> impl(4);
  std::vector<std::thread> threads;
  for (std::string& each : impl) {
    threads.emplace_back([&choices, &each] {
      UseOneThread();
      int64_t left_ns = 60'000'000'000;
      each = (*choices.Make(OperationOf(Filters()), left_ns))->impl;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& each : impl) EXPECT_EQ(each, impl[0]);
}

TEST_F(ChoicesTest, SmallOperationsAreNotMeasured) {
  const Case small{"small", MatMul{}, {Random({4, 16}, 1), Constant(Random({16, 8}, 2))}, {4, 8}};
  int64_t left_ns = 1'000'000'000;
  Choices choices;
  ASSERT_TRUE(choices.Make(OperationOf(small), left_ns).ok());
  EXPECT_EQ(left_ns, 1'000'000'000);
}

TEST_F(ChoicesTest, KeysTellApartWhatDecides) {
  const Operation one = OperationOf(Filters());
  EXPECT_EQ(KeyOf(one), KeyOf(OperationOf(Filters())));
  Operation other = one;
  std::get<Conv>(other.params).then = {UnaryOp::kTanh};
  EXPECT_NE(KeyOf(other), KeyOf(one));
  other = one;
  other.in[0].dim[0] = other.out[0].dim[0] = 2;
  EXPECT_NE(KeyOf(other), KeyOf(one));
  other = one;
  other.in[0].format = (*MakeKernel(one))->in_format[0];
  ASSERT_NE(other.in[0].format, nullptr);
  EXPECT_NE(KeyOf(other), KeyOf(one));
  other = one;
  other.in[1].constant = nullptr;
  EXPECT_NE(KeyOf(other), KeyOf(one));
  EXPECT_EQ(KeyOf(one).find_first_of("\t\n"), std::string::npos);
}

class ChoicesFileTest : public ChoicesTest {
 protected:
  void SetUp() override {
    ChoicesTest::SetUp();
    std::string name = std::filesystem::temp_directory_path() / "wf-choices-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ / "kernels";
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  std::string Read() const {
    std::ifstream stream(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void Write(std::string_view text) const { std::ofstream(file_, std::ios::binary) << text; }
  void WriteWay(const std::string& way) const {
    ASSERT_TRUE(WriteChoices(file_, MachineText(), {{KeyOf(OperationOf(Filters())), way}}).ok());
  }
  std::string ImplOf(Choices& choices) const {
    int64_t none = 0;
    return (*choices.Make(OperationOf(Filters()), none))->impl;
  }

  std::filesystem::path folder_, file_;
};

TEST_F(ChoicesFileTest, ChoicesAreTheSameInTheNextProcess) {
  const std::vector<std::string> ways = Ways(OperationOf(Filters()));
  for (const std::string& way : ways) {
    WriteWay(way);
    Choices choices(file_);
    EXPECT_EQ(choices.odd(), "");
    EXPECT_EQ(ImplOf(choices), "onednn " + way);
  }
  WriteWay("");
  Choices choices(file_);
  int64_t much = 60'000'000'000;
  EXPECT_EQ((*choices.Make(OperationOf(Filters()), much))->impl, "onednn");
  EXPECT_EQ(much, 60'000'000'000) << "what is in the file is not measured again";
}

TEST_F(ChoicesFileTest, WhatIsChosenIsWrittenOnceAndBesideWhatOthersWrote) {
  Choices first(file_), second(file_);
  EXPECT_TRUE(first.Save().ok());
  EXPECT_FALSE(std::filesystem::exists(file_)) << "nothing was chosen";
  ImplOf(first);
  ASSERT_TRUE(first.Save().ok());
  int64_t none = 0;
  const Case other{"other", MatMul{}, {Random({64, 256}, 1), Constant(Random({256, 128}, 2))}, {64, 128}};
  ASSERT_TRUE(second.Make(OperationOf(other), none).ok());
  ASSERT_TRUE(second.Save().ok());
  EXPECT_EQ(ReadChoices(file_, MachineText()).way.size(), 2u);
  const std::string written = Read();
  std::filesystem::remove(file_);
  EXPECT_TRUE(second.Save().ok());
  EXPECT_FALSE(std::filesystem::exists(file_)) << "nothing is new";
  EXPECT_TRUE(written.ends_with("\n"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 0) << "nothing is left beside it";
}

// One that this CPU has a choice of, or a word for one.
std::string SomeWay() {
  const std::vector<std::string> ways = Ways(OperationOf(Filters()));
  return ways.empty() ? "alone" : ways[0];
}

TEST_F(ChoicesFileTest, AFileThatIsCutOffOrDamagedIsToldAndMadeAnew) {
  WriteWay(SomeWay());
  const std::string whole = Read();
  for (size_t size = 1; size < whole.size(); size += 7) {
    Write(whole.substr(0, size));
    EXPECT_FALSE(ReadChoices(file_, MachineText()).odd.empty()) << size;
    EXPECT_TRUE(ReadChoices(file_, MachineText()).way.empty()) << size;
  }
  for (const size_t at : {whole.size() / 2, whole.size() - 3}) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    Write(damaged);
    Choices choices(file_);
    EXPECT_FALSE(choices.odd().empty()) << at;
    EXPECT_EQ(ImplOf(choices), "onednn");
    EXPECT_TRUE(choices.Save().ok());
    EXPECT_EQ(Choices(file_).odd(), "");
  }
}

TEST_F(ChoicesFileTest, AFileOfAnotherMachineIsToldAndMadeAnew) {
  ASSERT_TRUE(WriteChoices(file_, "another", {{KeyOf(OperationOf(Filters())), SomeWay()}}).ok());
  Choices choices(file_);
  EXPECT_NE(choices.odd().find("another machine"), std::string::npos) << choices.odd();
  EXPECT_EQ(ImplOf(choices), "onednn");
  ASSERT_TRUE(choices.Save().ok());
  EXPECT_EQ(Choices(file_).odd(), "");
}

TEST_F(ChoicesFileTest, AFileInAnotherFormIsToldAndMadeAnew) {
  Write("wf-kernel-cache 999\nwhatever\n");
  Choices choices(file_);
  EXPECT_NE(choices.odd().find("version"), std::string::npos) << choices.odd();
  ImplOf(choices);
  ASSERT_TRUE(choices.Save().ok());
  EXPECT_EQ(Choices(file_).odd(), "");
}

TEST_F(ChoicesFileTest, AFileOfAnotherKindIsToldAndKept) {
  for (const std::string text : {"http_port: 8080\n",
                                 "\x7f"
                                 "ELF",
                                 "wf"}) {
    Write(text);
    Choices choices(file_);
    EXPECT_NE(choices.odd().find("left as it is"), std::string::npos) << choices.odd();
    EXPECT_EQ(ImplOf(choices), "onednn");
    EXPECT_TRUE(choices.Save().ok());
    EXPECT_EQ(Read(), text);
  }
}

TEST_F(ChoicesFileTest, AnEmptyFileIsANewOne) {
  Write("");
  Choices choices(file_);
  EXPECT_EQ(choices.odd(), "");
  ImplOf(choices);
  EXPECT_TRUE(choices.Save().ok());
  EXPECT_FALSE(Read().empty());
}

TEST_F(ChoicesFileTest, WhatIsNoRegularFileIsTold) {
  Choices of_folder(folder_);
  EXPECT_NE(of_folder.odd().find("no regular file"), std::string::npos) << of_folder.odd();
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  Choices of_pipe(file_);  // does not wait for a writer
  EXPECT_NE(of_pipe.odd().find("no regular file"), std::string::npos) << of_pipe.odd();
  ImplOf(of_pipe);
  EXPECT_TRUE(of_pipe.Save().ok());
}

TEST_F(ChoicesFileTest, AFolderThatIsNotThereIsToldAtOnceAndMeasuredForAsBrieflyAsWithoutAFile) {
  Choices choices(folder_ / "none" / "kernels");
  EXPECT_NE(choices.odd().find("cannot be written: no such folder"), std::string::npos) << choices.odd();
  EXPECT_EQ(choices.measuring_ns(), Choices().measuring_ns());
  ImplOf(choices);
  EXPECT_TRUE(choices.Save().ok()) << "it is told once";
  EXPECT_LT(Choices().measuring_ns(), Choices(file_).measuring_ns());
}

TEST_F(ChoicesFileTest, AFileOfAnotherKindThatCameAfterTheStartIsKept) {
  Choices choices(file_);
  ImplOf(choices);
  Write("http_port: 8080\n");
  const base::Status saved = choices.Save();
  EXPECT_EQ(saved.code(), base::kFailedPrecondition);
  EXPECT_NE(saved.message().find("left as it is"), std::string::npos) << saved.message();
  EXPECT_EQ(Read(), "http_port: 8080\n");
}

TEST_F(ChoicesFileTest, ALinkStaysOneAndAFileKeepsItsPermissions) {
  WriteWay("");
  ASSERT_EQ(chmod(file_.c_str(), 0640), 0);
  const std::filesystem::path link = folder_ / "link";
  std::filesystem::create_symlink("kernels", link);
  Choices choices(link);
  int64_t none = 0;
  const Case other{"other", MatMul{}, {Random({64, 256}, 1), Constant(Random({256, 128}, 2))}, {64, 128}};
  ASSERT_TRUE(choices.Make(OperationOf(other), none).ok());
  ASSERT_TRUE(choices.Save().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(ReadChoices(file_, MachineText()).way.size(), 2u);
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms{0640});
}

TEST_F(ChoicesFileTest, ANewFileHasThePermissionsOfTheUmask) {
  const mode_t before = umask(0027);
  WriteWay("");
  umask(before);
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms{0640});
}

}  // namespace
}  // namespace wf::kernels
