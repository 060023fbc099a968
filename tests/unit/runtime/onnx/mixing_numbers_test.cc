#include "runtime/onnx/mixing_numbers.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/onnx/mixing_in.h"

// Numbers that are computed from shapes, as some exporters do in floats: only what another number of samples changes is mixing.
namespace wf::onnx {
namespace {

using testing::Builder;
using testing::MixingIn;

// y is x by `by`, which `add` makes of `n`, how many samples there are, `extents`, those of x, and `floats`, the same as f32.
std::string MixingBy(const std::function<void(Builder&)>& add, const Builder::Extents& x = {"n", 4}) {
  return MixingIn(
      [&](Builder& b) {
        b.Tensor("zero", {}, pb::INT64).add_int64_data(0);
        b.Tensor("one", {}, pb::INT64).add_int64_data(1);
        b.Longs("last", {-1});
        Builder::SetFloats(b.Floats("half", {}, 1), {0.5f});
        b.Node("Shape", {"x"}, {"extents"}, "shape");
        b.Node("Gather", {"extents", "zero"}, {"n"});
        Builder::Int(b.Node("Cast", {"extents"}, {"floats"}), "to", pb::FLOAT);
        Builder::Int(b.Node("Cast", {"n"}, {"f_n"}), "to", pb::FLOAT);
        add(b);
        b.Node("Div", {"x", "by"}, {"y"}, "by");
      },
      17, x);
}
void AddCast(Builder& b, const std::string& of) { Builder::Int(b.Node("Cast", {of}, {"by"}), "to", pb::FLOAT); }
onnx::pb::NodeProto& Whole(onnx::pb::NodeProto& reduction) {
  Builder::Int(reduction, "keepdims", 0);
  return reduction;
}

// A mean of a sample by the number of all elements over that of samples.
TEST(MixingNumbers, ElementsOfASample) {
  const auto mean = [](const std::string& over, const Builder::Extents& x) {
    return MixingBy(
        [&](Builder& b) {
          b.Node("Size", {"x"}, {"size"}, "size");
          b.Node("Div", {"size", over}, {"count"});
          AddCast(b, "count");
        },
        x);
  };
  EXPECT_EQ(mean("n", {"n", 4}), "");
  EXPECT_EQ(mean("n", {"n", "w", 4}), "");
  EXPECT_EQ(mean("one", {"n", 4}), "size");
  const auto product = [](const std::string& over) {
    return MixingBy([&](Builder& b) {
      Whole(b.Node("ReduceProd", {"extents"}, {"size"}));
      b.Node("Div", {"size", over}, {"count"});
      AddCast(b, "count");
    });
  };
  EXPECT_EQ(product("n"), "");
  EXPECT_EQ(product("one"), "shape");
}

TEST(MixingNumbers, WhatIsTheSameForAnyNumberOfSamples) {
  const auto of_two = [](const std::string& op, const std::string& a, const std::string& b) {
    return MixingBy([&](Builder& builder) { builder.Node(op, {a, b}, {"by"}); });
  };
  EXPECT_EQ(of_two("Div", "f_n", "f_n"), "");
  EXPECT_EQ(of_two("Pow", "f_n", "f_n"), "shape");
  EXPECT_EQ(of_two("Min", "f_n", "half"), "");
  EXPECT_EQ(of_two("Max", "f_n", "half"), "shape");
  EXPECT_EQ(of_two("Sum", "f_n", "half"), "shape");
  EXPECT_EQ(of_two("Mean", "f_n", "half"), "shape");
  const auto of_one = [](const std::string& op) { return MixingBy([&](Builder& builder) { builder.Node(op, {"f_n"}, {"by"}); }); };
  EXPECT_EQ(of_one("Sign"), "");  // there is always one
  for (const char* op : {"Sqrt", "Softplus", "Erf", "Elu"}) EXPECT_EQ(of_one(op), "shape") << op;
  const auto clipped = [](const std::vector<std::string>& bounds) {
    return MixingBy([&](Builder& b) {
      Builder::SetFloats(b.Floats("f_one", {}, 1), {1});
      b.Node("Clip", bounds, {"by"});
    });
  };
  EXPECT_EQ(clipped({"f_n", "", "f_one"}), "");
  EXPECT_EQ(clipped({"f_n", "f_one"}), "shape");
  EXPECT_EQ(clipped({"f_n", "half", "f_one"}), "");
}

// A limit that no number of samples that is tried hits.
TEST(MixingNumbers, ALimitBetweenThoseThatAreTried) {
  const auto compared = [](const std::string& op, int64_t with) {
    return MixingBy([&](Builder& b) {
      b.Tensor("limit", {}, pb::INT64).add_int64_data(with);
      b.Node(op, {"n", "limit"}, {"is"});
      AddCast(b, "is");
    });
  };
  EXPECT_EQ(compared("Equal", 777), "shape");
  EXPECT_EQ(compared("LessOrEqual", 1), "shape");
  EXPECT_EQ(compared("GreaterOrEqual", 1), "");
  EXPECT_EQ(compared("Equal", 0), "");
  EXPECT_EQ(compared("Greater", 60'000), "shape");
  EXPECT_EQ(compared("Less", 1'000'000), "") << "as many never share a run";
}

// An extent of the file's counts as any number: what its being large changes is found.
// 200 samples are none of those that are tried.
TEST(MixingNumbers, WhatHoldsForFewBetweenThoseThatAreTried) {
  EXPECT_EQ(MixingBy([](Builder& b) {
              Builder::SetFloats(b.Floats("middle", {}, 1), {200});
              Builder::SetFloats(b.Floats("width", {}, 1), {5});
              b.Node("Sub", {"f_n", "middle"}, {"off"});
              b.Node("Abs", {"off"}, {"apart"});
              b.Node("Sub", {"width", "apart"}, {"near"});
              b.Node("Relu", {"near"}, {"by"});
            }),
            "shape");
}

TEST(MixingNumbers, OtherExtentsAreAnyNumbers) {
  const auto chosen = [](float limit) {
    return MixingBy(
        [&](Builder& b) {
          Builder::SetFloats(b.Floats("limit", {}, 1), {limit});
          b.Node("Gather", {"floats", "one"}, {"w"});
          b.Node("Greater", {"w", "limit"}, {"is_wide"});
          b.Node("Where", {"is_wide", "f_n", "half"}, {"by"});
        },
        {"n", "w"});
  };
  EXPECT_EQ(chosen(300), "shape");
  EXPECT_EQ(chosen(0.5f), "shape");
  EXPECT_EQ(MixingBy([](Builder& b) { Whole(b.Node("ReduceMin", {"floats"}, {"by"})); }, {"n", "w"}), "shape");
}

// One of all extents, however it is taken out.
TEST(MixingNumbers, OneOfSeveral) {
  const auto part = [](size_t at) {
    return MixingBy(
        [&](Builder& b) {
          std::vector<std::string> parts = {"p0", "p1"};
          parts[at] = "part";
          b.Node("Split", {"floats"}, parts);
          b.Node("Sqrt", {"part"}, {"by"});
        },
        {"n", "w"});
  };
  EXPECT_EQ(part(0), "shape");
  EXPECT_EQ(part(1), "");
  const auto given = [](const std::vector<std::string>& parts) {
    return MixingBy(
        [&](Builder& b) {
          b.Longs("sizes", {1, 2, 1});
          b.Node("Split", {"floats", "sizes"}, parts);
          Whole(b.Node("ReduceMax", {"part"}, {"by"}));
        },
        {"n", "h", "w", 4});
  };
  EXPECT_EQ(given({"part", "", ""}), "shape");
  EXPECT_EQ(given({"", "part", ""}), "");
  EXPECT_EQ(given({"", "", "part"}), "");
  const auto weighed = [](float of_n) {
    return MixingBy([&](Builder& b) {
      Builder::SetFloats(b.Floats("weights", {2}, 2), {of_n, 1});
      b.Node("Mul", {"floats", "weights"}, {"weighed"});
      Whole(b.Node("ReduceSum", {"weighed"}, {"by"}));
    });
  };
  EXPECT_EQ(weighed(0), "");
  EXPECT_EQ(weighed(1), "shape");
  EXPECT_EQ(MixingBy([](Builder& b) {
              b.Longs("four", {4});
              b.Node("Gather", {"floats", "one"}, {"w"});
              b.Node("Expand", {"w", "four"}, {"by"});
            }),
            "");
}

}  // namespace
}  // namespace wf::onnx
