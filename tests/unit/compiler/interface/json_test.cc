#include <gtest/gtest.h>

#include "compiler/interface/interface.h"

namespace wf::interface {
namespace {

base::Result<Type> ParseAlone(std::string_view text) {
  base::UnknownDims unknown("t");
  return ParseType(text, unknown);
}

TEST(ParseType, ReadsWhatToStringWrites) {
  for (const char* text :
       {"i64", "bool", "string", "bytes", "f32[n]", "f32[1, h, w]", "u8[2*h + 1, w/4]", "f32[(h + 1)/2 - 1]", "f32[_]", "f32[3*m*n]",
        "list<string>", "map<list<i64?>>", "string?", "Line", "lib.Line?", "(a: i64, b: list<f32[n]>)", "f32[x.0]"}) {
    const auto type = ParseAlone(text);
    ASSERT_TRUE(type.ok()) << text;
    EXPECT_EQ(ToString(*type), text);
  }
}

TEST(ParseType, RefusesWhatIsNoType) {
  for (const char* text : {"", "list", "list<", "list<i64", "f32[", "f32[n", "f32[n,]", "f32[+]", "f32[99999999999999999999]", "(a i64)",
                           "(a: i64", "i64 i64", "i64??x", "5"}) {
    EXPECT_FALSE(ParseAlone(text).ok()) << text;
  }
  std::string deep, sum;
  for (int i = 0; i < 100'000; ++i) {
    deep += "list<";
    sum += "(";
  }
  EXPECT_FALSE(ParseAlone(deep + "i64").ok());
  EXPECT_FALSE(ParseAlone("f32[" + sum + "n").ok());
}

Interface Example() {
  Interface interface;
  interface.records.push_back({"Box", "One box.", {{"left", *ParseAlone("f32")}, {"tags", *ParseAlone("list<string>?")}}});
  interface.errors.push_back({.code = 100001, .name = "Empty", .message = "no \"boxes\"", .status = 5, .place = {}});
  Call call;
  call.name = "Read";
  call.doc = "Reads.\nTwice.";
  call.in = {{.name = "boxes", .type = *ParseAlone("list<Box>"), .place = {}},
             {.name = "x:0", .type = *ParseAlone("f32[n, 2*n]"), .required = false, .default_value = R"([[1,2]])", .place = {}}};
  call.out = {{.name = "n", .type = *ParseAlone("i64"), .place = {}}};
  call.errors = {5000, 100001};
  call.meta = {{.key = "k", .type = *ParseAlone("string"), .default_value = R"("\u00e9")", .place = {}}};
  call.annotations = {"a"};
  interface.services.push_back({.name = "S", .doc = "All.", .calls = {call}, .timeout_ns = 5, .body_bytes = 6, .rows = 7, .place = {}});
  return interface;
}

TEST(Json, GoesThereAndBack) {
  const std::string text = ToJson(Example());
  const auto read = FromJson(text);
  ASSERT_TRUE(read.ok());
  const Call& call = read->services[0].calls[0];
  EXPECT_EQ(call.in[1].name, "x:0");
  EXPECT_FALSE(call.in[1].required);
  EXPECT_EQ(call.in[1].default_value, "[[1,2]]");
  EXPECT_EQ(FieldsOf(*read, call.in[0].type.element[0])[1].name, "tags");
  EXPECT_EQ(read->FindError(100001)->status, 5);
  EXPECT_EQ(ToJson(*FromNote(R"({"compiler":"1","interface":)" + text + "}")), ToJson(*read));
}

TEST(Json, IsReadWithoutTrust) {
  const std::string text = ToJson(Example());
  for (size_t size = 0; size < text.size(); ++size) EXPECT_FALSE(FromJson(text.substr(0, size)).ok()) << size;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return FromJson(changed);
  };
  EXPECT_TRUE(with("list<Box>", "list<i64>").ok());
  EXPECT_FALSE(with("list<Box>", "list<Bux>").ok());  // no such record
  EXPECT_FALSE(with("\"f32\"", "\"Box\"").ok());      // a record in itself
  EXPECT_FALSE(with("\"version\":1", "\"version\":2").ok());
  EXPECT_FALSE(with("\"code\":100001", "\"code\":1000010000100001").ok());
  EXPECT_FALSE(with("\"calls\":[", "\"calls\":[],\"other\":[").ok());
  EXPECT_FALSE(with("\"rows\":7", "\"rows\":-7").ok());
  EXPECT_FALSE(FromJson("[]").ok());
  EXPECT_FALSE(FromJson(std::string(1'000'000, '[')).ok());
  EXPECT_FALSE(FromNote("{}").ok());
}

}  // namespace
}  // namespace wf::interface
