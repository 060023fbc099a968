#include "compiler/ir/type.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "runtime/abi/values.h"

namespace wf::ir {
namespace {

TEST(TypeTable, InternsEqualTypesOnce) {
  TypeTable types;
  EXPECT_EQ(types.Tensor(DType::kF32, {1, -1}), types.Tensor(DType::kF32, {1, -1}));
  EXPECT_NE(types.Tensor(DType::kF32, {1, -1}), types.Tensor(DType::kF32, {1, 2}));
  EXPECT_NE(types.Record("A", {{"x", types.String()}}), types.Record("B", {{"x", types.String()}}));
}

TEST(TypeTable, PrintsTypesAsUsersWriteThem) {
  TypeTable types;
  const TypeId tensor = types.Tensor(DType::kF32, {1, -1});
  EXPECT_EQ(types.ToString(tensor), "f32[1, _]");
  EXPECT_EQ(types.ToString(types.Record("", {{"a", tensor}, {"b", types.List(types.String())}})), "(a: f32[1, _], b: list<string>)");
  EXPECT_EQ(types.ToString(types.Optional(types.Scalar(DType::kI32))), "i32?");
}

TEST(Layout, MatchesTheStructsOfTheContract) {
  TypeTable types;
  struct Record {
    uint8_t flag;
    wf_bytes text;
    int32_t number;
    wf_tensor tensor;
  };
  const TypeId record = types.Record("", {{"flag", types.Scalar(DType::kBool)},
                                          {"text", types.String()},
                                          {"number", types.Scalar(DType::kI32)},
                                          {"tensor", types.Tensor(DType::kF32, {2})}});
  EXPECT_EQ(LayoutOf(types, record).size, sizeof(Record));
  EXPECT_EQ(LayoutOf(types, record).align, alignof(Record));
  EXPECT_EQ(FieldOffset(types, record, 1), offsetof(Record, text));
  EXPECT_EQ(FieldOffset(types, record, 2), offsetof(Record, number));
  EXPECT_EQ(FieldOffset(types, record, 3), offsetof(Record, tensor));
  struct Optional {
    Record value;
    uint8_t has;
  };
  EXPECT_EQ(LayoutOf(types, types.Optional(record)).size, sizeof(Optional));
  EXPECT_EQ(LayoutOf(types, types.List(record)).size, sizeof(wf_list));
}

TEST(Join, OpensExtentsThatDiffer) {
  TypeTable types;
  const TypeId a = types.Tensor(DType::kF32, {2, 3}), b = types.Tensor(DType::kF32, {2, 4}), joined = Join(types, a, b);
  EXPECT_EQ(types.ToString(joined), "f32[2, _]");
  EXPECT_TRUE(Fits(types, a, joined));
  EXPECT_FALSE(Fits(types, a, b));
  EXPECT_EQ(Join(types, a, types.String()), TypeId::kNone);
  EXPECT_EQ(types.ToString(Join(types, types.List(a), types.List(b))), "list<f32[2, _]>");
}

}  // namespace
}  // namespace wf::ir
