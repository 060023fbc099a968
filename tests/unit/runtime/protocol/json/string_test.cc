#include "runtime/protocol/json/reader.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/runtime/protocol/json/read.h"

namespace wf::json {
namespace {

Read ReadString(std::string_view text) { return ReadText(text, wf_json_string); }

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
  EXPECT_EQ(ReadString("\"open").value, "a string without an end, at byte 0");
  EXPECT_EQ(ReadString("\"open\\").value, "a string without an end, at byte 0");
  EXPECT_EQ(ReadString("\"a\nb\"").value, "a control character inside a string; write it as an escape, at byte 2");
  EXPECT_EQ(ReadString("\"\xff\"").value, "the string is not UTF-8, at byte 1");
  EXPECT_EQ(ReadString("\"ab\xc0\xaf\"").value, "the string is not UTF-8, at byte 3");
  for (const char* text : {R"("\x41")", R"("\u12")", R"("\ud800")", R"("\ud800A")", R"("\udc00")", R"("\ud83d\ud83d")"})
    EXPECT_FALSE(ReadString(text).ok) << text;
  EXPECT_EQ(ReadString("\"a\" x").value, "expected nothing after the value, found `x`, at byte 4");
  EXPECT_EQ(ReadString("").value, "the body is empty, expected a JSON object");
  EXPECT_EQ(ReadString("12").value, "expected a string, found a number, at byte 0");
}

Read ReadBytes(std::string_view text) { return ReadText(text, wf_json_bytes); }

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

}  // namespace
}  // namespace wf::json
