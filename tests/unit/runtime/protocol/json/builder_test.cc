#include "runtime/protocol/json/builder.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::json {
namespace {

std::string TextOf(wf_sink& sink) {
  std::string text;
  for (const base::SinkPiece& piece : sink.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return text;
}

TEST(Builder, PutsCommasBetweenMembersAlone) {
  wf_sink sink;
  Builder json(&sink);
  json.Object().Name("none").Array().End().Name("some").Array().Number(1).Object().End().Array().Number(-2).Number(3).End().End();
  json.Name("b").Bool(true).Name("t").Text("a\"b\xff").End();
  EXPECT_EQ(TextOf(sink), R"({"none":[],"some":[1,{},[-2,3]],"b":true,"t":"a\"b)"
                          "\xef\xbf\xbd\"}");
}

TEST(Builder, ThousandthsKeepTheirZerosAndTheirSign) {
  wf_sink sink;
  Builder json(&sink);
  json.Array().Thousandths(0).Thousandths(7).Thousandths(1'230).Thousandths(-45'006).Thousandths(INT64_MIN).End();
  EXPECT_EQ(TextOf(sink), "[0.000,0.007,1.230,-45.006,-9223372036854775.808]");
}

TEST(Builder, ALineBeginsBehindTheCommaOfTheLast) {
  wf_sink sink;
  Builder json(&sink);
  json.Array().Line().Number(1).Line().Number(2).End();
  EXPECT_EQ(TextOf(sink), "[\n1,\n2]");
}

}  // namespace
}  // namespace wf::json
