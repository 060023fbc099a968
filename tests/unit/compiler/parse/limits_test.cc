#include "compiler/parse/limits.h"

#include <gtest/gtest.h>

#include "grammar/WfLexer.h"

namespace wf::parse {
namespace {

using T = grammar::WfLexer;
using Types = std::vector<size_t>;

std::optional<diag::Code> Repeat(const Types& types, int times, LimitCheck& check) {
  for (int round = 0; round < times; ++round) {
    for (const size_t type : types) {
      if (const auto code = check.Add(type)) return code;
    }
  }
  return std::nullopt;
}
std::optional<diag::Code> Repeat(const Types& types, int times) {
  LimitCheck check;
  return Repeat(types, times, check);
}

TEST(LimitCheck, AllowsBracketsUpToTheLimitAndNotOneMore) {
  EXPECT_EQ(Repeat({T::LPAREN}, kMaxBracketDepth), std::nullopt);
  EXPECT_EQ(Repeat({T::LPAREN}, kMaxBracketDepth + 1), diag::kNestedTooDeep);
  EXPECT_EQ(Repeat({T::LPAREN, T::RPAREN}, kMaxOperators), std::nullopt) << "closed ones do not count";
}

TEST(LimitCheck, CountsARunOfPrefixOperators) {
  EXPECT_EQ(Repeat({T::MINUS}, kMaxPrefixRun), std::nullopt);
  EXPECT_EQ(Repeat({T::MINUS, T::BANG, T::KW_FAIL}, kMaxPrefixRun), diag::kTooManyPrefixes);
  EXPECT_EQ(Repeat({T::MINUS, T::NAME}, kMaxPrefixRun * 2), std::nullopt);
}

TEST(LimitCheck, CountsTheOperatorsOfOneExpression) {
  EXPECT_EQ(Repeat({T::NAME, T::PLUS}, kMaxOperators), std::nullopt);
  EXPECT_EQ(Repeat({T::NAME, T::PLUS}, kMaxOperators + 1), diag::kTooManyOperators);
}

TEST(LimitCheck, StartsAgainWithEachElementAndStatement) {
  EXPECT_EQ(Repeat({T::NAME, T::PLUS, T::NAME, T::COMMA}, 50'000), std::nullopt);
  EXPECT_EQ(Repeat({T::KW_LET, T::NAME, T::PLUS, T::NAME, T::SEMI}, 50'000), std::nullopt);
  EXPECT_EQ(Repeat({T::KW_IF, T::NAME, T::LT, T::INT, T::LBRACE, T::KW_RETURN, T::INT, T::SEMI, T::RBRACE}, 50'000), std::nullopt);
}

TEST(LimitCheck, AddsUpAlongThePathFromTheOutside) {
  // f(a + .. + g(b, c + .. : the commas inside do not forget the operators outside.
  LimitCheck check;
  EXPECT_EQ(Repeat({T::NAME, T::PLUS}, 3000, check), std::nullopt);
  EXPECT_EQ(Repeat({T::NAME, T::LPAREN, T::NAME, T::COMMA}, 1, check), std::nullopt);
  EXPECT_EQ(Repeat({T::NAME, T::PLUS}, 3000, check), diag::kTooManyOperators);
}

TEST(LimitCheck, StartsAgainWithEachLinkOfAnElseIfChain) {
  const Types link = {T::KW_IF, T::NAME, T::EQ, T::INT, T::LBRACE, T::INT, T::RBRACE, T::KW_ELSE};
  EXPECT_EQ(Repeat(link, 50'000), std::nullopt);
  LimitCheck after;  // what follows the chain is above all its links
  EXPECT_EQ(Repeat({T::KW_IF, T::NAME}, 1, after), std::nullopt);
  EXPECT_EQ(Repeat({T::PLUS, T::NAME}, 3000, after), std::nullopt);
  EXPECT_EQ(Repeat({T::LBRACE, T::INT, T::RBRACE, T::KW_ELSE, T::LBRACE, T::INT, T::RBRACE}, 1, after), std::nullopt);
  EXPECT_EQ(Repeat({T::PLUS, T::NAME}, 3000, after), diag::kTooManyOperators);
  LimitCheck inside;  // so is what stands before it
  EXPECT_EQ(Repeat({T::NAME, T::PLUS}, 3000, inside), std::nullopt);
  EXPECT_EQ(Repeat(link, 10, inside), std::nullopt);
  EXPECT_EQ(Repeat({T::LBRACE}, 1, inside), std::nullopt);
  EXPECT_EQ(Repeat({T::NAME, T::PLUS}, 3000, inside), diag::kTooManyOperators);
}

TEST(LimitCheck, CountsHolesAndBadBytesAsTokens) {
  const auto holes = [](std::string_view token, int times) {
    LimitCheck check;
    std::optional<diag::Code> code;
    for (int i = 0; i < times && !code; ++i) code = check.AddHoles(token);
    return code;
  };
  EXPECT_EQ(holes("\"{a}{b}\"", kMaxTokens / 2), std::nullopt);
  EXPECT_EQ(holes("\"{a}{b}\"", kMaxTokens / 2 + 1), diag::kTooManyTokens);
  EXPECT_EQ(holes("\"{a.b[0].c}\"", kMaxTokens / 4 + 1), diag::kTooManyTokens);
  EXPECT_EQ(holes("\"a.b {{ }} \\u{1F600} [0]\"", 2 * kMaxTokens), std::nullopt);
  LimitCheck check;
  std::optional<diag::Code> code;
  for (size_t i = 0; i <= kMaxTokens; ++i) code = check.AddBad();
  EXPECT_EQ(code, diag::kTooManyTokens);
}

TEST(LimitCheck, BoundsWhatNestsWithoutBrackets) {
  EXPECT_EQ(Repeat({T::KW_IF}, 10'000), diag::kTooManyOperators);
  EXPECT_EQ(Repeat({T::KW_MATCH}, 10'000), diag::kTooManyOperators);
  EXPECT_EQ(Repeat({T::KW_FOR, T::NAME, T::KW_IN}, 10'000), diag::kTooManyOperators);
  EXPECT_EQ(Repeat({T::NAME, T::LT}, 10'000), diag::kTooManyOperators) << "list<list<..";
  EXPECT_EQ(Repeat({T::NAME, T::FAT_ARROW}, 10'000), diag::kTooManyOperators);
  EXPECT_EQ(Repeat({T::KW_ELSE, T::KW_IF, T::NAME, T::LBRACE, T::NAME, T::RBRACE}, 10'000), std::nullopt) << "else-if chains are flat";
}

TEST(LimitCheck, BoundsTheTokensOfAFile) { EXPECT_EQ(Repeat({T::SEMI}, static_cast<int>(kMaxTokens) + 1), diag::kTooManyTokens); }

}  // namespace
}  // namespace wf::parse
