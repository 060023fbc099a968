#include "runtime/model/plan.h"

#include <gtest/gtest.h>

#include "runtime/kernels/onednn/onednn.h"
#include "tests/unit/runtime/onnx/case_file.h"

namespace wf::model {
namespace {

using testing::Case;
using testing::CaseReader;

struct Made {
  std::unique_ptr<Program> program;
  std::unique_ptr<Plan> plan;
};

// The plan of a saved case, for the shapes of its inputs.
Made MakePlan(const std::string& file, const std::string& name) {
  for (const Case& each : CaseReader(file).All()) {
    if (each.name != name) continue;
    static std::vector<std::vector<uint8_t>> kept;  // models that programs still read weights from
    kept.push_back(each.model);
    auto model = onnx::ReadModelBytes(kept.back(), name);
    WF_CHECK(model.ok(), model.status().message());
    std::vector<onnx::Port> inputs = model->signature.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i].dim.assign(each.in[i].dim.begin(), each.in[i].dim.end());
    auto program = Optimise(std::make_shared<onnx::Model>(*std::move(model)));
    WF_CHECK(program.ok(), program.status().message());
    Made made{std::make_unique<Program>(*std::move(program)), nullptr};
    auto plan = Plan::Make(*made.program, inputs, int64_t{1} << 30);
    WF_CHECK(plan.ok(), plan.status().message());
    made.plan = *std::move(plan);
    return made;
  }
  WF_CHECK(false, name);
  return {};
}

int Count(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(Plan, JoinsNormalisationAndActivationsToTheirConvolutions) {
  const Made made = MakePlan("net_cases.bin", "cnn 2");
  const std::string text = made.plan->ToString();
  EXPECT_EQ(Count(text, "Relu"), 0) << text;
  EXPECT_EQ(Count(text, "BatchNormalization"), 0) << text;
  EXPECT_EQ(Count(text, "(Conv)"), 2);
  EXPECT_EQ(Count(text, "(Gemm)"), 2);
}

TEST(Plan, AChainOfConvolutionsNeedsNoReorder) {
  ASSERT_TRUE(kernels::onednn::Available()) << "scripts/setup installs it";
  const std::string text = MakePlan("net_cases.bin", "cnn 2").plan->ToString();
  EXPECT_LE(Count(text, "reorder"), 1) << text;  // only before the matrix products
  EXPECT_GT(text.find("reorder"), text.rfind("(MaxPool)")) << text;
  EXPECT_EQ(Count(MakePlan("net_cases.bin", "residual 3").plan->ToString(), "reorder"), 1);  // behind the last pooling
}

TEST(Plan, ReusesMemoryOfResultsThatAreDone) {
  const Made made = MakePlan("net_cases.bin", "attention 2");
  int64_t all = 0;
  for (const Plan::Buffer& buffer : made.plan->buffers()) all += buffer.offset >= 0 ? (buffer.bytes + 63) / 64 * 64 : 0;
  EXPECT_LT(made.plan->scratch_offset(), all / 2) << made.plan->ToString();
}

TEST(Plan, LiveResultsNeverShareMemory) {
  for (const Case& each : CaseReader("net_cases.bin").All()) {
    const Made made = MakePlan("net_cases.bin", each.name);
    const auto& steps = made.plan->steps();
    const auto& buffers = made.plan->buffers();
    std::vector<size_t> last(buffers.size(), 0);
    for (size_t s = 0; s < steps.size(); ++s) {
      for (const int in : steps[s].in) {
        if (in >= 0) last[static_cast<size_t>(in)] = s;
      }
    }
    for (const Plan::Output& output : made.plan->outputs()) last[static_cast<size_t>(output.buffer)] = steps.size();
    std::vector<size_t> live;
    for (size_t s = 0; s < steps.size(); ++s) {
      const size_t out = static_cast<size_t>(steps[s].out[0]);
      std::erase_if(live, [&](size_t buffer) { return last[buffer] < s || buffer == out; });
      for (const size_t other : live) {
        const bool apart = buffers[out].offset + buffers[out].bytes <= buffers[other].offset ||
                           buffers[other].offset + buffers[other].bytes <= buffers[out].offset;
        EXPECT_TRUE(apart) << each.name << " step " << s << "\n" << made.plan->ToString();
      }
      live.push_back(out);
    }
  }
}

TEST(Plan, ShapesComputedInTheGraphTakeNoStep) {
  const std::string text = MakePlan("net_cases.bin", "residual 3").plan->ToString();
  for (const char* op : {"(Shape)", "(Gather)", "(Unsqueeze)", "(Concat)", "(Reshape)"})
    EXPECT_EQ(Count(text, op), 0) << op << "\n" << text;
}

}  // namespace
}  // namespace wf::model
