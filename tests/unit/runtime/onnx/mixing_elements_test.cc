#include <gtest/gtest.h>

#include "tests/unit/runtime/onnx/mixing_in.h"

// Mixing within bodies, by places of rows, and by what nodes find in the data.
namespace wf::onnx {
namespace {

using testing::AddBody;
using testing::Builder;
using testing::MixingIn;

void AddNumber(Builder& builder, const std::string& name, int64_t value) { builder.Tensor(name, {}, pb::INT64).add_int64_data(value); }

// One of the branches is enough; what it computes within a row is no harm.
TEST(FindMixing, InABranch) {
  const auto branches = [](const std::string& inner, const std::vector<int64_t>& axes) {
    return [=](Builder& builder) {
      builder.Longs("zero", {0});
      builder.Longs("axes", axes);
      Builder::Int(builder.Node("Shape", {"x"}, {"count"}), "end", 1);
      builder.Node("Greater", {"count", "zero"}, {"many"});
      auto& node = builder.Node("If", {"many"}, {"y"}, "if");
      AddBody(node, "then_branch", {}, {"a"}, [&](Builder& then) {
        then.Node("ReduceSum", {"x", "axes"}, {"sum"}, inner);
        then.Node("Add", {"x", "sum"}, {"a"}, "add");
      });
      AddBody(node, "else_branch", {}, {"b"}, [](Builder& other) { other.Node("Relu", {"x"}, {"b"}, "relu"); });
    };
  };
  EXPECT_EQ(MixingIn(branches("inner", {0})), "inner");
  EXPECT_EQ(MixingIn(branches("", {0})), "if");
  EXPECT_EQ(MixingIn(branches("inner", {1})), "");
}

TEST(FindMixing, AConditionOfSeveralSamples) {
  EXPECT_EQ(MixingIn(
                [](Builder& builder) {
                  builder.Floats("limit", {}, 1);
                  builder.Node("Greater", {"x", "limit"}, {"above"});
                  auto& node = builder.Node("If", {"above"}, {"y"}, "if");
                  AddBody(node, "then_branch", {}, {"a"}, [](Builder& then) { then.Node("Neg", {"x"}, {"a"}); });
                  AddBody(node, "else_branch", {}, {"b"}, [](Builder& other) { other.Node("Relu", {"x"}, {"b"}); });
                },
                17, {"n"}),
            "if");
}

// Halves x as long as `condition` of it says.
std::string MixingInLoop(const std::function<void(Builder&)>& condition) {
  return MixingIn([&](Builder& builder) {
    AddNumber(builder, "most", 50);
    builder.Tensor("begin", {}, pb::BOOL).add_int32_data(1);
    builder.Floats("limit", {}, 1);
    Builder::SetFloats(builder.Floats("half", {}, 1), {0.5f});
    auto& node = builder.Node("Loop", {"most", "begin", "x"}, {"y"}, "loop");
    AddBody(node, "body", {"turn", "goes", "h"}, {"more", "halved"}, [&](Builder& body) {
      body.Node("Mul", {"h", "half"}, {"halved"});
      condition(body);
    });
  });
}

TEST(FindMixing, ALoopThatGoesOnForAllSamples) {
  EXPECT_EQ(MixingInLoop([](Builder& body) {
              Builder::Int(body.Node("ReduceMax", {"halved"}, {"most_of_all"}, "largest"), "keepdims", 0);
              body.Node("Greater", {"most_of_all", "limit"}, {"more"});
            }),
            "largest");
  EXPECT_EQ(MixingInLoop([](Builder& body) { body.Node("Identity", {"goes"}, {"more"}); }), "");
  EXPECT_EQ(MixingInLoop([](Builder& body) {  // one condition a row
              auto& node = body.Node("ReduceMax", {"halved"}, {"of_row"}, "within");
              Builder::Ints(node, "axes", {1});
              Builder::Int(node, "keepdims", 0);
              body.Node("Greater", {"of_row", "limit"}, {"more"});
            }),
            "loop");
}

// Row by row, as exporters write it.
TEST(FindMixing, ALoopOverTheRows) {
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Longs("zero", {0});
              builder.Tensor("begin", {}, pb::BOOL).add_int32_data(1);
              Builder::Int(builder.Node("Shape", {"x"}, {"count"}), "end", 1);
              builder.Node("Squeeze", {"count", "zero"}, {"rows"});
              auto& node = builder.Node("Loop", {"rows", "begin"}, {"l"}, "loop");
              AddBody(node, "body", {"turn", "goes"}, {"more", "row"}, [](Builder& body) {
                body.Node("Identity", {"goes"}, {"more"});
                body.Node("Gather", {"x", "turn"}, {"one"}, "pick");
                body.Node("Relu", {"one"}, {"row"});
              });
              builder.Node("Shape", {"x"}, {"extents"});
              builder.Node("Reshape", {"l", "extents"}, {"y"});
            }),
            "");
}

TEST(FindMixing, AScanOverTheSamples) {
  const auto scan = [](const std::string& to_state, const std::string& to_row) {
    return MixingIn([&](Builder& builder) {
      builder.Floats("zero", {4}, 4);
      auto& node = builder.Node("Scan", {"zero", "x"}, {"last", "y"}, "scan");
      Builder::Int(node, "num_scan_inputs", 1);
      AddBody(node, "body", {"state", "row"}, {"next", "out"}, [&](Builder& body) {
        body.Node("Max", {"state", to_state}, {"next"});
        body.Node("Max", {"row", to_row}, {"out"});
      });
    });
  };
  EXPECT_EQ(scan("row", "state"), "scan");
  EXPECT_EQ(scan("row", "row"), "");      // nobody reads the state
  EXPECT_EQ(scan("state", "state"), "");  // which is the same in each turn
}

TEST(FindMixing, RowsByPlace) {
  const auto picked = [](const std::string& op, const std::vector<int64_t>& dim) {
    return MixingIn([&](Builder& builder) {
      auto& at = builder.Tensor("at", dim, pb::INT64);
      int64_t count = 1;
      for (const int64_t extent : dim) count *= extent;
      for (int64_t i = 0; i < count; ++i) at.add_int64_data(0);
      builder.Node(op, {"x", "at"}, {"row"}, "pick");
      builder.Node("Add", {"x", "row"}, {"y"});
    });
  };
  EXPECT_EQ(picked("GatherND", {1}), "pick");
  EXPECT_EQ(picked("GatherElements", {1, 4}), "pick");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              AddNumber(builder, "zero", 0);
              Builder::Int(builder.Node("Cast", {"x"}, {"whole"}), "to", pb::INT64);
              builder.Node("Mul", {"whole", "zero"}, {"at"});
              builder.Node("GatherElements", {"x", "at"}, {"y"}, "pick");
            }),
            "pick");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              auto& first = builder.Tensor("first", {1}, pb::BOOL);
              first.add_int32_data(1);
              Builder::Int(builder.Node("Compress", {"x", "first"}, {"row"}, "pick"), "axis", 0);
              builder.Longs("rows", {0});
              builder.Node("ReduceSum", {"row", "rows"}, {"sum"});
              builder.Node("Add", {"x", "sum"}, {"y"});
            }),
            "pick");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Longs("lengths", {2, 2, 2, 2});
              auto& node = builder.Node("ReverseSequence", {"x", "lengths"}, {"y"}, "turn");
              Builder::Int(node, "time_axis", 0);
              Builder::Int(node, "batch_axis", 1);
            }),
            "turn");
}

// x[arange(n)] and x[arange(n), best].
TEST(FindMixing, EachRowByItsOwnPlace) {
  const auto places = [](Builder& builder) {
    AddNumber(builder, "zero", 0);
    AddNumber(builder, "one", 1);
    builder.Longs("ahead", {0});
    builder.Longs("behind", {1});
    Builder::Int(builder.Node("Shape", {"x"}, {"count"}), "end", 1);
    builder.Node("Squeeze", {"count", "ahead"}, {"rows"});
    builder.Node("Range", {"zero", "rows", "one"}, {"places"});
  };
  EXPECT_EQ(MixingIn([&](Builder& builder) {
              places(builder);
              builder.Node("Gather", {"x", "places"}, {"y"});
            }),
            "");
  EXPECT_EQ(MixingIn([&](Builder& builder) {
              places(builder);
              builder.Node("Unsqueeze", {"places", "behind"}, {"column"});
              Builder::Int(builder.Node("ArgMax", {"x"}, {"best"}), "axis", 1);
              Builder::Int(builder.Node("Concat", {"column", "best"}, {"at"}), "axis", 1);
              builder.Node("GatherND", {"x", "at"}, {"y"});
            }),
            "");
}

// `add` makes `found` of `is_above`: bool[n, 4].
std::string MixingOfFound(const std::function<void(Builder&)>& add) {
  return MixingIn([&](Builder& builder) {
    builder.Floats("limit", {}, 1);
    AddNumber(builder, "second", 1);
    AddNumber(builder, "zero", 0);
    builder.Node("Greater", {"x", "limit"}, {"is_above"});
    builder.Node("NonZero", {"is_above"}, {"found"}, "find");
    builder.Node("Shape", {"found"}, {"extents"}, "extents");
    builder.Node("Gather", {"extents", "second"}, {"count"}, "count");
    add(builder);
  });
}

TEST(FindMixing, HowManyAreFoundInAllSamples) {
  EXPECT_EQ(MixingOfFound([](Builder& builder) {
              Builder::Int(builder.Node("Cast", {"count"}, {"number"}), "to", pb::FLOAT);
              builder.Node("Add", {"x", "number"}, {"y"});
            }),
            "find");
  const auto any = [](Builder& builder) {  // torch: if mask.any()
    builder.Node("Greater", {"count", "zero"}, {"any"});
    auto& node = builder.Node("If", {"any"}, {"y"}, "if");
    AddBody(node, "then_branch", {}, {"a"}, [](Builder& then) { then.Node("Neg", {"x"}, {"a"}); });
    AddBody(node, "else_branch", {}, {"b"}, [](Builder& other) { other.Node("Relu", {"x"}, {"b"}); });
  };
  EXPECT_EQ(MixingOfFound(any), "find");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Longs("line", {-1});
              builder.Floats("limit", {}, 1);
              builder.Node("Reshape", {"x", "line"}, {"all"});
              builder.Node("Greater", {"all", "limit"}, {"is_above"});
              builder.Node("Compress", {"all", "is_above"}, {"found"}, "find");
              builder.Node("Size", {"found"}, {"count"});
              Builder::Int(builder.Node("Cast", {"count"}, {"number"}), "to", pb::FLOAT);
              builder.Node("Add", {"x", "number"}, {"y"});
            }),
            "find");
}

TEST(FindMixing, WhatIsFoundTakenTogether) {
  const auto found = [](Builder& builder) {
    builder.Node("Transpose", {"found"}, {"at"});
    builder.Node("GatherND", {"x", "at"}, {"values"}, "take");
  };
  EXPECT_EQ(MixingOfFound([&](Builder& builder) {
              found(builder);
              Builder::Int(builder.Node("ReduceMax", {"values"}, {"most"}, "most"), "keepdims", 0);
              builder.Node("Add", {"x", "most"}, {"y"});
            }),
            "most");
  EXPECT_EQ(MixingOfFound([&](Builder& builder) {
              found(builder);
              builder.Node("Gather", {"values", "zero"}, {"first"}, "first");
              builder.Node("Add", {"x", "first"}, {"y"});
            }),
            "first");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Longs("last", {-1});
              builder.Node("Unique", {"x"}, {"u"}, "unique");
              builder.Node("Gather", {"u", "last"}, {"most"}, "last");
              builder.Node("Add", {"x", "most"}, {"y"});
            }),
            "last");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Node("Unique", {"x"}, {"u", "first", "which", "often"}, "unique");
              builder.Node("Gather", {"often", "which"}, {"each"});
              Builder::Int(builder.Node("Cast", {"each"}, {"number"}), "to", pb::FLOAT);
              builder.Node("Shape", {"x"}, {"extents"});
              builder.Node("Reshape", {"number", "extents"}, {"y"});
            }),
            "unique");
}

// x[mask] = relu(x[mask]), and the values of equal numbers computed once.
TEST(FindMixing, WhatIsFoundPutBack) {
  EXPECT_EQ(MixingOfFound([](Builder& builder) {
              builder.Node("Transpose", {"found"}, {"at"});
              builder.Node("GatherND", {"x", "at"}, {"values"});
              builder.Node("Relu", {"values"}, {"changed"});
              builder.Node("ScatterND", {"x", "at", "changed"}, {"y"});
            }),
            "");
  EXPECT_EQ(MixingOfFound([](Builder& builder) {  // x[mask] = 0
              builder.Longs("axis", {0});
              builder.Node("Transpose", {"found"}, {"at"});
              builder.Node("Unsqueeze", {"count", "axis"}, {"extent"});
              builder.Node("Expand", {"limit", "extent"}, {"zeros"});
              builder.Node("ScatterND", {"x", "at", "zeros"}, {"y"});
            }),
            "");
  EXPECT_EQ(MixingIn([](Builder& builder) {
              builder.Node("Unique", {"x"}, {"u", "first", "which"}, "unique");
              builder.Node("Relu", {"u"}, {"r"});
              builder.Node("Gather", {"r", "which"}, {"all"});
              builder.Node("Shape", {"x"}, {"extents"});
              builder.Node("Reshape", {"all", "extents"}, {"y"});
            }),
            "");
}

TEST(FindMixing, HowManyAreFoundInEachSample) {
  EXPECT_EQ(MixingOfFound([](Builder& builder) {
              builder.Longs("behind", {1});
              AddNumber(builder, "one", 1);
              Builder::Int(builder.Node("Shape", {"x"}, {"rows"}), "end", 1);
              builder.Longs("axis", {0});
              builder.Node("Squeeze", {"rows", "axis"}, {"n_rows"});
              builder.Node("Range", {"zero", "n_rows", "one"}, {"places"});
              builder.Node("Unsqueeze", {"places", "behind"}, {"column"});
              builder.Node("Gather", {"found", "zero"}, {"row_of_each"});
              builder.Node("Equal", {"row_of_each", "column"}, {"is_of_row"});
              Builder::Int(builder.Node("Cast", {"is_of_row"}, {"ones"}), "to", pb::FLOAT);
              builder.Node("ReduceSum", {"ones", "behind"}, {"each"}, "each");
              builder.Node("Add", {"x", "each"}, {"y"});
            }),
            "");
}

}  // namespace
}  // namespace wf::onnx
