#include "runtime/protocol/json/reader.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/runtime/protocol/fake_job.h"

namespace wf::json {
namespace {

using fake::Body;
using fake::Job;

struct Read {
  std::string value;  // or what the failure says
  bool ok;
};

Read ReadString(std::string_view text) {
  Job job;
  const Body body(text);
  wf_json in;
  wf_bytes out{};
  const bool ok = wf_json_open(&in, job.ctx(), body.view()) == 0 && wf_json_string(&in, &out) == 0 && wf_json_close(&in) == 0;
  return {ok ? std::string(View(out)) : job.message, ok};
}

TEST(JsonString, DecodesEscapes) {
  EXPECT_EQ(ReadString(R"("")").value, "");
  EXPECT_EQ(ReadString(R"("plain")").value, "plain");
  EXPECT_EQ(ReadString(R"("\"\\\/\b\f\n\r\t")").value, "\"\\/\b\f\n\r\t");
  EXPECT_EQ(ReadString(R"("é")").value, "\xc3\xa9");
  EXPECT_EQ(ReadString(R"("\u20AC \ud83d\ude00")").value, "\xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(ReadString("\"a long text beyond one vector: \xe2\x82\xac, and on\"").value,
            "a long text beyond one vector: \xe2\x82\xac, and on");
  EXPECT_EQ(ReadString(R"("\u0000")").value, std::string("\0", 1));
}

TEST(JsonString, RefusesWhatJsonForbids) {
  EXPECT_EQ(ReadString("\"open").value, "the string does not end; it begins, at byte 0");
  EXPECT_EQ(ReadString("\"open\\").value, "the string does not end; it begins, at byte 0");
  EXPECT_EQ(ReadString("\"a\nb\"").value, "a control character inside a string; write it as an escape, at byte 2");
  EXPECT_EQ(ReadString("\"\xff\"").value, "the string is not UTF-8, at byte 1");
  EXPECT_EQ(ReadString("\"ab\xc0\xaf\"").value, "the string is not UTF-8, at byte 3");
  for (const char* text : {R"("\x41")", R"("\u12")", R"("\ud800")", R"("\ud800A")", R"("\udc00")", R"("\ud83d\ud83d")"})
    EXPECT_FALSE(ReadString(text).ok) << text;
  EXPECT_EQ(ReadString("\"a\" x").value, "expected nothing after the value, found `x`, at byte 4");
  EXPECT_EQ(ReadString("").value, "the body is empty, expected a JSON object");
  EXPECT_EQ(ReadString("12").value, "expected a string, found a number, at byte 0");
}

Read ReadBytes(std::string_view text) {
  Job job;
  const Body body(text);
  wf_json in;
  wf_bytes out{};
  const bool ok = wf_json_open(&in, job.ctx(), body.view()) == 0 && wf_json_bytes(&in, &out) == 0 && wf_json_close(&in) == 0;
  return {ok ? std::string(View(out)) : job.message, ok};
}

TEST(JsonBytes, DecodesBase64) {
  EXPECT_EQ(ReadBytes(R"({"b64":""})").value, "");
  EXPECT_EQ(ReadBytes(R"({ "b64" : "Zg==" })").value, "f");
  EXPECT_EQ(ReadBytes(R"({"b64":"Zm8="})").value, "fo");
  EXPECT_EQ(ReadBytes(R"({"b64":"Zm9v"})").value, "foo");
  EXPECT_EQ(ReadBytes(R"({"b64":"\/\/8="})").value, "\xff\xff");
  for (const char* text : {R"({"b64":"Zg"})", R"({"b64":"Zh=="})", R"({"b64":"Z==="})", R"({"b64":"===="})", R"({"b64":"Zm9v\n"})",
                           R"({"b64":"Zm-_"})", R"({"b65":"Zm9v"})", R"("Zm9v")", R"({})", R"({"b64":"Zm9v","x":1})", R"({"b64":3})"}) {
    EXPECT_FALSE(ReadBytes(text).ok) << text;
  }
}

// Reads an object of `x: i32`, `y: f32` as a generated codec does.
Read ReadPoint(std::string_view text) {
  Job job;
  const Body body(text);
  wf_port ports[2] = {};
  ports[0].name = fake::Bytes("width");
  ports[1].name = fake::Bytes("height");
  int32_t width = 0;
  float height = 0;
  const auto read = [&]() -> wf_code {
    wf_json in;
    wf_bytes name;
    uint32_t seen = 0;
    if (wf_json_open(&in, job.ctx(), body.view()) != 0 || wf_json_object(&in) != 0) return WF_FAILED;
    int32_t more = 0;
    while ((more = wf_json_member(&in, &name)) == 1) {
      const int index = View(name) == "width" ? 0 : View(name) == "height" ? 1 : -1;
      if (index < 0) return wf_json_unknown(&in, name, ports, 2);
      if ((seen >> index & 1) != 0) return wf_json_duplicate(&in, name);
      seen |= 1U << index;
      if (wf_json_scalar(&in, index == 0 ? WF_I32 : WF_F32, index == 0 ? static_cast<void*>(&width) : &height) != 0) return WF_FAILED;
    }
    if (more < 0) return WF_FAILED;
    for (int i = 0; i < 2; ++i) {
      if ((seen >> i & 1) == 0) return wf_json_missing(&in, ports[i].name);
    }
    return wf_json_close(&in);
  };
  const bool ok = read() == 0;
  EXPECT_EQ(ok, job.code == 0);
  return {ok ? std::to_string(width) + " " + std::to_string(height) : job.message, ok};
}

TEST(JsonObject, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string_view text;
    const char* answer;
  };
  const Case cases[] = {
      {R"({"width":3,"height":0.5})", "3 0.500000"},
      {" {\n\"height\" : 1e1 ,\t\"width\": -3 } ", "-3 10.000000"},
      {R"({"width":3})", "missing member `height`"},
      {R"({"width":3,"heigth":1})", "unknown member `heigth`; did you mean `height`, at byte 11"},
      {R"({"width":3,"colour":1})", "unknown member `colour`, at byte 11"},
      {R"({"nam":1})", "unknown member `nam`, at byte 1"},
      {R"({"width":3, "a\u0022b\"\\" : 1})", R"(unknown member `a"b"\`, at byte 12)"},
      {R"({"width":3,"width":4})", "member `width` is given twice, at byte 11"},
      {R"({"width":3,"w\u0069dth":4})", "member `width` is given twice, at byte 11"},
      {R"({"width":3.5,"height":1})", "`width`: expected an integer, found a number with a fraction or exponent, at byte 9"},
      {R"({"width":"3","height":1})", "`width`: expected a number, found a string, at byte 9"},
      {R"({"width":null,"height":1})", "`width`: expected a number, found null, at byte 9"},
      {R"({"width":true,"height":1})", "`width`: expected a number, found a bool, at byte 9"},
      {R"({"width":9999999999,"height":1})", "`width`: `9999999999` is out of range for i32, at byte 9"},
      {R"({"width":3,"height":NaN})", "`height`: expected a number, found `NaN`, at byte 20"},
      {R"({"width":nan,"height":1})", "`width`: expected a number, found `nan`, at byte 9"},
      {R"({"width":falsey,"height":1})", "`width`: expected a number, found `falsey`, at byte 9"},
      {"name=x", "expected an object, found `name`, at byte 0"},
      {R"({"width":3,"height":1e99})", "`height`: `1e99` is out of range for f32, at byte 20"},
      {R"({"width":3,"height":)", "`height`: expected a number, found the end of the text, at byte 20"},
      {R"({"width":3 "height":1})", "expected `,` or `}`, found a string, at byte 11"},
      {R"({"width":3,})", "expected a member after the comma, found `}`, at byte 11"},
      {R"({width:3})", "expected a member name, found `width`, at byte 1"},
      {R"({"width" 3})", "expected `:`, found a number, at byte 9"},
      {R"([1,2])", "expected an object, found an array, at byte 0"},
      {R"({"width":3,"height":1}})", "expected nothing after the value, found `}`, at byte 22"},
      {"", "the body is empty, expected a JSON object"},
      {"   ", "expected an object, found the end of the text, at byte 3"},
      {"\xef\xbb\xbf{}", "expected an object, found the byte 0xEF of a byte order mark, at byte 0"},
      {{"\0{}", 3}, "expected an object, found the byte 0x00, at byte 0"},
      {"\xff{}", "expected an object, found the byte 0xFF, at byte 0"},
      {"\xc3", "expected an object, found the byte 0xC3, at byte 0"},
      {"é{}", "expected an object, found `é`, at byte 0"},
      {R"({"width":01})", "`width`: a number must not begin with `0` before other digits, at byte 9"},
      {R"({"width":-})", "`width`: a digit must follow the `-` of a number, at byte 9"},
      {R"({"width":1.})", "`width`: a digit must follow the `.` of a number, at byte 9"},
      {R"({"width":1e})", "`width`: a digit must follow the `e` of a number, at byte 9"},
      {R"({"width":1E+})", "`width`: a digit must follow the `e` of a number, at byte 9"},
  };
  for (const Case& c : cases) EXPECT_EQ(ReadPoint(c.text).value, c.answer) << c.text;
}

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

TEST(JsonTensor, GrowsWithTheText) {
  std::string text = "[";
  for (int i = 0; i < 5000; ++i) text += (i == 0 ? "" : ", ") + std::to_string(i % 250);
  text += "]";
  const Read read = ReadTensor(text, WF_U8, {-1});
  EXPECT_TRUE(read.ok) << read.value;
  EXPECT_EQ(read.value.substr(0, 14), "5000: 0 1 2 3 ");
}

TEST(JsonTensor, NamesTheElementThatDoesNotFit) {
  struct Case {
    const char *text, *answer;
  };
  const Case cases[] = {
      {"[[1,2],[3]]", "expected 2 elements on axis 1 of f32[h, 2], found 1, at byte 7"},
      {"[[1,2,3]]", "expected 2 elements on axis 1 of f32[h, 2], found 3, at byte 1"},
      {"[1,2]", "expected an array (axis 1 of f32[h, 2]), found a number, at byte 1"},
      {"[[1,2],[3,[4]]]", "[1][1]: expected a number, found an array: more than the 2 axes of f32[h, 2], at byte 10"},
      {"[[1,\"x\"]]", "[0][1]: expected a number, found a string, at byte 4"},
      {"[[1,1e60]]", "[0][1]: `1e60` is out of range for f32, at byte 4"},
      {"[[1,2]", "expected `,` or `]`, found the end of the text, at byte 6"},
      {"[[1 2]]", "expected `,` or `]`, found a number, at byte 4"},
      {"[[01]]", "[0][0]: a number must not begin with `0` before other digits, at byte 2"},
      {"[[1,-]]", "[0][1]: a digit must follow the `-` of a number, at byte 4"},
      {"[[1,]]", "[0][1]: expected a number, found `]`, at byte 4"},
      {"[[1,2],]", "expected an array (axis 1 of f32[h, 2]), found `]`, at byte 7"},
      {"{}", "expected an array (axis 0 of f32[h, 2]), found an object, at byte 0"},
  };
  for (const Case& c : cases) EXPECT_EQ(ReadTensor(c.text, WF_F32, {-1, 2}).value, c.answer) << c.text;
  EXPECT_EQ(ReadTensor("[1.5]", WF_U8, {-1}).value, "[0]: `1.5` is no integer, expected u8, at byte 1");
  EXPECT_EQ(ReadTensor("[1,256]", WF_U8, {-1}).value, "[1]: `256` is out of range for u8, at byte 3");
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

TEST(SkipValue, ChecksTheGrammarOfWhatItSkips) {
  const auto skip = [](std::string_view text) {
    Job job;
    const Body body(text);
    wf_json in;
    return wf_json_open(&in, job.ctx(), body.view()) == 0 && SkipValue(&in) == 0 && wf_json_close(&in) == 0;
  };
  for (const char* text : {"1", "\"x\"", "null", "[]", "{}", "[1,[2,{\"a\":[]}],null]", "{\"a\":{\"b\":[1,2]},\"c\":true}", " [ ] "})
    EXPECT_TRUE(skip(text)) << text;
  for (const char* text : {"", "[", "{", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "[1 2]", "{1:2}", "nul", "[}", "[1]]"})
    EXPECT_FALSE(skip(text)) << text;
}

TEST(ReadShaped, TakesNestedNumbersOfTheShapeOrFlatOnesOfItsCount) {
  const auto read = [](std::string_view text, const std::vector<int64_t>& extents) {
    Job job;
    const Body body(text);
    wf_json in;
    uint64_t count = 1;
    for (const int64_t extent : extents) count *= static_cast<uint64_t>(extent);
    std::vector<int32_t> out(count + 1, -7);
    const bool ok = wf_json_open(&in, job.ctx(), body.view()) == 0 && ReadShaped(&in, WF_I32, extents, count, out.data()) == 0 &&
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
