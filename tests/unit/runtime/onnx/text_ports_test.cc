#include "runtime/onnx/text_ports.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

using testing::Builder;
using Strings = std::vector<std::string>;

struct Chosen {
  Model model;
  base::Result<BatchAxes> axes;

  Chosen(Builder& builder, TextPorts wanted, const Signature* written = nullptr)
      : model(*builder.Read()), axes(ChoosePorts(model, wanted, written)) {}
  Strings outputs() const {
    Strings outputs;
    for (const Port& port : model.signature.outputs) outputs.push_back(port.ToString());
    return outputs;
  }
};

// A label and a list of words for each row, words in two axes, and a number.
Builder Texts() {
  Builder b(20);
  b.Input("x", {"n"}).Input("p", {"n", 2}).Input("q", {"n", 2, 2});
  b.Output("label").Output("list").Output("deep").Output("z");
  const auto to_text = [&](const char* from, const char* to) { Builder::Int(b.Node("Cast", {from}, {to}), "to", pb::STRING); };
  to_text("x", "label");
  to_text("p", "list");
  to_text("q", "deep");
  b.Node("Relu", {"x"}, {"z"});
  return b;
}

TEST(TextPorts, ACallHasStringsAndListsOfThem) {
  Builder b = Texts();
  const Chosen chosen(b, TextPorts::kOfCalls);
  ASSERT_TRUE(chosen.axes.ok()) << chosen.axes.status().message();
  EXPECT_TRUE(chosen.axes->batched);
  EXPECT_EQ(chosen.outputs(), (Strings{"label: string[n]", "list: string[n, 2]", "z: f32[n]"}));
  EXPECT_EQ(chosen.model.left_out, Strings{"deep"});
  EXPECT_EQ(chosen.model.graph.outputs.size(), 3u);
  EXPECT_EQ(chosen.model.signature.computed.size(), 3u);
}

TEST(TextPorts, WithoutAnAxisOfSamplesAListHasOneAxis) {
  Builder b = Texts();
  b.Output("count");
  b.Node("Size", {"x"}, {"count"});  // of all rows: axis 0 counts no samples
  const Chosen chosen(b, TextPorts::kOfCalls);
  ASSERT_TRUE(chosen.axes.ok()) << chosen.axes.status().message();
  EXPECT_FALSE(chosen.axes->batched);
  EXPECT_EQ(chosen.outputs(), (Strings{"label: string[n]", "z: f32[n]", "count: i64"}));
  EXPECT_EQ(chosen.model.left_out, (Strings{"deep", "list"}));
  EXPECT_EQ(chosen.axes->axis.size(), 3u + 3u);
}

// What calls cannot have does not decide what axis 0 counts.
TEST(TextPorts, AnOutputThatIsLeftOutTakesNoBatchesAway) {
  Builder b = Texts();
  b.Output("turned");
  b.Node("Transpose", {"p"}, {"t"});
  Builder::Int(b.Node("Cast", {"t"}, {"turned"}), "to", pb::STRING);
  const Chosen chosen(b, TextPorts::kOfCalls);
  ASSERT_TRUE(chosen.axes.ok()) << chosen.axes.status().message();
  EXPECT_TRUE(chosen.axes->batched) << chosen.axes->reason;
  EXPECT_EQ(chosen.outputs(), (Strings{"label: string[n]", "list: string[n, 2]", "z: f32[n]"}));
  EXPECT_EQ(chosen.model.left_out, (Strings{"deep", "turned"}));
}

TEST(TextPorts, AllOrNoneWhereTheyAreAskedFor) {
  Builder b = Texts();
  EXPECT_EQ(Chosen(b, TextPorts::kAll).outputs().size(), 4u);
  EXPECT_EQ(Chosen(b, TextPorts::kNone).outputs(), Strings{"z: f32[n]"});
}

TEST(TextPorts, AWrittenSignatureNeedNotNameThem) {
  Builder b = Texts();
  Signature written = b.Read()->signature;
  written.outputs.erase(written.outputs.begin(), written.outputs.begin() + 3);
  for (Port* port : {&written.inputs[0], &written.inputs[1], &written.inputs[2], &written.outputs[0]}) port->dim[0] = Dim::Symbol("batch");
  const Chosen chosen(b, TextPorts::kOfCalls, &written);
  ASSERT_TRUE(chosen.axes.ok()) << chosen.axes.status().message();
  EXPECT_EQ(chosen.outputs(), Strings{"z: f32[n]"});
}

TEST(TextPorts, WhereNothingElseIsLeftTheModelIsRefused) {
  Builder b(20);
  b.Input("q", {"n", 2, 2}).Output("deep");
  Builder::Int(b.Node("Cast", {"q"}, {"deep"}), "to", pb::STRING);
  EXPECT_EQ(Chosen(b, TextPorts::kOfCalls).axes.status().message(),
            "its outputs are strings, of which a call can have one or a list: `deep: string[n, 2, 2]`");
}

TEST(TextPorts, InputsWithMoreAxesAreRefused) {
  Builder b(20);
  b.Input("s", {"n", 2, 2}, pb::STRING).Output("y");
  Builder::Int(b.Node("Cast", {"s"}, {"y"}), "to", pb::FLOAT);
  EXPECT_EQ(
      Chosen(b, TextPorts::kOfCalls).axes.status().message(),
      "input `s: string[n, 2, 2]` takes strings with 2 axes a call, which can give one or a list; the file needs an input of one axis, "
      "which a `Reshape` in it makes what its nodes take");
  EXPECT_EQ(Chosen(b, TextPorts::kNone).axes.status().message(), "input `s` takes strings");
  EXPECT_TRUE(Chosen(b, TextPorts::kAll).axes.ok());
}

}  // namespace
}  // namespace wf::onnx
