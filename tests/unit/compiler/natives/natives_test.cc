#include "compiler/natives/natives.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compiler/ir/scalar.h"

namespace wf::natives {
namespace {

using ir::DType;
using ir::TypeId;
using ir::Value;

constexpr uint64_t kMost = uint64_t{1} << 20;

class Natives : public ::testing::Test {
 protected:
  ir::TypeTable types_;

  // The text of the value that `text` says; what went wrong, if something did.
  std::string Again(TypeId type, const std::string& text, uint64_t most = kMost) {
    const Value given = Value::Text(text);
    const ir::Outcome parsed = Call(types_, "wf_n_json_parse", {&given, 1}, type, most);
    if (parsed.failure) return std::to_string(parsed.failure->code) + " " + parsed.failure->message;
    const ir::Outcome built = Call(types_, "wf_n_json_build", {&*parsed.value, 1}, type, most);
    if (built.failure) return std::to_string(built.failure->code) + " " + built.failure->message;
    const ir::Outcome again = Call(types_, "wf_n_json_parse", {&*built.value, 1}, type, most);
    EXPECT_TRUE(again.value && ir::SameBits(types_, type, *parsed.value, *again.value)) << text;
    return *built.value->text;
  }
};

TEST_F(Natives, ReadAndWriteEveryKindOfType) {
  const TypeId text = types_.String(), i64 = types_.Scalar(DType::kI64);
  EXPECT_EQ(Again(text, R"( "a\u00e9\n" )"), "\"a\u00e9\\n\"");
  EXPECT_EQ(Again(types_.Bytes(), R"({"b64": "AAEC"})"), R"({"b64":"AAEC"})");
  EXPECT_EQ(Again(types_.Scalar(DType::kBool), "true"), "true");
  EXPECT_EQ(Again(types_.Scalar(DType::kF16), "0.1"), "0.1");
  EXPECT_EQ(Again(types_.Scalar(DType::kU64), "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Again(types_.Tensor(DType::kF32, {-1, 2}), "[[1, 2.5], [-0.0, 1e-45]]"), "[[1,2.5],[-0.0,1e-45]]");
  EXPECT_EQ(Again(types_.Tensor(DType::kF32, {-1, 2}), "[]"), "[]");
  EXPECT_EQ(Again(types_.List(types_.List(text)), R"([["a"], []])"), R"([["a"],[]])");
  EXPECT_EQ(Again(types_.Map(types_.Optional(i64)), R"({"b": 1, "a": null})"), R"({"a":null,"b":1})");
  const TypeId point = types_.Record("Point", {{"on", types_.Scalar(DType::kBool)}, {"x", i64}, {"note", types_.Optional(text)}});
  EXPECT_EQ(Again(types_.List(point), R"([{"x": 3, "on": false}])"), R"([{"on":false,"x":3,"note":null}])");
}

TEST_F(Natives, FailAsServersDo) {
  const TypeId list = types_.List(types_.Scalar(DType::kI64));
  EXPECT_EQ(Again(list, "[1, 2.5]"), "5000 `[1]`: `2.5` is not written as an integer, expected i64, at byte 4");
  EXPECT_EQ(Again(list, "["), "5000 `[0]`: expected a number, found the end of the text, at byte 1");
  EXPECT_EQ(Again(list, "[" + std::string(4000, ' ') + "]", 1000).substr(0, 4), "3012");
  const Value infinite = Value::Scalar(ir::F64Bits(1e308 * 10));
  const ir::Outcome built = Call(types_, "wf_n_json_build", {&infinite, 1}, types_.Scalar(DType::kF64), kMost);
  ASSERT_TRUE(built.failure);
  EXPECT_EQ(built.failure->code, 9000);
}

TEST_F(Natives, ReadTimes) {
  const Value text = Value::Text("1969-12-31T23:59:59Z"), wrong = Value::Text("1969-12-31");
  EXPECT_EQ(static_cast<int64_t>(Call(types_, "wf_n_parse_time", {&text, 1}, types_.Scalar(DType::kI64), kMost).value->bits),
            -1'000'000'000);
  EXPECT_EQ(Call(types_, "wf_n_parse_time", {&wrong, 1}, types_.Scalar(DType::kI64), kMost).failure->code, 5000);
}

TEST_F(Natives, FindEqualElements) {
  const TypeId list = types_.List(types_.String());
  const Value xs = Value::Items({Value::Text("a"), Value::Text("b"), Value::Text("a")});
  const ir::Outcome outcome = Call(types_, "wf_n_first_equal", {&xs, 1}, list, kMost);
  ASSERT_TRUE(outcome.value);
  const int64_t wanted[] = {0, 1, 0};
  ASSERT_EQ(outcome.value->text->size(), sizeof wanted);
  EXPECT_EQ(std::memcmp(outcome.value->text->data(), wanted, sizeof wanted), 0);
}

TEST_F(Natives, OthersNeedAServer) {
  const Value text = Value::Text("a");
  const ir::Outcome outcome = Call(types_, "wf_n_lower", {&text, 1}, types_.String(), kMost);
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(outcome.failure->message, "`lower` is computed by servers alone");
}

}  // namespace
}  // namespace wf::natives
