// Strings, element by element.
#include "runtime/kernels/text/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/operation.h"
#include "runtime/kernels/texts.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using What = TextOp::What;
using Strings = std::vector<std::string>;

struct TextTest : ::testing::Test {
  testing::Tensor Numbered(std::vector<int64_t> dim, const Strings& strings) {
    std::vector<int64_t> numbers;
    for (const std::string& each : strings) numbers.push_back(texts.Number(each));
    return testing::Longs(std::move(dim), numbers);
  }
  // The memory of the result, of elements of up to 8 bytes; `failure` is why there is none.
  std::shared_ptr<uint8_t> Run(const TextOp& text, const std::vector<testing::Tensor>& in, uint8_t dtype, std::vector<int64_t> dim) {
    Operation operation{text, {}, {{dtype, std::move(dim), nullptr, nullptr}}};
    for (const testing::Tensor& each : in) operation.in.push_back(each.info);
    auto kernel = MakeKernel(operation);
    failure = kernel.ok() ? "" : kernel.status().message();
    if (!kernel.ok()) return nullptr;
    Buffers buffers;
    for (const testing::Tensor& each : in) buffers.in.push_back(each.data.get());
    auto out = Allocate(operation.out[0].size_bytes());
    buffers.out.push_back(out.get());
    buffers.texts = &texts;
    const auto scratch = Allocate((*kernel)->scratch_bytes);
    buffers.scratch = scratch.get();
    auto call = (*kernel)->Bind(buffers);
    WF_CHECK(call.ok(), call.status().message());
    const char* const why = (*call)->Run();
    failure = why == nullptr ? "" : why;
    return out;
  }
  Strings StringsOf(const TextOp& text, const std::vector<testing::Tensor>& in, std::vector<int64_t> dim) {
    int64_t count = 1;
    for (const int64_t extent : dim) count *= extent;
    const auto out = Run(text, in, WF_I64, std::move(dim));
    Strings strings;
    for (int64_t i = 0; failure.empty() && i < count; ++i) strings.emplace_back(texts.At(reinterpret_cast<const int64_t*>(out.get())[i]));
    return strings;
  }

  const Strings of_file{"a", "b"};
  Texts texts{of_file};
  std::string failure;
};

TEST_F(TextTest, EqualStringsHaveOneNumberAndThoseOfARunAreForgotten) {
  EXPECT_EQ(texts.Number("b"), 1);
  EXPECT_EQ(texts.Number("new"), 2);
  EXPECT_EQ(texts.Number("new"), 2);
  EXPECT_EQ(texts.At(2), "new");
  EXPECT_EQ(texts.At(3), "");
  EXPECT_EQ(texts.At(-1), "");
  texts.Clear();
  EXPECT_EQ(texts.At(2), "");
  EXPECT_EQ(texts.Number("a"), 0);
  EXPECT_EQ(texts.Number("other"), 2);
}

TEST_F(TextTest, StringsOfARunAreBounded) {
  Texts few(of_file, 1000);
  EXPECT_EQ(few.Number(std::string(800, 'x')), 2);
  EXPECT_EQ(few.Number(std::string(800, 'y')), -1);
  EXPECT_EQ(few.Number("b"), 1);
}

TEST_F(TextTest, CaseChangesLettersAndLeavesBytesThatAreNone) {
  EXPECT_EQ(InCase("Größe ΑΒΓ Ж", true), "GRÖßE ΑΒΓ Ж");
  EXPECT_EQ(InCase("GRÖSSE ΑΒΓ Ж", false), "grösse αβγ ж");
  EXPECT_EQ(InCase("A\xff\xc3", false), "a\xff\xc3");
  EXPECT_EQ(StringsOf({What::kUpper, ""}, {Numbered({2}, {"a", "x\xfe"})}, {2}), (Strings{"A", "X\xfe"}));
}

TEST_F(TextTest, JoinsBroadcast) {
  const auto x = Numbered({2, 1}, {"a", ""}), y = Numbered({2}, {"b", "c"});
  EXPECT_EQ(StringsOf({What::kJoin, ""}, {x, y}, {2, 2}), (Strings{"ab", "ac", "b", "c"}));
  EXPECT_EQ(StringsOf({What::kJoin, ""}, {Numbered({0}, {}), y}, {0}), Strings());
}

TEST_F(TextTest, APatternMatchesTheWhole) {
  const auto x = Numbered({3}, {"www.google.com", "google", "\xff"});
  const auto out = Run({What::kMatch, R"(www\.[\w.-]+\.\bcom\b)"}, {x}, WF_BOOL, {3});
  EXPECT_EQ(std::vector<uint8_t>(out.get(), out.get() + 3), (std::vector<uint8_t>{1, 0, 0}));
  Run({What::kMatch, "(a"}, {x}, WF_BOOL, {3});
  EXPECT_EQ(failure, "a pattern that is none of RE2: missing ): (a");
  Run({What::kMatch, "((a{100}){100}){100}"}, {x}, WF_BOOL, {3});
  EXPECT_NE(failure, "");
}

TEST_F(TextTest, NumbersAsStringsAndBack) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(StringsOf({What::kFromNumber, ""}, {testing::Floats({5}, {0.9767611f, 3, std::nanf(""), inf, -inf})}, {5}),
            (Strings{"0.9767611", "3", "NaN", "INF", "-INF"}));
  EXPECT_EQ(StringsOf({What::kFromNumber, ""}, {testing::Longs({2}, {INT64_MIN, 7})}, {2}), (Strings{"-9223372036854775808", "7"}));
  const auto x = Numbered({6}, {"0.5", "1e-5", "+INF", "-inf", "NaN", "+2"});
  const auto out = Run({What::kToNumber, ""}, {x}, WF_F32, {6});
  const auto* is = reinterpret_cast<const float*>(out.get());
  EXPECT_EQ(std::vector<float>(is, is + 4), (std::vector<float>{0.5, 1e-5f, inf, -inf}));
  EXPECT_TRUE(std::isnan(is[4]));
  EXPECT_EQ(is[5], 2);
}

TEST_F(TextTest, FloatsOf16BitsHaveTheTextOfTheirF32) {
  for (const uint8_t dtype : {WF_F16, WF_BF16}) {
    const auto out = Run({What::kToNumber, ""}, {Numbered({4}, {"0.1", "1.5", "-inf", "1e6"})}, dtype, {4});
    const testing::Tensor x{{dtype, {4}, nullptr, nullptr}, out};
    EXPECT_EQ(StringsOf({What::kFromNumber, ""}, {x}, {4}),
              dtype == WF_F16 ? (Strings{"0.099975586", "1.5", "-INF", "INF"}) : (Strings{"0.100097656", "1.5", "-INF", "999424"}));
  }
}

TEST_F(TextTest, WhatIsNoNumberOfTheTypeFails) {
  for (const char* text : {"", "x", "1 ", "1.5", "300", "-1", "+-1", "0x10"}) {
    Run({What::kToNumber, ""}, {Numbered({1}, {text})}, WF_U8, {1});
    EXPECT_EQ(failure, "a string that is no number of the type") << text;
  }
}

}  // namespace
}  // namespace wf::kernels
