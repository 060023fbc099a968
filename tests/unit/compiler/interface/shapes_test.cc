#include "compiler/interface/shapes.h"

#include <gtest/gtest.h>

namespace wf::interface {
namespace {

base::Dim DimOf(const std::string& text) {
  base::UnknownDims unknown("t");
  const auto type = ParseType("f32[" + text + "]", unknown);
  return type.ok() ? type->dims[0] : base::Dim();
}

TEST(ShapeMatch, FindsTheValuesOfThePattern) {
  ShapeMatch match;
  EXPECT_TRUE(match.Match(DimOf("n"), DimOf("m")));
  EXPECT_TRUE(match.Match(DimOf("n"), DimOf("m")));
  EXPECT_FALSE(match.Match(DimOf("n"), DimOf("k")));
  EXPECT_TRUE(match.Match(DimOf("2*n + 1"), DimOf("2*m + 1")));
  EXPECT_EQ(match.Apply(DimOf("n*n")).ToString(), "m*m");
}

TEST(ShapeMatch, SolvesWhatIsLinear) {
  ShapeMatch match;
  EXPECT_TRUE(match.Match(DimOf("2*n + 1"), DimOf("9")));
  EXPECT_EQ(match.Apply(DimOf("n")).ToString(), "4");
  EXPECT_FALSE(ShapeMatch().Match(DimOf("2*n"), DimOf("9")));
  EXPECT_FALSE(ShapeMatch().Match(DimOf("2*n"), DimOf("n")));
  EXPECT_TRUE(ShapeMatch().Match(DimOf("2*n"), DimOf("4*n")));
}

TEST(ShapeMatch, NoSymbolStandsForLessThan0) {
  EXPECT_TRUE(ShapeMatch().Match(DimOf("n + 1"), DimOf("m + 2")));
  EXPECT_FALSE(ShapeMatch().Match(DimOf("n + 2"), DimOf("m + 1")));
  EXPECT_FALSE(ShapeMatch().Match(DimOf("2*n + 6"), DimOf("2*m + 4")));
  EXPECT_FALSE(ShapeMatch().Match(DimOf("n + 2"), DimOf("1")));
  EXPECT_TRUE(ShapeMatch().Match(DimOf("n + 2"), DimOf("2")));
  EXPECT_TRUE(ShapeMatch().Match(DimOf("n - 1"), DimOf("m - 2")));
  EXPECT_FALSE(ShapeMatch().Match(DimOf("n + 1"), DimOf("m - 2")));
  EXPECT_TRUE(ShapeMatch().Match(DimOf("5 - n"), DimOf("5 - m")));
  EXPECT_TRUE(ShapeMatch().Match(DimOf("7 - 2*n"), DimOf("7 - 2*m")));
  EXPECT_FALSE(ShapeMatch().Match(DimOf("5 - n"), DimOf("6 - m")));
  EXPECT_FALSE(ShapeMatch().Match(DimOf("0 - n"), DimOf("m")));
}

TEST(Least, IsTheExtentAtNoLengthOfAnySymbol) {
  EXPECT_EQ(Least(DimOf("2*n + 3")), 3);
  EXPECT_EQ(Least(DimOf("n*m")), 0);
  EXPECT_EQ(Least(DimOf("(h + 1)/2 + 4")), 4);
  EXPECT_EQ(Least(DimOf("n - m")), std::nullopt);
  EXPECT_EQ(Least(DimOf("(h - 9)/2 + 4")), -1);
  EXPECT_EQ(Least(DimOf("h/n")), std::nullopt);
}

TEST(ShapeMatch, KeepsTheSymbolsOfBothApart) {
  ShapeMatch match;
  EXPECT_TRUE(match.Match(DimOf("n"), DimOf("m")));
  EXPECT_TRUE(match.Match(DimOf("m"), DimOf("n")));
  EXPECT_EQ(match.Apply(DimOf("n - m")).ToString(), "m - n");
}

TEST(ShapeMatch, TakesAnythingForAnUnknown) {
  ShapeMatch match;
  base::UnknownDims unknown("u");
  EXPECT_TRUE(match.Match(unknown.Next(), DimOf("3")));
  EXPECT_TRUE(match.Match(unknown.Next(), DimOf("n")));
  EXPECT_FALSE(match.Match(DimOf("3"), unknown.Next()));
}

}  // namespace
}  // namespace wf::interface
