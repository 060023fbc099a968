#include "compiler/driver/diff.h"

#include <gtest/gtest.h>

namespace wf::driver {
namespace {

TEST(UnifiedDiff, IsEmptyForEqualTexts) { EXPECT_EQ(UnifiedDiff("a", "x\n", "x\n"), ""); }

TEST(UnifiedDiff, ShowsThreeLinesAround) {
  EXPECT_EQ(UnifiedDiff("a.wf", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n"),
            "--- a.wf\n+++ a.wf\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, PutsChangesFarApartIntoHunksOfTheirOwn) {
  const std::string diff = UnifiedDiff("a", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n");
  EXPECT_EQ(diff, "--- a\n+++ a\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

TEST(UnifiedDiff, CountsInsertionsAndDeletions) {
  EXPECT_EQ(UnifiedDiff("a", "", "x\ny\n"), "--- a\n+++ a\n@@ -0,0 +1,2 @@\n+x\n+y\n");
  EXPECT_EQ(UnifiedDiff("a", "x\ny\n", "y\n"), "--- a\n+++ a\n@@ -1,2 +1,1 @@\n-x\n y\n");
}

TEST(UnifiedDiff, SaysWhereTheLastLineBreakIsMissing) {
  EXPECT_EQ(UnifiedDiff("a", "x", "x\n"), "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n");
}

TEST(UnifiedDiff, ShowsVeryDifferentTextsAsOneChange) {
  std::string before, after;
  for (int line = 0; line < 5000; ++line) {
    before += std::to_string(line) + "\n";
    after += "x" + std::to_string(line) + "\n";
  }
  EXPECT_TRUE(UnifiedDiff("a", before, after).starts_with("--- a\n+++ a\n@@ -1,5000 +1,5000 @@\n-0\n-1\n"));
}

}  // namespace
}  // namespace wf::driver
