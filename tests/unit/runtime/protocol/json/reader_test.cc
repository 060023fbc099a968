#include "runtime/protocol/json/reader.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/runtime/protocol/json/read.h"

namespace wf::json {
namespace {

using fake::Body;
using fake::Job;

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
      {R"({"width":3,"colour":1})", "unknown member `colour`; there is `width`, `height`, at byte 11"},
      {R"({"nam":1})", "unknown member `nam`; there is `width`, `height`, at byte 1"},
      {R"({"width":3, "a\u0022b\"\\" : 1})", R"(unknown member `a"b"\`; there is `width`, `height`, at byte 12)"},
      {R"({"width":3,"width":4})", "member `width` is given twice, at byte 11"},
      {R"({"width":3,"w\u0069dth":4})", "member `width` is given twice, at byte 11"},
      {R"({"width":3.5,"height":1})", "`width`: `3.5` is not written as an integer, expected i32, at byte 9"},
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

}  // namespace
}  // namespace wf::json
