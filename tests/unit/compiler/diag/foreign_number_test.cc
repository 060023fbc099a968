#include "compiler/diag/foreign_number.h"

#include <gtest/gtest.h>

namespace wf::diag {
namespace {

struct Row {
  std::string_view word, has, ours, example;  // which ends the help
};

TEST(ForeignNumber, IsToldAsItIsWrittenHere) {
  const Row rows[] = {
      {"0b11", "the base 2", "3", "`3` or `0x3`"},
      {"0B1010_1010", "the base 2", "170", "`170` or `0xaa`"},
      {"0o17", "the base 8", "15", "`15` or `0xf`"},
      {"0b12", "the base 2", "", "`0x1f`"},
      {"0b", "the base 2", "", "`0x1f`"},
      {"0o18446744073709551616", "the base 8", "", "`0x1f`"},
      {"0X1F", "a large `X`", "0x1F", "`0x`"},
      {"1u8", "a suffix", "", "`u8(1)`"},
      {"1_000u32", "a suffix", "", "`u32(1_000)`"},
      {"3.0f64", "a suffix", "", "`f64(3.0)`"},
      {"1e3f", "a suffix", "", "`f32(1e3)`"},
      {"1.5f", "a suffix", "", "`f32(1.5)`"},
      {"1.5L", "a suffix", "", "`f32(1.5)`"},
      {"10L", "a suffix", "", "`i64(10)`"},
      {"5n", "a suffix", "", "`i64(5)`"},
      {"1usize", "a suffix", "", "`i64(1)`"},
      {"0x1fu8", "a suffix", "", "`u8(0x1f)`"},
      {"0xFFL", "a suffix", "", "`i64(0xFF)`"},
      {"0b11u8", "a suffix", "", "`u8(3)`"},
      {"1.0e", "an exponent without digits", "", "`1e3`"},
  };
  for (const Row& row : rows) {
    const auto found = ReadForeignNumber(row.word);
    ASSERT_TRUE(found) << row.word;
    EXPECT_EQ(found->has, row.has) << row.word;
    EXPECT_EQ(found->ours, row.ours) << row.word;
    EXPECT_TRUE(found->help.ends_with(row.example)) << row.word << ": " << found->help;
  }
}

TEST(ForeignNumber, IsNoUnitAndNoPlainNumber) {
  for (const std::string_view word : {"5s", "64MiB", "7px", "2h", "0x", "0xg", "1", "1.5", "1e3", "0x1f", "0"}) {
    EXPECT_FALSE(ReadForeignNumber(word)) << word;
  }
}

}  // namespace
}  // namespace wf::diag
