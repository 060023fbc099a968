#include <gtest/gtest.h>

#include <tuple>

#include "compiler/base/sha256.h"
#include "compiler/ir/scalar.h"
#include "compiler/sema/json_value.h"
#include "compiler/sema/resolve_type.h"

namespace wf::sema {
namespace {

std::string Hex(std::string_view text) {
  source::Sha256 hash;
  hash.Add(text);
  std::string hex;
  for (const uint8_t byte : hash.Finish()) {
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex;
}

TEST(Sha256, AgreesWithTheStandard) {
  EXPECT_EQ(Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Hex(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

class JsonTest : public ::testing::Test {
 protected:
  static auto ReadJson(std::string_view text, TypeRef type) { return sema::ReadJson(text, type, 1 << 20); }

  Types types_;
  const TypeRef i64_ = types_.Scalar(DType::kI64), f32_ = types_.Scalar(DType::kF32), string_ = types_.Simple(TypeKind::kString);
};

TEST_F(JsonTest, ReadsWhatTheTypeSays) {
  EXPECT_EQ(ReadJson(" -3 ", i64_)->bits, static_cast<uint64_t>(-3));
  EXPECT_EQ(ReadJson("1e2", f32_)->bits, ir::F32Bits(100.0f));
  EXPECT_EQ(*ReadJson(R"("a\n\u00e9\ud83d\ude00")", string_)->text, "a\n\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(ReadJson("[1, 2]", types_.List(i64_))->items->size(), 2u);
  const auto map = ReadJson(R"({"b": 1, "a": 2})", types_.Map(i64_));
  EXPECT_EQ(*map->keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ((*map->items)[0].bits, 2u);
  EXPECT_EQ(ReadJson("null", types_.Optional(i64_))->bits, 0u);
  EXPECT_EQ(ReadJson("7", types_.Optional(i64_))->bits, 1u);
  const TypeRef record = types_.Record("R", {{"x", i64_}, {"y", types_.Optional(i64_)}});
  EXPECT_EQ((*ReadJson(R"({"x": 5})", record)->items)[0].bits, 5u);
}

TEST_F(JsonTest, RefusesWhatTakesMoreThanItMay) {
  constexpr size_t kValue = sizeof(ir::Value), kKey = sizeof(std::string) + 1;
  const TypeRef record = types_.Record("R", {{"x", types_.Optional(i64_)}, {"y", types_.Optional(i64_)}}), records = types_.List(record);
  const TypeRef list = types_.List(i64_), texts = types_.List(string_), map = types_.Map(i64_),
                tensor = types_.Tensor(DType::kI16, {AnyDim()});
  const std::tuple<std::string, TypeRef, size_t> kCases[] = {{"[1, 2, 3]", list, 4 * kValue},
                                                             {R"(["four", ""])", texts, 3 * kValue + 4},
                                                             {R"({"a": 1, "b": 2})", map, 3 * kValue + 2 * kKey},
                                                             {"[1, 2, 3]", tensor, kValue + 6},
                                                             {R"([{"x": 1}, {}])", records, 8 * kValue}};
  for (const auto& [text, type, bytes] : kCases) {
    EXPECT_TRUE(sema::ReadJson(text, type, bytes).ok()) << text;
    EXPECT_EQ(sema::ReadJson(text, type, bytes - 1).status().code(), base::kResourceExhausted) << text;
  }
}

TEST_F(JsonTest, TensorsAreNestedArraysOfOneShape) {
  const TypeRef matrix = types_.Tensor(DType::kI32, {AnyDim(), Dim(2)});
  const auto value = ReadJson("[[1, 2], [3, 4], [5, 6]]", matrix);
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->dims, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(value->text->size(), 24u);
  EXPECT_EQ(ToString(TypeOfValue(types_, matrix, *value)), "i32[3, 2]");
  EXPECT_FALSE(ReadJson("[[1, 2], [3]]", matrix).ok());
  EXPECT_FALSE(ReadJson("[[1, 2, 3]]", matrix).ok());
  EXPECT_FALSE(ReadJson("[1, 2]", matrix).ok());
}

TEST_F(JsonTest, RefusesWhatDoesNotFitWithItsLine) {
  const TypeRef record = types_.Record("R", {{"x", i64_}});
  const std::pair<std::string, TypeRef> kCases[] = {{"", i64_},
                                                    {"1.5", i64_},
                                                    {"99999999999999999999", i64_},
                                                    {"+1", i64_},
                                                    {"300", types_.Scalar(DType::kU8)},
                                                    {"-1", types_.Scalar(DType::kU8)},
                                                    {"1 2", i64_},
                                                    {"nul", types_.Optional(i64_)},
                                                    {"\"a", string_},
                                                    {"\"\\ud800\"", string_},
                                                    {"\"\\q\"", string_},
                                                    {"[1, 2", types_.List(i64_)},
                                                    {"[1,]", types_.List(i64_)},
                                                    {"{}", record},
                                                    {"{\"x\": 1, \"x\": 2}", record},
                                                    {"{\"x\": 1, \"y\": 2}", record},
                                                    {std::string(100'000, '['), types_.List(i64_)}};
  for (const auto& [text, type] : kCases) EXPECT_FALSE(ReadJson(text, type).ok()) << text.substr(0, 40);
  EXPECT_EQ(ReadJson("[1,\n2,\nx]", types_.List(i64_)).status().message(), "line 3, column 1: wanted a number of type `i64`, found `x`");
}

}  // namespace
}  // namespace wf::sema
