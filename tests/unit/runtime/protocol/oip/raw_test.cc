// Raw tensors behind the JSON of a call, and behind that of its answer.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/runtime/protocol/oip/infer.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"

namespace wf::test {
namespace {

enum Workflow : uint32_t { kAll, kPair, kHalf, kGrow, kLine, kText };

template <typename T>
std::string Raw(std::vector<T> elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}
std::string Elements(const std::vector<std::string>& elements) {
  std::string raw;
  for (const std::string& element : elements) raw += Raw<uint32_t>({static_cast<uint32_t>(element.size())}) + element;
  return raw;
}
std::string Said(const std::string& name, const std::string& datatype, const std::string& shape, const std::string& size) {
  return R"({"name":")" + name + R"(","datatype":")" + datatype + R"(","shape":)" + shape + R"(,"parameters":{"binary_data_size":)" + size +
         "}}";
}
std::string Said(const std::string& name, const std::string& datatype, const std::string& shape, size_t size) {
  return Said(name, datatype, shape, std::to_string(size));
}
std::string Json(const std::string& inputs, const std::string& more = "") { return "{" + more + "\"inputs\":[" + inputs + "]}"; }
std::string Wants(const std::string& name) { return R"("outputs":[{"name":")" + name + R"("}],)"; }
const std::string kBinary = R"("parameters":{"binary_data_output":true},)";

Infer::Reply Call(uint32_t workflow, const std::string& json, const std::string& raw) {
  return Infer(TypesPlan()).Call(workflow, json + raw, static_cast<int64_t>(json.size()));
}

// The JSON of the outputs of a good reply, and the bytes that follow it.
struct Answer {
  std::string outputs, raw;
};
Answer Split(const Infer::Reply& reply) {
  if (reply.status != 200) return {std::to_string(reply.status) + reply.text, {}};
  const size_t json = reply.json_bytes.empty() ? reply.text.size() : std::stoul(reply.json_bytes);
  const std::string begin = R"({"model_name":"M","model_version":"1","outputs":[)";
  return {reply.text.substr(begin.size(), json - begin.size() - 2), reply.text.substr(json)};
}

struct Case {
  const char *name, *datatype, *shape;
  std::string raw;
};

TEST(OipRaw, EveryTypeComesBackAsItWent) {
  const Case cases[] = {
      {"yes", "BOOL", "[]", Raw<uint8_t>({1})},
      {"i8", "INT8", "[]", Raw<int8_t>({-128})},
      {"i16", "INT16", "[]", Raw<int16_t>({-32768})},
      {"i32", "INT32", "[2]", Raw<int32_t>({-1, 2147483647})},
      {"i64", "INT64", "[1]", Raw<int64_t>({std::numeric_limits<int64_t>::min()})},
      {"u8", "UINT8", "[]", Raw<uint8_t>({255})},
      {"u16", "UINT16", "[]", Raw<uint16_t>({65535})},
      {"u32", "UINT32", "[]", Raw<uint32_t>({4294967295U})},
      {"u64", "UINT64", "[]", Raw<uint64_t>({~UINT64_C(0)})},
      {"f32", "FP32", "[2]", Raw<float>({std::numeric_limits<float>::quiet_NaN(), 0.1F})},
      {"f64", "FP64", "[]", Raw<double>({-std::numeric_limits<double>::infinity()})},
      {"text", "BYTES", "[]", Elements({"Zoë"})},
      {"raw", "BYTES", "[2]", Elements({std::string("\0\xff", 2), ""})},
      {"words", "BYTES", "[3]", Elements({"a", "", "c"})},
      {"words", "BYTES", "[0]", ""},
      {"words", "BYTES", "[2,2]", Elements({"a", "b", "c", "d"})},
      {"blobs", "BYTES", "[1]", Elements({"\xfe"})},
      {"numbers", "FP32", "[3]", Raw<float>({1, 2.5, -3})},
      {"matrix", "FP32", "[2,2]", Raw<float>({1, 2, 3, 4})},
      {"matrix", "FP32", "[2,0]", ""},
      {"matrix", "FP32", "[3,2,1]", Raw<float>({1, 2, 3, 4, 5, 6})},
      {"line", "INT64", "[2]", Raw<int64_t>({1, -1})},
      {"flags", "BOOL", "[2]", Raw<uint8_t>({1, 0})},
  };
  for (const Case& row : cases) {
    SCOPED_TRACE(std::string(row.name) + " " + row.shape);
    const auto reply = Call(kAll, Json(Said(row.name, row.datatype, row.shape, row.raw.size()), kBinary + Wants(row.name)), row.raw);
    const Answer answer = Split(reply);
    EXPECT_EQ(answer.outputs, std::string(R"({"name":")") + row.name + R"(","datatype":")" + row.datatype + R"(","shape":)" + row.shape +
                                  R"(,"parameters":{"binary_data_size":)" + std::to_string(row.raw.size()) + "}}");
    EXPECT_EQ(answer.raw, row.raw);
    EXPECT_EQ(reply.content_type, "application/octet-stream");
  }
}

TEST(OipRaw, HalvesTravelRawOnly) {
  const std::string half = Raw<uint16_t>({0x3c00, 0x7e00});
  const auto reply =
      Call(kHalf, Json(Said("half", "FP16", "[2]", 4), R"("outputs":[{"name":"half","parameters":{"binary_data":true}}],)"), half);
  EXPECT_EQ(Split(reply).raw, half);
  const auto json = Call(kHalf, Json(Said("half", "FP16", "[2]", 4)), half);
  EXPECT_EQ(json.code, 5000);
  EXPECT_NE(json.text.find("output `half` is of datatype `FP16`, which must be raw; ask for it with `binary_data`"), std::string::npos)
      << json.text;
}

TEST(OipRaw, RecordsTravelAsTheirJson) {
  const std::string point = Elements({R"({"x":1,"label":"p"})"});
  EXPECT_EQ(Split(Call(kAll, Json(Said("point", "BYTES", "[]", point.size()), kBinary + Wants("point")), point)).raw, point);
}

TEST(OipRaw, WhatIsReadElementByElementCountsInFull) {
  const std::string point = Elements({R"({"x":1,"label":"p"})"}), half = Raw<uint16_t>({0x3c00, 0x7e00});
  EXPECT_EQ(Call(kAll, Json(Said("point", "BYTES", "[]", point.size()), kBinary + Wants("point")), point).fill_bytes, point.size());
  EXPECT_LT(Call(kHalf, Json(Said("half", "FP16", "[2]", 4)), half).fill_bytes, half.size());
}

TEST(OipRaw, RawAndJsonMixBothWays) {
  const std::string b = R"({"name":"b","datatype":"INT64","shape":[],"data":[5]})";
  const std::string a = Raw<float>({1, 2});
  const std::string outputs =
      R"("outputs":[{"name":"b","parameters":{"binary_data":true}},{"name":"a","parameters":{"binary_data":false}}],)";
  const Answer answer = Split(Call(kPair, Json(b + "," + Said("a", "FP32", "[2]", 8), kBinary + outputs), a));
  EXPECT_EQ(answer.outputs, R"({"name":"b","datatype":"INT64","shape":[],"parameters":{"binary_data_size":8}},)"
                            R"({"name":"a","datatype":"FP32","shape":[2],"data":[1,2]})");
  EXPECT_EQ(answer.raw, Raw<int64_t>({5}));
}

TEST(OipRaw, TensorsFollowInTheOrderOfTheInputs) {
  const std::string inputs = Said("b", "INT64", "[2]", 16) + "," + Said("a", "FP32", "[2,2]", 16);
  const auto reply = Call(kPair, Json(inputs, kBinary), Raw<int64_t>({7, 8}) + Raw<float>({1, 2, 3, 4}));
  EXPECT_EQ(Split(reply).raw, Raw<float>({1, 2, 3, 4}) + Raw<int64_t>({7, 8})) << reply.text;
  EXPECT_EQ(reply.samples, 2U);
}

TEST(OipRaw, AlignedTensorsStayInTheBody) {
  const auto borrowed = [](const std::string& shape, std::vector<float> values, const std::string& before = "") {
    const std::string json =
        Json((before.empty() ? "" : Said("f32", "FP32", "[]", 4) + ",") + Said("matrix", "FP32", shape, values.size() * 4), kBinary);
    const auto reply = Call(kAll, json, before + Raw(values));
    EXPECT_EQ(reply.status, 200) << reply.text;
    EXPECT_NE(Split(reply).raw.find(Raw(values)), std::string::npos);
    return reply.borrowed;
  };
  std::vector<float> values(32);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  EXPECT_EQ(borrowed("[2,3]", {1, 2, 3, 4, 5, 6}), 1);
  EXPECT_EQ(borrowed("[2,2,8]", values), 2) << "each sample is 64 bytes";
  EXPECT_EQ(borrowed("[4,2,4]", values), 0) << "each sample is 32 bytes";
  EXPECT_EQ(borrowed("[2,16]", values, Raw<float>({1})), 0) << "4 bytes behind the alignment";
}

TEST(OipRaw, ABodyWithoutJsonIsTheOnlyInput) {
  Infer infer(TypesPlan());
  const auto line = infer.Call(kLine, Raw<int64_t>({3, -4}), 0);
  EXPECT_EQ(Split(line).outputs, R"({"name":"line","datatype":"INT64","shape":[2],"parameters":{"binary_data_size":16}})");
  EXPECT_EQ(Split(line).raw, Raw<int64_t>({3, -4}));
  EXPECT_EQ(line.borrowed, 1);
  EXPECT_EQ(Split(infer.Call(kLine, "", 0)).outputs,
            R"({"name":"line","datatype":"INT64","shape":[0],"parameters":{"binary_data_size":0}})");
  EXPECT_EQ(Split(infer.Call(kText, "Zoë", 0)).raw, Elements({"Zoë"}));
  EXPECT_NE(infer.Call(kText, "\xff", 0).text.find("element 0 of input `text` is a string, and no UTF-8"), std::string::npos);
  const std::string line_of_9 = infer.Call(kLine, "123456789", 0).text;
  EXPECT_NE(line_of_9.find("\"input `line` has 9 bytes as a raw body, expected a multiple of 8 (i64["), std::string::npos) << line_of_9;
  EXPECT_NE(infer.Call(kPair, "1234", 0).text.find("a raw body is the only input, but there are 2"), std::string::npos);
}

TEST(OipRaw, ClassesAreTheGreatest) {
  const std::string input = R"({"name":"numbers","datatype":"FP32","shape":[4],"data":[0.5,2,-1,2]})";
  const auto classes = [](const std::string& count) {
    return R"("outputs":[{"name":"numbers","parameters":{"classification":)" + count + "}}],";
  };
  EXPECT_EQ(Split(Call(kAll, Json(input, classes("3")), "")).outputs,
            R"({"name":"numbers","datatype":"BYTES","shape":[3],"data":["2:1","2:3","0.5:0"]})");
  EXPECT_EQ(Split(Call(kAll, Json(input, classes("0")), "")).outputs,
            R"({"name":"numbers","datatype":"FP32","shape":[4],"data":[0.5,2,-1,2]})");
  const std::string nan = Raw<float>({1, std::numeric_limits<float>::quiet_NaN(), 3, 4});
  EXPECT_EQ(Split(Call(kAll, Json(Said("numbers", "FP32", "[2,2]", 16), classes("9")), nan)).outputs,
            R"({"name":"numbers","datatype":"BYTES","shape":[2,2],"data":["1:0","nan:1","4:1","3:0"]})");
  EXPECT_EQ(Split(Call(kAll, Json(input, kBinary + classes("1")), "")).raw, Elements({"2:1"}));
  EXPECT_EQ(Split(Call(kHalf, Json(Said("half", "FP16", "[]", 2), R"("outputs":[{"name":"half","parameters":{"classification":1}}],)"),
                       Raw<uint16_t>({0x3c00})))
                .outputs,
            R"({"name":"half","datatype":"BYTES","shape":[1],"data":["1:0"]})");
  const auto words = Call(kAll, Json("", R"("outputs":[{"name":"words","parameters":{"classification":1}}],)"), "");
  EXPECT_NE(words.text.find("output `words` is of datatype `BYTES`, which has no classes"), std::string::npos) << words.text;
  EXPECT_EQ(Call(kAll, Json(input, classes("-1")), "").code, 5000);
}

TEST(OipRaw, WhatIsNotBuiltSaysSo) {
  const std::string one = R"({"name":"i64","datatype":"INT64","shape":[],"data":[1]})";
  for (const std::string& json :
       {Json(R"({"name":"i64","datatype":"INT64","shape":[],"parameters":{"shared_memory_region":"r","shared_memory_byte_size":8}})"),
        Json(one, R"("outputs":[{"name":"i64","parameters":{"shared_memory_region":"r"}}],)"),
        Json(one, R"("parameters":{"sequence_id":7},)"), Json(one, R"("parameters":{"sequence_start":true},)")}) {
    const auto reply = Call(kAll, json, "");
    EXPECT_EQ(reply.status, 501) << reply.text;
    EXPECT_EQ(reply.code, 3000);
  }
  const auto none = Call(kAll, Json(one, R"("parameters":{"sequence_id":0,"sequence_start":false,"priority":1},)"), "");
  EXPECT_EQ(none.status, 200) << none.text;
}

struct Wrong {
  std::string json, raw;
  const char* says;
};

TEST(OipRaw, SizesThatLieAreNamed) {
  const std::string eight(8, 'x');
  const auto line = [](const std::string& size, const std::string& shape = "[1]") { return Json(Said("line", "INT64", shape, size)); };
  const auto words = [](const std::string& size, const std::string& shape) { return Json(Said("words", "BYTES", shape, size)); };
  const Wrong cases[] = {
      {line("16"), eight, "`inputs[0].parameters.binary_data_size`: says 16 bytes, but 8 are left"},
      {line("7"), eight, "1 byte follows the JSON that no `binary_data_size` takes"},
      {line("8", "[2]"), eight, "input `line` has 8 bytes of raw data, but its shape says 2 elements of INT64"},
      {line("8", "[0]"), eight, "has 8 bytes of raw data, but its shape says 0 elements"},
      {line("8", "[2305843009213693953]"), eight, "fewer elements in its data than its shape says"},
      {line("-8"), eight, "a size below 0"},
      {line("9223372036854775807"), eight, "says 9223372036854775807 bytes, but 8 are left"},
      {line("9223372036854775808"), eight, "is out of range"},
      {line("18446744073709551624"), eight, "is out of range"},
      {line("1e1"), eight, "`inputs[0].parameters.binary_data_size`"},
      {line("8.5"), eight, "`inputs[0].parameters.binary_data_size`"},
      {line(R"("8")"), eight, "expected a number"},
      {Json(Said("line", "INT64", "[1]", 8) + "," + Said("i64", "INT64", "[]", 8)), eight, "says 8 bytes, but 0 are left"},
      {Json(Said("line", "INT64", "[1]", 8) + "," + Said("line", "INT64", "[1]", 0)), eight, "input `line` is given twice"},
      {Json(R"({"name":"line","datatype":"INT64","shape":[1],"data":[1],"parameters":{"binary_data_size":8}})"), eight,
       "the data is given twice"},
      {Json(R"({"name":"line","datatype":"INT64","shape":[1],"parameters":{"binary_data_size":8},"data":[1]})"), eight,
       "the data is given twice"},
      {Json(R"({"name":"line","datatype":"INT64","shape":[1],"parameters":{"binary_data_size":8,"binary_data_size":0}})"), eight,
       "given twice"},
      {Json(R"({"name":"line","datatype":"INT64","shape":[1]})"), "", "`inputs[0]`: missing member `data`"},
      {words("4", "[1]"), Raw<uint32_t>({1}), "element 0 of input `words` says 1 byte, but 0 of raw data are left"},
      {words("4", "[1]"), Raw<uint32_t>({0xffffffff}), "says 4294967295 bytes, but 0 of raw data are left"},
      {words("3", "[1]"), "abc", "fewer elements in its data"},
      {words("9", "[2]"), Elements({"abcde"}), "element 1 of input `words` is missing: the raw data ends before its length"},
      {words("9", "[1]"), Elements({"abc"}) + "xy", "input `words` has 2 bytes of raw data behind its last element"},
      {words("4", "[0]"), Elements({""}), "has 4 bytes of raw data behind its last element"},
      {words("5", "[1]"), Elements({"\xff"}), "element 0 of input `words` is a string, and no UTF-8"},
      {words("8", "[4611686018427387904]"), eight, "fewer elements in its data"},
      {words("8", "[2,4611686018427387904]"), eight, "fewer elements in its data"},
      {Json(Said("flags", "BOOL", "[2]", 2)), "\x01\x02", "element 1 of input `flags` is a bool, and neither 0 nor 1"},
      {Json(Said("matrix", "FP32", "[2,4611686018427387904]", 8)), eight, "fewer elements in its data"},
      {Json(Said("point", "BYTES", "[]", 6)), Elements({"[]"}), "`point`: expected an object"},
  };
  Infer infer(TypesPlan());
  for (const Wrong& row : cases) {
    SCOPED_TRACE(row.json);
    const auto reply = infer.Call(kAll, row.json + row.raw, static_cast<int64_t>(row.json.size()));
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.code, 5000);
    EXPECT_NE(reply.text.find(row.says), std::string::npos) << reply.text;
  }
  const auto longer = infer.Call(kAll, "{}", 3);
  EXPECT_NE(longer.text.find("`inference-header-content-length` is 3, but the body has 2 bytes"), std::string::npos) << longer.text;
  const std::string one = line("8");
  for (const int64_t off : {-1, -2, -3, -4, -40, 1}) {
    const int64_t says = static_cast<int64_t>(one.size()) + off;
    const auto reply = infer.Call(kAll, one + eight, says);
    const std::string told = "the JSON does not end at byte " + std::to_string(says) + ", as `inference-header-content-length` says";
    EXPECT_NE(reply.text.find(told), std::string::npos) << reply.text;
  }
}

TEST(OipRaw, ABodyCutAnywhereIsRefused) {
  const std::string json = Json(Said("words", "BYTES", "[2]", 11) + "," + Said("line", "INT64", "[1]", 8), kBinary);
  const std::string body = json + Elements({"ab", "c"}) + Raw<int64_t>({1});
  Infer infer(TypesPlan());
  EXPECT_EQ(infer.Call(kAll, body, static_cast<int64_t>(json.size())).status, 200);
  for (size_t size = 1; size < body.size(); ++size) {
    EXPECT_EQ(infer.Call(kAll, body.substr(0, size), static_cast<int64_t>(json.size())).status, 400) << size;
    EXPECT_EQ(infer.Call(kAll, body, static_cast<int64_t>(size)).status, size == json.size() ? 200 : 400) << size;
  }
}

}  // namespace
}  // namespace wf::test
