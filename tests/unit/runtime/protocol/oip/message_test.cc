// `infer` over gRPC messages, made and read by protobuf's own code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "runtime/protocol/oip/message_reader.h"
#include "runtime/protocol/oip/open_inference_grpc.pb.h"
#include "runtime/protocol/protobuf/wire.h"
#include "tests/unit/runtime/protocol/oip/infer.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"

namespace wf::test {
namespace {

using inference::InferTensorContents;
using inference::ModelInferRequest;
using inference::ModelInferResponse;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::string_literals;

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

InferTensorContents* AddInput(ModelInferRequest* request, const std::string& name, const std::string& datatype,
                              std::vector<int64_t> shape) {
  auto* const input = request->add_inputs();
  input->set_name(name);
  input->set_datatype(datatype);
  for (const int64_t extent : shape) input->add_shape(extent);
  return input->mutable_contents();
}
void AddRaw(ModelInferRequest* request, const std::string& name, const std::string& datatype, std::vector<int64_t> shape,
            const std::string& raw) {
  AddInput(request, name, datatype, std::move(shape));
  request->mutable_inputs(request->inputs_size() - 1)->clear_contents();
  request->add_raw_input_contents(raw);
}
void AskTyped(ModelInferRequest* request) { (*request->mutable_parameters())["binary_data_output"].set_bool_param(false); }

ModelInferResponse Answer(uint32_t workflow, const ModelInferRequest& request) {
  const auto reply = Infer(TypesPlan()).CallMessage(workflow, request.SerializeAsString());
  ModelInferResponse response;
  EXPECT_EQ(reply.code, 0) << reply.text;
  EXPECT_TRUE(response.ParseFromString(reply.text));
  EXPECT_TRUE(response.GetReflection()->GetUnknownFields(response).empty());
  EXPECT_EQ(response.model_name(), "M");
  EXPECT_EQ(response.model_version(), "1");
  return response;
}

std::string Refusal(uint32_t workflow, const ModelInferRequest& request, wf_code code = 5000) {
  const auto reply = Infer(TypesPlan()).CallMessage(workflow, request.SerializeAsString());
  EXPECT_EQ(reply.code, code) << reply.text;
  return reply.text;
}

TEST(OipMessage, TypedNumbersOfEveryTypeComeBack) {
  ModelInferRequest request;
  AddInput(&request, "yes", "BOOL", {})->add_bool_contents(true);
  AddInput(&request, "i8", "INT8", {})->add_int_contents(-128);
  AddInput(&request, "i16", "INT16", {})->add_int_contents(-32768);
  AddInput(&request, "i32", "INT32", {})->add_int_contents(std::numeric_limits<int32_t>::min());
  AddInput(&request, "i64", "INT64", {})->add_int64_contents(std::numeric_limits<int64_t>::min());
  AddInput(&request, "u8", "UINT8", {})->add_uint_contents(255);
  AddInput(&request, "u16", "UINT16", {})->add_uint_contents(65535);
  AddInput(&request, "u32", "UINT32", {})->add_uint_contents(4294967295U);
  AddInput(&request, "u64", "UINT64", {})->add_uint64_contents(~UINT64_C(0));
  AddInput(&request, "f32", "FP32", {})->add_fp32_contents(std::numeric_limits<float>::quiet_NaN());
  AddInput(&request, "f64", "FP64", {})->add_fp64_contents(-0.1);
  for (const auto& input : request.inputs()) request.add_outputs()->set_name(input.name());
  AskTyped(&request);
  const ModelInferResponse response = Answer(kAll, request);
  EXPECT_EQ(response.raw_output_contents_size(), 0);
  ASSERT_EQ(response.outputs_size(), request.inputs_size());
  for (int i = 0; i < response.outputs_size(); ++i) {
    EXPECT_EQ(response.outputs(i).name(), request.inputs(i).name());
    EXPECT_EQ(response.outputs(i).datatype(), request.inputs(i).datatype());
    EXPECT_EQ(response.outputs(i).contents().SerializeAsString(), request.inputs(i).contents().SerializeAsString()) << i;
  }
}

TEST(OipMessage, TypedTensorsListsAndTextsComeBack) {
  ModelInferRequest request;
  auto* const words = AddInput(&request, "words", "BYTES", {3});
  for (const char* word : {"Zoë", "", "c"}) words->add_bytes_contents(word);
  auto* const matrix = AddInput(&request, "matrix", "FP32", {2, 2});
  for (const float value : {1.F, 2.F, 3.F, 4.F}) matrix->add_fp32_contents(value);
  AddInput(&request, "line", "INT64", {0});
  auto* const flags = AddInput(&request, "flags", "BOOL", {2});
  for (const bool value : {true, false}) flags->add_bool_contents(value);
  AddInput(&request, "raw", "BYTES", {})->add_bytes_contents(std::string("\0\xff", 2));
  AddInput(&request, "point", "BYTES", {})->add_bytes_contents(R"({"x":1,"label":"p"})");
  for (const auto& input : request.inputs()) request.add_outputs()->set_name(input.name());
  AskTyped(&request);
  const ModelInferResponse response = Answer(kAll, request);
  ASSERT_EQ(response.outputs_size(), request.inputs_size());
  for (int i = 0; i < response.outputs_size(); ++i) {
    EXPECT_EQ(std::vector<int64_t>(response.outputs(i).shape().begin(), response.outputs(i).shape().end()),
              std::vector<int64_t>(request.inputs(i).shape().begin(), request.inputs(i).shape().end()));
    EXPECT_EQ(response.outputs(i).contents().SerializeAsString(), request.inputs(i).contents().SerializeAsString()) << i;
  }
}

TEST(OipMessage, RawIsWhatComesUnlessTypedIsAskedFor) {
  ModelInferRequest request;
  AddRaw(&request, "a", "FP32", {2, 2}, Raw<float>({1, 2, 3, 4}));
  AddRaw(&request, "b", "INT64", {2}, Raw<int64_t>({5, 6}));
  const ModelInferResponse response = Answer(kPair, request);
  EXPECT_THAT(response.raw_output_contents(), ElementsAre(Raw<float>({1, 2, 3, 4}), Raw<int64_t>({5, 6})));
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 2));
  EXPECT_FALSE(response.outputs(0).has_contents());
  (*request.add_outputs()->mutable_parameters())["binary_data"].set_bool_param(false);
  request.mutable_outputs(0)->set_name("b");
  const ModelInferResponse typed = Answer(kPair, request);
  EXPECT_EQ(typed.raw_output_contents_size(), 0);
  EXPECT_THAT(typed.outputs(0).contents().int64_contents(), ElementsAre(5, 6));
}

TEST(OipMessage, RawTextsAndHalves) {
  ModelInferRequest words;
  AddRaw(&words, "words", "BYTES", {2}, Elements({"Zoë", ""}));
  words.add_outputs()->set_name("words");
  EXPECT_THAT(Answer(kAll, words).raw_output_contents(), ElementsAre(Elements({"Zoë", ""})));
  ModelInferRequest half;
  AddRaw(&half, "half", "FP16", {2}, Raw<uint16_t>({0x3c00, 0x7e00}));
  half.add_outputs()->set_name("half");
  EXPECT_THAT(Answer(kHalf, half).raw_output_contents(), ElementsAre(Raw<uint16_t>({0x3c00, 0x7e00})));
  AskTyped(&half);
  EXPECT_THAT(Refusal(kHalf, half), HasSubstr("`half` is of datatype `FP16`, which must be raw"));
  ModelInferRequest typed;
  AddInput(&typed, "half", "FP16", {})->add_fp32_contents(1);
  EXPECT_THAT(Refusal(kHalf, typed), HasSubstr("`half` is of datatype `FP16`, which must be raw"));
}

TEST(OipMessage, NumbersMayStandUnpacked) {
  ModelInferRequest request;
  AddInput(&request, "line", "INT64", {});
  std::string message = request.SerializeAsString();
  // line: shape [3] as a single varint; contents with 1 alone, then 2 and 3 packed.
  const std::string contents = std::string("\x18\x01\x1a\x02\x02\x03", 6);
  const std::string input = std::string("\x0a\x04line\x12\x05INT64\x18\x03\x2a", 16) + static_cast<char>(contents.size()) + contents;
  message = "\x2a" + std::string(1, static_cast<char>(input.size())) + input;
  const auto reply = Infer(TypesPlan()).CallMessage(kLine, message);
  ModelInferResponse response;
  ASSERT_TRUE(reply.code == 0 && response.ParseFromString(reply.text)) << reply.text;
  EXPECT_THAT(response.raw_output_contents(), ElementsAre(Raw<int64_t>({1, 2, 3})));
}

TEST(OipMessage, IdParametersAndAnnotationsTravel) {
  ModelInferRequest request;
  AddInput(&request, "count", "INT64", {})->add_int64_contents(2);
  request.set_id("call 7");
  auto& parameters = *request.mutable_parameters();
  parameters["say"].set_string_param("hi");
  parameters["n"].set_int64_param(-7);
  parameters["u"].set_uint64_param(~UINT64_C(0));
  parameters["d"].set_double_param(0.5);
  parameters["two"].set_double_param(2);
  parameters["huge"].set_double_param(1e300);
  parameters["timeout"].set_int64_param(2500);
  const auto reply = Infer(TypesPlan()).CallMessage(kGrow, request.SerializeAsString());
  ModelInferResponse response;
  ASSERT_TRUE(reply.code == 0 && response.ParseFromString(reply.text)) << reply.text;
  EXPECT_EQ(response.id(), "call 7");
  EXPECT_EQ(reply.log_id, "call 7");
  EXPECT_EQ(reply.timeout_ns, 2'500'000);
  EXPECT_EQ(response.parameters().at("count").string_param(), "hi");
  for (const auto& [name, said] : {std::pair("n", "-7"), {"u", "18446744073709551615"}, {"d", "0.5"}, {"two", "2.0"}, {"huge", "1e+300"}}) {
    ModelInferRequest other = request;
    (*other.mutable_parameters())["say"] = parameters[name];
    EXPECT_EQ(Answer(kGrow, other).parameters().at("count").string_param(), said);
  }
}

// Messages that follow one another on the wire are one, merged: of a key of a map the last value counts.
TEST(OipMessage, OfAParameterThatComesTwiceTheLastCounts) {
  const auto given = [](const std::string& say, int64_t timeout_us, bool binary) {
    ModelInferRequest part;
    auto& parameters = *part.mutable_parameters();
    parameters["say"].set_string_param(say);
    parameters["timeout"].set_int64_param(timeout_us);
    parameters["binary_data_output"].set_bool_param(binary);
    return part.SerializeAsString();
  };
  ModelInferRequest request;
  AddInput(&request, "count", "INT64", {})->add_int64_contents(2);
  const std::string message = given("first", 1, true) + request.SerializeAsString() + given("last", 2500, false);
  ASSERT_TRUE(request.ParseFromString(message));
  EXPECT_EQ(request.parameters().at("say").string_param(), "last");
  const auto reply = Infer(TypesPlan()).CallMessage(kGrow, message);
  ModelInferResponse response;
  ASSERT_TRUE(reply.code == 0 && response.ParseFromString(reply.text)) << reply.text;
  EXPECT_EQ(response.parameters().at("count").string_param(), "last");
  EXPECT_EQ(reply.timeout_ns, 2'500'000);
  EXPECT_EQ(response.raw_output_contents_size(), 0);
}

// What counts is bounded, not how often it is said.
TEST(OipMessage, AParameterThatIsReplacedTakesNoPlace) {
  ModelInferRequest request, large;
  AddInput(&request, "count", "INT64", {})->add_int64_contents(2);
  (*large.mutable_parameters())["say"].set_string_param(std::string(60'000, 'x'));
  std::string message = request.SerializeAsString();
  for (int i = 0; i < 100; ++i) message += large.SerializeAsString();
  EXPECT_EQ(Infer(TypesPlan()).CallMessage(kGrow, message).code, 0);
}

TEST(OipMessage, ClassesAreTheGreatest) {
  ModelInferRequest request;
  AddRaw(&request, "numbers", "FP32", {2, 3}, Raw<float>({1, 3, 2, 6, 5, 4}));
  auto* const output = request.add_outputs();
  output->set_name("numbers");
  (*output->mutable_parameters())["classification"].set_int64_param(2);
  const ModelInferResponse response = Answer(kAll, request);
  EXPECT_EQ(response.outputs(0).datatype(), "BYTES");
  EXPECT_THAT(response.outputs(0).shape(), ElementsAre(2, 2));
  EXPECT_THAT(response.raw_output_contents(), ElementsAre(Elements({"3:1", "2:2", "6:0", "5:1"})));
}

// A parameter in both dialects; those of JSON say the byte, too.
struct Value {
  std::string json;
  inference::InferParameter message;
};
Value Text(const std::string& text) {
  Value value = {"\"" + text + "\"", {}};
  value.message.set_string_param(text);
  return value;
}
Value Whole(int64_t number) {
  Value value = {std::to_string(number), {}};
  value.message.set_int64_param(number);
  return value;
}
Value Double(double number, const std::string& json) {
  Value value = {json, {}};
  value.message.set_double_param(number);
  return value;
}
Value Bool(bool yes) {
  Value value = {yes ? "true" : "false", {}};
  value.message.set_bool_param(yes);
  return value;
}

TEST(OipMessage, ParametersOfOutputsFollowTheRulesOfJson) {
  const struct {
    const char* name;
    Value value;
    std::string says;  // empty: it is taken
  } cases[] = {
      {"classification", Whole(2), ""},
      {"classification", Text("2"), "expected a number, found a string"},
      {"classification", Text(std::string(200, 'x')), "expected a number, found a string"},
      {"classification", Double(2, "2.0"), "`2.0` is not written as an integer, expected u32"},
      {"classification", Whole(INT64_C(1) << 40), "`1099511627776` is out of range for u32"},
      {"classification", Whole(-1), "`-1` is out of range for u32"},
      {"classification", Bool(true), "expected a number, found a bool"},
      {"classification", Double(std::numeric_limits<double>::quiet_NaN(), "nan"), "expected a number, found `nan`"},
      {"binary_data", Bool(false), ""},
      {"binary_data", Whole(-1), "expected `true` or `false`, found a number"},
      {"binary_data", Double(2, "2.0"), "expected `true` or `false`, found a number"},
      {"binary_data", Text("2"), "expected `true` or `false`, found a string"},
      {"binary_data", Text("true"), "expected `true` or `false`, found a string"},
      {"others", Text("any"), ""},
  };
  for (const auto& [name, value, says] : cases) {
    SCOPED_TRACE(name + (" " + value.json));
    ModelInferRequest request;
    AddRaw(&request, "numbers", "FP32", {3}, Raw<float>({1, 3, 2}));
    auto* const output = request.add_outputs();
    output->set_name("numbers");
    (*output->mutable_parameters())[name] = value.message;
    const auto message = Infer(TypesPlan()).CallMessage(kAll, request.SerializeAsString());
    const auto json = Infer(TypesPlan())
                          .Call(kAll, R"({"inputs":[{"name":"numbers","datatype":"FP32","shape":[3],"data":[1,3,2]}],)"
                                      R"("outputs":[{"name":"numbers","parameters":{")" +
                                          (name + ("\":" + value.json)) + "}}]}");
    EXPECT_EQ(message.code, says.empty() ? 0 : 5000) << message.text;
    EXPECT_EQ(json.code, message.code) << json.text;
    if (says.empty()) continue;
    EXPECT_EQ(message.text, "`outputs[0].parameters." + std::string(name) + "`: " + says);
    EXPECT_THAT(json.text, HasSubstr(R"({"error":"`outputs[0].parameters.)" + std::string(name) + "`: " + says + ", at byte "))
        << json.text;
  }
}

TEST(OipMessage, ParametersOfInputsFollowTheRulesOfJson) {
  ModelInferRequest request;
  AddInput(&request, "yes", "BOOL", {})->add_bool_contents(true);
  AddInput(&request, "raw", "BYTES", {})->add_bytes_contents("AAE=");
  auto& parameters = *request.mutable_inputs(1)->mutable_parameters();
  parameters["content_type"] = Whole(1).message;
  EXPECT_EQ(Refusal(kAll, request), "`inputs[1].parameters.content_type`: expected a string, found a number");
  parameters["content_type"] = Text("a \" and \n").message;
  AddInput(&request, "text", "BYTES", {})->add_bytes_contents("x");
  EXPECT_EQ(Infer(TypesPlan()).CallMessage(kAll, request.SerializeAsString()).code, 0);
  parameters["shared_memory_region"] = Whole(1).message;
  EXPECT_THAT(Refusal(kAll, request, 3000), HasSubstr("shared memory"));
}

TEST(OipMessage, AFailedSampleIsNamed) {
  ModelInferRequest request;
  AddRaw(&request, "count", "INT64", {3}, Raw<int64_t>({1, 13, 1}));
  EXPECT_EQ(Refusal(kGrow, request, 100001), "sample 1: thirteen is too many");
}

TEST(OipMessage, MistakesAreNamed) {
  const auto line = [](std::vector<int64_t> shape, std::vector<int64_t> values) {
    ModelInferRequest request;
    auto* const contents = AddInput(&request, "line", "INT64", std::move(shape));
    for (const int64_t value : values) contents->add_int64_contents(value);
    return request;
  };
  EXPECT_THAT(Refusal(kAll, line({3}, {1, 2})), HasSubstr("input `line` has 2 elements in `int64_contents`, but its shape says 3"));
  EXPECT_THAT(Refusal(kAll, line({1}, {1, 2})), HasSubstr("input `line` has more than the 1 element of its shape"));
  EXPECT_THAT(Refusal(kAll, line({-1}, {1})), HasSubstr("input `line` has an extent below 0"));
  EXPECT_THAT(Refusal(kAll, line(std::vector<int64_t>(10, 1), {1})), HasSubstr("more than 9 axes"));
  EXPECT_THAT(Refusal(kAll, line({std::numeric_limits<int64_t>::max()}, {1})), HasSubstr("fewer elements in its data"));
  EXPECT_THAT(Refusal(kAll, line({int64_t{1} << 62, 4}, {1})), HasSubstr("carries"));
  ModelInferRequest wrong_field = line({1}, {});
  wrong_field.mutable_inputs(0)->mutable_contents()->add_int_contents(1);
  EXPECT_THAT(Refusal(kAll, wrong_field), HasSubstr("has 0 elements in `int64_contents`"));
  ModelInferRequest two_fields = line({1}, {1});
  two_fields.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  EXPECT_THAT(Refusal(kAll, two_fields), HasSubstr("input `line` has contents beside `int64_contents`: the data is given twice"));
  two_fields = line({1}, {1});
  two_fields.mutable_inputs(0)->mutable_contents()->add_bytes_contents("");
  EXPECT_THAT(Refusal(kAll, two_fields), HasSubstr("beside `int64_contents`"));
  ModelInferRequest two_of_text;
  AddInput(&two_of_text, "text", "BYTES", {})->add_bytes_contents("a");
  two_of_text.mutable_inputs(0)->mutable_contents()->add_bool_contents(true);
  EXPECT_THAT(Refusal(kAll, two_of_text), HasSubstr("input `text` has contents beside `bytes_contents`"));
  ModelInferRequest wide;
  AddInput(&wide, "i8", "INT8", {2})->add_int_contents(1);
  wide.mutable_inputs(0)->mutable_contents()->add_int_contents(128);
  EXPECT_THAT(Refusal(kAll, wide), HasSubstr("element 1 of input `i8` (sample 1) is out of range for its datatype"));
  ModelInferRequest text;
  AddInput(&text, "text", "BYTES", {})->add_bytes_contents("\xff");
  EXPECT_THAT(Refusal(kAll, text), HasSubstr("element 0 of input `text` is a string, and no UTF-8"));
}

TEST(OipMessage, RawContentsThatDoNotFitAreNamed) {
  ModelInferRequest request;
  AddRaw(&request, "line", "INT64", {1}, "1234567");
  EXPECT_THAT(Refusal(kAll, request), HasSubstr("input `line` has 7 bytes of raw data, but its shape says 1 element of INT64"));
  request.set_raw_input_contents(0, "12345678");
  request.add_raw_input_contents("");
  EXPECT_THAT(Refusal(kAll, request), HasSubstr("more `raw_input_contents` than inputs"));
  AddInput(&request, "i64", "INT64", {})->add_int64_contents(1);
  EXPECT_THAT(Refusal(kAll, request), HasSubstr("`contents` beside `raw_input_contents`: of the input `i64`"));
  request.mutable_inputs(1)->clear_contents();
  request.mutable_raw_input_contents()->RemoveLast();
  EXPECT_THAT(Refusal(kAll, request), HasSubstr("there are no `raw_input_contents` for the input `i64`"));
  ModelInferRequest twice;
  AddRaw(&twice, "i64", "INT64", {}, "12345678");
  AddRaw(&twice, "i64", "INT64", {}, "12345678");
  EXPECT_THAT(Refusal(kAll, twice), HasSubstr("input `i64` is given twice"));
}

TEST(OipMessage, WhatIsNotBuiltSaysSo) {
  ModelInferRequest request;
  AddInput(&request, "line", "INT64", {0});
  ModelInferRequest sequence = request;
  (*sequence.mutable_parameters())["sequence_id"].set_int64_param(7);
  EXPECT_THAT(Refusal(kAll, sequence, 3000), HasSubstr("sequences are not built"));
  (*request.mutable_inputs(0)->mutable_parameters())["shared_memory_region"].set_string_param("r");
  EXPECT_THAT(Refusal(kAll, request, 3000), HasSubstr("shared memory"));
}

// Cut short, a message that has lost whole fields at its end is a smaller one; whatever it is, it is answered.
TEST(OipMessage, AMessageCutAnywhereIsAnswered) {
  ModelInferRequest request;
  AddRaw(&request, "words", "BYTES", {2}, Elements({"ab", "c"}));
  AddRaw(&request, "line", "INT64", {1}, Raw<int64_t>({1}));
  request.set_id("i");
  (*request.mutable_parameters())["a"].set_string_param("b");
  const std::string message = request.SerializeAsString();
  Infer infer(TypesPlan());
  EXPECT_EQ(infer.CallMessage(kAll, message).code, 0);
  for (size_t size = 0; size < message.size(); ++size) {
    ModelInferRequest part;
    const bool whole = part.ParseFromString(message.substr(0, size));
    const auto reply = infer.CallMessage(kAll, message.substr(0, size));
    if (!whole) {
      EXPECT_EQ(reply.code, 5000) << size;
    }
    EXPECT_FALSE(reply.text.empty()) << size;
  }
}

TEST(OipMessage, TheFirstRawTensorIsFoundInItsBegin) {
  inference::ModelInferRequest request;
  request.set_model_name("M");
  request.set_id(std::string(200, 'i'));
  request.add_inputs()->set_name("x");
  request.add_raw_input_contents(std::string(3000, 'r'));
  request.add_raw_input_contents("second");
  const std::string bytes = request.SerializeAsString();
  const auto at = [](std::string_view text) { return oip::RawAt({reinterpret_cast<const uint8_t*>(text.data()), text.size()}); };
  const size_t found = at(bytes);
  EXPECT_EQ(bytes.find("rrr"), found);
  for (size_t upto = 0; upto <= bytes.size(); ++upto)
    EXPECT_EQ(at(std::string_view(bytes).substr(0, upto)), upto < found ? 0 : found) << upto;
  EXPECT_EQ(at("\x08\x01"), 0U);
  EXPECT_EQ(at(std::string(20, '\xff')), 0U);
}

oip::RouteRead ReadRoute(std::string_view method, const std::string& message, oip::Route* route, uint64_t* raw_bytes = nullptr) {
  uint64_t ignored = 0;
  return oip::ReadRoute(method, {reinterpret_cast<const uint8_t*>(message.data()), message.size()}, oip::kFieldsAtOnce, route,
                        raw_bytes == nullptr ? &ignored : raw_bytes);
}

std::string Times(const std::string& text, uint32_t count) {
  std::string all;
  for (uint32_t i = 0; i < count; ++i) all += text;
  return all;
}

// A field of bytes.
std::string Held(uint32_t number, const std::string& bytes) {
  wf_sink sink;
  protobuf::PutText(&sink, number, bytes);
  std::string field;
  for (const base::SinkPiece& piece : sink.Pieces()) field.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return field;
}

TEST(OipMessage, MethodsNameTheirModel) {
  const auto route = [](std::string_view method, const std::string& message) {
    oip::Route found;
    EXPECT_EQ(ReadRoute(method, message, &found), oip::RouteRead::kDone);
    EXPECT_EQ(oip::CallOf(method), found.call);
    return std::tuple(found.call, std::string(found.model), std::string(found.version));
  };
  ModelInferRequest infer;
  infer.set_model_name("M");
  infer.set_model_version("3");
  EXPECT_EQ(route("ModelInfer", infer.SerializeAsString()), std::tuple(oip::Call::kInfer, "M", "3"));
  inference::RepositoryModelLoadRequest load;
  load.set_repository_name("r");
  load.set_model_name("M");
  EXPECT_EQ(route("RepositoryModelLoad", load.SerializeAsString()), std::tuple(oip::Call::kLoad, "M", ""));
  EXPECT_EQ(route("RepositoryModelUnload", load.SerializeAsString()), std::tuple(oip::Call::kUnload, "M", ""));
  inference::TraceSettingRequest trace;
  trace.set_model_name("M");
  EXPECT_EQ(route("TraceSetting", trace.SerializeAsString()), std::tuple(oip::Call::kTrace, "M", ""));
  EXPECT_EQ(route("ServerLive", ""), std::tuple(oip::Call::kServerLive, "", ""));
  EXPECT_EQ(route("SystemSharedMemoryStatus", ""), std::tuple(oip::Call::kSharedMemory, "", ""));
  EXPECT_EQ(route("Other", ""), std::tuple(oip::Call::kNone, "", ""));
  oip::Route broken;
  EXPECT_EQ(ReadRoute("ModelInfer", "\x0a\x05M", &broken), oip::RouteRead::kBroken);
}

TEST(OipMessage, ARouteIsReadOfSoManyFieldsAndTellsHowMuchIsRaw) {
  oip::Route route;
  uint64_t raw_bytes = 0;
  const std::string name("\x0a\x01M"), raw("\x3a\x03"
                                           "abc");
  EXPECT_EQ(ReadRoute("ModelInfer", name + raw + "\x22\x00"s + raw, &route, &raw_bytes), oip::RouteRead::kDone);
  EXPECT_EQ(raw_bytes, 6U);
  const std::string full = name + Times("\xa0\x06\x00"s, oip::kFieldsAtOnce - 1);
  EXPECT_EQ(ReadRoute("ModelInfer", full, &route), oip::RouteRead::kDone);
  EXPECT_EQ(route.model, "M");
  EXPECT_EQ(ReadRoute("ModelInfer", full + "\xa0\x06\x00"s, &route), oip::RouteRead::kManyFields);
}

TEST(OipMessage, TheIdOfWhatMayNotBeReadIsThatOfItsRoute) {
  const auto id_of = [](const oip::Route& route, const std::string& message) {
    return std::string(oip::IdOf(route, {reinterpret_cast<const uint8_t*>(message.data()), message.size()}));
  };
  const std::string behind = Times("\xa0\x06\x00"s, oip::kFieldsAtOnce) + Held(3, "late");
  oip::Route route;
  uint64_t raw_bytes = 0;
  EXPECT_EQ(id_of({}, Held(3, "a") + Held(3, "b")), "b");
  EXPECT_EQ(id_of({}, behind), "") << "one that was never read";
  EXPECT_EQ(oip::ReadRoute("ModelStreamInfer", {reinterpret_cast<const uint8_t*>(behind.data()), behind.size()}, oip::kMaxFields, &route,
                           &raw_bytes),
            oip::RouteRead::kDone);
  EXPECT_EQ(id_of(route, behind), "late");
  route.id = "\xff";
  EXPECT_EQ(id_of(route, behind), "");
}

// Whatever they are and wherever they stand, but for the elements of contents, which are as many as the shape says.
TEST(OipMessage, FieldsAreBounded) {
  ModelInferRequest good;
  AddInput(&good, "line", "INT64", {2});
  good.mutable_inputs(0)->mutable_contents()->add_int64_contents(1);
  good.mutable_inputs(0)->mutable_contents()->add_int64_contents(2);
  const std::string message = good.SerializeAsString();
  const auto call = [](const std::string& bytes) { return Infer(TypesPlan()).CallMessage(kLine, bytes); };
  ASSERT_EQ(call(message).code, 0) << call(message).text;
  EXPECT_EQ(call(message + Times("\xa0\x06\x00"s, oip::kMaxFields - 16)).code, 0);
  const std::string many[] = {
      Times("\xa0\x06\x00"s, oip::kMaxFields),                               // unknown
      "\xa3\x06" + Times("\x08\x00"s, oip::kMaxFields) + "\xa4\x06",         // in a group
      Held(6, Times("\x18\x00"s, oip::kMaxFields)),                          // in an output
      Held(4, Held(1, "p") + Held(2, Times("\x10\x01"s, oip::kMaxFields))),  // values of one parameter, of which the last counts
      Held(6, Times("\x18\x00"s, 40'000) + Held(1, "line")) + Times("\xa0\x06\x00"s, 40'000),  // together
  };
  for (const std::string& fields : many) {
    const auto reply = call(message + fields);
    EXPECT_EQ(reply.code, 5000);
    EXPECT_THAT(reply.text, HasSubstr("more than 65536 fields"));
  }
}

TEST(OipMessage, ElementsOfContentsAreNoFieldsThatAreBounded) {
  constexpr uint32_t kMany = oip::kMaxFields + 10;
  const auto call = [](const std::string& contents, uint32_t extent) {
    ModelInferRequest request;
    AddInput(&request, "line", "INT64", {extent});
    request.mutable_inputs(0)->clear_contents();
    std::string input = request.inputs(0).SerializeAsString() + Held(5, contents);
    return Infer(TypesPlan()).CallMessage(kLine, Held(5, input));
  };
  const std::string element("\x18\x07"), empty("\x1a\x00"s), unknown("\xa0\x06\x00"s);
  EXPECT_EQ(call(Times(element, kMany), kMany).code, 0) << "each by itself";
  EXPECT_THAT(call(Times(element, kMany), 3).text, HasSubstr("has more than the 3 elements of its shape"));
  for (const std::string& fields : {Times(empty, kMany), Times(unknown, kMany)}) {
    const auto reply = call(fields + element, 1);
    EXPECT_EQ(reply.code, 5000);
    EXPECT_THAT(reply.text, HasSubstr("has contents of more than 65536 fields beside their elements"));
  }
}

}  // namespace
}  // namespace wf::test
