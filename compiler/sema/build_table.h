#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/sema/typed.h"

// Which choices a table of constants can make. Internal to BuildIr.
namespace wf::sema {

// A condition that compares one local with literals, any of which will do.
// Borrows: the expressions.
struct KeyTest {
  const Expr* subject = nullptr;  // the local, or what an optional one holds ..
  const Expr* has = nullptr;      // .. where it holds something
  LocalId local = 0;
  std::vector<const Expr*> keys;
};
std::optional<KeyTest> ReadKeyTest(const Expr& condition);
bool AskSame(const KeyTest& a, const KeyTest& b);
// i64: `first` and the number of the first of the tests that holds for the subject, or `none`.
ir::ValueId FindKey(ir::Builder& b, std::span<const KeyTest> tests, size_t first, ir::ValueId subject, ir::ValueId none);

bool IsTableOfArms(std::span<const Expr* const> arms);  // literals of one type
ir::ValueId WriteArmTable(ir::Builder& b, std::span<const Expr* const> arms, ir::ValueId chosen);

}  // namespace wf::sema
