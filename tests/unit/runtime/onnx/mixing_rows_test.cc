#include <gtest/gtest.h>

#include "tests/unit/runtime/onnx/mixing_in.h"

// Mixing by how many samples there are, by their places, and by what is made of all of them.
namespace wf::onnx {
namespace {

using testing::AddBody;
using testing::Builder;
using testing::MixingIn;

void AddScalarNumber(Builder& builder, const std::string& name, int64_t value) {
  builder.Tensor(name, {}, pb::INT64).add_int64_data(value);
}

// `n`: how many samples there are.
void AddCount(Builder& builder) {
  AddScalarNumber(builder, "zero", 0);
  AddScalarNumber(builder, "one", 1);
  builder.Node("Shape", {"x"}, {"extents"}, "shape");
  builder.Node("Gather", {"extents", "zero"}, {"n"}, "count");
}

// y is x, or twice that where `condition` of it holds.
std::string MixingWhere(const std::function<void(Builder&)>& condition) {
  return MixingIn([&](Builder& builder) {
    AddCount(builder);
    Builder::SetFloats(builder.Floats("f_one", {}, 1), {1});
    Builder::SetFloats(builder.Floats("f_two", {}, 1), {2});
    condition(builder);
    builder.Node("Where", {"holds", "f_two", "f_one"}, {"by"});
    builder.Node("Mul", {"x", "by"}, {"y"});
  });
}

TEST(FindMixing, HowManySamplesThereAre) {
  const auto compared = [](const std::string& op, int64_t limit) {
    return MixingWhere([&](Builder& builder) {
      AddScalarNumber(builder, "limit", limit);
      builder.Node(op, {"n", "limit"}, {"holds"}, "compare");
    });
  };
  EXPECT_EQ(compared("Greater", 20), "shape");
  EXPECT_EQ(compared("Equal", 1), "shape");
  EXPECT_EQ(compared("Greater", 0), "");  // of any number of samples
  EXPECT_EQ(compared("GreaterOrEqual", 1), "");
  EXPECT_EQ(compared("Equal", 0), "");
  EXPECT_EQ(MixingWhere([](Builder& builder) {
              builder.Node("Size", {"x"}, {"size"}, "size");
              Builder::Int(builder.Node("Cast", {"size"}, {"f_size"}), "to", pb::FLOAT);
              Builder::SetFloats(builder.Floats("limit", {}, 1), {90});
              builder.Node("Greater", {"f_size", "limit"}, {"holds"});
            }),
            "size");
  EXPECT_EQ(MixingIn([](Builder& builder) {  // a mean of its own
              AddCount(builder);
              Builder::Int(builder.Node("Cast", {"n"}, {"by"}), "to", pb::FLOAT);
              builder.Node("Div", {"x", "by"}, {"y"}, "mean");
            }),
            "shape");
}

// What only says how large tensors are, or how large a sample is.
TEST(FindMixing, HowManySamplesThereAreInShapes) {
  EXPECT_EQ(MixingIn(
                [](Builder& builder) {
                  builder.Node("Shape", {"x"}, {"extents"});
                  builder.Longs("first", {0});
                  builder.Longs("rest", {-1});
                  AddScalarNumber(builder, "two", 2);
                  AddScalarNumber(builder, "zero", 0);
                  builder.Node("Gather", {"extents", "two"}, {"w"});
                  Builder::Int(builder.Node("Cast", {"w"}, {"width"}), "to", pb::FLOAT);
                  builder.Node("Div", {"x", "width"}, {"h"});
                  builder.Node("Gather", {"extents", "first"}, {"n"});
                  Builder::Int(builder.Node("Concat", {"n", "rest"}, {"shape"}), "axis", 0);
                  builder.Node("Reshape", {"h", "shape"}, {"y"});
                },
                17, {"n", 4, "w"}),
            "");
  EXPECT_EQ(MixingIn([](Builder& builder) {  // places that may be counted from the end
              AddCount(builder);
              builder.Node("Range", {"zero", "n", "one"}, {"places"});
              builder.Node("Add", {"places", "n"}, {"behind"});
              builder.Node("Less", {"places", "zero"}, {"is_below"});
              builder.Node("Where", {"is_below", "behind", "places"}, {"at"});
              builder.Node("Gather", {"x", "at"}, {"y"});
            }),
            "");
}

TEST(FindMixing, ABranchForManySamples) {
  const auto branches = [](int64_t limit) {
    return MixingIn([&](Builder& builder) {
      AddCount(builder);
      AddScalarNumber(builder, "limit", limit);
      builder.Node("Greater", {"n", "limit"}, {"many"});
      auto& node = builder.Node("If", {"many"}, {"y"}, "if");
      AddBody(node, "then_branch", {}, {"a"}, [](Builder& then) { then.Node("Neg", {"x"}, {"a"}); });
      AddBody(node, "else_branch", {}, {"b"}, [](Builder& other) { other.Node("Relu", {"x"}, {"b"}); });
    });
  };
  EXPECT_EQ(branches(20), "shape");
  EXPECT_EQ(branches(0), "");
}

TEST(FindMixing, ALoopThatCarriesRowsOn) {
  const auto loop = [](const std::string& to_state, const std::string& result, const std::string& condition) {
    return MixingIn([&](Builder& builder) {
      AddCount(builder);
      builder.Tensor("begin", {}, pb::BOOL).add_int32_data(1);
      builder.Floats("nothing", {4}, 4);
      auto& node = builder.Node("Loop", {condition.empty() ? "n" : "", "begin", "nothing"}, {"last", "rows"}, "loop");
      AddBody(node, "body", {"turn", "goes", "state"}, {"more", "next", "row"}, [&](Builder& body) {
        body.Node(condition.empty() ? "Identity" : condition,
                  condition.empty() ? std::vector<std::string>{"goes"} : std::vector<std::string>{"turn", "n"}, {"more"});
        body.Node("Gather", {"x", "turn"}, {"picked"});
        body.Node("Max", {"state", to_state}, {"next"});
        body.Node("Relu", {"picked"}, {"row"});
      });
      builder.Node("Add", {"x", result}, {"y"});
    });
  };
  EXPECT_EQ(loop("picked", "last", ""), "loop");
  EXPECT_EQ(loop("picked", "last", "Less"), "loop");
  EXPECT_EQ(loop("picked", "rows", ""), "");  // nobody reads the state
  EXPECT_EQ(loop("picked", "rows", "Less"), "");
  EXPECT_EQ(loop("state", "last", ""), "");  // which is the same in each turn
}

TEST(FindMixing, WhatIsElsewhereForEachPlace) {
  EXPECT_EQ(MixingWhere([](Builder& builder) {
              builder.Longs("behind", {1});
              AddScalarNumber(builder, "ten", 10);
              builder.Node("Range", {"zero", "n", "one"}, {"places"}, "places");
              builder.Node("Greater", {"places", "ten"}, {"far"});
              builder.Node("Unsqueeze", {"far", "behind"}, {"holds"});
            }),
            "places");
  const auto table = [](bool is_sliced) {
    return MixingIn([&](Builder& builder) {
      AddCount(builder);
      builder.Floats("table", {500, 4}, 2000);
      builder.Longs("from", {0});
      if (is_sliced) {
        builder.Node("Unsqueeze", {"n", "from"}, {"to"});
        builder.Node("Slice", {"table", "from", "to", "from"}, {"row"}, "row");
      } else {
        builder.Node("Range", {"zero", "n", "one"}, {"places"}, "places");
        builder.Node("Gather", {"table", "places"}, {"row"}, "row");
      }
      builder.Node("Add", {"x", "row"}, {"y"});
    });
  };
  EXPECT_EQ(table(true), "row");
  EXPECT_EQ(table(false), "places");
}

TEST(FindMixing, SumsIntoOneTensor) {
  const auto summed = [](const std::string& op, const std::string& to, int64_t axis) {
    return MixingIn(
        [&](Builder& builder) {
          builder.Floats("table", {10, 1}, 10);
          Builder::Int(builder.Node("Cast", {"x"}, {"at"}), "to", pb::INT64);
          auto& node = builder.Node(op, {to, "at", "x"}, {"sums"}, "add");
          Builder::String(node, "reduction", "add");
          if (axis != 0) Builder::Int(node, "axis", axis);
          Builder::Ints(builder.Node("ReduceMax", {"sums"}, {"most"}, "most"), "axes", {to == "x" ? 1 : 0});
          builder.Node("Add", {"x", "most"}, {"y"});
        },
        17, {"n", 1});
  };
  EXPECT_EQ(summed("ScatterElements", "table", 0), "add");
  EXPECT_EQ(summed("ScatterND", "table", 0), "add");
  EXPECT_EQ(summed("ScatterElements", "x", 1), "");  // of its own
}

// What `node` makes of the samples, once along its axis 1 and once along its axis 0, is taken together for all that it has beside axis 0.
std::string MixingAlong(bool is_across, const std::function<void(Builder&)>& node) {
  return MixingIn([&](Builder& builder) {
    builder.Longs("at", {is_across ? 0 : 1});
    builder.Longs("columns", {1});
    builder.Node("Unsqueeze", {"x", "at"}, {"h"});
    node(builder);
    auto& most = builder.Node("ReduceMax", {"made"}, {"most"}, "most");
    Builder::Ints(most, "axes", is_across ? std::vector<int64_t>{0, 1, 2} : std::vector<int64_t>{1, 2});
    Builder::Int(most, "keepdims", 0);
    builder.Node("Reshape", {"most", "shape"}, {"m"});
    builder.Longs("shape", {-1, 1});
    builder.Node("Add", {"x", "m"}, {"y"});
  });
}

TEST(FindMixing, KeysThatAreTheSamples) {
  const auto attend = [](const std::string& query) {
    return [query](Builder& builder) {
      builder.model().add_opset_import()->set_domain("com.microsoft");
      builder.model().mutable_opset_import(1)->set_version(1);
      builder.Floats("given", {1, 3, 4}, 12);
      auto& node = builder.Node("MultiHeadAttention", {query, "h", "h"}, {"made"}, "attend");
      node.set_domain("com.microsoft");
      Builder::Int(node, "num_heads", 1);
    };
  };
  EXPECT_EQ(MixingAlong(true, attend("given")), "attend");
  EXPECT_EQ(MixingAlong(false, attend("h")), "");
}

TEST(FindMixing, ResizedAlongTheSamples) {
  const auto resize = [](const std::string& mode, std::vector<float> scales) {
    return [mode, scales](Builder& builder) {
      if (scales.empty()) {
        builder.Longs("sizes", {1, 3, 4});
      } else {
        Builder::SetFloats(builder.Floats("scales", {3}, 3), scales);
      }
      const std::vector<std::string> in =
          scales.empty() ? std::vector<std::string>{"h", "", "", "sizes"} : std::vector<std::string>{"h", "", "scales"};
      Builder::String(builder.Node("Resize", in, {"made"}, "resize"), "mode", mode);
    };
  };
  EXPECT_EQ(MixingAlong(true, resize("linear", {})), "resize");
  EXPECT_EQ(MixingAlong(true, resize("nearest", {})), "resize");
  EXPECT_EQ(MixingAlong(true, resize("linear", {1, 2, 1})), "resize");
  EXPECT_EQ(MixingAlong(false, resize("linear", {1, 2, 2})), "");
}

// The row before its own.
TEST(FindMixing, ShiftedByRowsInFront) {
  const auto shifted = [](bool is_padded, int64_t from, int64_t to) {
    return MixingIn([&](Builder& builder) {
      builder.Longs("axis", {0});
      builder.Longs("from", {from});
      builder.Longs("to", {to});
      if (is_padded) {
        builder.Longs("pads", {1, 0, 0, 0});
        builder.Node("Pad", {"x", "pads"}, {"more"});
      } else {
        builder.Floats("front", {1, 4}, 4);
        Builder::Int(builder.Node("Concat", {"front", "x"}, {"more"}), "axis", 0);
      }
      builder.Node("Slice", {"more", "from", "to", "axis"}, {"row"}, "row");
      builder.Node("Add", {"x", "row"}, {"y"});
    });
  };
  for (const bool is_padded : {true, false}) {
    EXPECT_EQ(shifted(is_padded, 0, -1), "row");
    EXPECT_EQ(shifted(is_padded, 1, INT64_MAX), "");
  }
}

}  // namespace
}  // namespace wf::onnx
