#include <gtest/gtest.h>

#include "tests/unit/runtime/onnx/mixing_in.h"

namespace wf::onnx {
namespace {

using testing::Builder;
using testing::MixingIn;

// The same for one node `at` between x and y.
struct At {
  explicit At(std::string op_) : op(std::move(op_)) {}
  std::string op;
  std::vector<std::pair<std::string, int64_t>> ints;
  std::vector<std::vector<int64_t>> longs;
  Builder::Extents x = {"n", 4};
  int64_t opset = 17;
  bool added = false;  // x is added to what the node gives, so that y has the batch axis

  At& Int(std::string name, int64_t value) {
    ints.emplace_back(std::move(name), value);
    return *this;
  }
  At& Longs(std::vector<int64_t> values) {
    longs.push_back(std::move(values));
    return *this;
  }
  At& Of(Builder::Extents extents) {
    x = std::move(extents);
    return *this;
  }
  At& Opset(int64_t version) {
    opset = version;
    return *this;
  }
  At& Added() {
    added = true;
    return *this;
  }
  std::string Mixing() const {
    return MixingIn(
        [&](Builder& builder) {
          std::vector<std::string> in = {"x"};
          for (const auto& values : longs) {
            in.push_back("w" + std::to_string(in.size()));
            builder.Longs(in.back(), values);
          }
          auto& node = builder.Node(op, in, {added ? "a" : "y"}, "at");
          for (const auto& [name, value] : ints) Builder::Int(node, name, value);
          if (added) builder.Node("Add", {"x", "a"}, {"y"}, "sum");
        },
        opset, x);
  }
};

TEST(FindMixing, SoftmaxOverTheSamples) {
  EXPECT_EQ(At("Softmax").Int("axis", 0).Mixing(), "at");
  EXPECT_EQ(At("Softmax").Int("axis", -2).Mixing(), "at");
  EXPECT_EQ(At("LogSoftmax").Int("axis", 0).Mixing(), "at");
  EXPECT_EQ(At("Softmax").Mixing(), "");
  EXPECT_EQ(At("Softmax").Int("axis", 1).Mixing(), "");
}

TEST(FindMixing, SoftmaxBeforeOpset13TakesAllFromTheAxisOn) {
  EXPECT_EQ(At("Softmax").Int("axis", 0).Opset(11).Mixing(), "at");
  EXPECT_EQ(At("Softmax").Opset(11).Mixing(), "");
  EXPECT_EQ(At("Softmax").Int("axis", 2).Opset(11).Mixing(), "");
}

TEST(FindMixing, ReductionsOverTheSamples) {
  EXPECT_EQ(At("ReduceSum").Added().Mixing(), "at");
  EXPECT_EQ(At("ReduceSum").Longs({0}).Added().Mixing(), "at");
  EXPECT_EQ(At("ReduceSum").Longs({1, -2}).Added().Mixing(), "at");
  EXPECT_EQ(At("ReduceMean").Added().Mixing(), "at");
  EXPECT_EQ(At("ReduceSum").Longs({1}).Added().Mixing(), "");
  EXPECT_EQ(At("ReduceSum").Int("noop_with_empty_axes", 1).Added().Mixing(), "");
}

TEST(FindMixing, NormalisationsOverTheSamples) {
  EXPECT_EQ(At("ReduceMax").Added().Mixing(), "at");
  EXPECT_EQ(At("LpNormalization").Int("axis", 0).Mixing(), "at");
  EXPECT_EQ(At("LpNormalization").Mixing(), "");
  EXPECT_EQ(At("MeanVarianceNormalization").Of({"n", 2, 3, 4}).Mixing(), "at");
  EXPECT_EQ(At("LRN").Int("size", 3).Of({"n", 2, 3}).Mixing(), "");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Floats("w", {1}, 1);
              Builder::Int(builder.Node("LayerNormalization", {"x", "w"}, {"y"}, "at"), "axis", 0);
            }),
            "at");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Floats("w", {4}, 4);
              builder.Node("LayerNormalization", {"x", "w"}, {"y"}, "at");
            }),
            "");
}

TEST(FindMixing, LayersWhoseStepsAreTheSamples) {
  const auto layer = [](int64_t layout) {
    return MixingIn(
        [layout](Builder& builder) {
          builder.Floats("w", {1, 3, 4}, 12);
          builder.Floats("r", {1, 3, 3}, 9);
          Builder::Int(builder.Node("RNN", {"x", "w", "r"}, {"y"}, "at"), "layout", layout);
        },
        17, {"n", 2, 4});
  };
  EXPECT_EQ(layer(0), "at");
  EXPECT_EQ(layer(1), "");
}

TEST(FindMixing, EinsumThatSumsTheSamples) {
  const auto einsum = [](const std::string& equation) {
    return MixingIn([&](Builder& builder) {
      Builder::String(builder.Node("Einsum", {"x", "x"}, {"e"}, "at"), "equation", equation);
      builder.Node("Add", {"x", "e"}, {"y"}, "sum");
    });
  };
  EXPECT_EQ(einsum("ni,nj->j"), "at");
  EXPECT_EQ(einsum("ni,ni->ni"), "");
}

TEST(FindMixing, PlacesOfTheBatch) {
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>(1, INT64_MAX), {0, -1}}) {
    const auto cut = [begin = begin, end = end](Builder& builder) {
      builder.Longs("begin", {begin});
      builder.Longs("end", {end});
      builder.Longs("rows", {0});
      builder.Node("Slice", {"x", "begin", "end"}, {"all but one"}, "at");
      builder.Node("ReduceSum", {"all but one", "rows"}, {"sum"});
      builder.Node("Add", {"x", "sum"}, {"y"});
    };
    EXPECT_EQ(MixingIn(cut), "at") << begin;
  }
  EXPECT_EQ(At("Slice").Longs({-1}).Longs({INT64_MIN}).Longs({0}).Longs({-1}).Mixing(), "at");
  EXPECT_EQ(At("Slice").Longs({0}).Longs({INT64_MAX}).Mixing(), "");
  EXPECT_EQ(At("Slice").Longs({0}).Longs({64}).Added().Mixing(), "");  // no batch need be larger
  EXPECT_EQ(At("Slice").Longs({1}).Longs({2}).Longs({1}).Added().Mixing(), "");
  EXPECT_EQ(At("Gather").Longs({0}).Added().Mixing(), "at");
  EXPECT_EQ(At("Gather").Longs({2}).Int("axis", 1).Added().Mixing(), "");
}

// Rows that were joined to the samples do not hide them.
TEST(FindMixing, OverTheSamplesAndOthers) {
  for (const char* join : {"Concat", "Pad"}) {
    const auto joined = [&](Builder& builder) {
      builder.Longs("rows", {0});
      builder.Longs("pads", {1, 0, 0, 0});
      builder.Floats("row", {1, 4}, 4);
      if (join == std::string("Pad")) {
        builder.Node("Pad", {"x", "pads"}, {"more"});
      } else {
        Builder::Int(builder.Node("Concat", {"x", "row"}, {"more"}), "axis", 0);
      }
    };
    EXPECT_EQ(MixingIn([&](Builder& builder) {
                joined(builder);
                builder.Node("ReduceSum", {"more", "rows"}, {"sum"}, "at");
                builder.Node("Add", {"x", "sum"}, {"y"});
              }),
              "at")
        << join;
    EXPECT_EQ(MixingIn([&](Builder& builder) {
                joined(builder);
                builder.Longs("one", {1});
                builder.Longs("end", {INT64_MAX});
                Builder::Int(builder.Node("Softmax", {"more"}, {"soft"}), "axis", 1);
                builder.Node("Slice", {"soft", "one", "end", "rows"}, {"y"});
              }),
              "")
        << join;
  }
}

// The windows of a sum of rows and samples take two samples, those of several places a sample need not.
TEST(FindMixing, WindowsOverTheSamplesAndOthers) {
  const auto pooled = [](std::vector<int64_t> kernel) {
    return [kernel](Builder& builder) {
      builder.Longs("ahead", {0, 1});
      builder.Longs("pads", {1, 0, 1, 0});
      builder.Node("Pad", {"x", "pads"}, {"padded"});
      builder.Node("Unsqueeze", {"padded", "ahead"}, {"image"});
      Builder::Ints(builder.Node("MaxPool", {"image"}, {"pooled"}, "pool"), "kernel_shape", kernel);
      builder.Node("Squeeze", {"pooled", "ahead"}, {"rows"});
      if (kernel[0] == 1) {
        builder.Longs("one", {1});
        builder.Longs("end", {-1});
        builder.Longs("axis", {0});
        builder.Node("Slice", {"rows", "one", "end", "axis"}, {"y"});
      } else {
        builder.Node("Identity", {"rows"}, {"y"});
      }
    };
  };
  EXPECT_EQ(MixingIn(pooled({3, 1})), "pool");
  EXPECT_EQ(MixingIn(pooled({1, 1})), "");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Longs("line", {1, 1, -1});
              builder.Longs("back", {-1, 2});
              builder.Node("Reshape", {"x", "line"}, {"l"});
              auto& node = builder.Node("MaxPool", {"l"}, {"p"}, "pool");
              Builder::Ints(node, "kernel_shape", {2});
              Builder::Ints(node, "strides", {2});
              builder.Node("Reshape", {"p", "back"}, {"y"});
            }),
            "");
}

TEST(FindMixing, OrderAmongTheSamples) {
  EXPECT_EQ(At("CumSum").Longs({0}).Mixing(), "at");
  EXPECT_EQ(At("CumSum").Longs({-1}).Mixing(), "");
  EXPECT_EQ(At("TopK").Longs({1}).Int("axis", 0).Added().Mixing(), "at");
  EXPECT_EQ(At("TopK").Longs({1}).Added().Mixing(), "");
}

TEST(FindMixing, PartsOfTextsOfTheSamples) {
  const auto add = [](Builder& builder) {
    Builder::Int(builder.Node("Cast", {"x"}, {"text"}, "text"), "to", pb::STRING);
    builder.Node("StringSplit", {"text"}, {"y"}, "at");
  };
  EXPECT_EQ(MixingIn(add, 20), "at");
}

TEST(FindMixing, ProductsOverTheSamples) {
  // x times its transpose has a second axis of samples; over that one the next product sums.
  const auto products = [](const std::string& last) {
    return [last](Builder& builder) {
      builder.Node("Transpose", {"x"}, {"t"}, "turn");
      builder.Node("MatMul", {"x", "t"}, {"pairs"}, "pair");
      builder.Node(last, {"pairs", "x"}, {"y"}, "weigh");
    };
  };
  EXPECT_EQ(MixingIn(products("MatMul")), "weigh");
  EXPECT_EQ(MixingIn(products("Gemm")), "weigh");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              auto& node = builder.Node("Gemm", {"x", "x"}, {"g"}, "gram");
              Builder::Int(node, "transA", 1);
              builder.Node("MatMul", {"x", "g"}, {"y"}, "use");
            }),
            "gram");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Floats("w", {4, 3}, 12);
              builder.Node("MatMul", {"x", "w"}, {"y"}, "plain");
            }),
            "");
  // Attention within one sample.
  EXPECT_EQ(MixingIn(
                [](Builder& builder) {
                  auto& node = builder.Node("Transpose", {"x"}, {"t"}, "turn");
                  Builder::Ints(node, "perm", {0, 2, 1});
                  builder.Node("MatMul", {"x", "t"}, {"scores"}, "score");
                  builder.Node("Softmax", {"scores"}, {"weights"}, "weigh");
                  builder.Node("MatMul", {"weights", "x"}, {"y"}, "sum");
                },
                17, {"n", "s", 4}),
            "");
}

// The samples are found where they lie after the axes were moved or joined, not at axis 0.
TEST(FindMixing, FollowsTheSamplesThroughShapes) {
  const auto turned = [](int64_t axis) {
    return [axis](Builder& builder) {
      builder.Node("Transpose", {"x"}, {"t"}, "turn");
      auto& node = builder.Node("Softmax", {"t"}, {"s"}, "soft");
      Builder::Int(node, "axis", axis);
      builder.Node("Transpose", {"s"}, {"y"}, "back");
    };
  };
  EXPECT_EQ(MixingIn(turned(1)), "soft");
  EXPECT_EQ(MixingIn(turned(0)), "");
  const auto joined = [](int64_t axis) {
    return [axis](Builder& builder) {
      builder.Longs("rows", {-1, 4});
      builder.Longs("whole", {-1, 6, 4});
      builder.Node("Reshape", {"x", "rows"}, {"r"}, "join");
      auto& node = builder.Node("Softmax", {"r"}, {"s"}, "soft");
      Builder::Int(node, "axis", axis);
      builder.Node("Reshape", {"s", "whole"}, {"y"}, "split");
    };
  };
  EXPECT_EQ(MixingIn(joined(0), 17, {"n", 6, 4}), "soft");
  EXPECT_EQ(MixingIn(joined(1), 17, {"n", 6, 4}), "");
}

TEST(FindMixing, WindowsOverTheSamples) {
  const auto pooled = [](int64_t along) {
    return [along](Builder& builder) {
      builder.Longs("ahead", {0, 1});
      builder.Node("Unsqueeze", {"x", "ahead"}, {"image"}, "image");
      auto& node = builder.Node("MaxPool", {"image"}, {"pooled"}, "pool");
      Builder::Ints(node, "kernel_shape", along == 0 ? std::vector<int64_t>{3, 1} : std::vector<int64_t>{1, 3});
      Builder::Ints(node, "pads", along == 0 ? std::vector<int64_t>{1, 0, 1, 0} : std::vector<int64_t>{0, 1, 0, 1});
      builder.Node("Squeeze", {"pooled", "ahead"}, {"y"}, "rows");
    };
  };
  EXPECT_EQ(MixingIn(pooled(0)), "pool");
  EXPECT_EQ(MixingIn(pooled(1)), "");
  EXPECT_EQ(At("GlobalAveragePool").Of({"n", 3, 8, 8}).Mixing(), "");
}

// Two inputs of one network: what is joined along the samples is taken apart again.
TEST(FindMixing, JoinedAlongTheSamplesIsNotMixed) {
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Input("z", {"n", 4});
              builder.Longs("two", {2, -1, 4});
              builder.Longs("first", {0});
              auto& join = builder.Node("Concat", {"x", "z"}, {"both"}, "join");
              Builder::Int(join, "axis", 0);
              builder.Node("Relu", {"both"}, {"r"}, "tower");
              builder.Node("Reshape", {"r", "two"}, {"apart"}, "apart");
              auto& sum = builder.Node("ReduceSum", {"apart", "first"}, {"y"}, "sum");
              Builder::Int(sum, "keepdims", 0);
            }),
            "");
}

TEST(FindMixing, OnlyWhatReachesAnOutputByItsElements) {
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Node("ReduceSum", {"x"}, {"unread"}, "dead");
              builder.Node("Relu", {"x"}, {"y"}, "live");
            }),
            "");
  EXPECT_EQ(MixingIn([](Builder& builder) {  // f32[1, 4], of which only the shape is asked
              builder.Longs("axis", {0});
              builder.Longs("rows", {-1, 1});
              builder.Node("ReduceSum", {"x", "axis"}, {"total"}, "total");
              builder.Node("Shape", {"total"}, {"extents"}, "extents");
              builder.Longs("minus", {-1, 1});
              builder.Node("Mul", {"extents", "minus"}, {"wanted"}, "wanted");
              builder.Node("Reshape", {"x", "wanted"}, {"y"}, "keep");
            }),
            "");
}

// Inputs whose leading axes have names of their own are of one batch.
TEST(FindMixing, EveryInputHasOneNumberOfSamples) {
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Input("z", {"", 4});
              builder.Node("Add", {"x", "z"}, {"sum"}, "add");
              auto& node = builder.Node("Softmax", {"sum"}, {"y"}, "soft");
              Builder::Int(node, "axis", 0);
            }),
            "soft");
}

// A scale for the states of all rows.
TEST(FindMixing, ALayerThatRoundsToBytes) {
  const auto layer = [](Builder& b) {
    b.model().add_opset_import()->set_domain("com.microsoft");
    b.model().mutable_opset_import(1)->set_version(1);
    Builder::Ints(b.Node("Transpose", {"x"}, {"steps"}, "turn"), "perm", {1, 0, 2});
    b.Tensor("w", {1, 4, 8}, pb::INT8).set_raw_data(std::string(32, '\1'));
    b.Tensor("r", {1, 2, 8}, pb::INT8).set_raw_data(std::string(16, '\1'));
    b.Tensor("zero", {1}, pb::INT8).set_raw_data(std::string(1, '\0'));
    Builder::SetFloats(b.Floats("one", {1}, 1), {1});
    pb::NodeProto& node =
        b.Node("DynamicQuantizeLSTM", {"steps", "w", "r", "", "", "", "", "", "one", "zero", "one", "zero"}, {"h"}, "layer");
    node.set_domain("com.microsoft");
    Builder::Int(node, "hidden_size", 2);
    Builder::Ints(b.Node("Transpose", {"h"}, {"y"}, "turn back"), "perm", {2, 0, 1, 3});
  };
  EXPECT_EQ(MixingIn(layer, 17, {"n", 3, 4}), "layer");
}

}  // namespace
}  // namespace wf::onnx
