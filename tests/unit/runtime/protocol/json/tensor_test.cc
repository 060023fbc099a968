#include "runtime/protocol/json/reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/runtime/protocol/json/read.h"

namespace wf::json {
namespace {

using fake::Body;
using fake::Job;

Read ReadTensor(std::string_view text, uint8_t dtype, std::vector<int64_t> dims, uint64_t memory = 1 << 20) {
  Job job;
  job.left_bytes = memory;
  const Body body(text);
  wf_json in;
  wf_type type = {};
  type.kind = WF_T_TENSOR;
  type.dtype = dtype;
  type.rank = static_cast<uint8_t>(dims.size());
  type.dim = dims.data();
  type.name = fake::Bytes("f32[h, 2]");
  wf_tensor out = {};
  const bool ok = wf_json_open(&in, job.ctx(), body.view()) == 0 && wf_json_tensor(&in, &type, &out) == 0 && wf_json_close(&in) == 0;
  if (!ok) return {job.message, false};
  std::string value;
  int64_t count = 1;
  for (uint32_t i = 0; i < out.rank; ++i) {
    value += (i == 0 ? "" : "x") + std::to_string(out.dim[i]);
    count *= out.dim[i];
  }
  value += ":";
  for (int64_t i = 0; i < count; ++i) {
    value += " ";
    value +=
        dtype == WF_F32 ? std::to_string(static_cast<const float*>(out.data)[i]) : std::to_string(static_cast<const uint8_t*>(out.data)[i]);
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(out.data) % 64, 0U);
  return {value, true};
}

TEST(JsonTensor, ReadsNestedArraysIntoOneBuffer) {
  EXPECT_EQ(ReadTensor("[[1,2],[3,4.5]]", WF_F32, {2, 2}).value, "2x2: 1.000000 2.000000 3.000000 4.500000");
  EXPECT_EQ(ReadTensor(" [ [ 1 , 2 ] ] ", WF_F32, {-1, -1}).value, "1x2: 1.000000 2.000000");
  EXPECT_EQ(ReadTensor("[]", WF_F32, {-1, 2}).value, "0x2:");
  EXPECT_EQ(ReadTensor("[[],[]]", WF_F32, {-1, -1}).value, "2x0:");
  EXPECT_EQ(ReadTensor("7", WF_F32, {}).value, ": 7.000000");
  EXPECT_EQ(ReadTensor("[true,false]", WF_BOOL, {-1}).value, "2: 1 0");
  EXPECT_EQ(ReadTensor("[0,255]", WF_U8, {2}).value, "2: 0 255");
}

TEST(JsonTensor, TakesTheMemoryOfItsOwnElements) {
  std::string text = "[";
  for (int i = 0; i < 5000; ++i) text += (i == 0 ? "" : ", ") + std::to_string(i % 250);
  text += "]";
  const Read read = ReadTensor(text, WF_U8, {-1}, 5056);
  EXPECT_TRUE(read.ok) << read.value;
  EXPECT_EQ(read.value.substr(0, 14), "5000: 0 1 2 3 ");
  EXPECT_TRUE(ReadTensor("[3]" + std::string(1 << 20, ' '), WF_U8, {-1}, 64).ok) << "what follows is others' text";
  std::string rows = "[";
  for (int i = 0; i < 300; ++i) rows += i == 0 ? "[1,2]" : ",[1,2]";
  EXPECT_TRUE(ReadTensor(rows + "]", WF_U8, {-1, -1}, 640).ok);
}

TEST(JsonTensor, NamesTheElementThatDoesNotFit) {
  struct Case {
    const char *text, *answer;
  };
  const Case cases[] = {
      {"[[1,2],[3]]", "expected 2 elements on axis 1 of f32[h, 2], found 1, at byte 7"},
      {"[[1,2,3]]", "expected 2 elements on axis 1 of f32[h, 2], found 3, at byte 1"},
      {"[1,2]", "expected an array (axis 1 of f32[h, 2]), found a number, at byte 1"},
      {"[[1,2],[3,[4]]]", "`[1][1]`: expected a number, found an array: more than the 2 axes of f32[h, 2], at byte 10"},
      {"[[1,\"x\"]]", "`[0][1]`: expected a number, found a string, at byte 4"},
      {"[[1,1e60]]", "`[0][1]`: `1e60` is out of range for f32, at byte 4"},
      {"[[1,2]", "expected `,` or `]`, found the end of the text, at byte 6"},
      {"[[1 2]]", "expected `,` or `]`, found a number, at byte 4"},
      {"[[01]]", "`[0][0]`: a number must not begin with `0` before other digits, at byte 2"},
      {"[[1,-]]", "`[0][1]`: a digit must follow the `-` of a number, at byte 4"},
      {"[[1,]]", "`[0][1]`: expected a number, found `]`, at byte 4"},
      {"[[1,2],]", "expected an array (axis 1 of f32[h, 2]), found `]`, at byte 7"},
      {"{}", "expected an array (axis 0 of f32[h, 2]), found an object, at byte 0"},
  };
  for (const Case& c : cases) EXPECT_EQ(ReadTensor(c.text, WF_F32, {-1, 2}).value, c.answer) << c.text;
  EXPECT_EQ(ReadTensor("[1.5]", WF_U8, {-1}).value, "`[0]`: `1.5` is not written as an integer, expected u8, at byte 1");
  EXPECT_EQ(ReadTensor("[1,256]", WF_U8, {-1}).value, "`[1]`: `256` is out of range for u8, at byte 3");
}

TEST(JsonTensor, MemoryFollowsTheTextAndNotTheSignature) {
  EXPECT_FALSE(ReadTensor("[1]", WF_F32, {1'000'000'000}, 4096).ok);
  EXPECT_EQ(ReadTensor("[[1]]", WF_F32, {INT64_MAX, INT64_MAX}, 4096).value,
            "expected 9223372036854775807 elements on axis 1 of f32[h, 2], found 1, at byte 1");
}

TEST(JsonTensor, DeepNestingIsAnAnswerAndNoCrash) {
  const std::string deep(100'000, '[');
  EXPECT_FALSE(ReadTensor(deep, WF_F32, {-1, -1}).ok);
  Job job;
  const Body body(deep);
  wf_json in;
  ASSERT_EQ(wf_json_open(&in, job.ctx(), body.view()), 0);
  EXPECT_EQ(SkipValue(&in), WF_FAILED);
  EXPECT_EQ(job.message, "nested deeper than 64, at byte 64");
}

TEST(ReadShaped, TakesNestedNumbersOfTheShapeOrFlatOnesOfItsCount) {
  const auto read = [](std::string_view text, const std::vector<int64_t>& extents) {
    Job job;
    const Body body(text);
    wf_json in;
    uint64_t count = 1;
    for (const int64_t extent : extents) count *= static_cast<uint64_t>(extent);
    std::vector<int32_t> out(count + 1, -7);
    const bool ok = wf_json_open(&in, job.ctx(), body.view()) == 0 && ReadShaped(&in, WF_I32, {extents, count}, out.data()) == 0 &&
                    wf_json_close(&in) == 0;
    EXPECT_EQ(out[count], -7);
    std::string value;
    for (uint64_t i = 0; i < count; ++i) value += std::to_string(out[i]) + " ";
    return ok ? value : job.message;
  };
  EXPECT_EQ(read("[1,2,3,4]", {2, 2}), "1 2 3 4 ");
  EXPECT_EQ(read(" [ [1,2] , [3,4] ] ", {2, 2}), "1 2 3 4 ");
  EXPECT_EQ(read("[[[1],[2]],[[3],[4]]]", {2, 2, 1}), "1 2 3 4 ");
  EXPECT_EQ(read("[5]", {}), "5 ");
  EXPECT_EQ(read("[]", {0}), "");
  EXPECT_EQ(read("[]", {2, 0}), "");
  EXPECT_EQ(read("[[],[]]", {2, 0}), "");
  EXPECT_EQ(read("[1,2,3]", {4}), "expected 4 elements, as the shape says, found 3, at byte 7");
  EXPECT_EQ(read("[1,2,3,4,5]", {2, 2}), "more than the 4 elements of the shape, at byte 9");
  EXPECT_EQ(read("[[1,2],[3,4,5,6]]", {2, 3}), "`[0]`: expected 3 elements on axis 1 of the shape, found 2, at byte 6");
  EXPECT_EQ(read("[[1,2],[3,4,5]]", {2, 2}), "`[1]`: expected 2 elements on axis 1 of the shape, found more, at byte 12");
  EXPECT_EQ(read("[[1,2]]", {1, 1}), "`[0]`: expected 1 element on axis 1 of the shape, found more, at byte 4");
  EXPECT_EQ(read("[[1,2]]", {2, 2}), "expected 2 elements on axis 0 of the shape, found 1, at byte 7");
  EXPECT_EQ(read("[[1,2],[3,4],[5,6]]", {2, 2}), "expected 2 elements on axis 0 of the shape, found more, at byte 13");
  EXPECT_EQ(read("[[1,2],3,4]", {2, 2}), "`[1]`: expected an array, as the others of its axis, found a number, at byte 7");
  EXPECT_EQ(read("[1,[2],3,4]", {2, 2}), "expected a number, found an array, at byte 3");
  EXPECT_EQ(read("[[[1],2],[3,4]]", {2, 2}), "`[0][0]`: expected a number, found an array, at byte 2");
  EXPECT_EQ(read("[[1]]", {1}), "expected a number, found an array, at byte 1");
  EXPECT_EQ(read("[[1]]", {}), "expected a number, found an array, at byte 1");
  EXPECT_EQ(read("[[1,2],[3,4]", {2, 2}), "expected `,` or `]`, found the end of the text, at byte 12");
  EXPECT_EQ(read("7", {1}), "expected an array, found a number, at byte 0");
}

}  // namespace
}  // namespace wf::json
