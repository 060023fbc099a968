// Strings that runs bring and make: from a file to its results.
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "runtime/kernels/texts.h"
#include "runtime/model/walk.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model {
namespace {

using onnx::pb::INT64;
using onnx::pb::STRING;
using testing::Builder;
using Strings = std::vector<std::string>;

// A model with the input x of strings, of which outputs are told.
struct Read {
  explicit Read(Builder& builder) : bytes(builder.Bytes()) {
    kernels::UseOneThread();
    auto read = onnx::ReadModelBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x.onnx");
    WF_CHECK(read.ok(), read.status().message());
    auto made = Optimise(std::make_shared<onnx::Model>(*std::move(read)));
    WF_CHECK(made.ok(), made.status().message());
    program = *std::move(made);
    texts = std::make_unique<kernels::Texts>(program.graph.texts, int64_t{1} << 16);
    walk = std::make_unique<Walk>(program, PartLimits{int64_t{1} << 20, &budget, texts.get()});
  }
  std::string Run(const Strings& strings, std::vector<int64_t> dim) {
    texts->Clear();
    const auto numbers = kernels::Allocate(static_cast<int64_t>(strings.size()) * 8);
    for (size_t i = 0; i < strings.size(); ++i) reinterpret_cast<int64_t*>(numbers.get())[i] = texts->Number(strings[i]);
    const std::vector<Elements> inputs = {{InfoOf(onnx::kStringType, std::move(dim)), numbers}};
    budget.Begin(INT64_MAX, nullptr);
    return walk->Run(inputs).message();
  }
  Strings Out(size_t i = 0) const {
    const Elements out = walk->outputs()[i];
    Strings strings;
    for (int64_t at = 0; at < out.info.count(); ++at) strings.emplace_back(texts->At(reinterpret_cast<const int64_t*>(out.data.get())[at]));
    return strings;
  }
  std::vector<int64_t> Dim(size_t i = 0) const { return walk->outputs()[i].info.dim; }

  const std::string bytes;
  Program program;
  Budget budget;
  std::unique_ptr<kernels::Texts> texts;
  std::unique_ptr<Walk> walk;
};

onnx::pb::AttributeProto& Words(onnx::pb::NodeProto& node, const std::string& name, const Strings& words) {
  onnx::pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::pb::AttributeProto::STRINGS);
  for (const std::string& each : words) attribute.add_strings(each);
  return attribute;
}

TEST(RunTexts, ANormaliserLeavesWordsOutAndGivesOneEmptyStringForNone) {
  Builder b(20);
  b.Input("x", {"n"}, STRING).Output("y");
  onnx::pb::NodeProto& node = b.Node("StringNormalizer", {"x"}, {"y"});
  Words(node, "stopwords", {"Monday"});
  Builder::String(node, "case_change_action", "UPPER");
  Read read(b);
  EXPECT_EQ(read.Run({"monday", "Tuesday", "MONDAY"}, {3}), "");
  EXPECT_EQ(read.Out(), (Strings{"TUESDAY"}));
  EXPECT_EQ(read.Run({"monday", "monday"}, {2}), "");
  EXPECT_EQ(read.Out(), (Strings{""}));
  EXPECT_EQ(read.Run({}, {0}), "");
  EXPECT_EQ(read.Dim(), (std::vector<int64_t>{1}));
}

TEST(RunTexts, ASplitGivesAsManyAsTheLongestHas) {
  const auto with = [](const std::string& delimiter, int64_t most, const Strings& strings) {
    Builder b(20);
    b.Input("x", {"n"}, STRING).Output("y").Output("n", {"n"}, INT64);
    onnx::pb::NodeProto& node = b.Node("StringSplit", {"x"}, {"y", "n"});
    if (!delimiter.empty()) Builder::String(node, "delimiter", delimiter);
    if (most >= 0) Builder::Int(node, "maxsplit", most);
    Read read(b);
    EXPECT_EQ(read.Run(strings, {static_cast<int64_t>(strings.size())}), "");
    Strings out = read.Out();
    out.push_back(std::to_string(read.Dim()[1]));
    return out;
  };
  EXPECT_EQ(with(".", -1, {"abc.com", "def.net.x"}), (Strings{"abc", "com", "", "def", "net", "x", "3"}));
  EXPECT_EQ(with("", -1, {"  hello   world ", ""}), (Strings{"hello", "world", "", "", "2"}));
  EXPECT_EQ(with("", 1, {" a b  c "}), (Strings{"a", "b  c", "2"}));
  EXPECT_EQ(with("--", 0, {"a--b"}), (Strings{"a--b", "1"}));
  EXPECT_EQ(with("\xff", -1, {"a\xff\xff"}), (Strings{"a", "", "", "3"}));
  EXPECT_EQ(with(".", -1, {}), (Strings{"0"}));
}

// What ONNX Runtime 1.32 gives.
TEST(RunTexts, TokensLieBetweenSeparatorsOrAreWhatAnExpressionFinds) {
  struct Case {
    Strings separators;
    std::string expression;
    int64_t least, mark;
    Strings strings, wanted;
  };
  for (const Case& each :
       {Case{{" "}, "", 1, 0, {"a b  c", "", "d e"}, {"a", "b", "c", "#", "#", "#", "d", "e", "#"}},
        Case{{" "}, "", 1, 1, {"", "a"}, {"\x02", "\x03", "#", "\x02", "a", "\x03"}}, Case{{" "}, "", 1, 1, {"", " "}, {}},
        Case{{",", ";"}, "", 1, 0, {"a,b; c"}, {"a", "b", " c"}}, Case{{"X", "aX"}, "", 1, 0, {"aXXc"}, {"a", "c"}},
        Case{{" "},
             "",
             2,
             0,
             {"\xc3\xa9"
              "ab \xc3\xa9"},
             {"\xc3\xa9"
              "ab"}},
        Case{{""}, "", 1, 0, {"ab", "cd\xc3\xa9"}, {"a", "b", "#", "c", "d", "\xc3\xa9"}}, Case{{"[0-9]*"}, "", 1, 0, {"a1b22"}, {}},
        Case{{"."}, "", 1, 0, {"a.b"}, {}},
        Case{{}, "[0-9]*", 1, 1, {"a1b22", "33"}, {"\x02", "1", "22", "\x03", "\x02", "33", "\x03", "#"}},
        Case{{}, "\\b\\w\\w+\\b", 1, 0, {"the cat sat", " on"}, {"the", "cat", "sat", "on", "#", "#"}}}) {
    Builder b(20);
    b.model().add_opset_import()->set_domain("com.microsoft");
    b.model().mutable_opset_import(1)->set_version(1);
    b.Input("x", {"n"}, STRING).Output("y");
    onnx::pb::NodeProto& node = b.Node("Tokenizer", {"x"}, {"y"});
    node.set_domain("com.microsoft");
    if (!each.separators.empty()) Words(node, "separators", each.separators);
    if (!each.expression.empty()) Builder::String(node, "tokenexp", each.expression);
    Builder::String(node, "pad_value", "#");
    Builder::Int(node, "mincharnum", each.least);
    Builder::Int(node, "mark", each.mark);
    Read read(b);
    EXPECT_EQ(read.Run(each.strings, {static_cast<int64_t>(each.strings.size())}), "");
    EXPECT_EQ(read.Out(), each.wanted) << each.strings[0];
    EXPECT_EQ(read.Dim()[0] * read.Dim()[1], static_cast<int64_t>(each.wanted.size()));
  }
}

TEST(RunTexts, WhatASplitMakesIsBounded) {
  Builder b(20);
  b.Input("x", {"n"}, STRING).Output("y");
  Builder::String(b.Node("StringSplit", {"x"}, {"y", ""}), "delimiter", ",");
  Read read(b);
  EXPECT_EQ(read.Run({std::string(60'000, ','), "a", "b", "c"}, {4}),
            "`x.onnx`: node `n` (StringSplit, ai.onnx opset 20): a tensor string[4, 60001] is above the limit of 1048576 bytes");
}

TEST(RunTexts, StringsGoThroughNodesThatMoveAndCompare) {
  Builder b(20);
  b.Input("x", {"n"}, STRING).Output("y").Output("same");
  b.Node("StringConcat", {"x", "x"}, {"twice"});
  Builder::Int(b.Node("Concat", {"twice", "x"}, {"y"}), "axis", 0);
  b.Node("Equal", {"twice", "x"}, {"same"});
  Read read(b);
  EXPECT_EQ(read.Run({"a", ""}, {2}), "");
  EXPECT_EQ(read.Out(), (Strings{"aa", "", "a", ""}));
  EXPECT_EQ(read.walk->outputs()[1].data.get()[0], 0);
  EXPECT_EQ(read.walk->outputs()[1].data.get()[1], 1);
}

TEST(RunTexts, StringsGoThroughNodesThatChooseAndRearrange) {
  Builder b(20);
  b.Input("x", {2, 2}, STRING).Output("where").Output("put").Output("put_nd").Output("turned").Output("deep");
  b.Node("Identity", {"x"}, {"same"});
  b.Node("StringConcat", {"x", "x"}, {"twice"});
  b.Longs("first", {1, 0}).add_dims(1);
  b.Longs("lengths", {2, 1});
  b.Longs("image", {1, 4, 1, 1});
  b.Node("Equal", {"same", "twice"}, {"is_empty"});
  b.Node("Where", {"is_empty", "x", "twice"}, {"where"});
  b.Longs("column", {0});
  Builder::Int(b.Node("Gather", {"twice", "column"}, {"updates"}), "axis", 1);
  b.Node("ScatterElements", {"x", "first", "updates"}, {"put"});
  b.Node("ScatterND", {"x", "first", "twice"}, {"put_nd"});
  b.Node("ReverseSequence", {"x", "lengths"}, {"turned"});
  b.Node("Reshape", {"x", "image"}, {"channels"});
  Builder::Int(b.Node("DepthToSpace", {"channels"}, {"deep"}), "blocksize", 2);
  Read read(b);
  EXPECT_EQ(read.Run({"a", "", "c", "d"}, {2, 2}), "");
  EXPECT_EQ(read.Out(0), (Strings{"aa", "", "cc", "dd"}));
  EXPECT_EQ(read.Out(1), (Strings{"cc", "", "aa", "d"}));
  EXPECT_EQ(read.Out(2), (Strings{"cc", "dd", "aa", ""}));
  EXPECT_EQ(read.Out(3), (Strings{"c", "", "a", "d"}));
  EXPECT_EQ(read.Out(4), (Strings{"a", "", "c", "d"}));
}

TEST(RunTexts, DifferentStringsAreInTheirOrder) {
  for (const int64_t sorted : {1, 0}) {
    Builder b(20);
    b.Input("x", {"n"}, STRING).Output("y");
    onnx::pb::NodeProto& node = b.Node("Unique", {"x"}, {"y"});
    Builder::Int(node, "sorted", sorted);
    Read read(b);
    EXPECT_EQ(read.Run({"pear", "fig", "", "pear", "apple", "fig"}, {6}), "");
    EXPECT_EQ(read.Out(), sorted == 1 ? (Strings{"", "apple", "fig", "pear"}) : (Strings{"pear", "fig", "", "apple"}));
  }
}

TEST(RunTexts, WhatARunSplitIsLookedUpAmongTheKeysOfTheFile) {
  Builder b(20);
  b.model().add_opset_import()->set_domain("ai.onnx.ml");
  b.model().mutable_opset_import(1)->set_version(3);
  b.Input("x", {1}, STRING).Output("y", {"a", "b"}, INT64);
  Builder::String(b.Node("StringSplit", {"x"}, {"words", ""}), "delimiter", " ");
  onnx::pb::NodeProto& node = b.Node("LabelEncoder", {"words"}, {"y"});
  node.set_domain("ai.onnx.ml");
  Words(node, "keys_strings", {"cat", "dog"});
  Builder::Ints(node, "values_int64s", {10, 20});
  Read read(b);
  EXPECT_EQ(read.Run({"dog bird cat"}, {1}), "");
  const auto* numbers = reinterpret_cast<const int64_t*>(read.walk->outputs()[0].data.get());
  EXPECT_EQ(std::vector<int64_t>(numbers, numbers + 3), (std::vector<int64_t>{20, -1, 10}));
}

TEST(RunTexts, StringsThatAreNoNumbersEndTheRun) {
  Builder b(20);
  b.Input("x", {"n"}, STRING).Output("y");
  Builder::Int(b.Node("Cast", {"x"}, {"y"}), "to", onnx::pb::FLOAT);
  Read read(b);
  EXPECT_EQ(read.Run({"1.5", "one"}, {2}), "`x.onnx`: node `n` (Cast): a string that is no number of the type");
}

}  // namespace
}  // namespace wf::model
