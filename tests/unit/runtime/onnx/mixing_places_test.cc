#include <gtest/gtest.h>

#include "tests/unit/runtime/onnx/mixing_in.h"

// Mixing by places that nodes compute, and by picks of samples behind nodes that move them.
namespace wf::onnx {
namespace {

using testing::AddBody;
using testing::Builder;
using testing::MixingIn;

void AddOne(Builder& builder, const std::string& name, int64_t value) { builder.Tensor(name, {}, pb::INT64).add_int64_data(value); }

// y is x and what `node`s make of it as `e`.
std::string MixingBeside(const std::function<void(Builder&)>& nodes, const Builder::Extents& x = {"n", 4}) {
  return MixingIn(
      [&](Builder& builder) {
        builder.Longs("first", {0});
        builder.Longs("line", {-1});
        builder.Longs("column", {-1, 1});
        nodes(builder);
        builder.Node("Add", {"x", "e"}, {"y"});
      },
      18, x);
}

TEST(FindMixing, NumbersByPlace) {
  EXPECT_EQ(MixingBeside([](Builder& b) { b.Node("EyeLike", {"x"}, {"e"}, "eye"); }), "eye");
  EXPECT_EQ(MixingBeside([](Builder& b) { b.Node("Trilu", {"x"}, {"e"}, "lower"); }), "lower");
  EXPECT_EQ(MixingBeside([](Builder& b) { b.Node("Trilu", {"x"}, {"e"}, "within"); }, {"n", 4, 4}), "");
  EXPECT_EQ(MixingBeside([](Builder& b) {  // of as many ones as there are samples
              Builder::Int(b.Node("Shape", {"x"}, {"n"}), "end", 1);
              b.Node("ConstantOfShape", {"n"}, {"ones"});
              b.Node("NonZero", {"ones"}, {"places"}, "find");
              b.Node("Reshape", {"places", "column"}, {"p"});
              Builder::Int(b.Node("Cast", {"p"}, {"e"}), "to", pb::FLOAT);
            }),
            "find");
  EXPECT_EQ(MixingBeside([](Builder& b) {
              b.Longs("most", {500});
              Builder::Int(b.Node("Shape", {"x"}, {"n"}), "end", 1);
              b.Node("Sub", {"most", "n"}, {"rest"});
              Builder::Int(b.Node("Concat", {"n", "rest"}, {"parts"}), "axis", 0);
              b.Floats("table", {500, 1}, 500);
              b.Node("Split", {"table", "parts"}, {"e", "unused"}, "cut");
            }),
            "cut");
}

TEST(FindMixing, ARangeOfFloats) {
  const auto range = [](int64_t at) {
    return MixingBeside(
        [at](Builder& b) {
          AddOne(b, "at", at);
          b.Node("Shape", {"x"}, {"extents"});
          b.Node("Gather", {"extents", "at"}, {"n"});
          Builder::Int(b.Node("Cast", {"n"}, {"end"}), "to", pb::FLOAT);
          Builder::SetFloats(b.Floats("zero", {}, 1), {0});
          Builder::SetFloats(b.Floats("one", {}, 1), {1});
          b.Node("Range", {"zero", "end", "one"}, {"places"}, "range");
          b.Longs("row", {1, -1});
          b.Node("Reshape", {"places", at == 0 ? "column" : "row"}, {"e"});
        },
        {"n", "w"});
  };
  EXPECT_EQ(range(0), "range");
  EXPECT_EQ(range(1), "");  // of columns
}

TEST(FindMixing, TheNumberOfALoopsTurn) {
  const auto loop = [](bool picks) {
    return MixingBeside([picks](Builder& b) {
      AddOne(b, "zero", 0);
      b.Tensor("begin", {}, pb::BOOL).add_int32_data(1);
      b.Node("Shape", {"x"}, {"extents"}, "shape");
      b.Node("Gather", {"extents", "zero"}, {"n"});
      auto& node = b.Node("Loop", {"n", "begin"}, {"rows"}, "loop");
      AddBody(node, "body", {"turn", "goes"}, {"more", "row"}, [picks](Builder& body) {
        body.Node("Identity", {"goes"}, {"more"});
        if (picks)
          body.Node("Gather", {"x", "turn"}, {"row"});
        else
          Builder::Int(body.Node("Cast", {"turn"}, {"row"}), "to", pb::FLOAT);
      });
      b.Node("Reshape", {"rows", picks ? "extents" : "column"}, {"e"});
    });
  };
  EXPECT_EQ(loop(false), "shape");
  EXPECT_EQ(loop(true), "");
}

TEST(FindMixing, ALoopThatCarriesRowsOfOpenWidthOn) {
  const auto carried = [](const std::string& to_state) {
    return MixingBeside(
        [&](Builder& b) {
          AddOne(b, "zero", 0);
          b.Longs("second", {1});
          b.Tensor("begin", {}, pb::BOOL).add_int32_data(1);
          b.Node("Shape", {"x"}, {"extents"});
          b.Node("Gather", {"extents", "zero"}, {"n"});
          b.Node("Gather", {"extents", "second"}, {"width"});
          b.Node("ConstantOfShape", {"width"}, {"nothing"});
          auto& node = b.Node("Loop", {"n", "begin", "nothing"}, {"e"}, "loop");
          AddBody(node, "body", {"turn", "goes", "state"}, {"more", "next"}, [&](Builder& body) {
            body.Node("Identity", {"goes"}, {"more"});
            body.Node("Gather", {"x", "turn"}, {"row"});
            body.Node("Max", {"state", to_state}, {"next"});
          });
        },
        {"n", "w"});
  };
  EXPECT_EQ(carried("row"), "loop");
  EXPECT_EQ(carried("state"), "");
}

// The first sample, or elements of it, wherever all samples lie.
TEST(FindMixing, TheFirstSampleBehindOtherNodes) {
  const auto picked = [](const std::function<void(Builder&)>& moves, int64_t at) {
    return MixingBeside([&](Builder& b) {
      b.Longs("at", {at});
      moves(b);
      b.Node("Gather", {"moved", "at"}, {"e"}, "pick");
    });
  };
  const auto reshape = [](Builder& b) { b.Node("Reshape", {"x", "line"}, {"moved"}); };
  const auto tile = [](Builder& b) {
    b.Longs("twice", {2, 1});
    b.Node("Tile", {"x", "twice"}, {"moved"});
  };
  const auto pad = [](Builder& b) {
    b.Longs("pads", {1, 0, 0, 0});
    b.Node("Pad", {"x", "pads"}, {"moved"});
  };
  const auto join = [](Builder& b) {
    b.Floats("token", {1, 4}, 4);
    Builder::Int(b.Node("Concat", {"token", "x"}, {"moved"}), "axis", 0);
  };
  EXPECT_EQ(picked(reshape, 0), "pick");
  EXPECT_EQ(picked(tile, 0), "pick");
  EXPECT_EQ(picked(pad, 1), "pick");
  EXPECT_EQ(picked(pad, -1), "pick");
  EXPECT_EQ(picked(pad, 0), "");  // what was added
  EXPECT_EQ(picked(join, 1), "pick");
  EXPECT_EQ(picked(join, 0), "");
}

TEST(FindMixing, ASliceOfOneSample) {
  const auto sliced = [](int64_t from, int64_t to) {
    return MixingBeside([&](Builder& b) {
      b.Longs("from", {from});
      b.Longs("to", {to});
      b.Node("Reshape", {"x", "line"}, {"all"});
      b.Node("Slice", {"all", "from", "to", "first"}, {"e"}, "slice");
    });
  };
  EXPECT_EQ(sliced(0, 4), "slice");
  EXPECT_EQ(sliced(-4, INT64_MAX), "slice");
  EXPECT_EQ(MixingBeside([](Builder& b) {  // each second column
              b.Longs("to", {INT64_MAX});
              b.Longs("two", {2});
              b.Longs("halves", {-1, 2});
              b.Node("Reshape", {"x", "line"}, {"all"});
              b.Node("Slice", {"all", "first", "to", "first", "two"}, {"even"});
              b.Node("Reshape", {"even", "halves"}, {"h"});
              Builder::Ints(b.Node("ReduceMax", {"h"}, {"e"}), "axes", {1});
            }),
            "");
  EXPECT_EQ(MixingBeside([](Builder& b) {
              b.Longs("one", {1});
              Builder::Int(b.Node("Shape", {"x"}, {"n"}), "end", 1);
              b.Node("Sub", {"n", "one"}, {"last"});
              b.Node("Slice", {"x", "last", "n", "first"}, {"e"}, "slice");
            }),
            "slice");
  EXPECT_EQ(MixingBeside([](Builder& b) {
              b.Longs("one", {1});
              Builder::Int(b.Node("Shape", {"x"}, {"n"}), "end", 1);
              b.Node("Sub", {"n", "one"}, {"others"});
              Builder::Int(b.Node("Concat", {"others", "one"}, {"parts"}), "axis", 0);
              b.Node("Split", {"x", "parts"}, {"unused", "e"}, "split");
            }),
            "split");
}

TEST(FindMixing, TwoTowersAreTakenApart) {
  EXPECT_EQ(MixingIn([](Builder& b) {
              b.Input("z", {"n", 4});
              b.Longs("first", {0});
              b.Longs("end", {INT64_MAX});
              Builder::Int(b.Node("Shape", {"x"}, {"n"}), "end", 1);
              Builder::Int(b.Node("Concat", {"x", "z"}, {"both"}), "axis", 0);
              b.Node("Relu", {"both"}, {"r"});
              b.Node("Slice", {"r", "first", "n", "first"}, {"a"});
              b.Node("Slice", {"r", "n", "end", "first"}, {"b"});
              b.Node("Add", {"a", "b"}, {"y"});
            }),
            "");
}

TEST(FindMixing, PicksOfOtherOperators) {
  const auto image = [](Builder& b, const std::vector<int64_t>& shape) {
    b.Longs("shape", shape);
    b.Node("Reshape", {"x", "shape"}, {"image"});
  };
  const auto most = [](Builder& b) { Builder::Int(b.Node("ReduceMax", {"made"}, {"e"}, "most"), "keepdims", 0); };
  EXPECT_EQ(MixingBeside([&](Builder& b) {
              image(b, {-1, 1, 2, 2});
              b.Floats("box", {1, 4}, 4);
              b.Node("RoiAlign", {"image", "box", "first"}, {"made"}, "boxes");
              most(b);
            }),
            "boxes");
  EXPECT_EQ(MixingBeside([&](Builder& b) {
              image(b, {1, 1, -1, 4});
              b.Floats("grid", {1, 3, 4, 2}, 24);
              b.Node("GridSample", {"image", "grid"}, {"made"}, "sample");
              most(b);
            }),
            "sample");
  EXPECT_EQ(MixingBeside([&](Builder& b) {
              b.Longs("two", {2});
              Builder::Ints(b.Node("CenterCropPad", {"x", "two"}, {"made"}, "crop"), "axes", {0});
              most(b);
            }),
            "crop");
  EXPECT_EQ(MixingBeside([&](Builder& b) {  // boxes that hide one another
              image(b, {1, -1, 4});
              b.Longs("columns", {1});
              b.Longs("scores of all", {1, 1, -1});
              b.Node("ReduceSum", {"x", "columns"}, {"sums"});
              b.Node("Reshape", {"sums", "scores of all"}, {"scores"});
              b.Node("NonMaxSuppression", {"image", "scores", "columns"}, {"seen"}, "hide");
              Builder::Int(b.Node("Cast", {"seen"}, {"made"}), "to", pb::FLOAT);
              most(b);
            }),
            "hide");
  EXPECT_EQ(MixingBeside([&](Builder& b) {
              image(b, {1, 1, -1, 4});
              auto& pool = b.Node("MaxPool", {"image"}, {"made"}, "pool");
              Builder::Ints(pool, "kernel_shape", {1, 1});
              Builder::Ints(pool, "strides", {2, 1});
              most(b);
            }),
            "pool");
  EXPECT_EQ(MixingBeside([&](Builder& b) {
              b.model().add_opset_import()->set_domain("ai.onnx.ml");
              b.model().mutable_opset_import(1)->set_version(3);
              b.Node("Transpose", {"x"}, {"t"});
              b.Node("ArrayFeatureExtractor", {"t", "first"}, {"made"}, "extract").set_domain("ai.onnx.ml");
              b.Node("Transpose", {"made"}, {"e"});
            }),
            "extract");
}

// Of all extents that are numbers of another type, one that counts no samples.
TEST(FindMixing, AnExtentOutOfSeveral) {
  const auto scaled = [](int64_t at, bool is_slice) {
    return MixingIn(
        [&](Builder& b) {
          b.Longs("at", {at});
          b.Longs("behind", {at + 1});
          b.Longs("none", {0});
          b.Node("Shape", {"x"}, {"extents"}, "shape");
          Builder::Int(b.Node("Cast", {"extents"}, {"floats"}), "to", pb::FLOAT);
          if (is_slice)
            b.Node("Slice", {"floats", "at", "behind", "none"}, {"one"});
          else
            b.Node("Gather", {"floats", "at"}, {"one"});
          b.Node("Sqrt", {"one"}, {"root"});
          b.Node("Div", {"x", "root"}, {"y"});
        },
        17, {"n", "s", "w"});
  };
  for (const bool is_slice : {true, false}) {
    EXPECT_EQ(scaled(2, is_slice), "");
    EXPECT_EQ(scaled(1, is_slice), "");
    EXPECT_EQ(scaled(0, is_slice), "shape");
  }
}

}  // namespace
}  // namespace wf::onnx
