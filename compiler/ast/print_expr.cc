#include <fmt/format.h>

#include "compiler/ast/tree_writer.h"

namespace wf::ast {
namespace {

std::string Joined(const std::vector<Name>& names) {
  std::string text;
  for (const Name& name : names) text += (text.empty() ? "" : ", ") + name.text;
  return text;
}

std::string_view Spelling(LiteralKind kind) {
  switch (kind) {
    case LiteralKind::kTrue:
      return "true";
    case LiteralKind::kFalse:
      return "false";
    case LiteralKind::kNone:
      return "none";
  }
  return "";
}

std::string_view Spelling(NumberKind kind) {
  switch (kind) {
    case NumberKind::kInt:
      return "int";
    case NumberKind::kFloat:
      return "float";
    case NumberKind::kMeasure:
      return "measure";
  }
  return "";
}

std::string Spelling(const Pattern& pattern) { return pattern.kind == Pattern::Kind::kString ? Quote(pattern.text) : pattern.text; }

// What stands on a node's own line after its kind.
std::string TextOf(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kNameExpr:
      return As<NameExpr>(expr).name;
    case ExprKind::kNumberExpr:
      return fmt::format("{} {}", Spelling(As<NumberExpr>(expr).number_kind), As<NumberExpr>(expr).text);
    case ExprKind::kStringExpr:
      return As<StringExpr>(expr).raw ? "raw" : "";
    case ExprKind::kLiteralExpr:
      return std::string(Spelling(As<LiteralExpr>(expr).literal));
    case ExprKind::kMemberExpr:
      return "." + As<MemberExpr>(expr).member.text;
    case ExprKind::kUnaryExpr:
      return As<UnaryExpr>(expr).op == UnaryOp::kNegate ? "-" : "!";
    case ExprKind::kBinaryExpr:
      return std::string(Spelling(As<BinaryExpr>(expr).op));
    case ExprKind::kForExpr:
      return Joined(As<ForExpr>(expr).names);
    case ExprKind::kFoldExpr:
      return fmt::format("{} for {}", As<FoldExpr>(expr).accumulator.text, Joined(As<FoldExpr>(expr).names));
    case ExprKind::kComprehensionExpr:
      return Joined(As<ComprehensionExpr>(expr).names);
    case ExprKind::kErrorExpr:
    case ExprKind::kCallExpr:
    case ExprKind::kIndexExpr:
    case ExprKind::kLambdaExpr:
    case ExprKind::kFailExpr:
    case ExprKind::kListExpr:
    case ExprKind::kParenExpr:
    case ExprKind::kTupleExpr:
    case ExprKind::kIfExpr:
    case ExprKind::kMatchExpr:
      return "";
  }
  return "";
}

std::string_view KindName(ExprKind kind) {
  switch (kind) {
#define EXPR(name)        \
  case ExprKind::k##name: \
    return #name;
#include "compiler/ast/node_kinds.def"
  }
  return "";
}

void PrintIf(const IfExpr& expr, TreeWriter& out) {
  for (const IfExpr::Arm& arm : expr.arms) {
    PrintExpr("if", *arm.condition, out);
    PrintBlock("then", arm.block, out);
  }
  PrintBlock("else", expr.otherwise, out);
}

void PrintMatch(const MatchExpr& expr, TreeWriter& out) {
  PrintExpr("subject", *expr.subject, out);
  for (const MatchExpr::Arm& arm : expr.arms) {
    std::string patterns;
    for (const Pattern& pattern : arm.patterns) patterns += (patterns.empty() ? "" : " | ") + Spelling(pattern);
    out.Line("arm", patterns, arm.span);
    const TreeWriter::Deeper deeper(out);
    PrintExpr("", *arm.value, out);
  }
}

void PrintSubscripts(const IndexExpr& expr, TreeWriter& out) {
  PrintExpr("object", *expr.object, out);
  for (const Subscript& subscript : expr.subscripts) {
    out.Line("at", subscript.is_slice ? "slice" : "index", subscript.span);
    const TreeWriter::Deeper deeper(out);
    if (subscript.first != nullptr) PrintExpr("first", *subscript.first, out);
    if (subscript.last != nullptr) PrintExpr("last", *subscript.last, out);
  }
}

void PrintString(const StringExpr& expr, TreeWriter& out) {
  for (const StringExpr::Piece& piece : expr.pieces) {
    if (piece.hole == nullptr) {
      out.Text(Quote(piece.text));
    } else {
      PrintExpr("hole", *piece.hole, out);
    }
  }
}

void PrintLambda(const LambdaExpr& expr, TreeWriter& out) {
  for (const LambdaExpr::Index& index : expr.indices) {
    out.Line("over", index.name.text, index.name.span);
    const TreeWriter::Deeper deeper(out);
    if (index.extent != nullptr) PrintExpr("extent", *index.extent, out);
  }
  PrintExpr("body", *expr.body, out);
}

void PrintLoops(const Expr& expr, TreeWriter& out) {
  if (const auto* each = DynAs<ForExpr>(expr)) {
    PrintExpr("in", *each->source, out);
    PrintBlock("do", each->block, out);
  } else if (const auto* fold = DynAs<FoldExpr>(expr)) {
    PrintExpr("from", *fold->initial, out);
    PrintExpr("in", *fold->source, out);
    PrintBlock("do", fold->block, out);
  } else {
    const auto& list = As<ComprehensionExpr>(expr);
    PrintExpr("value", *list.value, out);
    PrintExpr("in", *list.source, out);
    if (list.condition != nullptr) PrintExpr("if", *list.condition, out);
  }
}

void PrintChildren(const Expr& expr, TreeWriter& out) {
  switch (expr.kind) {
    case ExprKind::kErrorExpr:
    case ExprKind::kNameExpr:
    case ExprKind::kNumberExpr:
    case ExprKind::kLiteralExpr:
      return;
    case ExprKind::kStringExpr:
      return PrintString(As<StringExpr>(expr), out);
    case ExprKind::kMemberExpr:
      return PrintExpr("", *As<MemberExpr>(expr).object, out);
    case ExprKind::kCallExpr:
      PrintExpr("callee", *As<CallExpr>(expr).callee, out);
      return PrintArguments(As<CallExpr>(expr).arguments, out);
    case ExprKind::kIndexExpr:
      return PrintSubscripts(As<IndexExpr>(expr), out);
    case ExprKind::kUnaryExpr:
      return PrintExpr("", *As<UnaryExpr>(expr).operand, out);
    case ExprKind::kBinaryExpr:
      PrintExpr("", *As<BinaryExpr>(expr).left, out);
      return PrintExpr("", *As<BinaryExpr>(expr).right, out);
    case ExprKind::kLambdaExpr:
      return PrintLambda(As<LambdaExpr>(expr), out);
    case ExprKind::kFailExpr:
      return PrintExpr("", *As<FailExpr>(expr).error, out);
    case ExprKind::kListExpr:
      for (const ExprPtr& element : As<ListExpr>(expr).elements) PrintExpr("", *element, out);
      return;
    case ExprKind::kParenExpr:
      return PrintExpr("", *As<ParenExpr>(expr).inner, out);
    case ExprKind::kTupleExpr:
      for (const TupleExpr::Field& field : As<TupleExpr>(expr).fields) PrintExpr(field.label.text, *field.value, out);
      return;
    case ExprKind::kIfExpr:
      return PrintIf(As<IfExpr>(expr), out);
    case ExprKind::kMatchExpr:
      return PrintMatch(As<MatchExpr>(expr), out);
    case ExprKind::kComprehensionExpr:
    case ExprKind::kForExpr:
    case ExprKind::kFoldExpr:
      return PrintLoops(expr, out);
  }
}

}  // namespace

void PrintExpr(std::string_view role, const Expr& expr, TreeWriter& out) {
  std::string head(KindName(expr.kind));
  if (const std::string text = TextOf(expr); !text.empty()) head += " " + text;
  out.Line(role, head, expr.span);
  const TreeWriter::Deeper deeper(out);
  PrintChildren(expr, out);
}

void PrintArguments(const std::vector<Argument>& arguments, TreeWriter& out) {
  for (const Argument& argument : arguments) PrintExpr(argument.label ? argument.label->text : "arg", *argument.value, out);
}

void PrintBlock(std::string_view role, const Block& block, TreeWriter& out) {
  out.Line(role, "Block", block.span);
  const TreeWriter::Deeper deeper(out);
  for (const auto& stmt : block.statements) PrintStmt(*stmt, out);
  if (block.value != nullptr) PrintExpr("value", *block.value, out);
  if (block.fallback != nullptr) PrintExpr("else", *block.fallback, out);
}

}  // namespace wf::ast
