// Rows of builds written several elements at once, each in its own way: the bits are those of each element alone.

#include <limits>

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

const std::vector<DType> kElements = {DType::kBool, DType::kU8, DType::kI64, DType::kF32, DType::kF64};

// `one` as a scalar of any type; a bool: whether it is not 0.
ValueId Number(Builder& b, DType dtype, float one) { return b.Convert(b.F32(one), dtype); }

TEST_F(BodyTest, RowsThatAreAlikeButForOneElement) {
  const TypeId places = Tensor(DType::kI64, {-1});
  for (const DType dtype : kElements) {
    const TypeId rows = Tensor(dtype, {-1, -1});
    for (const bool is_equal : {true, false}) {
      cases_.Add("one of a row", {places, rows}, rows, [this, dtype, is_equal](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64()});
        const ValueId is_there = b.Binary(is_equal ? OpKind::kEq : OpKind::kNe, b.Param(1), b.Load(in[0], {b.Param(0)}));
        b.Close(b.Select(is_there, Number(b, dtype, 3), Number(b, dtype, 0)));
        return b.Build(dtype, {b.Dim(in[0], 0), b.Dim(in[1], 0)}, block);
      });
    }
  }
  cases_.program.slots.back().store = ir::Store::kStaged;  // its rows are padded
  const TypeId vector = Tensor(DType::kF32, {-1}), matrix = Tensor(DType::kF32, {-1, -1}), cube = Tensor(DType::kF32, {-1, -1, -1});
  cases_.Add("one row", {I64(), vector}, vector, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    b.Close(b.Select(b.Binary(OpKind::kEq, in[0], b.Param(0)), b.F32(1), b.F32(-0.0F)));
    return b.Build(DType::kF32, {b.Dim(in[1], 0)}, block);
  });
  cases_.Add("a plane, more than fills at once", {places}, cube, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64(), I64()});
    const ValueId place = b.Add(b.Load(in[0], {b.Param(0)}), b.Mul(b.Param(1), b.I64(40)));
    const ValueId scaled = b.Select(b.Binary(OpKind::kEq, place, b.Param(2)), b.F32(1), b.F32(0));
    b.Close(b.Add(scaled, b.F32(1)));
    return b.Build(DType::kF32, {b.Dim(in[0], 0), b.I64(3), b.I64(500)}, block);
  });
  cases_.Add("a value of the row", {places, matrix}, matrix, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64()});
    const ValueId is_there = b.Binary(OpKind::kEq, b.Param(1), b.Load(in[0], {b.Param(0)}));
    b.Close(b.Select(is_there, b.F32(1), b.Load(in[1], {b.Param(0), b.I64(0)})));
    return b.Build(DType::kF32, {b.Dim(in[1], 0), b.Dim(in[1], 1)}, block);
  });
  cases_.Add("an index that may not fit", {places, matrix}, matrix, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64(), I64()});
    const ValueId place = b.Load(in[0], {b.CheckIndex(b.Add(b.Param(0), b.I64(1)), b.Dim(in[0], 0))});
    b.Close(b.Select(b.Binary(OpKind::kEq, b.Param(1), place), b.F32(1), b.F32(0)));
    return b.Build(DType::kF32, {b.Dim(in[0], 0), b.Dim(in[1], 0)}, block);
  });
  Check(kSizes, 2);
}

// The last axis is short: lanes are pixels, and what is stored are their channels in turn.
TEST_F(BodyTest, RowsOfPixels) {
  for (const DType dtype : {DType::kU8, DType::kI16, DType::kF32, DType::kF64}) {
    for (const int64_t channels : {2, 3, 4}) {
      if (dtype != DType::kU8 && channels != 3) continue;  // each size of a pixel, and each element
      const TypeId picture = Tensor(dtype, {-1, -1, channels});
      cases_.Add("as they lie", {picture}, picture, [this, dtype, channels](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        const ValueId one = b.Convert(b.Load(in[0], {b.Param(0), b.Param(1), b.Param(2)}), DType::kF32);
        const ValueId other = b.Convert(b.Load(in[0], {b.Param(0), b.Param(1), b.Sub(b.I64(channels - 1), b.Param(2))}), DType::kF32);
        const ValueId mixed = b.Add(one, b.Mul(b.Sub(other, one), b.F32(0.3F)));
        const ValueId place = b.Convert(b.Add(b.Param(1), b.Param(2)), DType::kF32);
        b.Close(b.Convert(b.Select(b.Binary(OpKind::kEq, b.Param(2), b.I64(1)), place, mixed), dtype));
        return b.Build(dtype, {b.Dim(in[0], 0), b.Dim(in[0], 1), b.I64(channels)}, block);
      });
      // The arms divide, so that they stay arms: one is taken for all lanes.
      cases_.Add("each channel in its own way", {picture, I64()}, picture, [this, dtype, channels](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        const ValueId y = b.Param(0), x = b.Param(1), channel = b.Param(2), one = b.Convert(b.Load(in[0], {y, x, channel}), DType::kF32);
        const auto either = [&](ValueId condition, const auto& then, const auto& otherwise) {
          const ir::BlockId yes = b.Open({});
          b.Close(then());
          const ir::BlockId no = b.Open({});
          b.Close(otherwise());
          return b.If(condition, b.ScalarType(DType::kF32), yes, no);
        };
        const auto halved = [&] { return b.Binary(OpKind::kDiv, one, b.F32(3)); };
        const auto first_of_pixel = [&] { return b.Convert(b.Load(in[0], {y, x, b.I64(0)}), DType::kF32); };
        const auto other = [&] {
          return either(b.Binary(OpKind::kLt, in[1], b.I64(3)), first_of_pixel, [&] { return b.Binary(OpKind::kDiv, b.F32(1), one); });
        };
        b.Close(b.Convert(either(b.Binary(OpKind::kEq, channel, b.I64(1)), halved, other), dtype));
        return b.Build(dtype, {b.Dim(in[0], 0), b.Dim(in[0], 1), b.I64(channels)}, block);
      });
      cases_.Add("mirrored", {picture}, picture, [this, dtype, channels](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        const ValueId last = b.Sub(b.Dim(in[0], 1), b.I64(1));
        b.Close(b.Load(in[0], {b.Param(0), b.Sub(last, b.Param(1)), b.Param(2)}));
        return b.Build(dtype, {b.Dim(in[0], 0), b.Dim(in[0], 1), b.I64(channels)}, block);
      });
      cases_.Add("through a table", {picture, Tensor(DType::kI64, {-1})}, picture, [this, dtype, channels](Builder& b, const In& in) {
        const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1), count = b.Dim(in[1], 0);
        const ir::BlockId entry = b.Open({I64()});
        b.Close(b.CheckIndex(b.Binary(OpKind::kRem, b.Load(in[1], {b.Param(0)}), b.Binary(OpKind::kMax, width, b.I64(1))), width));
        const ValueId table = b.Build(DType::kI64, {count}, entry);
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        const ValueId one = b.Convert(b.Load(in[0], {b.Param(0), b.Load(table, {b.Param(1)}), b.Param(2)}), DType::kF32);
        b.Close(b.Convert(b.Mul(one, b.F32(0.7F)), dtype));
        return b.Build(dtype, {height, count, b.I64(channels)}, block);
      });
      cases_.Add(
          "moved from the places of a table", {picture, Tensor(DType::kI64, {-1})}, picture,
          [this, dtype, channels](Builder& b, const In& in) {
            const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1), count = b.Dim(in[1], 0);
            const ir::BlockId entry = b.Open({I64()});
            b.Close(b.CheckIndex(b.Binary(OpKind::kRem, b.Load(in[1], {b.Param(0)}), b.Binary(OpKind::kMax, width, b.I64(1))), width));
            const ValueId table = b.Build(DType::kI64, {count}, entry);
            const ir::BlockId block = b.Open({I64(), I64(), I64()});
            const ValueId y = b.CheckIndex(b.Binary(OpKind::kDiv, b.Param(0), b.I64(2)), height);
            b.Close(b.Load(in[0], {y, b.Load(table, {b.Param(1)}), b.Param(2)}));
            return b.Build(dtype, {b.Mul(height, b.I64(2)), count, b.I64(channels)}, block);
          });
    }
  }
  Check({0, 1, 7, 16, 33}, 2);
}

// What one channel reads of a pixel is not what the next one wants.
TEST_F(BodyTest, RowsOfPixelsWhoseChannelsLieApart) {
  for (const int64_t channels : {2, 3, 4}) {
    const DType dtype = DType::kU8;
    const TypeId picture = Tensor(dtype, {-1, -1, channels});
    cases_.Add(
        "each channel at its own places of a table", {picture, Tensor(DType::kI64, {-1})}, picture,
        [this, channels](Builder& b, const In& in) {
          const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1), count = b.Dim(in[1], 0), none = b.I64(0);
          const auto within = [&](ValueId at, ValueId extent) {
            return b.CheckIndex(b.Binary(OpKind::kRem, at, b.Binary(OpKind::kMax, extent, b.I64(1))), extent);
          };
          const ir::BlockId entry = b.Open({I64()});
          b.Close(within(b.Load(in[1], {b.Param(0)}), width));
          const ValueId table = b.Build(DType::kI64, {count}, entry), columns = b.Sub(count, b.I64(channels - 1));
          const ir::BlockId block = b.Open({I64(), I64(), I64()});
          const ValueId y = b.Param(0), x = b.Param(1), channel = b.Param(2);
          const ValueId one = b.Convert(b.Load(in[0], {y, b.Load(table, {b.CheckIndex(b.Add(x, channel), count)}), channel}), DType::kF32);
          const ValueId other = b.Convert(b.Load(in[0], {within(b.Add(y, channel), height), b.Load(table, {x}), channel}), DType::kF32);
          b.Close(b.Convert(b.Mul(b.Add(one, other), b.F32(0.4F)), dtype));
          return b.Build(dtype, {height, b.Binary(OpKind::kMax, columns, none), b.I64(channels)}, block);
        });
  }
  Check({0, 1, 7, 16, 33}, 2);
}

// Elements at places that stand in a table, mixed: what a picture of another size is made of.
TEST_F(BodyTest, RowsReadThroughTables) {
  for (const DType dtype : {DType::kU8, DType::kI16, DType::kF32, DType::kF64}) {
    const TypeId places = Tensor(DType::kI64, {-1}), picture = Tensor(dtype, {-1, -1});
    cases_.Add("mixed", {picture, places}, Tensor(dtype, {-1, -1}), [this, dtype](Builder& b, const In& in) {
      const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1), count = b.Dim(in[1], 0);
      const ir::BlockId entry = b.Open({I64()});
      b.Close(b.CheckIndex(b.Binary(OpKind::kRem, b.Load(in[1], {b.Param(0)}), b.Binary(OpKind::kMax, width, b.I64(1))), width));
      const ValueId table = b.Build(DType::kI64, {count}, entry);
      const ir::BlockId block = b.Open({I64(), I64()});
      const ValueId y = b.CheckIndex(b.Binary(OpKind::kDiv, b.Param(0), b.I64(2)), height), x = b.Load(table, {b.Param(1)});
      const ValueId one = b.Convert(b.Load(in[0], {y, x}), DType::kF32);
      const ValueId other = b.Convert(b.Load(in[0], {b.CheckIndex(b.Sub(height, b.I64(1)), height), x}), DType::kF32);
      b.Close(b.Convert(b.Add(one, b.Mul(b.Sub(other, one), b.F32(0.3F))), dtype));
      return b.Build(dtype, {b.Mul(height, b.I64(2)), count}, block);
    });
    cases_.Add("a place and its value", {Tensor(dtype, {-1}), places}, Tensor(DType::kF32, {-1, -1}), [this](Builder& b, const In& in) {
      const ir::BlockId entry = b.Open({I64()});
      b.Close(b.CheckIndex(b.Load(in[1], {b.Param(0)}), b.Dim(in[0], 0)));
      const ValueId table = b.Build(DType::kI64, {b.Dim(in[1], 0)}, entry);
      const ir::BlockId block = b.Open({I64(), I64()});
      const ValueId place = b.Load(table, {b.Param(1)});
      b.Close(b.Mul(b.Convert(b.Load(in[0], {place}), DType::kF32), b.Convert(b.Add(place, b.Param(0)), DType::kF32)));
      return b.Build(DType::kF32, {b.I64(3), b.Dim(in[1], 0)}, block);
    });
  }
  Check(kSizes, 2);
}

TEST_F(BodyTest, RowsReadAtPlacesOfTheirOwnShape) {
  for (const DType dtype : {DType::kU8, DType::kF32}) {
    const TypeId matrix = Tensor(dtype, {-1, -1}), places = Tensor(DType::kF32, {-1, -1});
    cases_.Add("rows and columns that are read", {matrix, places}, matrix, [this, dtype](Builder& b, const In& in) {
      const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
      const ir::BlockId block = b.Open({I64(), I64()});
      const ValueId place = b.Convert(b.Load(in[1], {b.Param(0), b.Param(1)}), DType::kI64);
      const auto within = [&](ValueId extent) {
        const ValueId least = b.Binary(OpKind::kMax, place, b.I64(0));
        return b.CheckIndex(b.Binary(OpKind::kMin, least, b.Sub(extent, b.I64(1))), extent);
      };
      const ValueId one = b.Convert(b.Load(in[0], {within(height), within(width)}), DType::kF32);
      b.Close(b.Convert(b.Mul(one, b.F32(0.5F)), dtype));
      return b.Build(dtype, {b.Dim(in[1], 0), b.Dim(in[1], 1)}, block);
    });
  }
  Check(kSizes, 2);
}

// What is made of integers is neither NaN nor -0, and is compared once.
TEST_F(BodyTest, LanesOfTheLesserAndTheGreaterOfIntegers) {
  for (const DType from : {DType::kU8, DType::kI16, DType::kI64}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      const TypeId integers = Tensor(from, {-1}), vector = Tensor(dtype, {-1});
      for (const OpKind kind : {OpKind::kMin, OpKind::kMax}) {
        cases_.Add("of sums", {integers, integers}, vector, [this, dtype, kind](Builder& b, const In& in) {
          const ir::BlockId block = b.Open({I64()});
          const ValueId one = b.Convert(b.Load(in[0], {b.Param(0)}), dtype), other = b.Convert(b.Load(in[1], {b.Param(0)}), dtype);
          const ValueId zero = b.Binary(kind, b.Sub(one, one), b.Sub(other, other));
          b.Close(b.Binary(OpKind::kDiv, b.Convert(b.F32(1), dtype), b.Binary(kind, b.Binary(kind, one, b.Sub(other, one)), zero)));
          return b.Build(dtype, {b.Dim(in[0], 0)}, block);
        });
        cases_.Add("with a product, which may be -0", {integers, integers}, vector, [this, dtype, kind](Builder& b, const In& in) {
          const ir::BlockId block = b.Open({I64()});
          const ValueId one = b.Convert(b.Load(in[0], {b.Param(0)}), dtype), other = b.Convert(b.Load(in[1], {b.Param(0)}), dtype);
          const ValueId minus = b.Binary(OpKind::kMul, b.Sub(one, one), b.Convert(b.F32(-1), dtype));
          b.Close(b.Binary(OpKind::kDiv, b.Convert(b.F32(1), dtype), b.Binary(kind, minus, b.Sub(other, other))));
          return b.Build(dtype, {b.Dim(in[0], 0)}, block);
        });
      }
    }
  }
  Check(kSizes, 2);
}

TEST_F(BodyTest, LanesOfTheLesserAndTheGreater) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const TypeId vector = Tensor(dtype, {-1}), matrix = Tensor(dtype, {-1, -1});
    for (const OpKind kind : {OpKind::kMin, OpKind::kMax}) {
      cases_.Add("of two", {vector, vector}, vector, [this, dtype, kind](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Binary(kind, b.Load(in[0], {b.Param(0)}), b.Load(in[1], {b.Param(0)})));
        return b.Build(dtype, {b.Dim(in[0], 0)}, block);
      });
      for (const bool is_first : {true, false}) {
        cases_.Add("of one and a row", {vector, vector}, matrix, [this, dtype, kind, is_first](Builder& b, const In& in) {
          const ir::BlockId block = b.Open({I64(), I64()});
          const ValueId one = b.Load(in[0], {b.Param(0)}), each = b.Load(in[1], {b.Param(1)});
          b.Close(b.Binary(kind, is_first ? one : each, is_first ? each : one));
          return b.Build(dtype, {b.Dim(in[0], 0), b.Dim(in[1], 0)}, block);
        });
      }
      for (const float bound : {0.0F, -0.0F, 1.5F, -kInfinity, kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
        for (const bool is_first : {true, false}) {
          cases_.Add("against a bound", {vector}, vector, [this, dtype, kind, bound, is_first](Builder& b, const In& in) {
            const ir::BlockId block = b.Open({I64()});
            const ValueId x = b.Load(in[0], {b.Param(0)}), edge = b.Convert(b.F32(bound), dtype);
            b.Close(b.Binary(kind, is_first ? edge : x, is_first ? x : edge));
            return b.Build(dtype, {b.Dim(in[0], 0)}, block);
          });
        }
      }
    }
    for (const DType narrow : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32, DType::kU32}) {
      cases_.Add("to integers", {vector}, Tensor(narrow, {-1}), [this, narrow](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64()});
        b.Close(b.Convert(b.Load(in[0], {b.Param(0)}), narrow));
        return b.Build(narrow, {b.Dim(in[0], 0)}, block);
      });
    }
  }
  Check(kSizes, 3);
}

// More than there are registers for: where their elements lie is read where these are.
TEST_F(BodyTest, RowsOfVeryManyTensorsAreThoseOfFew) {
  const TypeId vector = Tensor(DType::kF32, {-1}), matrix = Tensor(DType::kF32, {-1, -1});
  const auto add = [&](size_t rank) {
    const std::vector<TypeId> in(130, rank == 1 ? vector : matrix);
    cases_.Add("of rank " + std::to_string(rank), in, in[0], [this, rank](Builder& b, const In& given) {
      const ir::BlockId block = b.Open(std::vector<TypeId>(rank, I64()));
      std::vector<ValueId> at, extents;
      for (size_t axis = 0; axis < rank; ++axis) at.push_back(b.Param(axis));
      ValueId sum = b.F32(0);
      for (const ValueId tensor : given) sum = b.Add(sum, b.Load(tensor, at));
      b.Close(sum);
      for (size_t axis = 0; axis < rank; ++axis) extents.push_back(b.Dim(given[0], axis));
      return b.Build(DType::kF32, extents, block);
    });
  };
  add(1);
  add(2);
  cases_.Add("of sums", std::vector<TypeId>(130, vector), Scalar(DType::kF32), [this](Builder& b, const In& given) {
    const ir::BlockId block = b.Open({I64()});
    ValueId sum = b.F32(0);
    for (const ValueId tensor : given) sum = b.Add(sum, b.Load(tensor, {b.Param(0)}));
    b.Close(sum);
    return b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(given[0], 0), block);
  });
  watched_ = false;
  Check({0, 1, 17, 33}, 2);
}

}  // namespace
}  // namespace wf::lower::testing
