#include "compiler/driver/model.h"

#include <gtest/gtest.h>

namespace wf::driver {
namespace {

std::string Program(const std::string& path) {
  const auto program = ProgramServing(path);
  return program.ok() ? *program : "! " + program.status().message();
}

TEST(Model, IsServedByTheNameOfItsFile) {
  EXPECT_EQ(Program("a/resnet50.onnx"), "model Resnet50 = onnx(\"resnet50.onnx\");\n\nservice ServeResnet50 {\n  model Resnet50;\n}\n");
  EXPECT_EQ(Program("a/digits/").substr(0, 32), "model Digits = onnx(\"digits\");\n\n");
  EXPECT_EQ(Program("2-1 \xc3\xa9.onnx").substr(0, 16), "model Model_2_1_");
  EXPECT_EQ(Program("model.onnx").substr(0, 14), "model Model = ");
}

TEST(Model, OfANameThatNoStringSaysIsNotServed) {
  for (const char* name : {"a\"b.onnx", "a\\b.onnx", "a{b}.onnx", "a\nb.onnx"}) EXPECT_EQ(Program(name)[0], '!') << name;
}

}  // namespace
}  // namespace wf::driver
