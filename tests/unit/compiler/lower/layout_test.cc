// What ir::LayoutOf says is what a C compiler does with the structs of runtime/abi.

#include <gtest/gtest.h>

#include <cstddef>

#include "compiler/ir/ir.h"
#include "compiler/lower/layout.h"
#include "runtime/abi/plan.h"

namespace wf::lower {
namespace {

using ir::DType;

TEST(Layout, RecordsAreCStructs) {
  struct Inner {
    uint8_t flag;
    double wide;
    uint8_t small;
  };
  struct Outer {
    uint8_t small;
    Inner inner;
    wf_bytes text;
    wf_list list;
    struct {
      int64_t value;
      uint8_t has;
    } maybe;
    wf_tensor rows;
    int16_t last;
  };
  ir::TypeTable types;
  const ir::TypeId u8 = types.Scalar(DType::kU8);
  const ir::TypeId inner =
      types.Record("Inner", {{"flag", types.Scalar(DType::kBool)}, {"wide", types.Scalar(DType::kF64)}, {"small", u8}});
  const ir::TypeId outer = types.Record("Outer", {{"small", u8},
                                                  {"inner", inner},
                                                  {"text", types.String()},
                                                  {"list", types.List(inner)},
                                                  {"maybe", types.Optional(types.Scalar(DType::kI64))},
                                                  {"rows", types.Tensor(DType::kF32, {-1})},
                                                  {"last", types.Scalar(DType::kI16)}});
  EXPECT_EQ(ir::LayoutOf(types, inner).size, sizeof(Inner));
  EXPECT_EQ(ir::LayoutOf(types, outer).size, sizeof(Outer));
  EXPECT_EQ(ir::LayoutOf(types, outer).align, alignof(Outer));
  const size_t offsets[] = {offsetof(Outer, small), offsetof(Outer, inner), offsetof(Outer, text), offsetof(Outer, list),
                            offsetof(Outer, maybe), offsetof(Outer, rows),  offsetof(Outer, last)};
  for (size_t i = 0; i < std::size(offsets); ++i) EXPECT_EQ(ir::FieldOffset(types, outer, i), offsets[i]) << i;
}

TEST(Layout, MapEntriesAreCStructs) {
  struct Small {
    wf_bytes key;
    uint8_t value;
  };
  struct Wide {
    wf_bytes key;
    wf_tensor value;
  };
  ir::TypeTable types;
  EXPECT_EQ(ir::MapEntry(types, types.Scalar(DType::kU8)).size, sizeof(Small));
  EXPECT_EQ(ir::MapEntry(types, types.Scalar(DType::kU8)).value_offset, offsetof(Small, value));
  EXPECT_EQ(ir::MapEntry(types, types.Tensor(DType::kU8, {2})).size, sizeof(Wide));
  EXPECT_EQ(ir::MapEntry(types, types.Tensor(DType::kU8, {2})).value_offset, offsetof(Wide, value));
}

TEST(Layout, TheFallbacksErrorIsItsRecord) {
  ir::TypeTable types;
  const ir::TypeId err = types.Record("", {{"code", types.Scalar(DType::kI32)}, {"message", types.String()}, {"node", types.String()}});
  EXPECT_EQ(ir::LayoutOf(types, err).size, sizeof(wf_error));
  EXPECT_EQ(ir::FieldOffset(types, err, 1), offsetof(wf_error, message));
  EXPECT_EQ(ir::FieldOffset(types, err, 2), offsetof(wf_error, node));
}

}  // namespace
}  // namespace wf::lower
