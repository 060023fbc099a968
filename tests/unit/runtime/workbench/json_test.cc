#include "runtime/workbench/json.h"

#include <cmath>
#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace wf::workbench {
namespace {

using onnx::Dim;
using ::testing::HasSubstr;

onnx::Port Port(uint8_t dtype, size_t rank) {
  onnx::Port port{"x", dtype, {}};
  for (size_t i = 0; i < rank; ++i) port.dim.push_back(Dim::Symbol("n" + std::to_string(i)));
  return port;
}

std::string Again(const std::string& text, uint8_t dtype, size_t rank) {
  const auto tensor = TensorOfJson(text, Port(dtype, rank));
  return tensor.ok() ? tensor->ToString() + " " + JsonOf(*tensor) : tensor.status().message();
}

TEST(Json, ArraysAreTensors) {
  EXPECT_EQ(Again("[[1, 2, 3], [4, 5, 6]]", WF_F32, 2), "f32[2, 3] [[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQ(Again(" [ [ [ -1 ] ] ] ", WF_I8, 3), "i8[1, 1, 1] [[[-1]]]");
  EXPECT_EQ(Again("7", WF_I64, 0), "i64 7");
  EXPECT_EQ(Again("[true, false, 1, 0]", WF_BOOL, 1), "bool[4] [true, false, true, false]");
  EXPECT_EQ(Again("[9223372036854775807]", WF_I64, 1), "i64[1] [9223372036854775807]");
  EXPECT_EQ(Again("[18446744073709551615]", WF_U64, 1), "u64[1] [18446744073709551615]");
  EXPECT_EQ(Again("[0.1, 1e300, 1e-400]", WF_F64, 1), "f64[3] [0.1, 1e+300, 0]");
  EXPECT_EQ(Again("[1.5, 65504]", WF_F16, 1), "f16[2] [1.5, 65504]");
  EXPECT_EQ(Again("[1.5, -2]", WF_BF16, 1), "bf16[2] [1.5, -2]");
}

TEST(Json, WhatIsNoNumberHasAName) {
  EXPECT_EQ(Again(R"(["nan", "inf", "-inf"])", WF_F32, 1), R"(f32[3] ["nan", "inf", "-inf"])");
  EXPECT_THAT(Again(R"(["nan"])", WF_I32, 1), HasSubstr("element [0] is no i32"));
}

TEST(Json, EmptyArraysLeaveTheAxesBehindToTheModel) {
  EXPECT_EQ(Again("[]", WF_F32, 2), "f32[0, 0] []");
  EXPECT_EQ(Again("[[], []]", WF_F32, 2), "f32[2, 0] [[], []]");
  onnx::Port port = Port(WF_F32, 2);
  port.dim[1] = Dim(5);
  const auto tensor = TensorOfJson("[]", port);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->ToString(), "f32[0, 5]");
}

TEST(Json, WhatTheTypeDoesNotHoldIsToldWithItsPlace) {
  EXPECT_EQ(Again("[[1], [300]]", WF_U8, 2), "element [1, 0] is no u8");
  EXPECT_EQ(Again("[-1]", WF_U32, 1), "element [0] is no u32");
  EXPECT_EQ(Again("[1.5]", WF_I32, 1), "element [0] is no i32");
  EXPECT_EQ(Again("[1e39]", WF_F32, 1), "element [0] is no f32");
  EXPECT_EQ(Again("[01]", WF_F32, 1), "element [0] is no f32");
  EXPECT_EQ(Again("[.5]", WF_F32, 1), "element [0] is no f32");
  EXPECT_EQ(Again("[null]", WF_F32, 1), "element [0] is no f32");
  EXPECT_EQ(Again("x", WF_F32, 0), "it is no f32");
  EXPECT_EQ(Again(std::string("\0", 1), WF_F32, 0), "it is no f32");
}

TEST(Json, ArraysHaveTheRankAndAreEven) {
  EXPECT_THAT(Again("[1]", WF_F32, 2), HasSubstr("an array of 2 axes is wanted"));
  EXPECT_THAT(Again("[[1], [2, 3]]", WF_F32, 2), HasSubstr("not even"));
  EXPECT_THAT(Again("[[1, 2], [3]]", WF_F32, 2), HasSubstr("not even"));
  EXPECT_THAT(Again("[[1, 2], 3]", WF_F32, 2), HasSubstr("not even"));
  EXPECT_THAT(Again("[1, 2", WF_F32, 1), HasSubstr("not even"));
  EXPECT_THAT(Again("[1] 2", WF_F32, 1), HasSubstr("behind its end"));
}

TEST(Json, NoMemoryIsTakenForArraysThatOnlyTheFirstHas) {
  std::string wide = "[";
  for (int i = 0; i < 1000; ++i) wide += "1,";
  wide.back() = ']';
  std::string text = "[" + wide;
  for (int i = 0; i < 100'000; ++i) text += ",0";
  EXPECT_THAT(Again(text + "]", WF_F32, 2), HasSubstr("not even"));
}

TEST(Json, MembersHaveNames) {
  const auto members = MembersOf(R"( {"a": [1, [2]], "b\u00e9\n": {"c": "}"}, "": 3} )");
  ASSERT_TRUE(members.ok()) << members.status().message();
  EXPECT_EQ(members->at("a"), "[1, [2]]");
  EXPECT_EQ(members->at("b\xc3\xa9\n"), R"({"c": "}"})");
  EXPECT_EQ(members->at(""), "3");
  const auto bare = MembersOf("[1, 2]");
  ASSERT_TRUE(bare.ok());
  EXPECT_EQ(bare->at(""), "[1, 2]");
}

TEST(Json, WhatIsNoDocumentIsRefused) {
  const std::string deep(100'000, '[');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"a\""), std::string("{\"a\": "), std::string("{\"a\": 1"),
        std::string("{\"a\": 1,}"), std::string("{a: 1}"), std::string("{\"a\": 1} 2"), std::string("{\"a\": [1}"),
        std::string("{\"\\ud800\": 1}"), std::string("{\"\\q\": 1}"), std::string("{\"a\\"), std::string("{\"\xff\": 1}"),
        std::string("{\"a\": 1, \"a\": 2}"), deep, std::string("]")}) {
    EXPECT_FALSE(MembersOf(text).ok()) << text.substr(0, 20);
  }
}

}  // namespace
}  // namespace wf::workbench
