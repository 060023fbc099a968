#include "runtime/model/version.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "runtime/model/constants.h"
#include "tests/unit/runtime/model/temp_file.h"
#include "tests/unit/runtime/onnx/builder.h"
#include "tests/unit/runtime/onnx/case_file.h"
#include "tests/unit/support/count_new.h"
#include "tests/unit/support/counted_limit.h"

namespace wf::model {
namespace {

using testing::Case;
using testing::CaseReader;
using testing::CaseTensor;
using testing::DataPath;
using testing::TempFile;

// A tensor with memory as the executor gives it.
struct Held {
  explicit Held(const CaseTensor& from) : memory(kernels::Allocate(static_cast<int64_t>(from.bytes.size()))) {
    std::copy(from.bytes.begin(), from.bytes.end(), memory.get());
    tensor = {memory.get(), from.dtype, static_cast<uint8_t>(from.dim.size()), 0, 0, 0, {}, {}};
    int64_t stride = 1;
    for (size_t i = from.dim.size(); i-- > 0;) {
      tensor.dim[i] = from.dim[i];
      tensor.stride[i] = stride;
      stride *= from.dim[i];
    }
  }
  std::shared_ptr<uint8_t> memory;
  wf_tensor tensor{};
};

std::vector<wf_tensor> TensorsOf(const std::vector<Held>& held) {
  std::vector<wf_tensor> tensors;
  for (const Held& each : held) tensors.push_back(each.tensor);
  return tensors;
}

template <typename T>
void ExpectClose(const CaseTensor& want, const wf_tensor& is, double tolerance) {
  const size_t count = want.bytes.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T expected;
    std::memcpy(&expected, want.bytes.data() + i * sizeof(T), sizeof(T));
    const double e = static_cast<double>(expected), a = static_cast<double>(static_cast<const T*>(is.data)[i]);
    if (a == e || (std::isnan(e) && std::isnan(a))) continue;  // infinities, too
    ASSERT_NEAR(a, e, tolerance * (1 + std::abs(e))) << "element " << i;
  }
}

void ExpectTensor(const CaseTensor& want, const wf_tensor& is) {
  ASSERT_EQ(base::DTypeName(is.dtype), base::DTypeName(want.dtype));
  ASSERT_EQ(std::vector<int64_t>(is.dim, is.dim + is.rank), want.dim);
  if (want.dtype == WF_F32) return ExpectClose<float>(want, is, 2e-5);
  if (want.dtype == WF_F64) return ExpectClose<double>(want, is, 1e-12);
  EXPECT_TRUE(want.bytes.empty() || std::memcmp(is.data, want.bytes.data(), want.bytes.size()) == 0);
}

base::Result<std::unique_ptr<Version>> LoadCase(const Case& each, int64_t max_rows = 8, bool warm_up = false) {
  const TempFile file(each.model);
  LoadOptions options;
  options.name = each.name;
  options.max_rows = max_rows;
  options.warm_up = warm_up;
  options.texts = onnx::TextPorts::kNone;  // what is held against are numbers
  return Version::Load(file.path(), options);
}

int64_t RowsOf(const Version& version, const Case& each) {
  return version.axes().batched ? each.in[0].dim[static_cast<size_t>(version.axes().axis[0])] : 1;
}

void ExpectAgrees(const Case& each) {
  SCOPED_TRACE(each.name);
  auto version = LoadCase(each, 16);
  ASSERT_TRUE(version.ok()) << version.status().message();
  const std::vector<Held> held(each.in.begin(), each.in.end());
  std::vector<wf_tensor> outputs(each.out.size());
  const base::Status run = (*version)->Run(0, RowsOf(**version, each), TensorsOf(held), outputs);
  ASSERT_TRUE(run.ok()) << run.message();
  for (size_t i = 0; i < outputs.size(); ++i) ExpectTensor(each.out[i], outputs[i]);
}

Case CaseNamed(const std::string& file, const std::string& name) {
  for (Case& each : CaseReader(file).All()) {
    if (each.name == name) return each;
  }
  WF_CHECK(false, name);
  return {};
}

TEST(Version, EveryOperatorAgreesWithOnnxRuntime) {
  const std::vector<Case> cases = CaseReader("op_cases.bin").All();
  ASSERT_GT(cases.size(), 100u);
  for (const Case& each : cases) ExpectAgrees(each);
}

TEST(Version, WholeNetworksAgreeWithOnnxRuntime) {
  const std::vector<Case> cases = CaseReader("net_cases.bin").All();
  ASSERT_GE(cases.size(), 10u);
  for (const Case& each : cases) ExpectAgrees(each);
}

// In f32 where the machine has no instructions for it.
TEST(Version, NetworksInBf16AreNearThoseInF32) {
  for (const Case& each : CaseReader("net_cases.bin").All()) {
    SCOPED_TRACE(each.name);
    const TempFile file(each.model);
    LoadOptions options;
    options.max_rows = 16;
    options.bf16 = true;
    auto version = Version::Load(file.path(), options);
    ASSERT_TRUE(version.ok()) << version.status().message();
    EXPECT_EQ((*version)->program().bf16, kernels::MultipliesBf16());
    const std::vector<Held> held(each.in.begin(), each.in.end());
    std::vector<wf_tensor> outputs(each.out.size());
    ASSERT_TRUE((*version)->Run(0, RowsOf(**version, each), TensorsOf(held), outputs).ok());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (each.out[i].dtype == WF_F32) ExpectClose<float>(each.out[i], outputs[i], 0.02);
    }
  }
}

TEST(Version, ModelsOfTablesAgreeWithOnnxRuntime) {
  const std::vector<Case> cases = CaseReader("ml_cases.bin").All();
  ASSERT_GE(cases.size(), 100u);
  for (const Case& each : cases) ExpectAgrees(each);
}

// Most by ONNX Runtime, the rest by onnx's reference: make_narrow_models.py.
TEST(Version, WeightsOf8And4BitsAgreeWithOthers) {
  const std::vector<Case> cases = CaseReader("narrow_cases.bin").All();
  ASSERT_GE(cases.size(), 90u);
  for (const Case& each : cases) ExpectAgrees(each);
}

// Nothing is made up for such an input when the model is loaded.
TEST(Version, AnInputThatIsOnlyStoredIsTakenWhereStringsAre) {
  testing::Builder builder(21);
  builder.Input("x", {3}, onnx::pb::FLOAT8E4M3FN).Output("y", {3}, onnx::pb::FLOAT8E4M3FN);
  builder.Node("Identity", {"x"}, {"y"});
  const std::string bytes = builder.Bytes();
  const TempFile file({bytes.begin(), bytes.end()});
  LoadOptions options;
  EXPECT_FALSE(Version::Load(file.path(), options).ok());
  options.texts = onnx::TextPorts::kAll;
  auto version = Version::Load(file.path(), options);
  ASSERT_TRUE(version.ok()) << version.status().message();
  const onnx::Port& port = (*version)->signature().inputs[0];
  const Held x(CaseTensor{port.dtype, {3}, {0x00, 0x3c, 0x00, 0xbc, 0x00, 0x00}});  // in f16
  std::vector<wf_tensor> outputs(1);
  ASSERT_TRUE((*version)->Run(0, 1, std::vector<wf_tensor>{x.tensor}, outputs).ok());
  EXPECT_EQ(outputs[0].dtype, port.dtype);
  EXPECT_EQ(std::memcmp(outputs[0].data, x.tensor.data, 6), 0);
}

TEST(Version, ReadsWeightsBesideTheModel) {
  const Case each = CaseNamed("net_cases.bin", "gemm 4");
  LoadOptions options;
  options.max_rows = 4;
  auto version = Version::Load(DataPath("external.onnx"), options);
  ASSERT_TRUE(version.ok()) << version.status().message();
  const std::vector<Held> held(each.in.begin(), each.in.end());
  std::vector<wf_tensor> outputs(1);
  ASSERT_TRUE((*version)->Run(0, 4, TensorsOf(held), outputs).ok());
  ExpectTensor(each.out[0], outputs[0]);
}

TEST(Version, RunsAnySizeAndReusesBuffersOfTheCaller) {
  const Case one = CaseNamed("net_cases.bin", "cnn 1"), five = CaseNamed("net_cases.bin", "cnn 5");
  auto version = LoadCase(five, 8);
  ASSERT_TRUE(version.ok());
  const std::vector<Held> held_one(one.in.begin(), one.in.end()), held_five(five.in.begin(), five.in.end());
  std::vector<wf_tensor> outputs(1);
  for (int round = 0; round < 3; ++round) {  // the second round binds nothing anew, the inputs alternate
    ASSERT_TRUE((*version)->Run(0, 1, TensorsOf(held_one), outputs).ok());
    ExpectTensor(one.out[0], outputs[0]);
    ASSERT_TRUE((*version)->Run(0, 5, TensorsOf(held_five), outputs).ok());
    ExpectTensor(five.out[0], outputs[0]);
  }
}

TEST(Version, InstancesRunSideBySide) {
  const Case each = CaseNamed("net_cases.bin", "residual 3");
  const TempFile file(each.model);
  LoadOptions options;
  options.max_rows = 4;
  options.instances = 3;
  auto version = Version::Load(file.path(), options);
  ASSERT_TRUE(version.ok()) << version.status().message();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      const std::vector<Held> held(each.in.begin(), each.in.end());
      std::vector<wf_tensor> outputs(1);
      for (int round = 0; round < 20; ++round) {
        ASSERT_TRUE((*version)->Run(i, 3, TensorsOf(held), outputs).ok());
        ExpectTensor(each.out[0], outputs[0]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Of each instance others help, two at a time here.
TEST(Version, SeveralThreadsAtARunAgreeWithOne) {
  for (const Case& each : CaseReader("net_cases.bin").All()) {
    SCOPED_TRACE(each.name);
    const TempFile file(each.model);
    LoadOptions options;
    options.max_rows = 16;
    options.instances = 2;
    options.threads = 3;
    auto version = Version::Load(file.path(), options);
    ASSERT_TRUE(version.ok()) << version.status().message();
    const std::vector<Held> held(each.in.begin(), each.in.end());
    std::vector<std::thread> threads;
    for (int instance = 0; instance < 2; ++instance) {
      threads.emplace_back([&, instance] {
        kernels::UseOneThread();
        std::vector<wf_tensor> outputs(each.out.size());
        for (int run = 0; run < 3; ++run) {
          EXPECT_TRUE((*version)->Run(instance, RowsOf(**version, each), TensorsOf(held), outputs).ok());
          for (size_t i = 0; i < outputs.size(); ++i) ExpectTensor(each.out[i], outputs[i]);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// Each change makes anew what was made for another number, and what nobody has any more goes.
TEST(Version, ThreadsOfAnInstanceChangeBetweenItsRuns) {
  for (const Case& each : CaseReader("net_cases.bin").All()) {
    SCOPED_TRACE(each.name);
    const TempFile file(each.model);
    LoadOptions options;
    options.max_rows = 16;
    options.instances = 2;
    auto version = Version::Load(file.path(), options);
    ASSERT_TRUE(version.ok()) << version.status().message();
    const std::vector<Held> held(each.in.begin(), each.in.end());
    std::vector<wf_tensor> outputs(each.out.size());
    for (const int threads : {1, 3, 2, 2, 1}) {
      (*version)->set_threads(1, threads);
      (*version)->Trim(1);
      for (int run = 0; run < 2; ++run) {
        ASSERT_TRUE((*version)->Run(1, RowsOf(**version, each), TensorsOf(held), outputs).ok());
        for (size_t i = 0; i < outputs.size(); ++i) ExpectTensor(each.out[i], outputs[i]);
      }
    }
  }
}

TEST(Version, ThreadsOfAnInstanceChangeWhileItRuns) {
  const Case one = CaseNamed("net_cases.bin", "cnn 1");
  auto version = LoadCase(one, 8, /*warm_up=*/false);
  ASSERT_TRUE(version.ok()) << version.status().message();
  const std::vector<Held> held(one.in.begin(), one.in.end());
  std::atomic<bool> ends{false};
  std::thread changes([&] {
    for (int i = 0; !ends; ++i) (*version)->set_threads(0, 1 + i % 2);
  });
  std::vector<wf_tensor> outputs(1);
  for (int run = 0; run < 200; ++run) {
    const base::Status ran = (*version)->Run(0, 1, TensorsOf(held), outputs);
    if (!ran.ok()) ADD_FAILURE() << ran.message();
    if (ran.ok()) ExpectTensor(one.out[0], outputs[0]);
  }
  ends = true;
  changes.join();
}

TEST(Version, ARunOfAPreparedShapeMakesNothing) {
  const Case one = CaseNamed("net_cases.bin", "cnn 1"), five = CaseNamed("net_cases.bin", "cnn 5");
  auto version = LoadCase(five, 8, /*warm_up=*/true);
  ASSERT_TRUE(version.ok()) << version.status().message();
  EXPECT_GT((*version)->activation_bytes(), 28 * 28 * 8 * 4);
  EXPECT_EQ((*version)->max_rows(), 8);
  EXPECT_EQ((*version)->shape_misses(), 0U);
  const std::vector<Held> held_one(one.in.begin(), one.in.end()), held_five(five.in.begin(), five.in.end());
  std::vector<wf_tensor> outputs(1), shape = TensorsOf(held_five);
  shape[0].data = nullptr;
  ASSERT_TRUE((*version)->Prepare(0, 5, shape).ok());
  for (int round = 0; round < 2; ++round) {  // the larger one has brought memory of its own: neither disturbs the other
    ASSERT_TRUE((*version)->Run(0, 5, TensorsOf(held_five), outputs).ok());
    ExpectTensor(five.out[0], outputs[0]);
    ASSERT_TRUE((*version)->Run(0, 1, TensorsOf(held_one), outputs).ok());
    ExpectTensor(one.out[0], outputs[0]);
  }
  EXPECT_EQ((*version)->shape_misses(), 0U);
  (*version)->Release(0);
  ASSERT_TRUE((*version)->Run(0, 5, TensorsOf(held_five), outputs).ok());
  ExpectTensor(five.out[0], outputs[0]);
  EXPECT_EQ((*version)->shape_misses(), 0U);  // the plan is still there
}

TEST(Version, PreparedShapesStayWhileOthersComeAndGo) {
  const int64_t others = static_cast<int64_t>(kMaxPlans) + 6;
  LoadOptions options;
  options.max_rows = others + 1;
  auto version = Version::Load(DataPath("cnn.onnx"), options);
  ASSERT_TRUE(version.ok()) << version.status().message();
  std::vector<wf_tensor> outputs(1);
  const auto image = [](int64_t rows) {
    return CaseTensor{WF_F32, {rows, 1, 28, 28}, std::vector<uint8_t>(static_cast<size_t>(rows) * 28 * 28 * 4)};
  };
  const auto run = [&](int64_t rows) {
    const Held held(image(rows));
    return (*version)->Run(0, rows, std::span(&held.tensor, 1), outputs).ok();
  };
  const Held largest(image(others + 1));
  ASSERT_TRUE((*version)->Prepare(0, others + 1, std::span(&largest.tensor, 1)).ok());
  for (int64_t rows = 2; rows <= others; ++rows) ASSERT_TRUE(run(rows));
  EXPECT_EQ((*version)->shape_misses(), static_cast<uint64_t>(others - 1));
  ASSERT_TRUE(run(others + 1) && run(others));
  EXPECT_EQ((*version)->shape_misses(), static_cast<uint64_t>(others - 1));
  ASSERT_TRUE(run(2));  // unused longest, and dropped
  EXPECT_EQ((*version)->shape_misses(), static_cast<uint64_t>(others));
}

TEST(Version, WhoWantsAPlanThatIsThereDoesNotWaitForOneThatIsMeasured) {
  const TempFile kept({});
  LoadOptions options;
  options.max_rows = 512;
  options.instances = 2;
  options.choices = std::make_shared<kernels::Choices>(kept.path());
  auto version = Version::Load(DataPath("cnn.onnx"), options);
  ASSERT_TRUE(version.ok()) << version.status().message();
  const auto prepare = [&](int instance, int64_t rows) {
    CaseTensor image{WF_F32, {rows, 1, 28, 28}, std::vector<uint8_t>(static_cast<size_t>(rows) * 28 * 28 * 4)};
    const Held held(std::move(image));
    return (*version)->Prepare(instance, rows, std::span(&held.tensor, 1)).ok();
  };
  ASSERT_TRUE(prepare(0, 1));
  std::atomic<bool> is_measured = false;
  std::thread measuring([&] {
    EXPECT_TRUE(prepare(0, 512));
    is_measured = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(prepare(1, 1));
  EXPECT_FALSE(is_measured);
  measuring.join();
}

TEST(Version, RefusesTensorsOutsideItsSignature) {
  LoadOptions options;
  options.max_rows = 4;
  options.name = "Digits";
  auto version = Version::Load(DataPath("cnn.onnx"), options);
  ASSERT_TRUE(version.ok());
  std::vector<wf_tensor> outputs(1);
  const auto message = [&](int64_t rows, const CaseTensor& input) {
    const Held held(input);
    return (*version)->Run(0, rows, std::span(&held.tensor, 1), outputs).message();
  };
  const auto zeros = [](std::vector<int64_t> dim) {
    int64_t bytes = 4;
    for (const int64_t extent : dim) bytes *= extent;
    return CaseTensor{WF_F32, std::move(dim), std::vector<uint8_t>(static_cast<size_t>(bytes))};
  };
  EXPECT_EQ(message(1, zeros({1, 1, 28, 27})), "model `Digits`: input `image`: axis 3 is 27, wanted 28");
  EXPECT_EQ(
      message(2, zeros({3, 1, 28, 28})),
      "model `Digits`: input `image`: axis 0 is 3, wanted 2, the number of samples; a written signature may say that this input has none");
  EXPECT_EQ(message(5, zeros({5, 1, 28, 28})), "model `Digits`: 5 samples in a run, 4 are the most");
  EXPECT_EQ(message(1, zeros({1, 28, 28})), "model `Digits`: input `image` is f32 with 3 axes, wanted image: f32[n, 1, 28, 28]");
  EXPECT_EQ(message(4, zeros({4, 1, 28, 28})), "");
  EXPECT_EQ(message(0, zeros({0, 1, 28, 28})), "");
  EXPECT_EQ(
      message(0, zeros({1, 1, 28, 28})),
      "model `Digits`: input `image`: axis 0 is 1, wanted 0, the number of samples; a written signature may say that this input has none");
}

TEST(Version, RunsOnTensorsWithoutElementsWhateverTheirStrides) {
  testing::Builder builder;
  builder.Input("x", {"n", "h", "w"}).Output("y", {"n", "h", "w"}).Node("Sigmoid", {"x"}, {"y"});
  const std::string bytes = builder.Bytes();
  const TempFile file({bytes.begin(), bytes.end()});
  const auto version = Version::Load(file.path(), {});
  ASSERT_TRUE(version.ok()) << version.status().message();
  Held held(CaseTensor{WF_F32, {1, 2, 0}, {}});
  for (const int64_t stride : {0, 1, 7}) {
    held.tensor.stride[1] = stride;
    std::vector<wf_tensor> outputs(1);
    const base::Status status = (*version)->Run(0, 1, std::span(&held.tensor, 1), outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(outputs[0].dim[1], 2);
    EXPECT_EQ(outputs[0].dim[2], 0);
  }
}

TEST(Version, AnIndexOutOfRangeFailsTheRunAndNamesTheNode) {
  Case each = CaseNamed("net_cases.bin", "embedding 3");
  auto version = LoadCase(each);
  ASSERT_TRUE(version.ok());
  each.in[0].bytes[0] = 99;
  const std::vector<Held> held(each.in.begin(), each.in.end());
  std::vector<wf_tensor> outputs(1);
  const base::Status status = (*version)->Run(0, 3, TensorsOf(held), outputs);
  EXPECT_EQ(status.code(), base::kInvalidArgument);
  EXPECT_NE(status.message().find("node `e_node` (Gather): an index is out of range"), std::string::npos) << status.message();
}

TEST(Version, RefusesAFileWithAnotherSignature) {
  auto file = onnx::ReadModel(DataPath("cnn.onnx"));
  ASSERT_TRUE(file.ok());
  onnx::Signature compiled = file->signature;
  compiled.outputs[0].dim[1] = onnx::Dim(12);
  LoadOptions options;
  options.signature = &compiled;
  const auto version = Version::Load(DataPath("cnn.onnx"), options);
  ASSERT_FALSE(version.ok());
  EXPECT_NE(version.status().message().find("output 0 is `logits: f32[n, 10]` in the file, `logits: f32[n, 12]`"), std::string::npos)
      << version.status().message();
}

TEST(Version, LimitsTheMemoryOfARun) {
  LoadOptions options;
  options.max_bytes = 10'000;
  const auto version = Version::Load(DataPath("cnn.onnx"), options);
  ASSERT_FALSE(version.ok());
  EXPECT_EQ(version.status().code(), base::kOutOfRange);
  EXPECT_NE(version.status().message().find("node `"), std::string::npos) << version.status().message();
}

TEST(Version, ActivationsOfOpenExtentsCountAndGoBack) {
  testing::Builder builder;
  builder.Input("x", {"n", "w"}).Output("y", {"n", "w"}).Node("Sigmoid", {"x"}, {"y"});
  const std::string bytes = builder.Bytes();
  const TempFile file({bytes.begin(), bytes.end()});
  test::CountedLimit limit(1 << 20);
  LoadOptions options;
  options.share = {&limit, 64 << 10};
  {
    const auto version = Version::Load(file.path(), options);
    ASSERT_TRUE(version.ok()) << version.status().message();
    const auto run = [&](int64_t width) {
      const Held held(CaseTensor{WF_F32, {1, width}, std::vector<uint8_t>(static_cast<size_t>(width) * 4)});
      std::vector<wf_tensor> outputs(1);
      const base::Status status = (*version)->Run(0, 1, std::span(&held.tensor, 1), outputs);
      EXPECT_TRUE(!status.ok() || static_cast<const float*>(outputs[0].data)[width - 1] == 0.5f);
      return status;
    };
    ASSERT_TRUE(run(10'000).ok());
    (*version)->Trim(0);
    EXPECT_GE(limit.used, 40'000);  // may be kept
    ASSERT_TRUE(run(100'000).ok());
    EXPECT_GE(limit.used, 400'000);
    EXPECT_LT(limit.used, 420'000);  // what it had before went first
    (*version)->Trim(0);
    EXPECT_EQ(limit.used, 0);
    const base::Status refused = run(300'000);
    EXPECT_EQ(refused.code(), base::kResourceExhausted);
    EXPECT_EQ(refused.message(), "`model`: no memory for 1200000 bytes of activations");
    ASSERT_TRUE(run(10'000).ok() && run(100).ok() && run(200'000).ok() && run(100).ok());
  }
  EXPECT_EQ(limit.used, 0);
}

TEST(Version, KnowsWhatARunWillTake) {
  testing::Builder builder;
  builder.Input("p", {"a", "b"}).Input("q", {"b", "c"}).Output("y", {"a", "c"}).Node("MatMul", {"p", "q"}, {"y"});
  const std::string bytes = builder.Bytes();
  const TempFile file({bytes.begin(), bytes.end()});
  test::CountedLimit limit(0);
  LoadOptions options;
  options.share = {&limit, 0};
  options.warm_up = false;
  const auto version = Version::Load(file.path(), options);
  ASSERT_TRUE(version.ok()) << version.status().message();
  const auto check = [&](int64_t a, int64_t c, int64_t most) {
    const Held p(CaseTensor{WF_F32, {a, 1}, std::vector<uint8_t>(static_cast<size_t>(a) * 4)});
    const Held q(CaseTensor{WF_F32, {1, c}, std::vector<uint8_t>(static_cast<size_t>(c) * 4)});
    const wf_tensor inputs[] = {p.tensor, q.tensor};
    return (*version)->CheckSize(0, 1, inputs, most);
  };
  const base::Status large = check(20'000, 20'000, int64_t{256} << 20);
  EXPECT_EQ(large.code(), base::kOutOfRange) << large.message();
  EXPECT_NE(large.message().find("more than the 268435456 that the request may have"), std::string::npos) << large.message();
  EXPECT_EQ(check(100, 100, 79'999).code(), base::kOutOfRange) << "the result is there twice: in the model's memory and in the request's";
  EXPECT_TRUE(check(100, 100, 1 << 20).ok());
  EXPECT_EQ(limit.used, 0);
}

TEST(Version, ActivationsThatTheFileFixesAreNotCountedAndStay) {
  test::CountedLimit limit(0);
  LoadOptions options;
  options.max_rows = 8;
  options.share = {&limit, 0};
  const auto version = Version::Load(DataPath("cnn.onnx"), options);
  ASSERT_TRUE(version.ok()) << version.status().message();
  EXPECT_TRUE((*version)->CheckSize(0, 1, {}, 0).ok());
  const Case one = CaseNamed("net_cases.bin", "cnn 1");
  const std::vector<Held> held(one.in.begin(), one.in.end());
  const std::vector<wf_tensor> inputs = TensorsOf(held);
  std::vector<wf_tensor> outputs(1);
  const auto allocations_of_a_run = [&] {
    const int64_t before = test::Allocations();
    EXPECT_TRUE((*version)->Run(0, 1, inputs, outputs).ok());
    return test::Allocations() - before;
  };
  allocations_of_a_run();
  const int64_t again = allocations_of_a_run();
  (*version)->Trim(0);
  EXPECT_EQ(allocations_of_a_run(), again);
  EXPECT_EQ(limit.used, 0);
}

}  // namespace
}  // namespace wf::model
