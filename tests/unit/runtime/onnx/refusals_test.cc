// Whatever is wrong with a node, or not supported: what is told names the operator, its set with the version, and the node.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

using testing::Builder;

struct Row {
  std::string domain, name;
  int min_in, max_in;
};
const Row kRows[] = {
#define OPERATOR(domain, name, since, min_in, max_in, max_out, types, attributes, infer, lower) {#domain, #name, min_in, max_in},
#include "runtime/onnx/operators.def"
#undef OPERATOR
};

struct Set {
  std::string in_rows, domain;
  int version;
};
const Set kSets[] = {{"", "ai.onnx", 21}, {"Ml", "ai.onnx.ml", 4}, {"Ms", "com.microsoft", 1}, {"Train", "ai.onnx.preview.training", 1}};

const Set& SetOf(const Row& row) {
  return *std::find_if(std::begin(kSets), std::end(kSets), [&](const Set& each) { return each.in_rows == row.domain; });
}

// A model of one node whose inputs are all alike.
struct Only : Builder {
  Only(const Row& row, int inputs, int type, size_t rank) : Builder(kSets[0].version) {
    const Set& set = SetOf(row);
    std::vector<std::string> in;
    for (int i = 0; i < inputs; ++i) {
      in.push_back("i" + std::to_string(i));
      Input(in.back(), Extents(rank, Extent(3)), type);
    }
    node = &Node(row.name, in, {"y"});
    Output("y");
    if (row.domain.empty()) return;
    node->set_domain(set.domain);
    model().add_opset_import()->set_domain(set.domain);
    model().mutable_opset_import(1)->set_version(set.version);
  }
  pb::NodeProto* node;
};

bool NamesAll(const Row& row, const std::string& told) {
  const Set& set = SetOf(row);
  const auto has = [&](const std::string& part) { return told.find(part) != std::string::npos; };
  const std::string version = "opset " + std::to_string(set.version);
  const bool as_node = has("node `n` (" + row.name + ", " + set.domain + ' ' + version);
  const std::string domain = row.domain.empty() ? set.domain : '`' + set.domain + '`';
  return as_node || has("node `n` (" + row.name + "): operator `" + row.name + "` of " + domain + ", " + version);
}

// What the model as a whole takes and gives has no node.
bool IsOfThePorts(const std::string& told) {
  constexpr const char* kPorts[] = {"`x.onnx`: output `y` is ", "`x.onnx`: the outputs are "};
  return std::any_of(std::begin(kPorts), std::end(kPorts), [&](const char* each) { return told.starts_with(each); });
}

TEST(Refusals, NameTheOperatorItsSetAndTheNode) {
  size_t refused = 0;
  const auto check = [&](const Row& row, Only& model) {
    const std::string told = model.Error();
    if (told.empty() || IsOfThePorts(told)) return;
    ++refused;
    EXPECT_TRUE(NamesAll(row, told)) << told;
  };
  for (const Row& row : kRows) {
    for (const int type : {pb::FLOAT, pb::INT64, pb::BOOL, pb::STRING, pb::UINT8}) {
      for (const size_t rank : {0, 1, 3, 5}) {
        for (const int inputs : {row.min_in, std::min(row.max_in, 12)}) {
          Only model(row, inputs, type, rank);
          check(row, model);
        }
      }
    }
    Only more(row, std::min(row.max_in, 100) + 1, pb::FLOAT, 2);
    if (row.max_in < 100) check(row, more);
    Only strange(row, row.min_in, pb::FLOAT, 2);
    Builder::Int(*strange.node, "strange", 1);
    check(row, strange);
    Only nameless(row, row.min_in, pb::FLOAT, 2);
    nameless.node->set_output(0, "");
    check(row, nameless);
    Only unread(row, row.min_in, pb::FLOAT, 2);
    unread.node->add_input("nothing");
    check(row, unread);
  }
  EXPECT_GT(refused, 3000);
}

TEST(Refusals, NameWhatTheFileHasWhereItIsWrittenAsOthers) {
  Only gemm({"Ms", "FusedGemm", 2, 3}, 2, pb::BOOL, 2);
  EXPECT_EQ(gemm.Error(), "`x.onnx`: node `n` (FusedGemm, com.microsoft opset 1, as Gemm): elements of type bool are not supported here");
  Builder old(5);
  old.Input("x", {2}, pb::BOOL).Output("y");
  old.Node("Relu", {"x"}, {"y"}, "");
  EXPECT_EQ(old.Error(), "`x.onnx`: node 0 (Relu, ai.onnx opset 5): elements of type bool are not supported here");
}

TEST(Refusals, NameTheSetOfAFunction) {
  Builder b;
  b.Input("x", {2}).Output("y");
  pb::FunctionProto& function = *b.model().add_functions();
  function.set_name("F");
  function.set_domain("own");
  function.add_opset_import()->set_domain("");
  function.mutable_opset_import(0)->set_version(15);
  function.add_input("a");
  function.add_output("b");
  pb::NodeProto& inner = *function.add_node();
  inner.set_op_type("Not");
  inner.add_input("a");
  inner.add_output("b");
  b.model().add_opset_import()->set_domain("own");
  b.model().mutable_opset_import(1)->set_version(3);
  pb::NodeProto& call = b.Node("F", {"x"}, {"y"});
  call.set_domain("own");
  EXPECT_EQ(b.Error(), "`x.onnx`: node `n/Not` (Not, ai.onnx opset 15): elements of type f32 are not supported here");
  call.add_input("x");
  EXPECT_EQ(b.Error(), "`x.onnx`: node `n` (function `F`, own opset 3): 2 inputs and 1 outputs, the function has 1 and 1");
}

TEST(Refusals, AnAttributeOfWhichOneValueIsTaken) {
  for (const int64_t value : {0, 1}) {
    Only bits({"Ms", "MatMulNBits", 3, 6}, 3, pb::FLOAT, 2);
    Builder::Int(*bits.node, "weight_prepacked", value);
    const bool refused = bits.Error().find("this value of attribute `weight_prepacked` is not supported") != std::string::npos;
    EXPECT_EQ(refused, value != 0) << bits.Error();
  }
  for (const char* value : {"NONE", "PER_TENSOR"}) {
    Only heads({"Ms", "GroupQueryAttention", 1, 12}, 7, pb::FLOAT, 3);
    Builder::String(*heads.node, "k_quant_type", value);
    const bool refused = heads.Error().find("this value of attribute `k_quant_type` is not supported") != std::string::npos;
    EXPECT_EQ(refused, std::string(value) != "NONE") << heads.Error();
  }
  Only layer({"", "LSTM", 3, 8}, 3, pb::FLOAT, 3);
  Builder::Int(*layer.node, "#in_bytes", 1);
  EXPECT_EQ(layer.Error(), "`x.onnx`: node `n` (LSTM, ai.onnx opset 21): attribute `#in_bytes` is not supported");
}

}  // namespace
}  // namespace wf::onnx
