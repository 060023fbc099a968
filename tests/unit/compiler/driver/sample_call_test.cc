#include "compiler/driver/sample_call.h"

#include <gtest/gtest.h>

namespace wf::driver {
namespace {

class SampleCallTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, ir::TypeId type, bool required = true) {
    workflow_.in.push_back({.name = name, .type = type, .required = required});
  }
  std::string Call() { return SampleCall(program_, workflow_, "http://h:1"); }
  ir::TypeTable& types() { return program_.types; }

  ir::Program program_;
  ir::Workflow workflow_{.name = "W", .service = "S"};
};

TEST_F(SampleCallTest, HasAValueForEachRequiredParameter) {
  Add("n", types().Scalar(ir::DType::kI32));
  Add("on", types().Scalar(ir::DType::kBool));
  Add("text", types().String());
  Add("x", types().Tensor(ir::DType::kF32, {2, -1, 3}));
  Add("box", types().Record("Box", {{"left", types().Scalar(ir::DType::kF32)}, {"tags", types().List(types().String())}}));
  Add("m", types().Map(types().String()));
  Add("left_out", types().String(), /*required=*/false);
  EXPECT_EQ(Call(),
            "curl -H 'content-type: application/json' -d "
            R"('{"n":0,"on":false,"text":"text","x":[[[0,0,0]],[[0,0,0]]],"box":{"left":0,"tags":["text"]},"m":{}}' http://h:1/S/W)");
}

TEST_F(SampleCallTest, SendsASingleParameterOfBytesAsTheBody) {
  Add("page", types().Bytes());
  Add("limit", types().Scalar(ir::DType::kI32), /*required=*/false);
  EXPECT_EQ(Call(), "curl --data-binary @FILE http://h:1/S/W");
}

TEST_F(SampleCallTest, SendsAnEmptyObjectWhenNothingIsRequired) { EXPECT_NE(Call().find("-d '{}'"), std::string::npos); }

TEST_F(SampleCallTest, KeepsHugeTensorsOffTheCommandLine) {
  Add("x", types().Tensor(ir::DType::kF32, {100'000, 100'000, 100'000, 100'000}));
  EXPECT_LT(Call().size(), 200u);
}

}  // namespace
}  // namespace wf::driver
