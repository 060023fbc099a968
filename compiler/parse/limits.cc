#include "compiler/parse/limits.h"

#include <algorithm>

#include "grammar/WfLexer.h"

namespace wf::parse {
namespace {

using T = grammar::WfLexer;

// What nests to the right costs the parser's stack at each step, where a chain such as a + b + c is a loop; it counts for more.
constexpr int kNestingWeight = 16;      // if, match, for, fold, ??, =>
constexpr int kSmallNestingWeight = 4;  // prefix operators, and `<` for types such as list<list<..

bool IsPrefix(size_t type) { return type == T::MINUS || type == T::BANG || type == T::KW_FAIL; }

bool IsOpen(size_t type) { return type == T::LPAREN || type == T::LBRACKET || type == T::LBRACE; }
bool IsClose(size_t type) { return type == T::RPAREN || type == T::RBRACKET || type == T::RBRACE; }

bool EndsOperand(size_t type) {
  return IsClose(type) || (type >= T::NAME && type <= T::RAW_STRING) || (type >= T::KW_TRUE && type <= T::KW_NONE);
}

int WeightOf(size_t type, size_t previous) {
  switch (type) {
    case T::MINUS:
      return EndsOperand(previous) ? 1 : kSmallNestingWeight;
    case T::BANG:
    case T::KW_FAIL:
    case T::LT:
      return kSmallNestingWeight;
    case T::COALESCE:
    case T::FAT_ARROW:
    case T::KW_IF:
      return previous == T::KW_ELSE ? 0 : kNestingWeight;  // else-if chains are flat
    case T::KW_MATCH:
    case T::KW_FOR:
    case T::KW_FOLD:
      return kNestingWeight;
    case T::DOT:
    case T::LPAREN:
    case T::LBRACKET:
    case T::EQ:
    case T::NE:
    case T::LE:
    case T::GE:
    case T::GT:
    case T::PLUS:
    case T::STAR:
    case T::SLASH:
    case T::PERCENT:
    case T::AND:
    case T::OR:
    case T::PIPE:
      return 1;
    default:
      return 0;
  }
}

// After `}`, these go on with the expression that the block is part of.
bool ContinuesAfterBlock(size_t type) {
  const bool begins_statement = type == T::KW_IF || type == T::KW_MATCH || type == T::KW_FOR || type == T::KW_FOLD || type == T::KW_FAIL;
  if (begins_statement) return false;
  return WeightOf(type, T::NAME) > 0 || IsClose(type) || type == T::KW_ELSE || type == T::COMMA || type == T::SEMI || type == T::LBRACE;
}

}  // namespace

void LimitCheck::Restart() {
  Level& level = levels_.back();
  level.deepest = std::max({level.deepest, level.branches, operators_});
  operators_ = level.at_open;
  level.at_if = kNoIf;
  level.branches = level.at_open;
}

void LimitCheck::Open() { levels_.push_back({operators_, operators_, kNoIf, operators_}); }

void LimitCheck::Close() {
  if (levels_.size() == 1) return;
  operators_ = std::max({operators_, levels_.back().deepest, levels_.back().branches});
  levels_.pop_back();
}

// The links of an `else if` chain do not nest. An operator after its last block has the whole chain below it.
void LimitCheck::Weigh(size_t type, size_t previous) {
  Level& level = levels_.back();
  if (type == T::KW_ELSE && previous == T::RBRACE && level.at_if != kNoIf) {
    level.branches = std::max(level.branches, operators_);
    operators_ = level.at_if;
    return;
  }
  const int weight = WeightOf(type, previous);
  if (weight > 0 && previous == T::RBRACE) operators_ = std::max(operators_, level.branches);
  operators_ += weight;
  if (type == T::KW_IF && previous != T::KW_ELSE) level.at_if = operators_;
}

std::optional<diag::Code> LimitCheck::Count(size_t tokens) {
  count_ += tokens;
  return count_ > kMaxTokens ? std::optional(diag::kTooManyTokens) : std::nullopt;
}

std::optional<diag::Code> LimitCheck::AddBad() { return Count(1); }

std::optional<diag::Code> LimitCheck::AddComment() { return Count(1); }

std::optional<diag::Code> LimitCheck::AddHoles(std::string_view token) {
  size_t tokens = 0;
  bool in_hole = false;
  for (size_t i = 0; i < token.size(); ++i) {
    const char next = i + 1 < token.size() ? token[i + 1] : '\0';
    if (token[i] == '\\') {
      i += next == 'u' ? 2 : 1;
    } else if (!in_hole && token[i] == '{' && next == '{') {
      ++i;
    } else if (token[i] == '{' || (in_hole && (token[i] == '.' || token[i] == '['))) {
      in_hole = true;
      ++tokens;
    } else if (token[i] == '}') {
      in_hole = false;
    }
  }
  return Count(tokens);
}

std::optional<diag::Code> LimitCheck::Add(size_t type) {
  if (const auto broken = Count(1)) return broken;
  const size_t previous = std::exchange(previous_, type);
  if (previous == T::RBRACE && !ContinuesAfterBlock(type)) Restart();
  if (type == T::COMMA || type == T::SEMI) Restart();
  Weigh(type, previous);
  if (operators_ > kMaxOperators) return diag::kTooManyOperators;
  prefix_run_ = IsPrefix(type) ? prefix_run_ + 1 : 0;
  if (prefix_run_ > kMaxPrefixRun) return diag::kTooManyPrefixes;
  if (IsOpen(type)) {
    Open();
    if (levels_.size() > kMaxBracketDepth + 1) return diag::kNestedTooDeep;
  }
  if (IsClose(type)) Close();
  return std::nullopt;
}

}  // namespace wf::parse
