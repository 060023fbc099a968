#include "runtime/onnx/infer.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/unit/runtime/onnx/builder.h"
#include "tests/unit/runtime/onnx/case_file.h"

namespace wf::onnx {
namespace {

using testing::Builder;
using Extents = Builder::Extents;

// The result's type for one node with inputs x0, x1, ... of the shapes given.
struct One {
  explicit One(const std::string& op, std::vector<Extents> in, int64_t opset = 17) : builder(opset) {
    std::vector<std::string> names;
    for (Extents& shape : in) {
      names.push_back("x" + std::to_string(names.size()));
      builder.Input(names.back(), shape);
    }
    builder.Output("y");
    node = &builder.Node(op, names, {"y"});
  }
  One& Ints(const std::string& name, const std::vector<int64_t>& values) {
    Builder::Ints(*node, name, values);
    return *this;
  }
  One& Int(const std::string& name, int64_t value) {
    Builder::Int(*node, name, value);
    return *this;
  }
  One& Weight(const std::vector<int64_t>& dim) {
    int64_t count = 1;
    for (const int64_t extent : dim) count *= extent;
    builder.Floats("w" + std::to_string(node->input_size()), dim, static_cast<size_t>(count));
    node->add_input("w" + std::to_string(node->input_size()));
    return *this;
  }
  One& Longs(const std::vector<int64_t>& values) {
    builder.Longs("w" + std::to_string(node->input_size()), values);
    node->add_input("w" + std::to_string(node->input_size()));
    return *this;
  }
  std::string Result() {
    const auto model = builder.Read();
    return model.ok() ? model->signature.outputs[0].ToString().substr(3) : model.status().message();
  }
  Builder builder;
  pb::NodeProto* node;
};

TEST(InferShapes, WindowsKeepSymbols) {
  EXPECT_EQ(One("Conv", {{"n", 3, "h", "w"}}).Weight({8, 3, 3, 3}).Result(), "f32[n, 8, h - 2, w - 2]");
  EXPECT_EQ(One("Conv", {{"n", 3, "h", "w"}}).Weight({8, 3, 3, 3}).Ints("strides", {2, 2}).Ints("pads", {1, 1, 1, 1}).Result(),
            "f32[n, 8, (h + 1)/2, (w + 1)/2]");
  EXPECT_EQ(One("MaxPool", {{"n", 3, "h", 28}}).Ints("kernel_shape", {2, 2}).Ints("strides", {2, 2}).Result(), "f32[n, 3, h/2, 14]");
  EXPECT_EQ(One("GlobalAveragePool", {{"n", 3, "h", "w"}}).Result(), "f32[n, 3, 1, 1]");
}

TEST(InferShapes, ProductsAndBroadcasts) {
  EXPECT_EQ(One("MatMul", {{"n", "t", 8}}).Weight({8, 5}).Result(), "f32[n, t, 5]");
  EXPECT_EQ(One("MatMul", {{"n", 4, "t", 8}, {"n", 4, 8, "t"}}).Result(), "f32[n, 4, t, t]");
  EXPECT_EQ(One("Gemm", {{"n", 8}}).Weight({5, 8}).Weight({5}).Int("transB", 1).Result(), "f32[n, 5]");
  EXPECT_EQ(One("Add", {{"n", 1, 4}, {3, 1}}).Result(), "f32[n, 3, 4]");
  EXPECT_EQ(One("Add", {{"n", 4}, {"n", 4}}).Result(), "f32[n, 4]");
  EXPECT_EQ(One("Add", {{"n"}, {"m"}}).Result(), "f32[_]");
}

TEST(InferShapes, ReshapesFollowSymbols) {
  EXPECT_EQ(One("Reshape", {{"n", 3, "h", 4}}).Longs({0, -1}).Result(), "f32[n, 12*h]");
  EXPECT_EQ(One("Reshape", {{"n", 3, 4}}).Longs({-1, 12}).Result(), "f32[n, 12]");
  EXPECT_EQ(One("Flatten", {{"n", 3, "h"}}).Result(), "f32[n, 3*h]");
  EXPECT_EQ(One("Transpose", {{"n", 3, "h"}}).Ints("perm", {2, 0, 1}).Result(), "f32[h, n, 3]");
  EXPECT_EQ(One("Slice", {{"n", "h"}}).Longs({1}).Longs({INT64_MAX}).Longs({1}).Result(), "f32[n, h - 1]");
  EXPECT_EQ(One("Concat", {{"n", 3}, {"n", "k"}}).Int("axis", 1).Result(), "f32[n, k + 3]");
  EXPECT_EQ(One("Pad", {{"n", "h"}}).Longs({0, 1, 0, 2}).Result(), "f32[n, h + 3]");
}

TEST(InferShapes, ShapesComputedInTheGraphAreFollowed) {
  Builder b;  // y = reshape(x, concat(shape(x)[0:1] * 2, [-1]))
  b.Input("x", {"n", 4, 6}).Output("y");
  Builder::Int(b.Node("Shape", {"x"}, {"s"}), "end", 1);
  b.Longs("two", {2});
  b.Longs("rest", {-1});
  b.Node("Mul", {"s", "two"}, {"s2"});
  Builder::Int(b.Node("Concat", {"s2", "rest"}, {"to"}), "axis", 0);
  b.Node("Reshape", {"x", "to"}, {"y"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->signature.outputs[0].ToString(), "y: f32[2*n, 12]");
}

TEST(InferShapes, LongTensorsAreNotFollowedByValue) {  // each element costs every node that hands it on
  for (const size_t count : {64, 65}) {
    Builder b;
    b.Input("x", {"n"}).Output("y");
    b.Longs("w", std::vector<int64_t>(count, 1));
    b.Node("Identity", {"w"}, {"c"});
    b.Node("Relu", {"x"}, {"y"});
    const auto model = b.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto known = InferShapes(model->graph, model->signature.inputs, "x.onnx");
    ASSERT_TRUE(known.ok());
    EXPECT_EQ((*known)[static_cast<size_t>(model->graph.nodes[0].out[0])].content.has_value(), count == 64);
  }
}

TEST(InferShapes, SaysWhatDoesNotFit) {
  EXPECT_EQ(One("Conv", {{"n", 3, 8, 8}}).Weight({8, 4, 3, 3}).Result(),
            "`x.onnx`: node `n` (Conv, ai.onnx opset 17): input f32[n, 3, 8, 8] has 3 channels, weights f32[8, 4, 3, 3] in 1 group take 4");
  EXPECT_EQ(One("Conv", {{"n", 3, 2, 2}}).Weight({8, 3, 3, 3}).Result(),
            "`x.onnx`: node `n` (Conv, ai.onnx opset 17): input f32[n, 3, 2, 2] is smaller than the window");
  EXPECT_EQ(One("Conv", {{"n", 3, 8, 8}}).Weight({8, 3, 3, 3}).Ints("dilations", {1}).Result(),
            "`x.onnx`: node `n` (Conv, ai.onnx opset 17): dilations [1] for 2 spatial axes");
  EXPECT_EQ(One("Conv", {{"n", 3, 8, 8}}).Weight({8, 3, 3, 3}).Ints("kernel_shape", {5, 5}).Result(),
            "`x.onnx`: node `n` (Conv, ai.onnx opset 17): kernel_shape [5, 5] where the weights have [3, 3]");
  EXPECT_EQ(One("Conv", {{"n", 3, 8, 8}}).Weight({8, 3, 3, 3}).Int("group", 3).Result(),
            "`x.onnx`: node `n` (Conv, ai.onnx opset 17): 3 groups for 8 filters");
  EXPECT_EQ(One("Conv", {{"n", 3, 8, 8}}).Weight({1, 1, 3, 3}).Int("group", 3).Result(),
            "`x.onnx`: node `n` (Conv, ai.onnx opset 17): 3 groups for 1 filter");
  EXPECT_EQ(One("MatMul", {{"n", 7}}).Weight({8, 5}).Result(),
            "`x.onnx`: node `n` (MatMul, ai.onnx opset 17): inputs f32[n, 7] and f32[8, 5] cannot be multiplied");
  EXPECT_EQ(One("Add", {{3}, {4}}).Result(), "`x.onnx`: node `n` (Add, ai.onnx opset 17): inputs f32[3] and f32[4] do not broadcast");
  EXPECT_EQ(One("Reshape", {{3, 4}}).Longs({5, -1}).Result(),
            "`x.onnx`: node `n` (Reshape, ai.onnx opset 17): f32[3, 4] has other than f32[5, -1] elements");
  EXPECT_EQ(One("Reshape", {{3, 4}}).Longs({-1, -1}).Result(), "`x.onnx`: node `n` (Reshape, ai.onnx opset 17): two axes of extent -1");
  // As many stay in the file.
  EXPECT_EQ(One("Reshape", {{3, 4}}).Longs(std::vector<int64_t>(500, 1)).Result(),
            "`x.onnx`: node `n` (Reshape, ai.onnx opset 17): a result of 500 axes, 8 are the most");
  EXPECT_EQ(One("Transpose", {{3, 4}}).Ints("perm", {0, 0}).Result(),
            "`x.onnx`: node `n` (Transpose, ai.onnx opset 17): perm [0, 0] for f32[3, 4]");
  EXPECT_EQ(One("Softmax", {{3, 4}}).Int("axis", 2).Result(),
            "`x.onnx`: node `n` (Softmax, ai.onnx opset 17): axis 2 of a tensor with 2 axes");
  EXPECT_EQ(One("Slice", {{4}}).Longs({0}).Longs({4}).Longs({0}).Longs({0}).Result(),
            "`x.onnx`: node `n` (Slice, ai.onnx opset 17): a step of 0");
  EXPECT_EQ(One("MaxPool", {{1, 1, 4}}).Ints("kernel_shape", {2}).Ints("pads", {2, 0}).Result(),
            "`x.onnx`: node `n` (MaxPool, ai.onnx opset 17): padding as large as the window");
}

TEST(InferShapes, WindowsAreToldByTheValueThatIsWrong) {
  const auto conv = [](const char* attribute, const std::vector<int64_t>& values) {
    const std::string text = One("Conv", {{"n", 3, 8, 8}}).Weight({8, 3, 3, 3}).Ints(attribute, values).Result();
    return text.substr(std::min(text.size(), std::string("`x.onnx`: node `n` (Conv, ai.onnx opset 17): ").size()));
  };
  EXPECT_EQ(conv("strides", {1, 0}), "strides [1, 0] with 0, which is not from 1 to 1073741824");
  EXPECT_EQ(conv("dilations", {-2, 1}), "dilations [-2, 1] with -2, which is not from 1 to 1073741824");
  EXPECT_EQ(conv("pads", {0, 0, -1, 0}), "pads [0, 0, -1, 0] with -1, which is not from 0 to 1073741824");
  EXPECT_EQ(conv("pads", {0, 0}), "pads [0, 0] for 2 spatial axes");
  EXPECT_EQ(conv("strides", {1}), "strides [1] for 2 spatial axes");
  EXPECT_EQ(One("MaxPool", {{1, 1, 4}}).Ints("kernel_shape", {0}).Result(),
            "`x.onnx`: node `n` (MaxPool, ai.onnx opset 17): kernel_shape [0] with 0, which is not from 1 to 1073741824");
}

TEST(InferShapes, ConstantIndicesLieWithinTheirAxis) {
  const auto picked = [](const Extents& shape, const std::vector<int64_t>& at, int64_t axis) {
    return One("Gather", {shape}).Longs(at).Int("axis", axis).Result();
  };
  EXPECT_EQ(picked({"n", 3}, {2, -3}, 1), "f32[n, 2]");
  EXPECT_EQ(picked({"n", 3}, {0, 3}, 1), "`x.onnx`: node `n` (Gather, ai.onnx opset 17): index 3 of axis 1 of f32[n, 3]");
  EXPECT_EQ(picked({"n", 3}, {-4}, 1), "`x.onnx`: node `n` (Gather, ai.onnx opset 17): index -4 of axis 1 of f32[n, 3]");
  EXPECT_EQ(picked({"n", 3}, {7}, 0), "f32[1, 3]");  // n may be 8
  std::vector<int64_t> many(5000, 2);                // of which the reader leaves the elements in the file
  EXPECT_EQ(picked({"n", 3}, many, 1), "f32[n, 5000]");
  many.back() = 300;
  EXPECT_EQ(picked({"n", 3}, many, 1), "`x.onnx`: node `n` (Gather, ai.onnx opset 17): index 300 of axis 1 of f32[n, 3]");
}

TEST(InferShapes, IndicesOfSeveralAxesAreSeen) {
  for (const int32_t last : {2, 3}) {
    Builder b;
    b.Input("x", {"n", 3}).Output("y");
    onnx::pb::TensorProto& table = b.Tensor("table", {2, 2}, onnx::pb::INT32);
    for (const int32_t each : {0, 1, 2, last}) table.add_int32_data(each);
    Builder::Int(b.Node("Gather", {"x", "table"}, {"y"}), "axis", 1);
    EXPECT_EQ(b.Error(), last == 2 ? "" : "`x.onnx`: node `n` (Gather, ai.onnx opset 17): index 3 of axis 1 of f32[n, 3]");
  }
}

TEST(InferShapes, TensorsThatNoServerTakesAreRefused) {
  EXPECT_EQ(One("Conv", {{"n", 1, 4, 4}}).Weight({1, 1, 3, 3}).Ints("pads", {20000, 20000, 20000, 20000}).Result(),
            "`x.onnx`: node `n` (Conv, ai.onnx opset 17): a tensor f32[n, 1, 40002, 40002] is above the limit of 4294967296 bytes");
  EXPECT_EQ(One("Relu", {{"n", 1 << 30}}).Result(), "f32[n, 1073741824]");
  EXPECT_EQ(One("Relu", {{0, 1 << 30, 2}}).Result(),
            "`x.onnx`: node `n` (Relu, ai.onnx opset 17): a tensor f32[0, 1073741824, 2] is above the limit of 4294967296 bytes");
}

// By node, whether it is computed when the file is loaded.
std::vector<bool> Constants(Builder& b) {
  const auto model = b.Read();
  if (!model.ok()) return {};
  const auto known = InferShapes(model->graph, model->signature.inputs, "");
  if (!known.ok()) return {};
  return ConstantNodes(model->graph, *known, MostConstantBytes(model->graph), MostConstantWork(model->graph)).nodes;
}

TEST(InferShapes, WhatConstantsMakeIsBounded) {
  Builder b;
  b.Input("x", {1}).Output("y");
  b.Floats("w", {1}, 1);
  b.Longs("pads", {0, (int64_t{5} << 20) - 1});  // 20 MiB each
  b.Node("Relu", {"x"}, {"y"}, "last");
  for (int i = 0; i < 3; ++i) b.Node("Pad", {"w", "pads"}, {"p" + std::to_string(i)}, "pad" + std::to_string(i));
  b.Node("Neg", {"w"}, {"n"}, "small");
  b.Node("Neg", {"p2"}, {"np"}, "of what is none");
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto known = InferShapes(model->graph, model->signature.inputs, "");
  ASSERT_TRUE(known.ok());
  EXPECT_EQ(ConstantNodes(model->graph, *known, int64_t{50} << 20, INT64_MAX).nodes,
            (std::vector<bool>{false, true, true, false, true, false}));
}

// Weights that are rearranged, as many as a file has.
TEST(InferShapes, WhatConstantsMakeGrowsWithTheWeights) {
  Builder b;
  b.Input("x", {3, 1}).Output("y");
  b.Floats("w", {1, 1}, 1);
  b.Node("Transpose", {"w"}, {"t"}, "turned");
  b.Node("MatMul", {"x", "t"}, {"y"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(MostConstantBytes(model->graph), kMostConstantBytes + 4 * 4);
  EXPECT_EQ(MostConstantWork(model->graph), kMostConstantWork + 32 * 4);
}

// What fills a tensor is cheap in each run.
TEST(InferShapes, ALargeFillIsNoConstant) {
  Builder b;
  b.Input("x", {1}).Output("y");
  b.Longs("shape", {int64_t{65} << 20});  // 260 MiB
  b.Node("ConstantOfShape", {"shape"}, {"filled"});
  b.Node("Add", {"x", "filled"}, {"y"});
  EXPECT_EQ(Constants(b), (std::vector<bool>{false, false}));
}

// Sums of symbols take time: of vectors longer than shapes, and of extents of many symbols, only so many are followed, of others all.
TEST(InferShapes, SumsOfManySymbolsAreFollowedSoFar) {
  const auto added = [](const Builder::Extents& rows, int64_t length, int64_t sums) {
    Builder b;
    b.Input("x", rows).Output("y");
    b.Longs("long", {length});
    b.Longs("one", {1});
    b.Longs("zero", {0});
    b.Node("Shape", {"x"}, {"shape of x"});
    b.Node("ReduceSum", {"shape of x"}, {"count"});
    b.Node("Expand", {"count", "long"}, {"v0"});
    for (int64_t i = 0; i < sums; ++i) b.Node("Add", {"v" + std::to_string(i), "one"}, {"v" + std::to_string(i + 1)});
    Builder::Int(b.Node("Gather", {"v" + std::to_string(sums), "zero"}, {"shape"}), "axis", 0);
    b.Node("ConstantOfShape", {"shape"}, {"y"});
    const auto model = b.Read();
    return model.ok() ? model->signature.outputs[0].ToString() : model.status().message();
  };
  const int64_t kMany = Followed::kMost / static_cast<int64_t>((60 - Followed::kShort) * (Dim::Symbol("n") + 1).weight()) + 2;
  EXPECT_EQ(added({"n"}, 60, 10), "y: f32[n + 10]");
  EXPECT_EQ(added({"n"}, 60, kMany), "y: f32[_]");
  EXPECT_EQ(added({7}, 60, kMany), "y: f32[" + std::to_string(7 + kMany) + "]");
  EXPECT_EQ(added({"n"}, 4, kMany), "y: f32[n + " + std::to_string(kMany) + "]");
  const Builder::Extents many = {"a", "b", "c", "d", "e", "f", "g", "h"};
  EXPECT_EQ(added(many, 8, 10), "y: f32[a + b + c + d + e + f + g + h + 10]");
  EXPECT_EQ(added(many, 8, 2 * kMany).substr(0, 8), "y: f32[_");
}

// A small file whose load would take minutes: a padded constant times itself, often enough.
TEST(InferShapes, WorkThatConstantsMakeIsBounded) {
  const auto multiplied = [](int64_t extent, int nodes) {
    Builder b;
    b.Input("x", {1}).Output("y");
    b.Floats("w", {1, 1}, 1);
    b.Longs("pads", {0, 0, extent - 1, extent - 1});
    b.Node("Relu", {"x"}, {"y"}, "last");
    b.Node("Pad", {"w", "pads"}, {"m0"}, "pad");
    for (int i = 0; i < nodes; ++i)
      b.Node("MatMul", {"m0", "m" + std::to_string(i)}, {"m" + std::to_string(i + 1)}, "product" + std::to_string(i));
    std::vector<bool> found = Constants(b);
    return std::vector<bool>(found.begin() + 2, found.end());
  };
  EXPECT_EQ(multiplied(256, 8), std::vector<bool>(8, true));
  EXPECT_EQ(multiplied(4096, 1), std::vector<bool>(1, false));
  EXPECT_EQ(multiplied(768, 5), (std::vector<bool>{true, true, false, false, false})) << "the work of all nodes counts";
}

// Of constants with these extents, whether a node is computed when the file is loaded.
bool IsFolded(
    const std::string& op, const std::vector<std::vector<int64_t>>& in, int32_t type,
    const std::function<void(pb::NodeProto&)>& set = [](pb::NodeProto&) {}) {
  Builder b;
  b.Input("x", {1}).Output("y");
  b.Node("Relu", {"x"}, {"y"}, "last");
  std::vector<std::string> names;
  for (const auto& dim : in) {
    const std::string name = std::to_string(names.size());
    b.Longs("dim" + name, dim);
    pb::NodeProto& fill = b.Node("ConstantOfShape", {"dim" + name}, {"f" + name}, "fill" + name);
    pb::AttributeProto& value = *fill.add_attribute();
    value.set_name("value");
    value.set_type(pb::AttributeProto::TENSOR);
    value.mutable_t()->set_data_type(type);
    value.mutable_t()->add_dims(1);
    value.mutable_t()->set_raw_data(std::string(type == pb::UINT8 ? 1 : type == pb::FLOAT ? 4 : type == pb::FLOAT16 ? 2 : 8, '\0'));
    names.push_back("f" + name);
  }
  if (op == "TopK" || op == "RoiAlign") {
    b.Longs("last", std::vector<int64_t>(op == "TopK" ? 1 : 10, 1));
    names.push_back("last");
  }
  set(b.Node(op, names, {"z"}, "hard"));
  const std::vector<bool> found = Constants(b);
  WF_CHECK(!found.empty(), b.Error());
  return found.back();
}

TEST(InferShapes, EachOperatorsWorkIsCounted) {
  const auto folded = [](
                          const std::string& op, const std::vector<std::vector<int64_t>>& in,
                          const std::function<void(pb::NodeProto&)>& set = [](pb::NodeProto&) {}) {
    return IsFolded(op, in, op.ends_with("Integer") ? pb::UINT8 : pb::FLOAT, set);
  };
  EXPECT_FALSE(folded("Conv", {{1, 64, 512, 512}, {64, 64, 5, 5}}));
  EXPECT_FALSE(folded("ConvInteger", {{1, 64, 512, 512}, {64, 64, 5, 5}}));
  EXPECT_FALSE(folded("MatMulInteger", {{2048, 2048}, {2048, 2048}}));
  EXPECT_FALSE(folded("ConvTranspose", {{1, 64, 256, 256}, {64, 16, 5, 5}}));
  EXPECT_FALSE(folded("Einsum", {{300, 300}, {300, 300}}, [](auto& node) { Builder::String(node, "equation", "ab,bc->a"); }));
  EXPECT_FALSE(folded("MaxPool", {{1, 1, 1024, 1024}}, [](auto& node) { Builder::Ints(node, "kernel_shape", {512, 512}); }));
  EXPECT_FALSE(folded("LSTM", {{100, 4, 64}, {1, 256, 64}, {1, 256, 64}}));
  EXPECT_FALSE(folded("Det", {{300, 300}}));
  EXPECT_FALSE(folded("LRN", {{1, 1024, 1024}}, [](auto& node) { Builder::Int(node, "size", 1024); }));
  EXPECT_FALSE(folded("TopK", {{1'000'000}}));
  EXPECT_FALSE(folded("NonMaxSuppression", {{1, 8000, 4}, {1, 1, 8000}}));
  EXPECT_FALSE(folded("RoiAlign", {{1, 1, 100, 100}, {10, 4}})) << "of regions as they come";
  EXPECT_TRUE(folded("Det", {{64, 64}}));
  EXPECT_TRUE(folded("TopK", {{100'000}}));
}

// A step of one operator or type may be a hundred of another.
TEST(InferShapes, WorkIsCountedAsLongAsItTakes) {
  const std::vector<std::vector<int64_t>> two = {{700, 700}, {700, 700}}, long_ones = {{500'000}, {500'000}};
  EXPECT_TRUE(IsFolded("MatMul", two, pb::FLOAT));
  EXPECT_TRUE(IsFolded("MatMul", two, pb::FLOAT16));
  EXPECT_FALSE(IsFolded("MatMul", two, pb::DOUBLE));
  EXPECT_FALSE(IsFolded("MatMul", two, pb::INT64));
  EXPECT_TRUE(IsFolded("Add", long_ones, pb::DOUBLE));
  EXPECT_TRUE(IsFolded("Mod", long_ones, pb::INT64));
  EXPECT_FALSE(IsFolded("Mod", long_ones, pb::DOUBLE, [](auto& node) { Builder::Int(node, "fmod", 1); }));
}

TEST(InferShapes, ReductionsWhoseAxesAreData) {
  const auto reduced = [](int64_t keep) {
    Builder b;
    b.Input("x", {"n", 3, 4}).Input("axes", {2}, pb::INT64).Output("y");
    Builder::Int(b.Node("ReduceSum", {"x", "axes"}, {"y"}), "keepdims", keep);
    const auto model = b.Read();
    return model.ok() ? model->signature.outputs[0].ToString() : model.status().message();
  };
  EXPECT_EQ(reduced(1), "y: f32[_, _, _]");
  EXPECT_EQ(reduced(0), "y: f32[_]");
}

TEST(InferShapes, TransposedConvolutionsKeepSymbols) {
  EXPECT_EQ(One("ConvTranspose", {{"n", 4, "h", "w"}}).Weight({4, 8, 2, 2}).Ints("strides", {2, 2}).Result(), "f32[n, 8, 2*h, 2*w]");
  EXPECT_EQ(One("ConvTranspose", {{"n", 4, "h"}}).Weight({4, 8, 3}).Ints("output_padding", {1}).Ints("pads", {1, 1}).Result(),
            "f32[n, 8, h + 1]");
  EXPECT_EQ(One("ConvTranspose", {{"n", 4, 5}}).Weight({4, 3, 3}).Int("group", 2).Ints("output_shape", {9}).Result(), "f32[n, 6, 9]");
  EXPECT_NE(One("ConvTranspose", {{"n", 4, 5}}).Weight({3, 8, 3}).Result().find("for weights"), std::string::npos);
}

TEST(InferShapes, EinsumFollowsItsEquation) {
  const auto einsum = [](const std::string& equation, const Builder::Extents& a, const Builder::Extents& b) {
    One one("Einsum", {a, b});
    Builder::String(*one.node, "equation", equation);
    return one.Result();
  };
  EXPECT_EQ(einsum("bij, bjk -> bik", {"n", "t", 8}, {"n", 8, 5}), "f32[n, t, 5]");
  EXPECT_EQ(einsum("...ij,...jk", {"n", 2, 3, 4}, {"n", 2, 4, 5}), "f32[n, 2, 3, 5]");
  EXPECT_EQ(einsum("ii,j->j", {3, 3}, {"n"}), "f32[n]");
  for (const char* wrong : {"ij", "ij,jk,kl", "ij,jk->il", "ij,jk->ii", "i.j,jk", "......,jk", "ij,jkl", "ij,jk->i1", ""}) {
    EXPECT_NE(einsum(wrong, {"n", 4}, {4, 5}).find("equation"), std::string::npos) << wrong;
  }
  EXPECT_NE(einsum("ij,jk", {2, 3}, {4, 5}).find("has another extent"), std::string::npos);
}

TEST(InferShapes, RecurrentLayersSayWhatDoesNotFit) {
  const auto layer = [](int64_t width, int64_t hidden) {
    return One("LSTM", {{"t", "n", 5}}).Weight({1, width, 5}).Weight({1, 24, 6}).Int("hidden_size", hidden).Result();
  };
  EXPECT_EQ(layer(24, 6), "f32[t, 1, n, 6]");
  EXPECT_NE(layer(23, 6).find("wanted f32[1, 24, 5]"), std::string::npos);
  EXPECT_NE(layer(24, 7).find("hidden_size 7"), std::string::npos);
}

TEST(InferShapes, HugeNumbersDoNotOverflow) {
  EXPECT_NE(One("Pad", {{"n"}}).Longs({INT64_MAX, INT64_MAX}).Result().find("a pad out of range"), std::string::npos);
  EXPECT_NE(One("MaxPool", {{1, 1, 4}}).Ints("kernel_shape", {INT64_MAX}).Result().find("kernel_shape"), std::string::npos);
  EXPECT_NE(One("Conv", {{1, 1, 4}}).Weight({1, 1, 3}).Ints("strides", {INT64_MIN}).Result().find("strides"), std::string::npos);
  EXPECT_NE(One("Conv", {{1, 1, 4}}).Weight({1, 1, 3}).Ints("dilations", {1 << 30}).Result().find("a window larger than any tensor"),
            std::string::npos);
  EXPECT_EQ(One("Slice", {{4}}).Longs({INT64_MIN}).Longs({INT64_MIN}).Longs({0}).Longs({INT64_MIN}).Result(), "f32[1]");
}

// The shapes that inference computes must be those that the operators have in reality.
TEST(InferShapes, AgreesWithOnnxRuntimeOnEveryCase) {
  for (const char* file : {"op_cases.bin", "net_cases.bin"}) {
    for (const testing::Case& each : testing::CaseReader(file).All()) {
      SCOPED_TRACE(each.name);
      const auto model = ReadModelBytes(each.model, each.name);
      ASSERT_TRUE(model.ok()) << model.status().message();
      std::vector<Port> inputs = model->signature.inputs;
      for (size_t i = 0; i < inputs.size(); ++i) inputs[i].dim.assign(each.in[i].dim.begin(), each.in[i].dim.end());
      const auto known = InferShapes(model->graph, inputs, each.name);
      ASSERT_TRUE(known.ok()) << known.status().message();
      for (size_t i = 0; i < each.out.size(); ++i) {
        const Known& output = (*known)[static_cast<size_t>(model->graph.outputs[i])];
        EXPECT_EQ(output.dtype, each.out[i].dtype);
        EXPECT_EQ(output.dim, Shape(each.out[i].dim.begin(), each.out[i].dim.end()));
      }
    }
  }
}

}  // namespace
}  // namespace wf::onnx
