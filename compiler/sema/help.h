#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/sema/body.h"

namespace wf::sema {

// Help for tensors that a test compares by `==`.
constexpr std::string_view kHelpToCompare = "`close(a, b)` compares two tensors of one shape, all of their elements";
// Help for what may be none, and for a list of such.
constexpr std::string_view kHelpWithNone = "it may be none; give it a value with `??`";
constexpr std::string_view kHelpWithNones = "`[x ?? y for x in xs]` gives what may be none a value";
inline bool IsInTest(const Body& body) { return body.self != nullptr && body.self->kind == ast::DeclKind::kTestDecl; }

// Help for a text that is converted to a number.
std::string HelpToReadText(const std::string& type, const std::string& text);

// Help for an arm of a `match` that is the name of a value.
std::string HelpToCompareIn(const std::string& name);

// Help for a value that stands for whether it is there, or is not 0 or empty, as other languages have it; `negated`: behind a `!`.
std::optional<std::string> HelpWithTruth(const Body& body, const Expr& value, bool negated);
// Help for two dimensions whose texts differ in blanks at most, for one of them is a quotient of integers: they round differently.
std::optional<std::string> HelpWithDivision(const Dim& left, const Dim& right);
// Help for extents in a list, map or optional, which are not compared when it runs.
std::string HelpToCompareParts(const Body& body, TypeRef wanted, const Expr& value);

// The indices of all axes of a tensor or list in an example of code.
struct Indices {
  std::string bound;  // "i < len(x), j < w", which needs no type around it
  std::string names;  // "i, j"
};
Indices IndicesOf(const Body& body, const Expr& value);
// The text of a value, in parentheses where an index behind it would go to a part of it.
std::string Indexable(const Body& body, const Expr& value);
// `sum[i](x[i])`; of a list with its length, which no type says. Empty: a reducer takes no such value.
std::string ReducedBy(const Body& body, std::string_view reducer, const Expr& value);

}  // namespace wf::sema
