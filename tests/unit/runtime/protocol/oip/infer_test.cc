#include "tests/unit/runtime/protocol/oip/infer.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/runtime/protocol/oip/types_plan.h"
#include "tests/unit/support/plans.h"

namespace wf::test {
namespace {

enum Workflow : uint32_t { kAll, kPair, kHalf, kGrow };

std::string Input(const std::string& name, const std::string& datatype, const std::string& shape, const std::string& data) {
  return R"({"name":")" + name + R"(","datatype":")" + datatype + R"(","shape":)" + shape + R"(,"data":)" + data + "}";
}
std::string Body(const std::string& inputs, const std::string& more = "") { return "{" + more + "\"inputs\":[" + inputs + "]}"; }
std::string Wants(const std::string& name) { return R"("outputs":[{"name":")" + name + R"("}],)"; }

Infer::Reply Call(uint32_t workflow, const std::string& body) { return Infer(TypesPlan()).Call(workflow, body); }

// What stands in the list of outputs of a good reply.
std::string Outputs(const Infer::Reply& reply) {
  const std::string begin = R"({"model_name":"M","model_version":"1","outputs":[)", end = "]}";
  if (reply.status != 200 || !reply.text.starts_with(begin) || !reply.text.ends_with(end)) return std::to_string(reply.status) + reply.text;
  return reply.text.substr(begin.size(), reply.text.size() - begin.size() - end.size());
}

struct Case {
  const char *name, *datatype, *shape, *data;
  const char* answer = nullptr;  // what follows the name; null: datatype, shape and data as sent
};

void ExpectCases(std::initializer_list<Case> cases) {
  for (const Case& row : cases) {
    SCOPED_TRACE(std::string(row.name) + " " + row.shape + " " + row.data);
    const auto reply = Call(kAll, Body(Input(row.name, row.datatype, row.shape, row.data), Wants(row.name)));
    const std::string same = std::string(R"("datatype":")") + row.datatype + R"(","shape":)" + row.shape + R"(,"data":)" + row.data;
    EXPECT_EQ(Outputs(reply), std::string(R"({"name":")") + row.name + "\"," + (row.answer == nullptr ? same : row.answer) + "}");
  }
}

TEST(OipInfer, EveryTypeComesBackAsItWent) {
  ExpectCases({
      {"yes", "BOOL", "[]", "[true]"},
      {"i8", "INT8", "[]", "[-128]"},
      {"i16", "INT16", "[]", "[-32768]"},
      {"i32", "INT32", "[]", "[2147483647]"},
      {"i64", "INT64", "[]", "[-9223372036854775808]"},
      {"u8", "UINT8", "[]", "[255]"},
      {"u16", "UINT16", "[]", "[65535]"},
      {"u32", "UINT32", "[]", "[4294967295]"},
      {"u64", "UINT64", "[]", "[18446744073709551615]"},
      {"f32", "FP32", "[]", "[0.1]"},
      {"f64", "FP64", "[]", "[-2.5]"},
      {"text", "BYTES", "[]", R"(["Zoë \" \n"])"},
      {"raw", "BYTES", "[]", R"(["ab"])", R"("datatype":"BYTES","shape":[],"parameters":{"content_type":"base64"},"data":["YWI="])"},
      {"words", "BYTES", "[3]", R"(["a","","c"])"},
      {"words", "BYTES", "[0]", "[]"},
      {"blobs", "BYTES", "[2]", R"(["a","b"])",
       R"("datatype":"BYTES","shape":[2],"parameters":{"content_type":"base64"},"data":["YQ==","Yg=="])"},
      {"numbers", "FP32", "[3]", "[1,2.5,-3]"},
      {"matrix", "FP32", "[2,2]", "[[1,2],[3,4]]", R"("datatype":"FP32","shape":[2,2],"data":[1,2,3,4])"},
      {"matrix", "FP32", "[2,0]", "[]"},
      {"line", "INT64", "[2]", "[1,-1]"},
      {"flags", "BOOL", "[2]", "[true,false]"},
      {"point", "BYTES", "[]", R"(["{\"x\":1,\"label\":\"p\"}"])"},
      {"points", "BYTES", "[]", R"(["[{\"x\":1,\"label\":\"p\"}]"])"},
      {"maybe", "INT64", "[]", "[5]", R"("datatype":"BYTES","shape":[],"data":["5"])"},
      {"maybe", "INT64", "[]", "[null]", R"("datatype":"BYTES","shape":[],"data":["null"])"},
      {"perhaps", "BYTES", "[]", R"(["{\"x\":1,\"label\":\"p\"}"])"},
      {"perhaps", "BYTES", "[]", R"(["null"])"},
      {"tally", "BYTES", "[]", R"(["{\"a\":1,\"b\":2}"])"},
      {"tally", "BYTES", "[]", R"(["{}"])"},
      {"tally", "BYTES", "[]", R"(["null"])"},
      {"tally", "BYTES", "[3]", R"(["{\"a\":1}","null","{}"])"},
  });
}

TEST(OipInfer, OneMoreAxisInFrontIsSamples) {
  ExpectCases({
      {"yes", "BOOL", "[2]", "[true,false]"},
      {"i64", "INT64", "[1]", "[7]"},
      {"i64", "INT64", "[3]", "[1,2,3]"},
      {"i64", "INT64", "[3,1]", "[[1],[2],[3]]", R"("datatype":"INT64","shape":[3],"data":[1,2,3])"},
      {"text", "BYTES", "[2]", R"(["a","b"])"},
      {"words", "BYTES", "[2,2]", R"(["a","b","c","d"])"},
      {"numbers", "FP32", "[2,2]", "[1,2,3,4]"},
      {"matrix", "FP32", "[2,2,1]", "[1,2,3,4]"},
      {"matrix", "FP32", "[1,2,1]", "[1,2]"},
      {"flags", "BOOL", "[2,2]", "[true,false,false,true]"},
      {"point", "BYTES", "[2]", R"(["{\"x\":1,\"label\":\"p\"}","{\"x\":2,\"label\":\"q\"}"])"},
      {"maybe", "INT64", "[2]", "[5,6]", R"("datatype":"BYTES","shape":[2],"data":["5","6"])"},
      {"maybe", "INT64", "[3]", "[5,null,6]", R"("datatype":"BYTES","shape":[3],"data":["5","null","6"])"},
      {"maybe", "INT64", "[2,1]", "[[null],[6]]", R"("datatype":"BYTES","shape":[2],"data":["null","6"])"},
  });
}

TEST(OipInfer, SamplesShareEveryInput) {
  const auto reply = Call(kPair, Body(Input("a", "FP32", "[2,2]", "[[1,2],[3,4]]") + "," + Input("b", "INT64", "[2,1]", "[5,6]")));
  EXPECT_EQ(Outputs(reply),
            R"({"name":"a","datatype":"FP32","shape":[2,2],"data":[1,2,3,4]},{"name":"b","datatype":"INT64","shape":[2],"data":[5,6]})");
  EXPECT_EQ(reply.samples, 2U);
}

TEST(OipInfer, AScalarOfShapeOneFollowsTheOthers) {
  const auto plain = Call(kPair, Body(Input("a", "FP32", "[2]", "[1,2]") + "," + Input("b", "INT64", "[1]", "[5]")));
  EXPECT_EQ(Outputs(plain),
            R"({"name":"a","datatype":"FP32","shape":[2],"data":[1,2]},{"name":"b","datatype":"INT64","shape":[],"data":[5]})");
  const auto stacked = Call(kPair, Body(Input("a", "FP32", "[1,2]", "[1,2]") + "," + Input("b", "INT64", "[1]", "[5]")));
  EXPECT_EQ(Outputs(stacked),
            R"({"name":"a","datatype":"FP32","shape":[1,2],"data":[1,2]},{"name":"b","datatype":"INT64","shape":[1],"data":[5]})");
}

TEST(OipInfer, DefaultsStandInForWhatIsNotGiven) {
  EXPECT_EQ(Outputs(Call(kAll, Body("", Wants("matrix")))), R"({"name":"matrix","datatype":"FP32","shape":[2,1],"data":[0,0]})");
  EXPECT_EQ(Outputs(Call(kAll, Body("", Wants("maybe")))), R"({"name":"maybe","datatype":"BYTES","shape":[],"data":["null"]})");
  EXPECT_EQ(Outputs(Call(kGrow, Body(Input("count", "INT64", "[]", "[0]"), Wants("ratio")))).find("418"), std::string::npos);
}

TEST(OipInfer, Base64IsDecodedWhereTheInputSaysSo) {
  const std::string input = R"({"name":"raw","datatype":"BYTES","shape":[2],"parameters":{"content_type":"base64"},"data":["YWI=",""]})";
  EXPECT_EQ(Outputs(Call(kAll, Body(input, Wants("raw")))),
            R"({"name":"raw","datatype":"BYTES","shape":[2],"parameters":{"content_type":"base64"},"data":["YWI=",""]})");
}

TEST(OipInfer, IdParametersAndAnnotationsTravel) {
  const std::string more = R"("id":"call \u0037","parameters":{"say":"hi","n":1,"b":true,"timeout":2500},)" + Wants("grown");
  const auto reply = Call(kGrow, Body(Input("count", "INT64", "[]", "[2]"), more));
  EXPECT_EQ(reply.text, R"({"model_name":"M","model_version":"1","id":"call 7","parameters":{"count":"hi"},)"
                        R"("outputs":[{"name":"grown","datatype":"INT64","shape":[2],"data":[0,1]}]})");
  EXPECT_EQ(reply.log_id, "call 7");
  EXPECT_EQ(reply.timeout_ns, 2'500'000);
}

TEST(OipInfer, AFailedSampleIsNamed) {
  const auto reply = Call(kGrow, Body(Input("count", "INT64", "[3]", "[1,13,1]"), R"("id":"x",)"));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code, 100001);
  EXPECT_TRUE(
      reply.text.starts_with(R"({"error":"sample 1: thirteen is too many","code":100001,"name":"TooMany","path":"Grow/grown","data_id":)"))
      << reply.text;
  EXPECT_TRUE(reply.text.ends_with(R"(,"log_id":"x"})"
                                   "\n"))
      << reply.text;
  const auto one = Call(kGrow, Body(Input("count", "INT64", "[]", "[13]")));
  EXPECT_TRUE(one.text.starts_with(R"({"error":"thirteen is too many")")) << one.text;
}

TEST(OipInfer, ResultsThatCannotBeStackedAreNamed) {
  const auto reply = Call(kGrow, Body(Input("count", "INT64", "[3]", "[2,2,3]")));
  EXPECT_EQ(reply.status, 500);
  EXPECT_NE(reply.text.find("output `grown` of sample 2 has another shape"), std::string::npos) << reply.text;
}

TEST(OipInfer, AnInfiniteResultIsAnErrorThatNamesIt) {
  const auto reply = Call(kGrow, Body(Input("count", "INT64", "[2]", "[1,1]") + "," + Input("over", "FP64", "[2]", "[1,0]")));
  EXPECT_EQ(reply.code, 9000);
  EXPECT_TRUE(reply.text.starts_with(R"({"error":"output `ratio` of sample 1: )")) << reply.text;
  EXPECT_NE(reply.text.find(R"("path":"")"), std::string::npos) << "no node has failed: " << reply.text;
  const auto early = Call(kGrow, Body(Input("count", "INT64", "[3]", "[1,1,1]") + "," + Input("over", "FP64", "[3]", "[0,1,1]")));
  EXPECT_TRUE(early.text.starts_with(R"({"error":"output `ratio` of sample 0: )")) << early.text;
}

TEST(OipInfer, TypesThatMustBeRawSaySo) {
  const auto sent = Call(kHalf, Body(Input("half", "FP16", "[]", "[1]")));
  EXPECT_EQ(sent.code, 5000);
  EXPECT_NE(sent.text.find("input `half` is of datatype `FP16`, which must be raw"), std::string::npos) << sent.text;
  const auto asked =
      Call(kHalf, Body(R"({"name":"half","datatype":"FP16","shape":[],"parameters":{"binary_data_size":0}})", Wants("whole")));
  EXPECT_EQ(asked.code, 5000);
  EXPECT_NE(asked.text.find("input `half` has 0 bytes of raw data, but its shape says 1 element of FP16"), std::string::npos) << asked.text;
}

TEST(OipInfer, UnknownParametersOfOutputsArePassedOver) {
  const std::string input = Input("i64", "INT64", "[]", "[1]");
  const auto output = [&input](const std::string& parameters) {
    return Call(kAll, Body(input, R"("outputs":[{"name":"i64","parameters":)" + parameters + "}],"));
  };
  EXPECT_EQ(output(R"({"binary_data":false,"other":[1]})").status, 200);
  EXPECT_EQ(output("[]").status, 400);
  EXPECT_EQ(Call(kAll, Body(input, R"("parameters":{"binary_data_output":false},)")).status, 200);
}

struct Wrong {
  uint32_t workflow;
  std::string body;
  const char* says;
};

TEST(OipInfer, MistakesAreNamed) {
  const std::string a = Input("a", "FP32", "[2]", "[1,2]"), b = Input("b", "INT64", "[]", "[5]");
  const Wrong cases[] = {
      {kPair, "", "the body is empty"},
      {kPair, "[]", "expected an object"},
      {kPair, "{}", "missing member `inputs`"},
      {kPair, Body(a + "," + b) + "x", "expected nothing after the value"},
      {kPair, Body(a), "input `b` is missing"},
      {kPair, Body(a + "," + a), "input `a` is given twice"},
      {kPair, R"({"inputs":[],"inputs":[]})", "member `inputs` is given twice"},
      {kPair, R"({"inputs":[{"name":"a","name":"a"}]})", "member `name` is given twice"},
      {kPair, R"({"inputs":[{"name":"a","datatype":"FP32","data":[]}]})", "`inputs[0]`: missing member `shape`"},
      {kPair, Body(Input("a", "FP32", "[2]", "5")), "`inputs[0].data`: expected an array"},
      {kAll, Body(Input("numbres", "FP32", "[]", "[1]")), "unknown input `numbres`; did you mean `numbers`"},
      {kAll, Body("", Wants("lime")), "unknown output `lime`; did you mean `line`"},
      {kAll, R"({"inputs":[],"outputs":[{"name":"line"},{"name":"line"}]})", "output `line` is asked for twice"},
      {kPair, Body(Input("a", "INT32", "[2]", "[1,2]")), "input `a` is of datatype `FP32`, found `INT32`"},
      {kPair, Body(Input("a", "FP32", "[2,1,1]", "[1,2]")), "input `a` has 3 axes, expected 1 (f32[2]), or one more"},
      {kPair, Body(Input("a", "FP32", "[3]", "[1,2,3]") + "," + b), "input `a` has extent 3 on axis 0, expected 2 (f32[2])"},
      {kPair, Body(Input("a", "FP32", "[2]", "[1,2,3]") + "," + b), "more than the 2 elements"},
      {kPair, Body(Input("a", "FP32", "[2]", "[1  ]") + "," + b), "expected 2 elements, as the shape says, found 1"},
      {kPair, Body(Input("a", "FP32", "[2]", R"([1,"x"])") + "," + b), "`a`: expected a number, found a string"},
      {kPair, Body(a + "," + Input("b", "INT64", "[]", "[1.5]")), "`b`: `1.5` is not written as an integer, expected i64"},
      {kAll, Body(Input("i8", "INT8", "[]", "[128]")), "`i8`: `128` is out of range for i8"},
      {kAll, Body(Input("u8", "UINT8", "[]", "[-1]")), "`u8`: `-1` is out of range for u8"},
      {kAll, Body(Input("yes", "BOOL", "[]", "[1]")), "`yes`: expected `true` or `false`"},
      {kAll, Body(Input("line", "INT64", "[-1]", "[]")), "an extent below 0"},
      {kAll, Body(Input("line", "INT64", "[1,1,1,1,1,1,1,1,1,1]", "[]")), "more than 9 axes"},
      {kAll, Body(Input("line", "INT64", "[1]", "[1]"), "\"id\":\"" + std::string(1025, 'i') + "\","), "`id`: more than 1024 bytes"},
      {kAll, Body(Input("line", "INT64", "[99999999999]", "[1]")), "input `line` has fewer elements in its data than its shape says"},
      {kAll, Body(Input("matrix", "FP32", "[0,2,4611686018427387904]", "[]")), "carries 0 samples"},
      {kAll, Body(Input("numbers", "FP32", "[8,0]", "[]") + "," + Input("matrix", "FP32", "[8,2,4611686018427387904]", "[]")),
       "fewer elements"},
      {kAll, Body(Input("i64", "INT64", "[9]", "[1,2,3,4,5,6,7,8,9]")), "input `i64` carries 9 samples; a call carries 1 to 8"},
      {kPair, Body(a + "," + Input("b", "INT64", "[2]", "[5,6]")), "input `b` carries an axis of samples, but input `a` does not"},
      {kPair, Body(Input("a", "FP32", "[2,2]", "[1,2,3,4]") + "," + Input("b", "INT64", "[3]", "[5,6,7]")),
       "input `b` carries 3 samples, but input `a` carries 2"},
      {kPair, Body(Input("a", "FP32", "[2,2]", "[1,2,3,4]") + "," + Input("b", "INT64", "[1]", "[5]")),
       "input `b` carries 1 sample, but the other inputs carry 2"},
      {kAll, Body(Input("point", "BYTES", "[2]", R"(["{\"x\":1,\"label\":\"\"}","{\"x\":1,\"lable\":\"\"}"])")),
       "`point[1]`: unknown member `lable`; did you mean `label`"},
      {kAll, Body(R"({"name":"raw","datatype":"BYTES","shape":[1],"parameters":{"content_type":"base64"},"data":["?"]})"),
       "element 0 of input `raw` is no base64"},
      {kAll, Body("", R"("parameters":{"a":[1]},)"), "`parameters.a`: expected a string, number or bool"},
      {kAll, Body("", R"("parameters":{"a":1,"a":1},)"), "parameter `a` is given twice"},
      {kAll, Body("", R"("parameters":{"binary_data_output":1},)"), "parameter `binary_data_output` is no bool"},
      {kAll, Body("", R"("parameters":{"timeout":"1.5"},)"), "expected a whole number of microseconds"},
      {kAll, Body("", R"("id":7,)"), "`id`: expected a string, found a number"},
      {kAll, "{\"x\":" + std::string(100'000, '['), "nested deeper than 64"},
      {kAll, Body(Input("line", "INT64", "[1]", std::string(100'000, '['))), "nested deeper than 64"},
      {kAll, Body(Input("line", "INT64", "[1]", std::string(20, '[') + "1" + std::string(20, ']'))),
       "`line`: expected a number, found an array"},
      {kAll, Body(Input("words", "BYTES", "[1]", R"([["a"]])")), "`words`: expected a string, found an array"},
      {kPair, Body(Input("a", "FP32", "[3,2]", "[[1,2],[3,4,5,6]]") + "," + Input("b", "INT64", "[3]", "[5,6,7]")),
       "`a[1]`: expected 2 elements on axis 1 of the shape, found more"},
      {kPair, Body(Input("a", "FP32", "[2,2]", "[[1,2,3,4]]") + "," + Input("b", "INT64", "[2]", "[5,6]")),
       "`a[0]`: expected 2 elements on axis 1 of the shape, found more"},
  };
  Infer infer(TypesPlan());
  for (const Wrong& row : cases) {
    SCOPED_TRACE(row.body.substr(0, 200));
    const auto reply = infer.Call(row.workflow, row.body);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.code, 5000);
    EXPECT_NE(reply.text.find(row.says), std::string::npos) << reply.text;
  }
}

TEST(OipInfer, OutputsComeInTheOrderTheyAreAskedFor) {
  const std::string inputs = Input("i64", "INT64", "[]", "[1]") + "," + Input("f32", "FP32", "[]", "[2]");
  const std::string f32 = R"({"name":"f32","datatype":"FP32","shape":[],"data":[2]})",
                    i64 = R"({"name":"i64","datatype":"INT64","shape":[],"data":[1]})";
  EXPECT_EQ(Outputs(Call(kAll, Body(inputs, R"("outputs":[{"name":"f32"},{"name":"i64"}],)"))), f32 + "," + i64);
  EXPECT_EQ(Outputs(Call(kAll, Body(inputs, R"("outputs":[{"name":"i64"},{"name":"f32"}],)"))), i64 + "," + f32);
}

TEST(OipInfer, ATimeoutIsAWholeNumberOfMicroseconds) {
  for (const char* value : {R"("2500")", R"("")", "2.5", "-1", "true", "1e3"}) {
    const auto reply = Call(kGrow, Body(Input("count", "INT64", "[]", "[2]"), std::string(R"("parameters":{"timeout":)") + value + "},"));
    EXPECT_EQ(reply.status, 400) << value;
    EXPECT_NE(reply.text.find("a whole number of microseconds"), std::string::npos) << reply.text;
  }
  const auto longest = Call(kGrow, Body(Input("count", "INT64", "[]", "[2]"), R"("parameters":{"timeout":18446744073709551615},)"));
  EXPECT_EQ(longest.timeout_ns, INT64_MAX / 1000 * 1000);
}

TEST(OipInfer, ParametersAreCounted) {
  std::string parameters;
  for (int i = 0; i < 65; ++i) parameters += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\":1";
  const auto reply = Call(kAll, Body("", "\"parameters\":{" + parameters + "},"));
  EXPECT_NE(reply.text.find("more than 64 parameters"), std::string::npos) << reply.text;
}

TEST(OipInfer, ParametersAreShort) {
  const auto call = [](size_t bytes) {
    const std::string parameters = R"("parameters":{"a":")" + std::string(bytes / 2, 'x') + R"(","b":")" + std::string(bytes / 2, 'y');
    return Call(kGrow, Body(Input("count", "INT64", "[]", "[2]"), parameters + R"("},)"));
  };
  EXPECT_EQ(call(65'534).status, 200);
  const auto reply = call(65'536);
  EXPECT_EQ(reply.status, 400);
  EXPECT_NE(reply.text.find("parameters of more than 65536 bytes"), std::string::npos) << reply.text;
}

TEST(OipInfer, ABodyCutAnywhereIsRefused) {
  const std::string body = Body(Input("words", "BYTES", "[2]", R"(["a\u00e9","b"])") + "," + Input("f32", "FP32", "[]", "[1e3]"),
                                R"("id":"i","parameters":{"a":"b"},)" + Wants("words"));
  Infer infer(TypesPlan());
  EXPECT_EQ(infer.Call(kAll, body).status, 200);
  for (size_t size = 0; size < body.size(); ++size) EXPECT_EQ(infer.Call(kAll, body.substr(0, size)).status, 400) << size;
}

TEST(OipInfer, UnknownMembersOfTheCallArePassedOver) {
  const std::string input = R"({"extra":{"a":[1,{"b":null}]},"name":"i64","datatype":"INT64","shape":[],"data":[1]})";
  EXPECT_EQ(Outputs(Call(kAll, Body(input, R"("more":[[]],)" + Wants("i64")))),
            R"({"name":"i64","datatype":"INT64","shape":[],"data":[1]})");
}

TEST(OipInfer, APlanOfOtherHandsWorksToo) {
  const auto reply = Infer(hello_plan).Call(0, Body(Input("name", "BYTES", "[2]", R"(["Ada","Bo"])")));
  EXPECT_EQ(Outputs(reply), R"({"name":"text","datatype":"BYTES","shape":[2],"data":["hello, Ada","hello, Bo"]})");
}

}  // namespace
}  // namespace wf::test
