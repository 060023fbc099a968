#include "runtime/onnx/reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/unit/runtime/onnx/builder.h"
#include "tests/unit/runtime/onnx/case_file.h"

namespace wf::onnx {
namespace {

using testing::Builder;
using testing::DataPath;
using testing::ReadFile;

Builder Relu() {
  Builder b;
  b.Input("x", {"n", 4}).Output("y", {"n", 4});
  b.Node("Relu", {"x"}, {"y"}, "r1");
  return b;
}

std::string ErrorOf(const std::string& bytes) {
  const auto model = ReadModelBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x.onnx");
  return model.ok() ? "" : model.status().message();
}

TEST(ReadModel, GivesSignatureAndGraph) {
  const auto model = ReadModel(DataPath("cnn.onnx"));
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->signature.inputs.size(), 1u);
  EXPECT_EQ(model->signature.inputs[0].ToString(), "image: f32[n, 1, 28, 28]");
  EXPECT_EQ(model->signature.outputs[0].ToString(), "logits: f32[n, 10]");
  EXPECT_EQ(model->opset, 17);
  EXPECT_EQ(model->graph.nodes.size(), 11u);
  EXPECT_EQ(model->graph.nodes[0].Describe(), "node `c1_node` (Conv, ai.onnx opset 17)");
}

TEST(ReadModel, LeavesLargeWeightsInTheFile) {
  const auto model = ReadModel(DataPath("cnn.onnx"));
  ASSERT_TRUE(model.ok());
  int in_file = 0;
  for (const auto& each : model->graph.weights) {
    const Weight& weight = *each;
    in_file += weight.held ? 0 : 1;
    EXPECT_EQ(weight.held, weight.size_bytes() <= 1024) << weight.name;
    std::vector<uint8_t> elements(static_cast<size_t>(weight.size_bytes()));
    ASSERT_TRUE(ReadElements(*model, weight, elements).ok());
    float first;
    std::memcpy(&first, elements.data(), 4);
    EXPECT_LT(std::abs(first), 10) << weight.name;
  }
  EXPECT_EQ(in_file, 2);
}

TEST(ReadModel, DecodesElementsThatAreWrittenAsNumbers) {
  Builder b;
  b.Input("x", {1}, pb::INT64).Output("y");
  pb::TensorProto& tensor = b.Tensor("w", {1000}, pb::INT64);
  for (int64_t i = 0; i < 1000; ++i) tensor.add_int64_data(i * i * (i % 2 == 0 ? 1 : -1));
  b.Node("Add", {"x", "w"}, {"y"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const Weight& weight = model->graph.weight(0);
  EXPECT_FALSE(weight.held);
  std::vector<int64_t> elements(1000);
  ASSERT_TRUE(ReadElements(*model, weight, {reinterpret_cast<uint8_t*>(elements.data()), 8000}).ok());
  EXPECT_EQ(elements[30], 900);
  EXPECT_EQ(elements[999], -998001);
}

TEST(ReadModel, NamesTheFileThatIsMissing) {
  EXPECT_EQ(ReadModel("/no/such/model.onnx").status().message(), "`/no/such/model.onnx`: no such file");
  EXPECT_EQ(ReadModel("/no/such/model.onnx").status().code(), base::kNotFound);
  EXPECT_EQ(ReadModel("/tmp").status().message(), "`/tmp`: a folder, not a file");
}

TEST(ReadModel, RefusesWhatIsNoModel) {
  EXPECT_EQ(ErrorOf(""), "`x.onnx`: not an ONNX model: it holds no graph");
  EXPECT_EQ(ErrorOf("hello, this is text"), "`x.onnx`: not an ONNX model: a field of no known kind at byte 2");
  EXPECT_EQ(ErrorOf("\x3a\x7f"
                    "short"),
            "`x.onnx`: not an ONNX model, or cut short: the field at byte 0 takes 127 bytes, 5 are left");
  EXPECT_NE(ErrorOf("\x89PNG\r\n\x1a\n").find("not an ONNX model"), std::string::npos);
  EXPECT_NE(ErrorOf(std::string(64, '\0')).find("not an ONNX model: a field number out of range at byte 0"), std::string::npos);
}

TEST(ReadModel, RefusesEveryPrefixOfAModel) {
  const std::string bytes = Relu().Bytes();
  ASSERT_EQ(ErrorOf(bytes), "");
  for (size_t length = 0; length < bytes.size(); ++length) EXPECT_NE(ErrorOf(bytes.substr(0, length)), "") << length;
}

TEST(ReadModel, NamesAnUnknownOperatorWithOpsetAndNode) {
  Builder b;
  b.Input("x", {4}).Output("y");
  b.Node("Frobnicate", {"x"}, {"y"}, "f7");
  EXPECT_EQ(b.Error(), "`x.onnx`: node `f7` (Frobnicate): operator `Frobnicate` of ai.onnx, opset 17, is not supported");
  b.graph.mutable_node(0)->set_domain("com.example");
  EXPECT_EQ(
      b.Error(),
      "`x.onnx`: node `f7` (Frobnicate): operator `Frobnicate` of `com.example`, of which the model imports no opset, is not supported");
  auto& set = *b.model().add_opset_import();
  set.set_domain("com.example");
  set.set_version(3);
  EXPECT_EQ(b.Error(), "`x.onnx`: node `f7` (Frobnicate): operator `Frobnicate` of `com.example`, opset 3, is not supported");
  b.graph.mutable_node(0)->clear_name();
  EXPECT_EQ(b.Error(), "`x.onnx`: node 0 (Frobnicate): operator `Frobnicate` of `com.example`, opset 3, is not supported");
}

TEST(ReadModel, SaysWhatAModelLacks) {
  Builder b;
  b.Input("x", {4});
  b.Node("Relu", {"x"}, {"y"}, "r");
  EXPECT_EQ(b.Error(), "`x.onnx`: the model has no output");
  b.model().clear_opset_import();
  EXPECT_EQ(b.Error(), "`x.onnx`: the model imports no operator set of ai.onnx");
}

TEST(ReadModel, NamesAllUnknownOperatorsAtOnce) {
  Builder b;
  b.Input("x", {4}).Output("y");
  b.Node("Foo", {"x"}, {"a"}, "f1");
  b.Node("Relu", {"a"}, {"b"}, "f2");
  b.Node("Foo", {"b"}, {"c"}, "f3");
  b.Node("Bar", {"c"}, {"d"}, "f4");
  b.Node("Baz", {"d"}, {"y"}, "f5");
  EXPECT_EQ(b.Error(), "`x.onnx`: node `f1` (Foo): operator `Foo` of ai.onnx, opset 17, is not supported; nor are `Bar`, `Baz`");
}

TEST(ReadModel, KnowsAnOperatorInOtherLetterCase) {
  Builder b;
  b.Input("x", {4, 4}).Output("y");
  b.Node("Matmul", {"x", "x"}, {"y"}, "m");
  EXPECT_EQ(b.Error(), "`x.onnx`: node `m` (Matmul): operator `Matmul` of ai.onnx, opset 17, is not supported; did you mean `MatMul`?");
}

TEST(ReadModel, TellsACircleFromNodesOutOfOrder) {
  Builder unsorted;
  unsorted.Input("x", {4}).Output("y");
  unsorted.Node("Relu", {"a"}, {"y"}, "second");
  unsorted.Node("Relu", {"x"}, {"a"}, "first");
  EXPECT_EQ(unsorted.Error(),
            "`x.onnx`: node `second` (Relu, ai.onnx opset 17): it reads `a`, which node `first` below writes: the nodes are not in the "
            "order of their data");
  Builder circle;
  circle.Input("x", {4}).Output("y");
  circle.Node("Add", {"x", "b"}, {"a"}, "r1");
  circle.Node("Relu", {"a"}, {"b"}, "");
  circle.Node("Relu", {"b"}, {"y"}, "r3");
  EXPECT_EQ(
      circle.Error(),
      "`x.onnx`: node `r1` (Add, ai.onnx opset 17): it reads `b`, which node 1 computes from what this node writes: the graph runs in "
      "a circle");
  Builder own;
  own.Input("x", {4}).Output("y");
  own.Node("Add", {"x", "y"}, {"y"}, "r1");
  EXPECT_EQ(own.Error(), "`x.onnx`: node `r1` (Add, ai.onnx opset 17): it reads `y`, which it writes itself");
}

TEST(ReadModel, RefusesOperatorSetsItDoesNotKnow) {
  Builder old(0), fresh(99);
  EXPECT_EQ(old.Error(), "`x.onnx`: operator set 0 of ai.onnx is not supported; 1 to 23 are");
  EXPECT_EQ(fresh.Error(), "`x.onnx`: operator set 99 of ai.onnx is not supported; 1 to 23 are");
}

TEST(ReadModel, ChecksEdges) {
  Builder b = Relu();
  b.graph.mutable_node(0)->set_input(0, "z");
  EXPECT_EQ(
      b.Error(),
      "`x.onnx`: node `r1` (Relu, ai.onnx opset 17): it reads `z`, which neither an input, an initialiser nor an earlier node provides");
  Builder twice = Relu();
  twice.Node("Relu", {"x"}, {"y"}, "r2");
  EXPECT_EQ(twice.Error(), "`x.onnx`: node `r2` (Relu, ai.onnx opset 17): it writes `y`, which exists already");
  Builder none = Relu();
  none.graph.mutable_output(0)->set_name("q");
  EXPECT_EQ(none.Error(), "`x.onnx`: output `q` is written by no node");
  Builder arity = Relu();
  arity.graph.mutable_node(0)->add_input("x");
  EXPECT_EQ(arity.Error(), "`x.onnx`: node `r1` (Relu, ai.onnx opset 17): 2 inputs, wanted 1");
  Builder few = Relu();
  few.graph.mutable_node(0)->set_op_type("Add");
  EXPECT_EQ(few.Error(), "`x.onnx`: node `r1` (Add, ai.onnx opset 17): 1 input, wanted 2");
}

TEST(ReadModel, AFirstOutputThatNobodyReadsNeedsNoName) {
  for (const char* op : {"Split", "TopK", "Softplus"}) {
    const bool has_other = op != std::string("Softplus");
    Builder b;
    b.Input("x", {4}).Output(has_other ? "second" : "y");
    b.Longs("two", {2});
    auto& node = b.Node(op, {"x"}, has_other ? std::vector<std::string>{"", "second"} : std::vector<std::string>{""}, "at");
    if (op == std::string("TopK")) node.add_input("two");
    if (!has_other) b.Node("Relu", {"x"}, {"y"});
    const auto model = b.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->signature.outputs[0].ToString(),
              has_other ? (op == std::string("TopK") ? "second: i64[2]" : "second: f32[2]") : "y: f32[4]");
  }
}

TEST(ReadModel, RefusesAttributesItDoesNotUnderstand) {
  Builder b = Relu();
  Builder::Int(*b.graph.mutable_node(0), "turbo", 1);
  EXPECT_EQ(b.Error(), "`x.onnx`: node `r1` (Relu, ai.onnx opset 17): attribute `turbo` is not supported");
  Builder kind;
  kind.Input("x", {4, 4}).Output("y");
  Builder::Int(kind.Node("Transpose", {"x"}, {"y"}), "perm", 1);
  EXPECT_EQ(kind.Error(), "`x.onnx`: node `n` (Transpose, ai.onnx opset 17): attribute `perm` has another type than the operator's");
}

TEST(ReadModel, RefusesWeightsWhoseElementsDoNotFitTheirShape) {
  const auto error = [](int64_t extent, size_t count) {
    Builder b;
    b.Input("x", {4}).Output("y");
    b.Floats("w", {extent}, count);
    b.Node("Add", {"x", "w"}, {"y"});
    return b.Error();
  };
  EXPECT_EQ(error(4, 4), "");
  EXPECT_EQ(error(4, 3), "`x.onnx`: initialiser `w`: 12 bytes of elements where its shape takes 16");
  EXPECT_EQ(error(4000, 3999), "`x.onnx`: initialiser `w`: 15996 bytes of elements where its shape takes 16000");
  EXPECT_EQ(error(-4, 4), "`x.onnx`: initialiser `w`: a negative extent, -4");
  EXPECT_EQ(error(INT64_MAX / 2, 4), "`x.onnx`: initialiser `w`: more elements than fit into memory");
}

TEST(ReadModel, RefusesElementTypesItDoesNotHave) {
  Builder b;
  b.Input("x", {4}, pb::FLOAT8E4M3FN).Output("y");
  b.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(b.Error(), "`x.onnx`: input `x` has elements of type FLOAT8E4M3FN, which are not supported");
  Builder weight = Relu();
  weight.Tensor("w", {2}, pb::FLOAT8E8M0).set_raw_data("ab");
  EXPECT_EQ(weight.Error(), "`x.onnx`: initialiser `w`: elements of type FLOAT8E8M0 are not supported");
}

// In memory each element has a place of its own, however few bits it has in the file.
TEST(ReadModel, ElementsOf4BitsLieTwoInAByteOfTheFile) {
  for (const bool as_numbers : {false, true}) {
    for (const int64_t count : {int64_t{5}, int64_t{4001}}) {  // the longer ones are left in the file
      Builder b(21);
      b.Input("x", {static_cast<int>(count)}).Output("y");
      pb::TensorProto& tensor = b.Tensor("w", {count}, pb::INT4);
      std::string packed(static_cast<size_t>(count / 2 + 1), '\x71');
      if (as_numbers) {
        for (const char each : packed) tensor.add_int32_data(static_cast<uint8_t>(each));
      } else {
        tensor.set_raw_data(packed);
      }
      Builder::Int(b.Node("Cast", {"w"}, {"c"}), "to", pb::FLOAT);
      b.Node("Add", {"x", "c"}, {"y"});
      const auto model = b.Read();
      ASSERT_TRUE(model.ok()) << model.status().message();
      const Weight& weight = model->graph.weight(0);
      EXPECT_EQ(weight.held, count == 5);
      std::vector<uint8_t> elements(static_cast<size_t>(count));
      ASSERT_TRUE(ReadElements(*model, weight, elements).ok());
      for (size_t i = 0; i < elements.size(); ++i) ASSERT_EQ(elements[i], i % 2 == 0 ? 1 : 7) << i;
    }
  }
  Builder few = Relu();
  few.Tensor("w", {3}, pb::UINT4).set_raw_data("a");
  EXPECT_EQ(few.Error(), "`x.onnx`: initialiser `w`: 1 bytes of elements where its shape takes 2");
}

TEST(ReadModel, WhatIsOnlyStoredIsNeitherComputedWithNorGivenOut) {
  Builder b(21);
  b.Input("x", {2}).Output("y");
  b.Tensor("w", {2}, pb::FLOAT8E5M2).set_raw_data("ab");
  b.Node("Add", {"x", "w"}, {"y"});
  EXPECT_EQ(b.Error(), "`x.onnx`: node `n` (Add, ai.onnx opset 21): elements of type f8e5m2 are not supported here");
  Builder out(21);
  out.Input("x", {2}).Output("y");
  out.graph.mutable_output(0)->clear_type();
  Builder::Int(out.Node("Cast", {"x"}, {"y"}), "to", pb::INT4);
  EXPECT_EQ(out.Error(), "`x.onnx`: output `y` has elements of type i4, which are not supported");
}

TEST(ReadModel, AnOutputMustBeWhatTheNodesCompute) {
  Builder b;
  b.Input("x", {"n", 4}).Output("y", {"n", 4}, pb::DOUBLE);
  b.Node("Relu", {"x"}, {"y"});
  EXPECT_EQ(b.Error(), "`x.onnx`: output `y: f64[n, 4]` is declared, but node `n` (Relu, ai.onnx opset 17) computes f32[n, 4]");
}

// As in ONNX Runtime: exporters' own inference is at times wrong, as of a NonZero of a scalar.
TEST(ReadModel, ADeclaredShapeOfAnOutputThatIsNotSoIsNoted) {
  for (const Builder::Extents& declared : {Builder::Extents{"n", 5}, Builder::Extents{"n", 4, 1}}) {
    Builder b;
    b.Input("x", {"n", 4}).Output("y", declared);
    b.Node("Relu", {"x"}, {"y"});
    const auto model = b.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->signature.outputs[0].ToString(), "y: f32[n, 4]");
    ASSERT_EQ(model->notes.size(), 1u);
    EXPECT_EQ(model->notes[0], declared.size() == 2
                                   ? "output `y: f32[n, 5]` is declared, but node `n` (Relu, ai.onnx opset 17) computes f32[n, 4]"
                                   : "output `y: f32[n, 4, 1]` is declared, but node `n` (Relu, ai.onnx opset 17) computes f32[n, 4]");
  }
}

// As LightGBM's classifiers have it, whose label is declared to be one.
TEST(ReadModel, AnOutputOfAsManyRowsAsAnInputWithoutANameHasThemWhateverIsDeclared) {
  for (const Builder::Extents& declared : {Builder::Extents{1}, Builder::Extents{"rows"}, Builder::Extents{""}}) {
    Builder b;
    b.Input("x", {"", 4}).Output("y", declared, pb::INT64);
    pb::NodeProto& best = b.Node("ArgMax", {"x"}, {"y"});
    Builder::Int(best, "axis", 1);
    Builder::Int(best, "keepdims", 0);
    const auto model = b.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->signature.outputs[0].dim[0], model->signature.inputs[0].dim[0]);
    EXPECT_EQ(model->notes.size(), declared[0].value == 1 ? 1u : 0u);
  }
}

TEST(ReadModel, NamesFromTheFileAreMadePrintable) {
  Builder b;
  b.Input("x", {4}).Output("y");
  b.Node("Bad\x01\xff", {"x"}, {"y"}, "a\nb");
  EXPECT_EQ(b.Error(), "`x.onnx`: node `a?b` (Bad?\?): operator `Bad?\?` of ai.onnx, opset 17, is not supported");
  Builder port;
  port.Input("x\n", {4}).Output("y");
  EXPECT_EQ(port.Error(), "`x.onnx`: input with a name that is not printable UTF-8, `x?`");
  Builder unnamed;
  unnamed.Input("", {4}).Output("y");
  EXPECT_EQ(unnamed.Error(), "`x.onnx`: input with an empty name");
}

// f32[2, 3] with 5 and 7 in it.
pb::SparseTensorProto Sparse(const std::vector<int64_t>& indices, bool is_flat) {
  pb::SparseTensorProto sparse;
  sparse.mutable_values()->set_name("w");
  sparse.mutable_values()->set_data_type(pb::FLOAT);
  sparse.mutable_values()->add_dims(2);
  Builder::SetFloats(*sparse.mutable_values(), {5, 7});
  sparse.mutable_indices()->set_data_type(pb::INT64);
  sparse.mutable_indices()->add_dims(2);
  if (!is_flat) sparse.mutable_indices()->add_dims(2);
  for (const int64_t index : indices) sparse.mutable_indices()->add_int64_data(index);
  for (const int64_t extent : {2, 3}) sparse.add_dims(extent);
  return sparse;
}

TEST(ReadModel, WhatIsStoredSparseIsAWeight) {
  for (const bool is_flat : {true, false}) {
    const pb::SparseTensorProto sparse = Sparse(is_flat ? std::vector<int64_t>{1, 5} : std::vector<int64_t>{0, 1, 1, 2}, is_flat);
    for (const bool is_node : {true, false}) {
      Builder builder;
      builder.Input("x", {2, 3}).Output("y");
      if (is_node) {
        pb::AttributeProto& value = *builder.Node("Constant", {}, {"w"}).add_attribute();
        value.set_name("sparse_value");
        value.set_type(pb::AttributeProto::SPARSE_TENSOR);
        *value.mutable_sparse_tensor() = sparse;
      } else {
        *builder.graph.add_sparse_initializer() = sparse;
        builder.Input("w", {2, 3});
      }
      builder.Node("Add", {"x", "w"}, {"y"});
      const auto model = builder.Read();
      ASSERT_TRUE(model.ok()) << model.status().message();
      EXPECT_EQ(model->signature.inputs.size(), 1u);
      const Weight& weight = model->graph.weight(model->graph.values[static_cast<size_t>(model->graph.nodes[0].in[1])].weight);
      std::vector<float> elements(6);
      ASSERT_TRUE(ReadElements(*model, weight, {reinterpret_cast<uint8_t*>(elements.data()), 24}).ok());
      EXPECT_EQ(elements, (std::vector<float>{0, 5, 0, 0, 0, 7}));
    }
  }
}

TEST(ReadModel, RefusesSparseTensorsThatAreNone) {
  const auto told = [](const pb::SparseTensorProto& sparse) {
    Builder builder;
    builder.Input("x", {2, 3}).Output("y");
    *builder.graph.add_sparse_initializer() = sparse;
    builder.Node("Add", {"x", "w"}, {"y"});
    const std::string error = builder.Error(), prefix = "`x.onnx`: sparse initialiser `w`: ";
    return error.starts_with(prefix) ? error.substr(prefix.size()) : error;
  };
  EXPECT_EQ(told(Sparse({1, 6}, true)), "sparse element 1 lies outside of the tensor");
  EXPECT_EQ(told(Sparse({0, 3, 1, 0}, false)), "sparse element 0 lies outside of the tensor");
  pb::SparseTensorProto other = Sparse({1, 2}, true);
  other.mutable_indices()->set_data_type(pb::INT32);
  other.mutable_indices()->clear_int64_data();
  for (const int index : {1, 2}) other.mutable_indices()->add_int32_data(index);
  EXPECT_EQ(told(other), "2 sparse elements with other indices than i64[2] or i64[2, 2]");
  pb::SparseTensorProto large = Sparse({1, 2}, true);
  large.set_dims(0, int64_t{1} << 30);
  EXPECT_TRUE(told(large).starts_with("12884901888 bytes of what is stored sparse, 1677")) << told(large);
  large.set_dims(0, 2'000'000);
  EXPECT_TRUE(told(large).starts_with("24000000 bytes of what is stored sparse, 1677")) << told(large);
  large.set_dims(0, 1'000'000);
  EXPECT_TRUE(told(large).find("of what is stored sparse") == std::string::npos) << told(large);
  pb::SparseTensorProto strings = Sparse({1, 2}, true);
  strings.mutable_values()->set_data_type(pb::STRING);
  strings.mutable_values()->clear_raw_data();
  for (const char* text : {"a", "b"}) strings.mutable_values()->add_string_data(text);
  EXPECT_EQ(told(strings), "sparse strings are not supported");
}

TEST(ReadModel, AConstantNodeMayHoldStrings) {
  for (const bool is_list : {true, false}) {
    Builder builder;
    builder.Input("x", {"n"}, pb::STRING).Output("y");
    pb::AttributeProto& value = *builder.Node("Constant", {}, {"w"}).add_attribute();
    value.set_name(is_list ? "value_strings" : "value_string");
    value.set_type(is_list ? pb::AttributeProto::STRINGS : pb::AttributeProto::STRING);
    is_list ? value.add_strings("word") : value.set_s("word");
    builder.Node("Equal", {"x", "w"}, {"y"});
    const auto model = builder.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->signature.outputs[0].ToString(), "y: bool[n]");
    EXPECT_EQ(model->graph.texts, std::vector<std::string>{"word"});
  }
}

TEST(ReadModel, AConstantNodeIsAWeight) {
  Builder b;
  b.Input("x", {2}).Output("y");
  auto& attribute = *b.Node("Constant", {}, {"c"}).add_attribute();
  attribute.set_name("value_floats");
  attribute.set_type(pb::AttributeProto::FLOATS);
  attribute.add_floats(1);
  attribute.add_floats(2);
  b.Node("Add", {"x", "c"}, {"y"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.nodes.size(), 1u);
  EXPECT_EQ(model->graph.weight(0).dim, std::vector<int64_t>{2});
}

}  // namespace
}  // namespace wf::onnx
