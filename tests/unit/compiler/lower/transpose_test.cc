// Builds that move columns into rows, tile by tile: the same elements as one by one.

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

const std::vector<DType> kMovedElements = {DType::kBool, DType::kU8, DType::kI16, DType::kF32, DType::kF64};
const std::vector<int64_t> kSides = {0, 1, 7, 17, 33, 150};

struct Way {
  bool is_down, is_left;  // backwards along columns, and along rows, of what is read
};
constexpr Way kWays[] = {{false, false}, {true, false}, {false, true}, {true, true}};

ValueId Backwards(Builder& b, ValueId extent, ValueId index) { return b.Sub(b.Sub(extent, b.I64(1)), index); }

TEST_F(BodyTest, ColumnsBecomeRows) {
  for (const DType dtype : kMovedElements) {
    const TypeId matrix = Tensor(dtype, {-1, -1});
    for (const Way way : kWays) {
      cases_.Add("elements", {matrix}, matrix, [this, dtype, way](Builder& b, const In& in) {
        const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
        const ir::BlockId block = b.Open({I64(), I64()});
        const ValueId y = way.is_down ? Backwards(b, height, b.Param(1)) : b.Param(1);
        b.Close(b.Load(in[0], {y, way.is_left ? Backwards(b, width, b.Param(0)) : b.Param(0)}));
        return b.Build(dtype, {width, height}, block);
      });
      if (way.is_down) cases_.program.slots.back().store = ir::Store::kStaged;  // its rows are padded
    }
  }
  Check(kSides, 1);
}

TEST_F(BodyTest, ColumnsOfPixelsBecomeRows) {
  for (const DType dtype : {DType::kU8, DType::kI16, DType::kF32}) {
    for (const int64_t channels : {1, 2, 3, 4, 5}) {
      const TypeId picture = Tensor(dtype, {-1, -1, channels});
      for (const Way& way : kWays) {
        if (channels != 3 && &way != &kWays[0]) continue;  // each size of a pixel, and each way
        cases_.Add("pixels", {picture}, picture, [this, dtype, way, channels](Builder& b, const In& in) {
          const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
          const ir::BlockId block = b.Open({I64(), I64(), I64()});
          const ValueId y = way.is_down ? Backwards(b, height, b.Param(1)) : b.Param(1);
          b.Close(b.Load(in[0], {y, way.is_left ? Backwards(b, width, b.Param(0)) : b.Param(0), b.Param(2)}));
          return b.Build(dtype, {width, height, b.I64(channels)}, block);
        });
      }
      if (dtype != DType::kU8 && channels != 3) continue;
      cases_.Add("channels exchanged, too", {picture}, picture, [this, dtype, channels](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        b.Close(b.Load(in[0], {b.Param(1), b.Param(0), Backwards(b, b.I64(channels), b.Param(2))}));
        return b.Build(dtype, {b.Dim(in[0], 1), b.Dim(in[0], 0), b.I64(channels)}, block);
      });
    }
  }
  Check(kSides, 1);
}

// Pixels that stay where they are, or are mirrored, with their channels from the last to the first.
TEST_F(BodyTest, ChannelsAreTurnedRound) {
  for (const DType dtype : {DType::kU8, DType::kI16, DType::kF32}) {
    for (const int64_t channels : {1, 2, 3, 4, 5}) {
      const TypeId picture = Tensor(dtype, {-1, -1, channels});
      for (const bool is_mirrored : {false, true}) {
        cases_.Add("turned round", {picture}, picture, [this, dtype, channels, is_mirrored](Builder& b, const In& in) {
          const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
          const ir::BlockId block = b.Open({I64(), I64(), I64()});
          const ValueId x = is_mirrored ? Backwards(b, width, b.Param(1)) : b.Param(1);
          b.Close(b.Load(in[0], {Backwards(b, height, b.Param(0)), x, Backwards(b, b.I64(channels), b.Param(2))}));
          return b.Build(dtype, {height, width, b.I64(channels)}, block);
        });
        if (is_mirrored) cases_.program.slots.back().store = ir::Store::kStaged;  // its rows are padded
      }
      cases_.Add("all but the first channel", {picture}, Tensor(dtype, {-1, -1, channels - 1}), [=, this](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        b.Close(b.Load(in[0], {b.Param(0), b.Param(1), Backwards(b, b.I64(channels), b.Param(2))}));
        return b.Build(dtype, {b.Dim(in[0], 0), b.Dim(in[0], 1), b.I64(channels - 1)}, block);
      });
    }
  }
  Check({0, 1, 5, 6, 7, 16, 17, 33, 53}, 1);
}

TEST_F(BodyTest, WhatIsTurnedRoundInVectors) {
  const auto has_vectors = [&](int64_t channels, const std::function<ValueId(Builder&, ValueId)>& channel) {
    cases_ = Cases();
    const TypeId picture = Tensor(DType::kU8, {-1, -1, channels});
    cases_.Add("a picture", {picture}, picture, [&](Builder& b, const In& in) {
      const ir::BlockId block = b.Open({I64(), I64(), I64()});
      b.Close(b.Load(in[0], {b.Param(0), b.Param(1), channel(b, b.Param(2))}));
      return b.Build(DType::kU8, {b.Dim(in[0], 0), b.Dim(in[0], 1), b.I64(channels)}, block);
    });
    return Printed().find("shufflevector <16 x i8>") != std::string::npos;
  };
  for (const int64_t channels : {2, 3, 4}) {
    EXPECT_TRUE(has_vectors(channels, [&](Builder& b, ValueId c) { return Backwards(b, b.I64(channels), c); })) << channels;
    EXPECT_FALSE(has_vectors(channels, [](Builder&, ValueId c) { return c; })) << channels;
    EXPECT_FALSE(has_vectors(channels, [](Builder& b, ValueId) { return b.I64(1); })) << channels;
  }
  EXPECT_FALSE(has_vectors(5, [](Builder& b, ValueId c) { return Backwards(b, b.I64(5), c); }));
}

TEST_F(BodyTest, LevelsBecomePixels) {
  for (const DType dtype : {DType::kBool, DType::kU8, DType::kI16}) {
    const TypeId matrix = Tensor(dtype, {-1, -1});
    for (const int64_t channels : {1, 2, 3, 4, 5}) {
      const TypeId picture = Tensor(dtype, {-1, -1, channels});
      cases_.Add("the same in each channel", {matrix}, picture, [this, dtype, channels](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        b.Close(b.Load(in[0], {b.Param(0), b.Param(1)}));
        return b.Build(dtype, {b.Dim(in[0], 0), b.Dim(in[0], 1), b.I64(channels)}, block);
      });
      if (channels == 3) cases_.program.slots.back().store = ir::Store::kStaged;  // its rows are padded
      cases_.Add("of rows from the last on", {matrix}, picture, [this, dtype, channels](Builder& b, const In& in) {
        const ValueId height = b.Dim(in[0], 0);
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        b.Close(b.Load(in[0], {Backwards(b, height, b.Param(0)), b.Param(1)}));
        return b.Build(dtype, {height, b.Dim(in[0], 1), b.I64(channels)}, block);
      });
      cases_.Add("of a row that begins elsewhere in each", {matrix}, picture, [this, dtype, channels](Builder& b, const In& in) {
        const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1), begins = b.Binary(OpKind::kMax, b.Sub(width, height), b.I64(0));
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        const ValueId x = b.CheckIndex(b.Add(b.Param(0), b.Param(1)), width);
        b.Close(b.Load(in[0], {b.Param(0), x}));
        return b.Build(dtype, {height, begins, b.I64(channels)}, block);
      });
      cases_.Add("mirrored, and channel by channel another row", {matrix}, picture, [this, dtype, channels](Builder& b, const In& in) {
        const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        b.Close(b.Load(in[0], {b.CheckIndex(b.Param(2), height), Backwards(b, width, b.Param(1))}));
        return b.Build(dtype, {height, width, b.I64(channels)}, block);
      });
    }
  }
  Check(kSides, 1);
}

TEST_F(BodyTest, PixelsBecomePlanes) {
  for (const DType dtype : {DType::kBool, DType::kU8, DType::kF32}) {
    for (const int64_t channels : {2, 3, 4, 5}) {
      const TypeId picture = Tensor(dtype, {-1, -1, channels}), planes = Tensor(dtype, {channels, -1, -1});
      cases_.Add("a plane for each channel", {picture}, planes, [this, dtype, channels](Builder& b, const In& in) {
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        b.Close(b.Load(in[0], {b.Param(1), b.Param(2), b.Param(0)}));
        return b.Build(dtype, {b.I64(channels), b.Dim(in[0], 0), b.Dim(in[0], 1)}, block);
      });
      if (channels == 3) cases_.program.slots.back().store = ir::Store::kStaged;  // its rows are padded
      cases_.Add("a row of each channel", {picture}, Tensor(dtype, {-1, channels, -1}), [this, dtype, channels](Builder& b, const In& in) {
        const ValueId height = b.Dim(in[0], 0);
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        b.Close(b.Load(in[0], {Backwards(b, height, b.Param(0)), b.Param(2), b.Param(1)}));
        return b.Build(dtype, {height, b.I64(channels), b.Dim(in[0], 1)}, block);
      });
      cases_.Add("all but the last channel", {picture}, Tensor(dtype, {channels - 1, -1, -1}),
                 [this, dtype, channels](Builder& b, const In& in) {
                   const ir::BlockId block = b.Open({I64(), I64(), I64()});
                   b.Close(b.Load(in[0], {b.Param(1), b.Param(2), b.Param(0)}));
                   return b.Build(dtype, {b.I64(channels - 1), b.Dim(in[0], 0), b.Dim(in[0], 1)}, block);
                 });
    }
  }
  Check(kSides, 1);
}

TEST_F(BodyTest, AxesThatChangePlacesAmongOthers) {
  for (const DType dtype : {DType::kU8, DType::kF32}) {
    const TypeId cube = Tensor(dtype, {-1, -1, -1}), matrix = Tensor(dtype, {-1, -1});
    // Which index of the result each axis of what is read is given.
    for (const std::vector<size_t>& order : std::vector<std::vector<size_t>>{{0, 2, 1}, {2, 1, 0}, {2, 0, 1}, {1, 2, 0}}) {
      cases_.Add("a cube", {cube}, cube, [this, dtype, order](Builder& b, const In& in) {
        std::vector<ValueId> extents(3);
        for (size_t axis = 0; axis < 3; ++axis) extents[order[axis]] = b.Dim(in[0], axis);
        const ir::BlockId block = b.Open({I64(), I64(), I64()});
        b.Close(b.Load(in[0], {b.Param(order[0]), b.Param(order[1]), b.Param(order[2])}));
        return b.Build(dtype, extents, block);
      });
    }
    cases_.Add("a row begins at another place in each plane", {matrix}, cube, [this, dtype](Builder& b, const In& in) {
      const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
      const ir::BlockId block = b.Open({I64(), I64(), I64()});
      b.Close(b.Load(in[0], {b.Param(2), b.Add(b.Param(0), b.Param(1))}));
      return b.Build(dtype, {b.I64(2), b.Binary(OpKind::kMax, b.Sub(width, b.I64(1)), b.I64(0)), height}, block);
    });
    cases_.Add("a diagonal is none", {matrix}, cube, [this, dtype](Builder& b, const In& in) {
      const ValueId height = b.Dim(in[0], 0), width = b.Dim(in[0], 1);
      const ir::BlockId block = b.Open({I64(), I64(), I64()});
      b.Close(b.Load(in[0], {b.CheckIndex(b.Add(b.Param(1), b.Param(2)), height), b.Param(1)}));
      return b.Build(dtype, {b.I64(2), b.Binary(OpKind::kMin, width, height), b.I64(1)}, block);
    });
    cases_.Add("rows of a stated length", {Tensor(dtype, {-1, 40})}, Tensor(dtype, {40, -1}), [this, dtype](Builder& b, const In& in) {
      const ir::BlockId block = b.Open({I64(), I64()});
      b.Close(b.Load(in[0], {b.Param(1), b.Param(0)}));
      return b.Build(dtype, {b.I64(40), b.Dim(in[0], 0)}, block);
    });
  }
  Check({0, 1, 5, 16, 35, 70}, 1);
}

}  // namespace
}  // namespace wf::lower::testing
