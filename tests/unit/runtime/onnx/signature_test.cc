#include "runtime/onnx/signature.h"

#include <gtest/gtest.h>

#include <functional>

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

BatchAxes Choose(const Signature& file) { return *ChooseBatchAxis(file); }

TEST(ChooseBatchAxis, AxisZeroWhenDynamicEverywhere) {
  const BatchAxes axes = Choose(Make({{n, 3}, {n}}, {{n, 10}}));
  EXPECT_TRUE(axes.batched);
  EXPECT_FALSE(axes.dropped);
  EXPECT_EQ(axes.axis, (std::vector<int8_t>{0, 0, 0}));
  EXPECT_TRUE(Choose(Make({{n, 3}}, {{Dim::Symbol("_#0"), 10}})).batched);
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
}

// A file from `x: f32[n, m]` to `y`, whose nodes `add` makes, and why it has the batch axis that it has.
std::string ReasonIn(const std::function<void(testing::Builder&)>& add, const testing::Builder::Extents& y) {
  testing::Builder builder;
  builder.Input("x", {"n", "m"});
  builder.Output("y", y, 0);
  add(builder);
  const auto model = builder.Read();
  return model.ok() ? Choose(model->signature).reason : model.status().message();
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
        builder.Node("ConstantOfShape", {"shape"}, {"ones"});
        builder.Node("NonZero", {"ones"}, {"z"});
        builder.Node("Transpose", {"z"}, {"y"});
      },
      {"k", 1});
  EXPECT_EQ(reason, "axis 0 is dynamic in every input and output");
}

TEST(ChooseBatchAxis, AWrittenSignatureMarksAnyAxis) {
  const Signature file = Make({{7, n, 3}, {5}}, {{n, 10}}), written = Make({{7, batch, 3}, {5}}, {{batch, 10}});
  const auto axes = ChooseBatchAxis(file, &written);
  ASSERT_TRUE(axes.ok()) << axes.status().message();
  EXPECT_TRUE(axes->batched);
  EXPECT_EQ(axes->axis, (std::vector<int8_t>{1, -1, 0}));
  const Signature fixed = Make({{1, 3}}, {{1}}), wants = Make({{batch, 3}}, {{batch}});
  EXPECT_TRUE(ChooseBatchAxis(fixed, &wants)->dropped);
  const Signature plain = Make({{7, n, 3}, {5}}, {{n, 10}});
  EXPECT_FALSE(ChooseBatchAxis(file, &plain)->batched);  // written without `batch`: none
}

TEST(ChooseBatchAxis, AWrittenSignatureMustFit) {
  const auto error = [](const Signature& file, const Signature& written) { return ChooseBatchAxis(file, &written).status().message(); };
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
