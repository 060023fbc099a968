#include <gtest/gtest.h>

#include "compiler/sema/type.h"

namespace wf::sema {
namespace {

TEST(Types, EqualTypesAreOnePointer) {
  Types types;
  const Dim h = Dim::Symbol("h");
  EXPECT_EQ(types.Tensor(DType::kF32, {Dim(3), h}), types.Tensor(DType::kF32, {Dim(3), h}));
  EXPECT_EQ(types.Tensor(DType::kF32, {h + h}), types.Tensor(DType::kF32, {Dim(2) * h}));
  EXPECT_NE(types.Tensor(DType::kF32, {h}), types.Tensor(DType::kF32, {Dim::Symbol("w")}));
  EXPECT_NE(types.Tensor(DType::kF32, {h}), types.Tensor(DType::kF64, {h}));
  EXPECT_EQ(types.List(types.Simple(TypeKind::kString)), types.List(types.Simple(TypeKind::kString)));
  EXPECT_NE(types.Record("A", {}), types.Record("B", {}));
  EXPECT_EQ(types.Record("", {{"a", types.Error()}}), types.Record("", {{"a", types.Error()}}));
}

TEST(Types, PrintAsUsersWriteThem) {
  Types types;
  const TypeRef string = types.Simple(TypeKind::kString);
  EXPECT_EQ(ToString(types.Tensor(DType::kU8, {Dim(1), Dim::Symbol("h#b7"), Dim(2) * Dim::Symbol("w")})), "u8[1, h, 2*w]");
  EXPECT_EQ(ToString(types.Optional(types.List(string))), "list<string>?");
  EXPECT_EQ(ToString(types.Map(types.Scalar(DType::kBool))), "map<bool>");
  EXPECT_EQ(ToString(types.Record("", {{"a", string}, {"b", types.Simple(TypeKind::kBytes)}})), "(a: string, b: bytes)");
  EXPECT_EQ(ToString(types.Record("Line", {{"a", string}})), "Line");
}

}  // namespace
}  // namespace wf::sema
