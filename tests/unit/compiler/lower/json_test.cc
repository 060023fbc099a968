// std.json in machine code: what is built of a value is parsed as that value, whatever its type.

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

class JsonTest : public BodyTest {
 protected:
  void Add(const std::string& name, TypeId type) {
    cases_.Add(name, {type}, type, [this, type](Builder& b, const In& in) {
      const ValueId text = b.Emit(OpKind::kNative, types().String(), {in[0]}, ir::AddNative(b.program(), "wf_n_json_build"));
      return b.Emit(OpKind::kNative, type, {text}, ir::AddNative(b.program(), "wf_n_json_parse"));
    });
  }
};

TEST_F(JsonTest, WhatIsBuiltIsParsedAsTheValue) {
  for (int dtype = static_cast<int>(DType::kBool); dtype <= static_cast<int>(DType::kF64); ++dtype) {
    const auto of = static_cast<DType>(dtype);
    const std::string name(ir::NameOf(of));
    Add(name, Scalar(of));
    Add(name + "[_, 3]", Tensor(of, {-1, 3}));
  }
  const TypeId text = types().String(), point = types().Record("Point", {{"x", I64()}, {"on", Scalar(DType::kBool)}});
  Add("text", text);
  Add("bytes", types().Bytes());
  Add("record", types().Record("", {{"p", point}, {"raw", types().Bytes()}, {"t", Tensor(DType::kI64, {-1})}}));
  Add("lists", types().List(types().List(point)));
  Add("map", types().Map(types().Optional(text)));
  Add("optional", types().Optional(types().Record("", {{"a", types().Optional(Scalar(DType::kF64))}, {"b", types().List(text)}})));
  const Loaded code(cases_.program, "x86-64-v3");
  uint64_t seed = 3;
  size_t same = 0;
  for (const Cases::Case& one : cases_.cases) {
    const TypeId type = cases_.program[one.in[0]].type;
    for (int round = 0; round < 60; ++round) {
      std::vector<ir::Value> inputs(cases_.program.slots.size());
      const ir::Value& input = inputs[static_cast<size_t>(one.in[0])] = RandomValue(types(), type, {round % 9, 2}, &seed);
      Job job;
      job.row_padding = static_cast<uint64_t>(round % 3);
      const ir::Outcome got = code.Run(one.task, inputs, &job);
      if (got.failure) {  // NaN and infinities
        ASSERT_EQ(got.failure->code, 9000) << one.name << ": " << got.failure->message;
        continue;
      }
      ++same;
      ASSERT_TRUE(ir::SameBits(types(), type, input, *got.value))
          << one.name << "\nwanted " << ir::ToString(types(), type, input) << "\ngot    " << ir::ToString(types(), type, *got.value);
    }
  }
  EXPECT_GT(same, cases_.cases.size() * 30);
}

}  // namespace
}  // namespace wf::lower::testing
