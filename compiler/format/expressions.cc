// Expressions.

#include "compiler/format/layout.h"
#include "runtime/base/check.h"

namespace wf::format {
namespace {

using ast::ExprKind;

int Precedence(ast::BinaryOp op) {
  using Op = ast::BinaryOp;
  switch (op) {
    case Op::kMul:
    case Op::kDiv:
    case Op::kRem:
      return 7;
    case Op::kAdd:
    case Op::kSub:
      return 6;
    case Op::kEq:
    case Op::kNe:
    case Op::kLt:
    case Op::kLe:
    case Op::kGt:
    case Op::kGe:
      return 5;
    case Op::kAnd:
      return 4;
    case Op::kOr:
      return 3;
    case Op::kCoalesce:
      return 2;
    case Op::kPipe:
      return 1;
  }
  return 0;
}

const ast::Expr* LeftOf(const ast::Expr& expr) {
  if (const auto* binary = ast::DynAs<ast::BinaryExpr>(expr)) return binary->left.get();
  if (const auto* member = ast::DynAs<ast::MemberExpr>(expr)) return member->object.get();
  if (const auto* call = ast::DynAs<ast::CallExpr>(expr)) return call->callee.get();
  if (const auto* index = ast::DynAs<ast::IndexExpr>(expr)) return index->object.get();
  return nullptr;
}

bool IsBinary(const ast::Expr& expr, ast::BinaryOp op) {
  const auto* binary = ast::DynAs<ast::BinaryExpr>(expr);
  return binary != nullptr && binary->op == op;
}
bool IsPipe(const ast::Expr& expr) { return IsBinary(expr, ast::BinaryOp::kPipe); }
bool IsCoalesce(const ast::Expr& expr) { return IsBinary(expr, ast::BinaryOp::kCoalesce); }

// Whether the expression may be broken inside of brackets of its own that end it.
bool BringsBrackets(const ast::Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kCallExpr:
      return !ast::As<ast::CallExpr>(expr).arguments.empty();
    case ExprKind::kListExpr:
    case ExprKind::kComprehensionExpr:
    case ExprKind::kTupleExpr:
    case ExprKind::kParenExpr:
    case ExprKind::kMatchExpr:
    case ExprKind::kForExpr:
    case ExprKind::kFoldExpr:
      return true;
    default:
      return false;
  }
}

bool IsNumber(const ast::Expr& expr) {
  if (const auto* unary = ast::DynAs<ast::UnaryExpr>(expr)) return unary->operand->kind == ExprKind::kNumberExpr;
  return expr.kind == ExprKind::kNumberExpr;
}

}  // namespace

Doc Layout::Indented(const ast::Expr& expr) {
  if (expr.kind != ExprKind::kBinaryExpr || IsPipe(expr)) return Concat({Space(), Expr(expr)});
  return docs_.Group(docs_.Nest(Concat({docs_.Line(), Expr(expr)})));
}

// The left spine is walked from its leaf up. Several operators of one precedence break together; a single one breaks only if what stands
// right of it does not fit.
Doc Layout::Expr(const ast::Expr& expr) {
  std::vector<const ast::Expr*> spine;
  const ast::Expr* leaf = &expr;
  for (; LeftOf(*leaf) != nullptr; leaf = LeftOf(*leaf)) spine.push_back(leaf);
  Doc done = Leaf(*leaf);
  std::vector<Doc> rest;  // operators with what stands right of them, after `done`
  int precedence = 0;
  const auto join = [&] {
    if (rest.size() == 1) done = Concat({done, docs_.Group(docs_.Nest(rest.front()))});
    if (rest.size() > 1) done = docs_.Group(Concat({done, docs_.Nest(Concat(rest))}));
    rest.clear();
  };
  for (auto step = spine.rbegin(); step != spine.rend(); ++step) {
    const auto* binary = ast::DynAs<ast::BinaryExpr>(**step);
    if (binary == nullptr) {
      join();
      done = Postfix(done, **step);
      continue;
    }
    if (Precedence(binary->op) != precedence) join();
    precedence = Precedence(binary->op);
    const ast::Expr* right = binary->right.get();
    for (; IsCoalesce(*binary) && IsCoalesce(*right); right = ast::As<ast::BinaryExpr>(*right).right.get()) {  // nests to the right
      rest.push_back(Concat({docs_.Line(), at_.Take(), Space(), Expr(*ast::As<ast::BinaryExpr>(*right).left)}));
    }
    rest.push_back(Concat({docs_.Line(), at_.Take(), Space(), Expr(*right)}));
  }
  join();
  return done;
}

Doc Layout::Postfix(Doc object, const ast::Expr& step) {
  if (step.kind == ExprKind::kMemberExpr) return Concat({object, Token("."), at_.Take()});
  if (const auto* call = ast::DynAs<ast::CallExpr>(step)) return Concat({object, Arguments(call->arguments)});
  const auto& index = ast::As<ast::IndexExpr>(step);
  const Brackets brackets = {.open = "[", .close = "]", .count = index.subscripts.size(), .trailing_comma = false};
  return Concat({object, Bracketed(brackets, [&](size_t number) { return Subscript(index.subscripts[number]); })});
}

Doc Layout::Leaf(const ast::Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kNameExpr:
    case ExprKind::kNumberExpr:
    case ExprKind::kStringExpr:
    case ExprKind::kLiteralExpr:
      return at_.Take();
    case ExprKind::kUnaryExpr:
      return Unary(ast::As<ast::UnaryExpr>(expr));
    case ExprKind::kFailExpr:
      return Concat({Token("fail"), Space(), Expr(*ast::As<ast::FailExpr>(expr).error)});
    case ExprKind::kLambdaExpr:
      return Lambda(ast::As<ast::LambdaExpr>(expr));
    case ExprKind::kListExpr:
      return List(ast::As<ast::ListExpr>(expr));
    case ExprKind::kComprehensionExpr:
      return Comprehension(ast::As<ast::ComprehensionExpr>(expr));
    case ExprKind::kParenExpr:
      return Paren(ast::As<ast::ParenExpr>(expr));
    case ExprKind::kTupleExpr:
      return Tuple(ast::As<ast::TupleExpr>(expr));
    case ExprKind::kIfExpr:
      return IfValue(ast::As<ast::IfExpr>(expr));
    case ExprKind::kMatchExpr:
      return Match(ast::As<ast::MatchExpr>(expr));
    case ExprKind::kForExpr:
      return For(ast::As<ast::ForExpr>(expr));
    case ExprKind::kFoldExpr:
      return Fold(ast::As<ast::FoldExpr>(expr));
    case ExprKind::kErrorExpr:
    case ExprKind::kMemberExpr:
    case ExprKind::kCallExpr:
    case ExprKind::kIndexExpr:
    case ExprKind::kBinaryExpr:
      break;  // on the spine; only files without errors are formatted
  }
  WF_CHECK(false, static_cast<int>(expr.kind));
}

Doc Layout::Unary(const ast::UnaryExpr& expr) {
  const auto* inner = ast::DynAs<ast::UnaryExpr>(*expr.operand);
  const bool twice = inner != nullptr && inner->op == ast::UnaryOp::kNegate && expr.op == ast::UnaryOp::kNegate;
  return Concat({at_.Take(), twice ? Space() : docs_.Empty(), Expr(*expr.operand)});  // `- -x`: two signs beside each other read as one
}

Doc Layout::Lambda(const ast::LambdaExpr& lambda) {
  const Brackets brackets = {.open = "[", .close = "]", .count = lambda.indices.size()};
  const Doc indices = Bracketed(brackets, [&](size_t number) {
    const ast::LambdaExpr::Index& index = lambda.indices[number];
    return index.extent == nullptr ? at_.Take() : Concat({Words(2), Space(), Expr(*index.extent)});
  });
  return Concat({indices, Space(), Token("=>"), Indented(*lambda.body)});
}

Doc Layout::List(const ast::ListExpr& list) {
  bool numbers = list.elements.size() > 1;
  for (const ast::ExprPtr& element : list.elements) numbers = numbers && IsNumber(*element);
  const bool hug = list.elements.size() == 1 && BringsBrackets(*list.elements.front());
  const Brackets brackets = {.open = "[", .close = "]", .count = list.elements.size(), .hug = hug, .fill = numbers};
  return Bracketed(brackets, [&](size_t number) { return Expr(*list.elements[number]); });
}

Doc Layout::Comprehension(const ast::ComprehensionExpr& list) {
  return Bracketed({.open = "[", .close = "]", .count = 1, .trailing_comma = false}, [&](size_t) {
    std::vector<Doc> parts = {Expr(*list.value), docs_.Line(), Token("for"), Space(),           Names(),
                              Space(),           Token("in"),  Space(),      Expr(*list.source)};
    if (list.condition != nullptr) parts.push_back(Concat({docs_.Line(), Token("if"), Space(), Expr(*list.condition)}));
    return Concat(std::move(parts));
  });
}

Doc Layout::Tuple(const ast::TupleExpr& tuple) {
  return Bracketed({.open = "(", .close = ")", .count = tuple.fields.size()},
                   [&](size_t number) { return Concat({at_.Take(), Token(":"), Space(), Expr(*tuple.fields[number].value)}); });
}

Doc Layout::Paren(const ast::ParenExpr& paren) {
  const Brackets brackets = {.open = "(", .close = ")", .count = 1, .trailing_comma = false, .hug = BringsBrackets(*paren.inner)};
  return Bracketed(brackets, [&](size_t) { return Expr(*paren.inner); });
}

// All blocks of one `if` are broken or none.
Doc Layout::IfValue(const ast::IfExpr& expr) {
  std::vector<Doc> parts;
  for (const ast::IfExpr::Arm& arm : expr.arms) {
    parts.push_back(Concat(
        {Token("if"), Space(), Expr(*arm.condition), Space(), Block(arm.block, {.with_group = true}), Space(), Token("else"), Space()}));
  }
  parts.push_back(Block(expr.otherwise, {.with_group = true}));
  return docs_.Group(Concat(std::move(parts)));
}

Doc Layout::Match(const ast::MatchExpr& match) {
  const Doc head = Concat({Token("match"), Space(), Expr(*match.subject), Space()});
  const size_t count = match.arms.size();
  return Concat({head, Braced({.count = count}, [&](size_t number) {
                   const Doc arm = Arm(match.arms[number]);
                   if (number + 1 < count) return Concat({arm, at_.Close(",")});
                   if (at_.At(",")) at_.Skip(",");
                   return Concat({arm, docs_.IfBroken(",")});
                 })});
}

Doc Layout::Arm(const ast::MatchExpr::Arm& arm) {
  std::vector<Doc> parts;
  while (!at_.At("=>")) {
    if (at_.At("|")) {
      parts.push_back(Concat({Space(), Token("|"), Space()}));
    } else {
      parts.push_back(at_.Take());
    }
  }
  parts.push_back(Concat({Space(), Token("=>"), Indented(*arm.value)}));
  return Concat(std::move(parts));
}

Doc Layout::For(const ast::ForExpr& loop) {
  const Doc head = Concat({Token("for"), Space(), Names(), Space(), Token("in"), Space(), Expr(*loop.source), Space()});
  return Concat({head, Block(loop.block, {})});
}

Doc Layout::Fold(const ast::FoldExpr& fold) {
  const Doc start = Concat({Words(3), Space(), Expr(*fold.initial), Space()});
  const Doc head = Concat({start, Token("for"), Space(), Names(), Space(), Token("in"), Space(), Expr(*fold.source), Space()});
  return Concat({head, Block(fold.block, {})});
}

Doc Layout::Arguments(const std::vector<ast::Argument>& arguments) {
  const bool hug = arguments.size() == 1 && BringsBrackets(*arguments.front().value);
  return Bracketed({.open = "(", .close = ")", .count = arguments.size(), .hug = hug}, [&](size_t number) {
    const ast::Argument& argument = arguments[number];
    if (!argument.label) return Expr(*argument.value);
    return Concat({at_.Take(), Token(":"), Space(), Expr(*argument.value)});
  });
}

Doc Layout::Subscript(const ast::Subscript& subscript) {
  std::vector<Doc> parts;
  if (subscript.first != nullptr) parts.push_back(Expr(*subscript.first));
  if (subscript.is_slice) parts.push_back(Token(":"));
  if (subscript.last != nullptr) parts.push_back(Expr(*subscript.last));
  return parts.empty() ? docs_.Empty() : Concat(std::move(parts));
}

}  // namespace wf::format
