#include "compiler/interface/sample.h"

#include <gtest/gtest.h>

namespace wf::interface {
namespace {

Type TypeFrom(std::string_view text) {
  base::UnknownDims unknown("t");
  return *ParseType(text, unknown);
}

class SampleTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, const std::string& type, bool required = true) {
    call_.in.push_back({.name = name, .type = TypeFrom(type), .required = required, .place = {}});
  }
  std::string Curl() { return SampleCurl(interface_, service_, call_, "http://h:1"); }

  Interface interface_;
  Service service_{.name = "S", .place = {}};
  Call call_{.name = "W", .place = {}};
};

TEST_F(SampleTest, HasAValueForEachRequiredParameter) {
  interface_.records.push_back({"Box", "", {{"left", TypeFrom("f32")}, {"tags", TypeFrom("list<string>")}, {"of", TypeFrom("i64?")}}});
  Add("n", "i32");
  Add("on", "bool");
  Add("text", "string");
  Add("x", "f32[2, h, 3]");
  Add("box", "Box");
  Add("m", "map<string>");
  Add("left_out", "string", /*required=*/false);
  EXPECT_EQ(Curl(),
            "curl -H 'content-type: application/json' -d "
            R"('{"n":1,"on":true,"text":"text","x":[[[1,1,1]],[[1,1,1]]],"box":{"left":1,"tags":["text"],"of":null},"m":{"key":"text"}}')"
            " http://h:1/S/W");
}

TEST_F(SampleTest, ShapesFitTheirSymbolsAndIntegers) {
  Add("x", "i64[n - 1]");
  Add("y", "i64[2*n]");
  Add("n", "i64");
  EXPECT_EQ(SampleBody(interface_, call_), R"({"x":[1],"y":[1,1,1,1],"n":2})");
  EXPECT_EQ(SampleBody(interface_, call_, 3), R"({"x":[1,1],"y":[1,1,1,1,1,1],"n":3})");
}

TEST_F(SampleTest, SymbolsAreWhatDefaultsSay) {
  Add("x", "f32[2*n, w]", /*required=*/false);
  call_.in.back().default_value = "[[1,2,3],[4,5,6],[7,8,9],[1,2,3]]";
  Add("k", "i64", /*required=*/false);
  call_.in.back().default_value = "4";
  Add("y", "i64[n, m]");
  Add("z", "i64[w]");
  Add("a", "bool[k]");
  Add("none", "i64[e, 2]", /*required=*/false);
  call_.in.back().default_value = "[]";
  Add("b", "i64[e]");
  EXPECT_EQ(SampleBody(interface_, call_), R"({"y":[[1],[1]],"z":[1,1,1],"a":[true,true,true,true],"b":[]})");
}

TEST_F(SampleTest, SendsASingleParameterOfBytesAsTheBody) {
  Add("page", "bytes");
  Add("limit", "i32", /*required=*/false);
  EXPECT_EQ(Curl(), "curl --data-binary @FILE http://h:1/S/W");
}

TEST_F(SampleTest, SendsAnEmptyObjectWhenNothingIsRequired) { EXPECT_NE(Curl().find("-d '{}'"), std::string::npos); }

TEST_F(SampleTest, KeepsHugeTensorsOffTheCommandLine) {
  Add("x", "f32[100000, 100000, 100000, 100000]");
  EXPECT_EQ(SampleBody(interface_, call_), std::nullopt);
  EXPECT_NE(Curl().find("-d @FILE"), std::string::npos);
}

TEST_F(SampleTest, QuotesForAShell) {
  Add("it's", "i32");
  EXPECT_NE(Curl().find(R"('{"it'\''s":1}')"), std::string::npos);
}

}  // namespace
}  // namespace wf::interface
