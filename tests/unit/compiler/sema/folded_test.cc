#include "compiler/sema/folded.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>

#include "tests/unit/compiler/sema/checked.h"

namespace wf::sema {
namespace {

using test::Checked;

std::string Slow(const std::string& step) {
  return "fn slow(n: i64) -> i64 = fold acc = 0 for x in [i < n] => i { acc + " + step + " };\nconst A: i64 = slow(900000);\n";
}

struct Timed {
  uint64_t value;
  double seconds;  // of the CPU
};
Timed Check(const std::string& text, Folded& folded) {
  const std::clock_t start = std::clock();
  const Checked checked(text, {}, {}, &folded);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(checked.Codes(), "");
  return {checked.program->consts.at(0).value.bits, seconds};
}

TEST(Folded, AConstantIsFoldedAgainWhenItIsAnother) {
  Folded folded;
  const Timed first = Check(Slow("x % 7"), folded);
  const Timed again = Check("fn other(x: i64) -> i64 = x;\n" + Slow("x % 7") + "const B: i64 = A + 1;\n", folded);
  EXPECT_EQ(again.value, first.value);
  EXPECT_LT(again.seconds, first.seconds / 3);
  const Timed other = Check(Slow("x % 5"), folded);
  EXPECT_NE(other.value, first.value);
  EXPECT_GT(other.seconds, again.seconds);
}

// What is known takes as many of a program's steps as it did.
TEST(Folded, StepsAreCountedAsIfItWereFolded) {
  Folded folded;
  std::string text = Slow("x % 7");
  for (int i = 1; i < 20; ++i) text += fmt::format("const B{0}: i64 = slow({1});\n", i, 900'000 + i);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Checked(text, {}, {}, &folded).Codes(), Checked(text).Codes());
  EXPECT_EQ(Checked(text).Codes(), "3037");
}

// One that spends what constants may take is folded once, too, as long as what is above it leaves as much.
TEST(Folded, WhatSpendsTheStepsIsKept) {
  Folded folded;
  const std::string endless = Slow("x % 7") + "const B: i64 = slow(900000000);\n";
  double seconds[2];
  for (double& one : seconds) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(Checked(endless, {}, {}, &folded).Codes(), "3037");
    one = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  }
  EXPECT_LT(seconds[1], seconds[0] / 3);
  EXPECT_EQ(Checked("const C: i64 = 1;\n" + endless, {}, {}, &folded).Codes(), "3037");
  EXPECT_EQ(Checked(Slow("x % 7"), {}, {}, &folded).Codes(), "");
}

ir::Outcome Bytes(size_t count) { return {.value = ir::Value::Text(std::string(count, 'x')), .failure = {}}; }

TEST(Folded, KeepsWhatWasAskedForLast) {
  Folded folded;
  const Folded::Key a{1}, b{2}, c{3}, d{4};
  folded.Add(a, {Bytes(Folded::kMostBytes / 3), Folded::kLong});
  folded.Add(b, {Bytes(Folded::kMostBytes / 3), Folded::kLong});
  EXPECT_NE(folded.Find(a), nullptr);
  folded.Add(c, {Bytes(Folded::kMostBytes / 2), Folded::kLong});
  EXPECT_NE(folded.Find(a), nullptr);
  EXPECT_EQ(folded.Find(b), nullptr);
  EXPECT_NE(folded.Find(c), nullptr);
  folded.Add(d, {Bytes(1), Folded::kLong - 1});  // as soon folded as found
  EXPECT_EQ(folded.Find(d), nullptr);
}

}  // namespace
}  // namespace wf::sema
