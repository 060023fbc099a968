#include "runtime/base/dim.h"

#include <gtest/gtest.h>

#include <map>

namespace wf::base {
namespace {

const Dim h = Dim::Symbol("h"), w = Dim::Symbol("w"), n = Dim::Symbol("n");

std::optional<int64_t> At(const Dim& dim, std::map<std::string, int64_t> values) {
  return dim.Evaluate([&](const std::string& name) -> std::optional<int64_t> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  });
}

TEST(Dim, EqualPolynomialsAreEqualHoweverTheyWereWritten) {
  EXPECT_EQ((h + 1) * (h - 1), h * h - 1);
  EXPECT_EQ(h * w + w * h, Dim(2) * w * h);
  EXPECT_EQ(h - h, Dim(0));
  EXPECT_EQ(Dim::FloorDiv(h, w) * n, n * Dim::FloorDiv(h, w));
  EXPECT_FALSE(h == w);
}

TEST(Dim, PrintsAsAUserWouldWriteIt) {
  EXPECT_EQ((Dim(2) * h + 1).ToString(), "2*h + 1");
  EXPECT_EQ((h - w - 3).ToString(), "h - w - 3");
  EXPECT_EQ((Dim(-1) * h).ToString(), "-h");
  EXPECT_EQ(Dim(0).ToString(), "0");
  EXPECT_EQ(Dim::FloorDiv(w, 4).ToString(), "w/4");
  EXPECT_EQ((Dim(3) * Dim::FloorDiv(w + 1, 4)).ToString(), "3*((w + 1)/4)");
  EXPECT_EQ(Dim::Symbol("w#7").ToString(), "w");
  const Dim code = Dim::Symbol("a % b#b1");  // is named by what gives it its value
  EXPECT_EQ(code.ToString(), "a % b");
  EXPECT_EQ((Dim(2) * code + h).ToString(), "2*(a % b) + h");
  EXPECT_EQ((h - code).ToString(), "-(a % b) + h");
  EXPECT_EQ(Dim::FloorDiv(code, 4).ToString(), "(a % b)/4");
  EXPECT_EQ(UnknownDims("t").Next().ToString(), "_");
}

TEST(Dim, DivisionByAConstantHasOneForm) {
  EXPECT_EQ(Dim::FloorDiv(Dim(4) * h + 8, 4), h + 2);
  EXPECT_EQ(Dim::FloorDiv(Dim(3) * h - 1, 2), h + Dim::FloorDiv(h + 1, 2) - 1);
  EXPECT_EQ(Dim::FloorDiv(Dim(2) * h + 1, 2), h);
  EXPECT_EQ(Dim::FloorDiv(Dim(2) * h + 1, 4), Dim::FloorDiv(h, 2));
  EXPECT_EQ(Dim::FloorDiv(Dim::FloorDiv(h, 2), 3), Dim::FloorDiv(h, 6));
  EXPECT_EQ(Dim::FloorDiv(Dim(-7), 2), Dim(-4));
  EXPECT_EQ(Dim::FloorDiv(h, -1), Dim(0) - h);
}

TEST(Dim, DivisionByAProductOfSymbolsIsExactWhereItDivides) {
  EXPECT_EQ(Dim::FloorDiv(n * h * w * 3, h * w), n * 3);
  EXPECT_EQ(Dim::FloorDiv(n * h + h, h), n + 1);
  EXPECT_FALSE(Dim::FloorDiv(n * h + 1, h) == n);
  EXPECT_EQ(Dim::FloorDiv(h + w, w + h), Dim(1));
}

TEST(Dim, NormalFormKeepsTheValue) {
  for (int64_t x = 0; x < 40; ++x) {
    for (int64_t c : {1, 2, 3, 4, 6, -2}) {
      for (int64_t a : {-5, -1, 1, 2, 3, 4, 6}) {
        for (int64_t b : {-7, -1, 0, 1, 4}) {
          const int64_t top = a * x + b;
          const int64_t expected = (top - ((top % c) + c) % c) / c;  // floor for either sign of c
          EXPECT_EQ(At(Dim::FloorDiv(Dim(a) * h + b, c), {{"h", x}}), expected) << a << "*" << x << "+" << b << " over " << c;
        }
      }
    }
  }
}

TEST(UnknownDims, EachEqualsOnlyItself) {
  UnknownDims some("a"), others("b");
  const Dim unknown = some.Next();
  EXPECT_EQ(unknown, unknown);
  EXPECT_EQ(unknown - unknown, Dim(0));
  EXPECT_FALSE(unknown == some.Next());
  EXPECT_FALSE(unknown == others.Next());
  EXPECT_EQ(unknown, UnknownDims("a").Next());  // no counter is shared: one analysis is like the next
}

// The sum, and the product, of symbols s0, s1 ..
Dim SumOf(size_t count) {
  Dim sum;
  for (size_t i = 0; i < count; ++i) sum = sum + Dim::Symbol("s" + std::to_string(i));
  return sum;
}
Dim Power(const Dim& base, size_t exponent) {
  Dim power(1);
  for (size_t i = 0; i < exponent; ++i) power = power * base;
  return power;
}

TEST(Dim, BeyondTheBoundsItIsTooLarge) {
  const Dim big(INT64_MAX);
  for (const Dim& dim : {big + 1, big * 2, big * h + big * h, Dim(INT64_MIN) - 1, Dim::FloorDiv(Dim(INT64_MIN), -1),
                         Dim::FloorDiv(h, INT64_MIN), SumOf(Dim::kMaxTerms + 1), Power(h, Dim::kMaxWeight), Power(h + w, 40)}) {
    EXPECT_EQ(dim.fault(), Dim::Fault::kTooLarge);
  }
  for (const Dim& dim : {SumOf(Dim::kMaxTerms), Power(h, 250), big * h, Dim(INT64_MIN)}) EXPECT_EQ(dim.fault(), Dim::Fault::kNone);
  EXPECT_EQ(At(h * h, {{"h", INT64_MAX}}), std::nullopt);
}

TEST(Dim, DivisionByTheConstant0IsAFault) {
  EXPECT_EQ(Dim::FloorDiv(h, 0).fault(), Dim::Fault::kDivisor0);
  EXPECT_EQ(Dim::FloorDiv(0, 0).fault(), Dim::Fault::kDivisor0);
  const auto w_is_0 = [](const std::string& name) { return name == "w" ? std::optional(Dim(0)) : std::nullopt; };
  EXPECT_EQ(Dim::FloorDiv(h, w).Substitute(w_is_0).fault(), Dim::Fault::kDivisor0);
}

TEST(Dim, AFaultStaysAndIsEqualToNothing) {
  for (const auto fault : {Dim::Fault::kTooLarge, Dim::Fault::kDivisor0}) {
    const Dim faulty = Dim::Faulty(fault);
    for (const Dim& dim : {faulty + h, h - faulty, faulty * 0, faulty - faulty, Dim::FloorDiv(faulty, 2), Dim::FloorDiv(h, faulty),
                           faulty.Substitute([](const std::string&) { return std::optional(Dim(1)); })}) {
      EXPECT_EQ(dim.fault(), fault);
      EXPECT_FALSE(dim == dim);
      EXPECT_FALSE(Dim::ProvedDifferent(dim, h));
      EXPECT_FALSE(Dim::ProvedDifferentAbove0(dim, h));
      EXPECT_FALSE(dim.is_constant() || dim.constant() || dim.symbol() || dim.AsLinear());
      EXPECT_EQ(At(dim, {}), std::nullopt);
      EXPECT_TRUE(dim.Symbols().empty());
      EXPECT_EQ(dim.ToString()[0], '(');
    }
  }
}

TEST(Dim, SizeIsBounded) {
  Dim square = h + w;
  for (int i = 0; i < 40; ++i) square = square * square;
  EXPECT_EQ(square.fault(), Dim::Fault::kTooLarge);
  Dim nested = h;
  for (int i = 0; i < 1000; ++i) nested = Dim::FloorDiv(nested * nested + w, w + 1);
  EXPECT_EQ(nested.fault(), Dim::Fault::kTooLarge);
}

TEST(Dim, TellsWhatItIs) {
  EXPECT_EQ(Dim(5).constant(), 5);
  EXPECT_EQ((h + 5 - h).constant(), 5);
  EXPECT_EQ(h.symbol(), "h");
  EXPECT_EQ((h + 1).symbol(), std::nullopt);
  EXPECT_EQ((Dim::FloorDiv(w, h) + n).Symbols(), (std::vector<std::string>{"h", "n", "w"}));
}

TEST(Dim, DifferentOnlyWhenTheDifferenceIsAConstant) {
  EXPECT_TRUE(Dim::ProvedDifferent(h + 1, h));
  EXPECT_TRUE(Dim::ProvedDifferent(3, 4));
  EXPECT_FALSE(Dim::ProvedDifferent(h, w));
  EXPECT_FALSE(Dim::ProvedDifferent(h, h));
}

TEST(Dim, DifferentAbove0WhereNoExtentMakesThemEqual) {
  const Dim half = Dim::FloorDiv(w, 2), third = Dim::FloorDiv(w, 3);
  const auto differ = [](const Dim& a, const Dim& b) {
    EXPECT_EQ(Dim::ProvedDifferentAbove0(a, b), Dim::ProvedDifferentAbove0(b, a));
    return Dim::ProvedDifferentAbove0(a, b);
  };
  EXPECT_TRUE(differ(w, Dim(2) * w));
  EXPECT_TRUE(differ(w, half));
  EXPECT_TRUE(differ(h * w, Dim(3) * h * w));
  EXPECT_TRUE(differ(w + h, w));
  EXPECT_TRUE(differ(h * w + h, h * w));
  EXPECT_TRUE(differ(Dim(2) * w, half + third));
  EXPECT_TRUE(differ(h * w, h * half));
  EXPECT_TRUE(differ(w, 0));
  EXPECT_TRUE(differ(w, -1));
  EXPECT_FALSE(differ(w, w));
  EXPECT_FALSE(differ(w, h));
  EXPECT_FALSE(differ(w, 1));
  EXPECT_FALSE(differ(w, w * h));                          // h may be 1
  EXPECT_FALSE(differ(w, Dim(2) * w - 4));                 // equal at 4
  EXPECT_FALSE(differ(half, Dim::FloorDiv(w + 1, 2)));     // equal where w is even
  EXPECT_FALSE(differ(half, third));                       // 0 both at 1
  EXPECT_FALSE(differ(Dim::FloorDiv(w, h), w));            // equal at 1
  EXPECT_FALSE(differ(half * third, Dim(2) * w * w * w));  // not seen
  EXPECT_FALSE(differ(Dim(INT64_MAX) * w, Dim(-2) * h));   // overflows
  EXPECT_FALSE(differ(UnknownDims("t").Next(), w));
}

TEST(Dim, WhatIsWrittenAsNumbersIsReadAgain) {
  const std::vector<std::string> names = {"h", "w"};
  const auto number_of = [&](const std::string& name) { return static_cast<int64_t>(name == "w"); };
  for (const Dim& dim :
       {Dim(0), Dim(-7), w, Dim(2) * h * w - 3, Dim::FloorDiv(Dim(3) * w + 1, 4) * h, Dim::FloorDiv(h, Dim::FloorDiv(w, 2) + 1)}) {
    std::vector<int64_t> numbers;
    dim.Write(number_of, numbers);
    numbers.push_back(99);
    const int64_t* at = numbers.data();
    EXPECT_EQ(Dim::Read(at, [&](int64_t number) { return names[static_cast<size_t>(number)]; }), dim) << dim.ToString();
    EXPECT_EQ(*at, 99) << dim.ToString();
  }
}

TEST(Dim, LinearFormsNameTheirSymbol) {
  const auto linear = (Dim(2) * h + 1).AsLinear();
  ASSERT_TRUE(linear.has_value());
  EXPECT_EQ(linear->symbol, "h");
  EXPECT_EQ(linear->mul, 2);
  EXPECT_EQ(linear->add, 1);
  EXPECT_FALSE((h * h).AsLinear().has_value());
  EXPECT_FALSE((h + w).AsLinear().has_value());
  EXPECT_FALSE(Dim(3).AsLinear().has_value());
  EXPECT_FALSE(Dim::FloorDiv(h, 2).AsLinear().has_value());
}

TEST(Dim, SubstituteAndEvaluate) {
  const auto h_is_2w = [](const std::string& name) { return name == "h" ? std::optional(Dim::Symbol("w") * 2) : std::nullopt; };
  EXPECT_EQ((h * h + n).Substitute(h_is_2w), w * w * 4 + n);
  EXPECT_EQ(Dim::FloorDiv(h, 2).Substitute(h_is_2w), w);
  EXPECT_EQ(At(Dim::FloorDiv(h + 1, w), {{"h", 9}, {"w", 4}}), 2);
  EXPECT_EQ(At(Dim::FloorDiv(h, w), {{"h", 9}, {"w", 0}}), std::nullopt);
  EXPECT_EQ(At(h, {}), std::nullopt);
}

}  // namespace
}  // namespace wf::base
