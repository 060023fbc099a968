#include "runtime/onnx/signature.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "runtime/onnx/lengths.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

const Dim n = Dim::Symbol("n"), m = Dim::Symbol("m"), batch = Dim::Symbol("batch");

Signature Make(std::vector<Shape> in, std::vector<Shape> out) {
  Signature signature;
  for (Shape& shape : in) signature.inputs.push_back({"x" + std::to_string(signature.inputs.size()), WF_F32, std::move(shape)});
  for (Shape& shape : out) signature.outputs.push_back({"y" + std::to_string(signature.outputs.size()), WF_F32, std::move(shape)});
  return signature;
}

BatchAxes Choose(const Signature& file) { return *ChooseBatchAxis(file, nullptr); }

TEST(ChooseBatchAxis, AxisZeroWhenDynamicEverywhere) {
  const BatchAxes axes = Choose(Make({{n, 3}, {n}}, {{n, 10}}));
  EXPECT_TRUE(axes.batched);
  EXPECT_FALSE(axes.dropped);
  EXPECT_EQ(axes.axis, (std::vector<int8_t>{0, 0, 0}));
  EXPECT_TRUE(Choose(Make({{n, 3}, {n, m}}, {{n, 10}, {n}})).batched);
}

TEST(ChooseBatchAxis, DroppedWhenOneEverywhere) {
  const BatchAxes axes = Choose(Make({{1, 3}}, {{1, 10}}));
  EXPECT_FALSE(axes.batched);
  EXPECT_TRUE(axes.dropped);
  const Signature seen = WithoutBatchAxis(Make({{1, 3}}, {{1, 10}}), axes);
  EXPECT_EQ(seen.inputs[0].ToString(), "x0: f32[3]");
  EXPECT_EQ(seen.outputs[0].ToString(), "y0: f32[10]");
}

TEST(ChooseBatchAxis, NoneWhenAPortHasNone) {
  for (const Signature& file :
       {Make({{n, 3}, {4}}, {{n, 10}}), Make({{n, 3}}, {{10}}), Make({{n, 3}}, {{}}), Make({{1, 3}, {n}}, {{n}}), Make({{8, 3}}, {{8}})}) {
    const BatchAxes axes = Choose(file);
    EXPECT_FALSE(axes.batched);
    EXPECT_FALSE(axes.dropped);
    EXPECT_EQ(axes.axis, std::vector<int8_t>(file.inputs.size() + file.outputs.size(), -1));
    EXPECT_EQ(WithoutBatchAxis(file, axes).inputs[0].dim, file.inputs[0].dim);
  }
}

TEST(ChooseBatchAxis, NoneWhenRowsAreNotSamples) {
  EXPECT_FALSE(Choose(Make({{n, 3}}, {{n * 3}})).batched);
  EXPECT_FALSE(Choose(Make({{n, 3}}, {{n, n}})).batched);
  EXPECT_FALSE(Choose(Make({{n, n}}, {{n, 1}})).batched);
  EXPECT_FALSE(Choose(Make({{n, m}}, {{m}})).batched);
  EXPECT_TRUE(Choose(Make({{n, m}}, {{n, m}})).batched);
  EXPECT_FALSE(Choose(Make({{n, 3}}, {{Dim::Symbol("_#0"), 10}})).batched);  // no node says what it is
  EXPECT_FALSE(Choose(Make({{n, 3}, {m, 3}}, {{n, 3}})).batched);
}

using testing::Builder;

BatchAxes ChooseIn(Builder& builder) {
  const auto model = builder.Read();
  if (!model.ok()) return {.reason = model.status().message()};
  return *ChooseBatchAxis(model->signature, &model->graph);
}

constexpr const char* kDynamic = "axis 0 is dynamic in every input and output";

// Files of inputs `q` and `d`, f32[.., 4], whose axes 0 have these names.
Builder TwoInputs(const char* of_q, const char* of_d) {
  Builder builder;
  builder.Input("q", {of_q, 4}).Input("d", {of_d, 4});
  return builder;
}

TEST(ChooseBatchAxis, NoneWhenInputsMayBeOfTwoLengths) {
  for (const char* of_d : {"nd", ""}) {
    Builder towers = TwoInputs("nq", of_d);
    towers.Output("qe", {"nq", 4}).Output("de", {of_d, 4});
    towers.Node("Relu", {"q"}, {"qe"});
    towers.Node("Relu", {"d"}, {"de"});
    const BatchAxes axes = ChooseIn(towers);
    EXPECT_FALSE(axes.batched);
    EXPECT_EQ(axes.axis, (std::vector<int8_t>{-1, -1, -1, -1}));
    EXPECT_EQ(axes.reason,
              fmt::format("nothing says that axis 0 of `d: f32[{}, 4]` is as long as that of `q: f32[nq, 4]`", *of_d == 0 ? "_" : of_d));
  }
  Builder same = TwoInputs("n", "n");
  same.Output("qe", {"n", 4}).Output("de", {"n", 4});
  same.Node("Relu", {"q"}, {"qe"});
  same.Node("Relu", {"d"}, {"de"});
  EXPECT_EQ(ChooseIn(same).reason, kDynamic);
}

// What stands for an extent that a tool does not know is no name that two have in common.
TEST(ChooseBatchAxis, PlaceholdersAreNoNames) {
  for (const char* placeholder : {"?", "-1", "None", "*", "unknown", "NaN"}) {
    Builder towers = TwoInputs(placeholder, placeholder);
    towers.Output("qe", {placeholder, 4}).Output("de", {placeholder, 4});
    towers.Node("Relu", {"q"}, {"qe"});
    towers.Node("Relu", {"d"}, {"de"});
    EXPECT_EQ(ChooseIn(towers).reason, "nothing says that axis 0 of `d: f32[_, 4]` is as long as that of `q: f32[_, 4]`") << placeholder;
    Builder sum = TwoInputs(placeholder, placeholder);
    sum.Output("y", {placeholder, 4});
    sum.Node("Add", {"q", "d"}, {"y"});
    EXPECT_EQ(ChooseIn(sum).reason, kDynamic) << placeholder;
  }
}

// As segments of words that a model without them has all the same.
TEST(ChooseBatchAxis, AnInputThatNoNodeReadsIsOfAnyLength) {
  for (const char* unread : {"q", "d"}) {
    Builder builder = TwoInputs("nq", "nd");
    builder.Output("y", {"", 4});
    builder.Node("Relu", {unread == std::string("q") ? "d" : "q"}, {"y"});
    EXPECT_EQ(ChooseIn(builder).reason, kDynamic) << unread;
  }
  Builder three = TwoInputs("nq", "nd");
  three.Input("e", {"ne", 4}).Output("y", {"", 4}).Output("z", {"", 4});
  three.Node("Relu", {"d"}, {"y"});
  three.Node("Relu", {"e"}, {"z"});
  EXPECT_EQ(ChooseIn(three).reason, "nothing says that axis 0 of `e: f32[ne, 4]` is as long as that of `d: f32[nd, 4]`");
}

// As exporters write a file that was not told that its axes are one.
TEST(ChooseBatchAxis, InputsThatNodesTakeTogetherAreOfOneLength) {
  for (const char* of_d : {"d_dynamic_axes_1", ""}) {
    for (const char* op : {"Concat", "Add"}) {
      Builder builder = TwoInputs("q_dynamic_axes_1", of_d);
      builder.Output("y", {"y_dynamic_axes_1", op == std::string("Add") ? 4 : 8});
      auto& node = builder.Node(op, {"q", "d"}, {"y"});
      if (op == std::string("Concat")) Builder::Int(node, "axis", 1);
      EXPECT_EQ(ChooseIn(builder).reason, kDynamic) << of_d << op;
    }
  }
}

TEST(ChooseBatchAxis, InputsAreOfOneLengthThroughOthers) {
  const auto chain = [](const char* with_c) {
    Builder builder;
    builder.Input("a", {"na", 4}).Input("b", {"nb", 4}).Input("c", {"nc", 4}).Input("d", {"nd", 4});
    builder.Output("y", {"", 4}).Output("z", {"", 4}).Output("w", {"", 4});
    builder.Node("Add", {"a", "b"}, {"y"});
    builder.Node("Add", {"c", "d"}, {"z"});
    builder.Node("Add", {with_c, "c"}, {"w"});
    return ChooseIn(builder);
  };
  EXPECT_EQ(chain("b").reason, kDynamic);
  EXPECT_EQ(chain("d").reason, "nothing says that axis 0 of `c: f32[nc, 4]` is as long as that of `a: f32[na, 4]`");
}

// Of so many inputs, which are joined, and layers behind those.
BatchAxes ChooseOfMany(int inputs, int layers) {
  Builder builder;
  std::vector<std::string> all;
  for (int i = 0; i < inputs; ++i) {
    all.push_back(fmt::format("x{}", i));
    builder.Input(all.back(), {("n" + all.back()).c_str(), 1});
  }
  builder.Output("y", {"", inputs});
  Builder::Int(builder.Node("Concat", all, {"l0"}), "axis", 1);
  for (int i = 0; i < layers; ++i) builder.Node("Relu", {fmt::format("l{}", i)}, {i + 1 == layers ? "y" : fmt::format("l{}", i + 1)});
  return ChooseIn(builder);
}

// A table, each column of which is an input, as tools for scikit-learn write it.
TEST(ChooseBatchAxis, ManyColumnsAreOfOneLength) { EXPECT_EQ(ChooseOfMany(150, 1).reason, kDynamic); }

TEST(ChooseBatchAxis, SoManyNamesAreNotTried) {
  constexpr int kInputs = 100, kLayers = 21500;
  static_assert(int64_t{6} * kInputs * kLayers > kMostLengthWork);
  EXPECT_EQ(ChooseOfMany(kInputs, kLayers).reason.substr(0, 30), "nothing says that axis 0 of `x");
}

TEST(ChooseBatchAxis, AnInputThatMayHaveAMultipleOfTheRows) {
  const auto grouped = [](bool apart) {
    Builder builder = TwoInputs("users", "items");
    builder.Output("y", {"users", 4});
    builder.Longs("ahead", {1});
    builder.Longs("group", {-1, 4});
    builder.Longs("one", {1});
    Builder::Int(builder.Node("Shape", {"q"}, {"users"}), "end", 1);
    Builder::Int(builder.Node("Concat", {"users", apart ? "group" : "one", "four"}, {"shape"}), "axis", 0);
    builder.Longs("four", {4});
    if (apart) builder.graph.mutable_node(1)->mutable_input()->RemoveLast();
    builder.Node("Reshape", {"d", "shape"}, {"groups"});
    builder.Node("Unsqueeze", {"q", "ahead"}, {"each"});
    builder.Node("Mul", {"groups", "each"}, {"products"});
    Builder::Int(builder.Node("ReduceSum", {"products", "ahead"}, {"y"}), "keepdims", 0);
    return ChooseIn(builder).reason;
  };
  EXPECT_EQ(grouped(true), "nothing says that axis 0 of `d: f32[items, 4]` is as long as that of `q: f32[users, 4]`");
  EXPECT_EQ(grouped(false), kDynamic);
}

TEST(ChooseBatchAxis, NoneWhenTwoLengthsNeedOnlyBeEvenTogether) {
  Builder builder = TwoInputs("n", "m");
  builder.Output("y", {"n", 4});
  builder.Longs("pairs", {2, -1, 4});
  builder.Longs("first", {0, 1});
  Builder::Int(builder.Node("Concat", {"q", "d"}, {"both"}), "axis", 0);
  builder.Node("Reshape", {"both", "pairs"}, {"halves"});
  Builder::Int(builder.Node("ReduceSum", {"halves", "first"}, {"sum"}), "keepdims", 0);
  builder.Node("Add", {"q", "sum"}, {"y"});
  EXPECT_EQ(ChooseIn(builder).reason, "nothing says that axis 0 of `d: f32[m, 4]` is as long as that of `q: f32[n, 4]`");
}

// Though the file says that it is as long as an input.
TEST(ChooseBatchAxis, NoneWhenAnOutputHasWholeGroupsOfTheRows) {
  Builder builder = TwoInputs("n", "m");
  builder.Output("y", {"n", 4});
  builder.Longs("zero", {0});
  builder.Longs("one", {1});
  builder.Longs("three", {3});
  builder.Node("Add", {"q", "d"}, {"sum"});
  Builder::Int(builder.Node("Shape", {"q"}, {"count"}), "end", 1);
  builder.Node("Div", {"count", "three"}, {"groups"});
  builder.Node("Mul", {"groups", "three"}, {"together"});
  builder.Node("Max", {"together", "one"}, {"most"});
  builder.Node("Slice", {"sum", "zero", "most", "zero"}, {"y"});
  EXPECT_EQ(ChooseIn(builder).reason, "nothing says that axis 0 of `y: f32[n, 4]` is as long as that of `q: f32[n, 4]`");
}

TEST(ChooseBatchAxis, AnInputThatTakesTheFirstRowsOfAnother) {
  Builder builder = TwoInputs("n", "m");
  builder.graph.mutable_input(1)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::pb::INT64);
  builder.Output("y", {"m", 4});
  Builder::Int(builder.Node("GatherElements", {"q", "d"}, {"y"}), "axis", 1);
  EXPECT_EQ(ChooseIn(builder).reason, "nothing says that axis 0 of `d: i64[m, 4]` is as long as that of `q: f32[n, 4]`");
}

// `y` has so many rows of `x: f32[n, 4]` as numbers say that `add` makes.
BatchAxes ChooseOfRows(const char* rows_of_y, const std::function<void(Builder&)>& add) {
  Builder builder;
  builder.Input("x", {"n", 4});
  builder.Output("y", {rows_of_y, 4});
  builder.Longs("zero", {0});
  builder.Longs("one", {1});
  builder.Longs("four", {4});
  add(builder);
  return ChooseIn(builder);
}

TEST(ChooseBatchAxis, NoneWhenDataSaysHowLongAnOutputIs) {
  const auto padded = [](Builder& builder) {
    Builder::Int(builder.Node("ReduceMax", {"x"}, {"most"}), "keepdims", 0);
    Builder::Int(builder.Node("Cast", {"most"}, {"rows"}), "to", onnx::pb::INT64);
    builder.Node("Unsqueeze", {"rows", "zero"}, {"more"});
    Builder::Int(builder.Node("Concat", {"zero", "zero", "more", "zero"}, {"pads"}), "axis", 0);
    builder.Node("Pad", {"x", "pads"}, {"y"});
  };
  EXPECT_EQ(ChooseOfRows("m", padded).reason, "nothing says that axis 0 of `y: f32[m, 4]` is as long as that of `x: f32[n, 4]`");
  EXPECT_EQ(ChooseOfRows("", padded).reason, "nothing says that axis 0 of `y: f32[_, 4]` is as long as that of `x: f32[n, 4]`");
  // The file says how long it is.
  EXPECT_EQ(ChooseOfRows("n", padded).reason, "axis 0 counts no samples: node `n` (ReduceMax) computes across it");
}

TEST(ChooseBatchAxis, NoneWhenAnOutputHasSomeOfTheRows) {
  const auto tiled = [](Builder& builder) {
    Builder::Int(builder.Node("Shape", {"x"}, {"count"}), "end", 1);
    builder.Node("Min", {"count", "four"}, {"rows"});
    Builder::Int(builder.Node("Concat", {"rows", "one"}, {"times"}), "axis", 0);
    builder.Floats("row", {1, 4}, 4);
    builder.Node("Tile", {"row", "times"}, {"y"});
  };
  EXPECT_FALSE(ChooseOfRows("k", tiled).batched);
}

// The limits that detectors have.
TEST(ChooseBatchAxis, NoneWhenAnOutputIsCutToSoManyRows) {
  for (const int64_t most : {4, 100, 1000}) {
    const auto cut = [most](Builder& builder) {
      builder.Longs("most", {most});
      builder.Node("Slice", {"x", "zero", "most", "zero"}, {"y"});
    };
    EXPECT_EQ(ChooseOfRows("k", cut).reason, "nothing says that axis 0 of `y: f32[k, 4]` is as long as that of `x: f32[n, 4]`") << most;
  }
}

// Of which 2^20 would be more than a tensor may have.
TEST(ChooseBatchAxis, RowsThatAreLarge) {
  const auto choose = [](int64_t most) {
    Builder builder;
    builder.Input("x", {"n", 3, 224, 224});
    builder.Output("y", {"k", 3, 224, 224});
    builder.Longs("zero", {0});
    builder.Longs("most", {most});
    builder.Node("Slice", {"x", "zero", "most", "zero"}, {"y"});
    return ChooseIn(builder).batched;
  };
  EXPECT_FALSE(choose(1000));
  EXPECT_TRUE(choose(INT64_MAX));
}

// What shapes alone decide is found by trying it.
TEST(ChooseBatchAxis, ShapesThatAreComputedAreOfSamples) {
  const auto reshaped = [](Builder& builder) {
    Builder::Int(builder.Node("Shape", {"x"}, {"count"}), "end", 1);
    builder.Node("Max", {"count", "one"}, {"rows"});
    Builder::Int(builder.Node("Concat", {"rows", "four"}, {"shape"}), "axis", 0);
    builder.Node("Reshape", {"x", "shape"}, {"y"});
  };
  EXPECT_EQ(ChooseOfRows("k", reshaped).reason, kDynamic);
}

TEST(ChooseBatchAxis, NoneWhenBranchesAreOfTwoLengths) {
  const auto branches = [](bool same) {
    return [same](Builder& builder) {
      builder.Tensor("limit", {}, onnx::pb::FLOAT).add_float_data(0);
      Builder::Int(builder.Node("ReduceSum", {"x"}, {"sum"}), "keepdims", 0);
      builder.Node("Greater", {"sum", "limit"}, {"is_above"});
      auto& node = builder.Node("If", {"is_above"}, {"y"});
      for (const char* name : {"then_branch", "else_branch"}) {
        auto& body = Builder::Body(node, name);
        if (!same && name == std::string("then_branch")) {
          Builder::Int(Builder::Add(body, "Concat", {"x", "x"}, {"b"}), "axis", 0);
        } else {
          Builder::Add(body, "Neg", {"x"}, {"b"});
        }
        body.add_output()->set_name("b");
      }
    };
  };
  EXPECT_EQ(ChooseOfRows("m", branches(false)).reason, "nothing says that axis 0 of `y: f32[m, 4]` is as long as that of `x: f32[n, 4]`");
  EXPECT_EQ(ChooseOfRows("m", branches(true)).reason, "axis 0 counts no samples: node `n` (ReduceSum) computes across it");
}

// A file from `x: f32[n, m]` to `y`, whose nodes `add` makes, and why it has the batch axis that it has.
std::string ReasonIn(const std::function<void(testing::Builder&)>& add, const testing::Builder::Extents& y) {
  testing::Builder builder;
  builder.Input("x", {"n", "m"});
  builder.Output("y", y, 0);
  add(builder);
  const auto model = builder.Read();
  return model.ok() ? ChooseBatchAxis(model->signature, &model->graph)->reason : model.status().message();
}

TEST(ChooseBatchAxis, NoneWhenAnAxisCountsWhatANodeFinds) {
  const auto found = [](testing::Builder& builder) { builder.Node("NonZero", {"x"}, {"z"}, "at"); };
  EXPECT_EQ(ReasonIn(
                [&](testing::Builder& builder) {
                  found(builder);
                  builder.Node("Transpose", {"z"}, {"y"});
                },
                {"k", 2}),
            "axis 0 of `y: i64[k, 2]` counts what node `at` (NonZero) finds in the data");
  EXPECT_EQ(ReasonIn(
                [&](testing::Builder& builder) {
                  found(builder);
                  builder.Node("Transpose", {"z"}, {"t"});
                  builder.Node("GatherND", {"x", "t"}, {"v"});
                  testing::Builder::Int(builder.Node("Concat", {"v", "v"}, {"y"}), "axis", 0);
                },
                {""}),
            "axis 0 of `y: f32[2*_]` counts what node `at` (NonZero) finds in the data");
  EXPECT_EQ(ReasonIn([](testing::Builder& builder) { builder.Node("Unique", {"x"}, {"y"}, "at"); }, {"n"}),
            "axis 0 of `y: f32[n]` counts what node `at` (Unique) finds in the data");
}

// As exporters wrote the numbers from 0 to n when there was no Range.
TEST(ChooseBatchAxis, WhatANodeCountsInShapesIsOfSamples) {
  const auto reason = ReasonIn(
      [](testing::Builder& builder) {
        testing::Builder::Int(builder.Node("Shape", {"x"}, {"shape"}), "end", 1);
        auto& value = *builder.Node("ConstantOfShape", {"shape"}, {"ones"}).add_attribute();
        value.set_name("value");
        value.set_type(onnx::pb::AttributeProto::TENSOR);
        value.mutable_t()->set_data_type(onnx::pb::INT64);
        value.mutable_t()->add_dims(1);
        value.mutable_t()->add_int64_data(1);
        builder.Node("NonZero", {"ones"}, {"z"});
        builder.Node("Transpose", {"z"}, {"places"});
        builder.Node("GatherND", {"x", "places"}, {"y"});
      },
      {"k", "m"});
  EXPECT_EQ(reason, "axis 0 is dynamic in every input and output");
}

TEST(ChooseBatchAxis, AWrittenSignatureMarksAnyAxis) {
  const Signature file = Make({{7, n, 3}, {5}}, {{n, 10}}), written = Make({{7, batch, 3}, {5}}, {{batch, 10}});
  const auto axes = ChooseBatchAxis(file, nullptr, &written);
  ASSERT_TRUE(axes.ok()) << axes.status().message();
  EXPECT_TRUE(axes->batched);
  EXPECT_EQ(axes->axis, (std::vector<int8_t>{1, -1, 0}));
  const Signature fixed = Make({{1, 3}}, {{1}}), wants = Make({{batch, 3}}, {{batch}});
  EXPECT_TRUE(ChooseBatchAxis(fixed, nullptr, &wants)->dropped);
  const Signature plain = Make({{7, n, 3}, {5}}, {{n, 10}});
  EXPECT_FALSE(ChooseBatchAxis(file, nullptr, &plain)->batched);  // written without `batch`: none
}

TEST(ChooseBatchAxis, AWrittenSignatureMustFit) {
  const auto error = [](const Signature& file, const Signature& written) {
    return ChooseBatchAxis(file, nullptr, &written).status().message();
  };
  const Signature file = Make({{n, 3}}, {{n, 10}});
  EXPECT_EQ(error(file, Make({{batch, 4}}, {{batch, 10}})), "input 0 is `x0: f32[n, 3]` in the file, `x0: f32[batch, 4]` in the signature");
  EXPECT_EQ(error(file, Make({{batch, 3}}, {{n, 10}})), "output `y0: f32[n, 10]` has no axis `batch`, but others have");
  EXPECT_EQ(error(file, Make({{n, 3}}, {{batch, 10}})), "no input has the axis `batch` that the outputs have");
  EXPECT_EQ(error(file, Make({{batch, 3}, {4}}, {{batch, 10}})), "the file has 1 input, the signature 2");
  EXPECT_EQ(error(Make({{n, m}}, {{n}}), Make({{batch, batch}}, {{batch}})),
            "`x0: f32[batch, batch]`: `batch` marks one whole axis of a port");
  EXPECT_EQ(error(Make({{8, 3}}, {{8}}), Make({{batch, 3}}, {{batch}})),
            "input 0 is `x0: f32[8, 3]` in the file, `x0: f32[batch, 3]` in the signature");
}

TEST(CheckSignature, ANewVersionMayOnlyBeMoreGeneral) {
  const Signature compiled = Make({{n, 3}}, {{n, 10}});
  EXPECT_TRUE(CheckSignature(Make({{m, 3}}, {{m, 10}}), compiled).ok());
  EXPECT_TRUE(CheckSignature(Make({{m, m}}, {{m, 10}}), compiled).ok());
  EXPECT_FALSE(CheckSignature(Make({{2, 3}}, {{2, 10}}), compiled).ok());
  EXPECT_FALSE(CheckSignature(Make({{m, 3}}, {{m, 11}}), compiled).ok());
  Signature other = compiled;
  other.inputs[0].dtype = WF_F64;
  EXPECT_FALSE(CheckSignature(other, compiled).ok());
  other = compiled;
  other.outputs[0].name = "z";
  EXPECT_FALSE(CheckSignature(other, compiled).ok());
}

TEST(FindMismatches, TellsAllOfThem) {
  Signature written = Make({{batch, 3}, {batch, 4}}, {{batch, 11}});
  written.inputs[0].name = "image";
  const std::vector<Mismatch> found = FindMismatches(Make({{n, 3}, {n, 3}}, {{n, 10}}), written);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].text, "input 0 is `x0: f32[n, 3]` in the file, `image: f32[batch, 3]` in the signature");
  EXPECT_TRUE(found[0].is_input && found[0].only_name);
  EXPECT_TRUE(found[1].is_input && !found[1].only_name);
  EXPECT_TRUE(!found[2].is_input && found[2].port == 0u && !found[2].only_name);
  const std::vector<Mismatch> fewer = FindMismatches(Make({{n, 3}}, {{n, 10}}), written);
  ASSERT_EQ(fewer.size(), 2u);
  EXPECT_EQ(fewer[0].text, "the file has 1 input, the signature 2");
  EXPECT_EQ(fewer[0].port, std::nullopt);
  EXPECT_EQ(fewer[1].text, "output 0 is `y0: f32[n, 10]` in the file, `y0: f32[batch, 11]` in the signature");
}

using Axes = std::vector<std::vector<bool>>;
const Dim w = Dim::Symbol("w"), half = Dim::FloorDiv(w, 2), k = Dim::Symbol("k");

TEST(CheckSignature, SymbolsOfTheFileAreThoseThatItsInputsAreGiven) {
  const Signature file = Make({{n, 3, m}}, {{n, 3, m}});
  EXPECT_TRUE(CheckSignature(file, Make({{batch, 3, w}}, {{batch, 3, w}})).ok());
  EXPECT_EQ(
      CheckSignature(file, Make({{batch, 3, w}}, {{batch, 3, Dim(2) * w}})).message(),
      "output 0 is `y0: f32[n, 3, m]` in the file, `y0: f32[batch, 3, 2*w]` in the signature: the nodes compute `w` on axis 2, which is "
      "never `2*w`");
  EXPECT_FALSE(CheckSignature(file, Make({{batch, 3, w}}, {{batch, 3, half}})).ok());
  EXPECT_FALSE(CheckSignature(file, Make({{batch, 3, 5}}, {{batch, 3, 6}})).ok());
  EXPECT_TRUE(CheckSignature(file, Make({{batch, 3, w}}, {{batch, 3, k}})).ok());
  EXPECT_TRUE(CheckSignature(file, Make({{batch, 3, w}}, {{batch, 3, Dim(2) * w - 4}})).ok());
  const Signature halves = Make({{n, m}}, {{n, Dim::FloorDiv(m, 2)}});
  EXPECT_TRUE(CheckSignature(halves, Make({{batch, w}}, {{batch, half}})).ok());
  EXPECT_TRUE(CheckSignature(halves, Make({{batch, Dim(2) * w}}, {{batch, w}})).ok());
  EXPECT_FALSE(CheckSignature(halves, Make({{batch, w}}, {{batch, w}})).ok());
}

TEST(CheckSignature, WhatIsDeclaredEmptyMayBeComputedSo) {
  Signature file = Make({{n, 3}}, {{n, 0}});
  file.computed = {{n, Dim::Symbol("o")}};
  EXPECT_EQ(CheckSignature(file, Make({{batch, 3}}, {{batch, 0}})).message(), "");
}

TEST(UnprovedExtents, ThoseThatDoNotFollowFromTheFile) {
  const auto unproved = [](const Signature& file, const Signature& wanted) { return UnprovedExtents(file, wanted); };
  const Signature file = Make({{n, m}}, {{n, m, Dim::FloorDiv(m, 2)}});
  EXPECT_EQ(unproved(file, Make({{batch, w}}, {{batch, w, half}})), (Axes{{false, false, false}}));
  EXPECT_EQ(unproved(file, Make({{batch, Dim(2) * w}}, {{batch, Dim(2) * w, w}})), (Axes{{false, false, false}}));
  EXPECT_EQ(unproved(file, Make({{batch, w}}, {{batch, w, Dim(2) * w}})), (Axes{{false, false, true}}));
  EXPECT_EQ(unproved(file, file), (Axes{{false, false, false}}));
  EXPECT_EQ(unproved(file, Make({{batch, w}}, {{batch, w, 7}})), (Axes{{false, false, false}}));  // a number is compared at each run
}

TEST(UnprovedExtents, AnInputThatIsGivenTwoExtentsProvesNothing) {
  const Signature file = Make({{n}, {n}}, {{n}});
  EXPECT_EQ(UnprovedExtents(file, Make({{w}, {w}}, {{w}})), (Axes{{false}}));
  EXPECT_EQ(UnprovedExtents(file, Make({{w}, {k}}, {{w}})), (Axes{{true}}));
  EXPECT_TRUE(CheckSignature(file, Make({{w}, {k}}, {{Dim(2) * w}})).ok());
}

TEST(UnprovedExtents, WhatAFileOnlyDeclaresProvesNothing) {
  Signature file = Make({{n}}, {{n, m}});
  file.computed = {{n, Dim::Symbol("_#0")}};
  EXPECT_EQ(UnprovedExtents(file, Make({{w}}, {{w, w}})), (Axes{{false, true}}));
  EXPECT_EQ(UnprovedExtents(file, file), (Axes{{false, false}}));
  file.outputs[0].dim[1] = n;
  EXPECT_EQ(UnprovedExtents(file, file), (Axes{{false, true}}));
}

TEST(UnprovedExtents, ASymbolThatNoInputHasIsTheFirstExtentThatTellsIt) {
  const Dim a = Dim::Symbol("_#0"), b = Dim::Symbol("_#1");
  const auto wants = [](Shape first, Shape second) { return Make({{w}}, {std::move(first), std::move(second)}); };
  const Signature file = Make({{n}}, {{a}, {a}}), other = Make({{n}}, {{a}, {b}});
  EXPECT_EQ(UnprovedExtents(file, wants({k}, {k})), (Axes{{false}, {false}}));
  EXPECT_EQ(UnprovedExtents(other, wants({k}, {k})), (Axes{{false}, {true}}));
  EXPECT_EQ(UnprovedExtents(file, wants({Dim(2) * k}, {k})), (Axes{{true}, {true}}));
  EXPECT_EQ(UnprovedExtents(Make({{n}}, {{Dim(2) * n}, {n}}), wants({Dim(2) * k}, {k})), (Axes{{false}, {false}}));
  EXPECT_EQ(UnprovedExtents(other, wants({k + w}, {k})), (Axes{{true}, {false}}));
}

TEST(CheckRows, CountsTheExtentsThatAreNumbers) {
  const Signature file = Make({{n, 4}, {n, m, 3}}, {{n, 5}, {n, m + Dim(9)}});
  EXPECT_EQ(RowBytes(file.inputs[0]), 16);
  EXPECT_EQ(RowBytes(file.inputs[1]), 12);
  EXPECT_EQ(RowBytes({"x", WF_F64, {}}), 8);
  EXPECT_EQ(RowBytes({"x", WF_U8, {int64_t{1} << 40, int64_t{1} << 40}}), INT64_MAX);
  EXPECT_TRUE(CheckRows(file, "f.onnx", 16, 20).ok());
  EXPECT_EQ(CheckRows(file, "f.onnx", 15, 20).message(),
            "`f.onnx`: a row of input `x0: f32[n, 4]` has at least 16 bytes, above the limit of 15");
  const base::Status out = CheckRows(file, "f.onnx", 16, 19);
  EXPECT_EQ(out.code(), base::kOutOfRange);
  EXPECT_EQ(out.message(), "`f.onnx`: a row of output `y0: f32[n, 5]` has at least 20 bytes, above the limit of 19");
}

}  // namespace
}  // namespace wf::onnx
