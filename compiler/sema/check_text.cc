// Strings and interpolation.

#include "compiler/sema/check_expr.h"
#include "compiler/sema/waiting.h"

namespace wf::sema {
namespace {

bool HasText(TypeRef type) { return type->kind == TypeKind::kScalar || type->kind == TypeKind::kString; }

// Joins pieces into one template. A literal piece that holds braces travels as an argument, so that every `{}` of the template is a hole.
class Template {
 public:
  Template(Body& body, const Span& span) : body_(body), text_(MakeText(body, "", span)) {}

  void Add(const std::string& piece, bool is_only_piece) {
    if (is_only_piece || piece.find('{') == std::string::npos) {
      text_->text += piece;
    } else {
      AddHole(MakeText(body_, piece, text_->span));
    }
  }
  void AddHole(ExprPtr value) {
    if (value->kind == ExprKind::kText && value->args.empty() && value->text.find('{') == std::string::npos) {
      text_->text += value->text;
      return;
    }
    text_->text += "{}";
    text_->args.push_back(std::move(value));
  }
  ExprPtr Take() {
    // One literal piece that only looks like a template: without arguments a text is taken as it is.
    if (text_->args.size() == 1 && text_->text == "{}" && text_->args[0]->kind == ExprKind::kText) return std::move(text_->args[0]);
    return std::move(text_);
  }

 private:
  Body& body_;
  ExprPtr text_;
};

// What stands for a text, a number or a bool that is not there.
std::string NothingOf(const Type& type) {
  if (type.kind == TypeKind::kString) return "\"\"";
  if (type.dtype == DType::kBool) return "false";
  return ir::IsFloat(type.dtype) ? "0.0" : "0";
}

// With help for a list.
diag::Builder ReportNoText(Body& body, const Expr& value) {
  auto builder = body.env.Report(value.span, kNoText, {ToString(value.type)});
  if (value.type->kind == TypeKind::kList)
    builder.Help("its elements are joined by std.text: `text.join([str(x) for x in " + CodeAt(body, value.span, "xs") + "], \", \")`");
  return builder;
}

}  // namespace

ExprPtr CheckString(Body& body, const ast::StringExpr& expr, const Where& where) {
  Template result(body, expr.span);
  bool broken = false;
  for (const ast::StringExpr::Piece& piece : expr.pieces) {
    if (!piece.hole) {
      result.Add(piece.text, expr.pieces.size() == 1);
      continue;
    }
    ExprPtr value = CheckExpr(body, *piece.hole, nullptr, where);
    if (!IsPoison(*value) && !HasText(value->type)) {
      auto builder = ReportNoText(body, *value);
      if (value->type->kind == TypeKind::kOptional && HasText(value->type->element))
        builder.Help("give it a value first, and show that: `let shown = " + CodeAt(body, value->span, "x") + " ?? " +
                     NothingOf(*value->type->element) + ";`, and then `{shown}`");
      broken = true;
    }
    broken = broken || IsPoison(*value);
    result.AddHole(std::move(value));
  }
  return broken ? Poison(body, expr.span) : result.Take();
}

const std::string* PlainText(const ast::Expr& expr, std::string& buffer) {
  const auto* text = ast::DynAs<ast::StringExpr>(expr);
  if (text == nullptr) return nullptr;
  buffer.clear();
  for (const ast::StringExpr::Piece& piece : text->pieces) {
    if (piece.hole) return nullptr;
    buffer += piece.text;
  }
  return &buffer;
}

ExprPtr ToText(Body& body, ExprPtr value) {
  if (IsPoison(*value) || value->type->kind == TypeKind::kString) return value;
  const Span span = value->span;
  if (!HasText(value->type)) {
    auto builder = ReportNoText(body, *value);
    if (value->type->kind == TypeKind::kOptional && HasText(value->type->element))
      builder.Help("it may be none: `str(" + CodeAt(body, span, "x") + " ?? " + NothingOf(*value->type->element) + ")`");
    return Poison(body, span);
  }
  ExprPtr text = MakeText(body, "{}", span);
  text->args.push_back(std::move(value));
  return text;
}

}  // namespace wf::sema
