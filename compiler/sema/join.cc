// The type that two values share, and values in the form that another type has.

#include <algorithm>
#include <functional>

#include "compiler/sema/check_call.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/walk.h"

namespace wf::sema {
namespace {

uint32_t IndexOf(TypeRef record, const std::string& member) {
  const std::vector<Field>& fields = record->fields;
  return static_cast<uint32_t>(std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.name == member; }) -
                               fields.begin());
}

bool HaveSameMembers(TypeRef a, TypeRef b) {
  return a->fields.size() == b->fields.size() &&
         std::all_of(a->fields.begin(), a->fields.end(), [&](const Field& field) { return IndexOf(b, field.name) < b->fields.size(); });
}

// Makes a read of a value as often as it is asked to.
using ReadOnce = std::function<ExprPtr()>;

// A value that has a name, member by member and element by element in the form that is wanted.
class Former {
 public:
  Former(Body& body, const Span& span) : body_(body), span_(span) {}

  ExprPtr From(const ReadOnce& read, TypeRef wanted) {
    const TypeRef found = read()->type;
    if (InFormOf(body_.env.types, wanted, found) == found) return read();
    if (found->kind == TypeKind::kOptional) return Chosen(read, wanted->element);
    if (wanted->kind == TypeKind::kOptional) return MakeSome(body_, From(read, wanted->element));
    return found->kind == TypeKind::kList ? Elements(read(), wanted->element) : Members(read, wanted);
  }

 private:
  ExprPtr Members(const ReadOnce& read, TypeRef wanted) {
    const TypeRef found = read()->type;
    ExprPtr made = Make(ExprKind::kRecord, wanted, span_);
    std::vector<Field> fields;
    for (const Field& field : wanted->fields) {
      const uint32_t index = IndexOf(found, field.name);
      const ReadOnce member = [&] {
        ExprPtr value = read();
        ExprPtr of_it = Make(ExprKind::kField, value->type->fields[index].type, span_);
        of_it->index = index;
        of_it->args.push_back(std::move(value));
        return of_it;
      };
      made->args.push_back(From(member, field.type));
      fields.push_back({field.name, made->args.back()->type});
    }
    made->type = body_.env.types.Record("", std::move(fields));
    return made;
  }

  ExprPtr Chosen(const ReadOnce& read, TypeRef wanted) {
    const uint32_t mark = body_.NextSymbol();
    const ReadOnce there = [&] {
      ExprPtr optional = read();
      ExprPtr value = Make(ExprKind::kUnwrap, optional->type->element, span_);
      value->args.push_back(std::move(optional));
      SettleRead(body_, *value);
      return value;
    };
    ExprPtr has = Make(ExprKind::kHas, body_.env.types.Scalar(DType::kBool), span_);
    has->args.push_back(read());
    ExprPtr some = MakeSome(body_, From(there, wanted));
    const TypeRef type = some->type;
    ExprPtr choice = Make(ExprKind::kIf, type, span_);
    choice->args.push_back(std::move(has));
    choice->args.push_back(std::move(some));
    choice->args.push_back(Make(ExprKind::kNone, type, span_));
    Settle(body_, *choice, mark);
    return choice;
  }

  ExprPtr Elements(ExprPtr list, TypeRef wanted) {
    const uint32_t mark = body_.NextSymbol();
    const LocalId element = body_.Declare(LocalKind::kLoop, {"_", span_}, list->type->element);
    ExprPtr made = Make(ExprKind::kListLoop, list->type, span_);
    made->loop.emplace();
    made->loop->sources.push_back(std::move(list));
    made->loop->locals.push_back(element);
    made->args.push_back(From([&] { return ReadLocal(body_, element, span_); }, wanted));
    made->type = body_.env.types.List(made->args[0]->type);
    Settle(body_, *made, mark);
    return made;
  }

  Body& body_;
  const Span span_;
};

// Of what was there before the symbols that a value brings.
uint32_t MarkBefore(const Body& body, const Expr& expr) {
  uint32_t mark = body.NextSymbol();
  for (const FreshSymbol& brought : expr.fresh) mark = std::min(mark, body.BirthOf(brought.symbol).value_or(mark));
  return mark;
}

// What is written out takes the form part by part. False: it is not.
bool FormParts(Body& body, Expr& expr, TypeRef wanted) {
  const bool holds =
      expr.kind == ExprKind::kList || expr.kind == ExprKind::kListLoop || expr.kind == ExprKind::kEach || expr.kind == ExprKind::kSome;
  const bool chooses = expr.type->is_open && (expr.kind == ExprKind::kIf || expr.kind == ExprKind::kBlock);
  if (expr.kind == ExprKind::kRecord) {
    std::vector<ExprPtr> sorted;
    for (const Field& field : wanted->fields) sorted.push_back(std::move(expr.args[IndexOf(expr.type, field.name)]));
    expr.args = std::move(sorted);
  } else if (!holds && !chooses) {
    return false;
  }
  ForEachPart(expr, wanted, [&](ExprPtr& part, TypeRef type) { part = InForm(body, std::move(part), type); });
  return true;
}

}  // namespace

TypeRef InFormOf(Types& types, TypeRef wanted, TypeRef found) {
  const auto is_open = [](TypeKind kind) { return kind == TypeKind::kNone || kind == TypeKind::kNever || kind == TypeKind::kError; };
  if (wanted == found || is_open(found->kind)) return found;
  if (wanted->kind == TypeKind::kOptional) {
    return types.Optional(InFormOf(types, wanted->element, found->kind == TypeKind::kOptional ? found->element : found));
  }
  if (wanted->kind == TypeKind::kList && found->kind == TypeKind::kList)
    return types.List(InFormOf(types, wanted->element, found->element));
  if (!IsTuple(wanted) || !IsTuple(found) || !HaveSameMembers(wanted, found)) return found;
  std::vector<Field> fields;
  for (const Field& field : wanted->fields)
    fields.push_back({field.name, InFormOf(types, field.type, found->fields[IndexOf(found, field.name)].type)});
  return types.Record("", std::move(fields));
}

ExprPtr InForm(Body& body, ExprPtr expr, TypeRef wanted) {
  const TypeRef type = InFormOf(body.env.types, wanted, expr->type);
  if (type == expr->type) return expr;
  if (wanted->kind == TypeKind::kOptional && expr->type->kind != TypeKind::kOptional)
    return MakeSome(body, InForm(body, std::move(expr), wanted->element));
  const uint32_t mark = MarkBefore(body, *expr);
  if (FormParts(body, *expr, wanted)) {
    expr->type = type;
    expr->fresh.clear();  // its members may have other places
    Settle(body, *expr, mark);
    return expr;
  }
  if (expr->type->is_open) return expr;
  const Span span = expr->span;
  Former former(body, span);
  if (expr->kind == ExprKind::kLocal) return former.From([&, local = expr->local] { return ReadLocal(body, local, span); }, wanted);
  BlockStep step;
  step.span = span;
  step.local = body.Declare(LocalKind::kLet, {"_", span}, expr->type);
  step.value = std::move(expr);
  ExprPtr made = former.From([&] { return ReadLocal(body, step.local, span); }, wanted);
  ExprPtr whole = Make(ExprKind::kBlock, made->type, span);
  whole->steps.push_back(std::move(step));
  whole->args.push_back(std::move(made));
  Settle(body, *whole, mark);
  return whole;
}

TypeRef Join(Types& types, TypeRef a, TypeRef b) {
  if (a == b) return a;
  if (a->kind == TypeKind::kError || b->kind == TypeKind::kError) return types.Error();
  if (a->kind == TypeKind::kNever) return b;
  if (b->kind == TypeKind::kNever) return a;
  if (a->kind == TypeKind::kNone && b->kind != TypeKind::kOptional) return types.Optional(b);
  if (b->kind == TypeKind::kNone && a->kind != TypeKind::kOptional) return types.Optional(a);
  if (a->kind == TypeKind::kNone) return b;
  if (b->kind == TypeKind::kNone) return a;
  if (a->kind == TypeKind::kOptional || b->kind == TypeKind::kOptional) {
    const TypeRef element = Join(types, a->kind == TypeKind::kOptional ? a->element : a, b->kind == TypeKind::kOptional ? b->element : b);
    return element == nullptr || element->kind == TypeKind::kError ? element : types.Optional(element);
  }
  if (a->kind != b->kind) return nullptr;
  if (a->kind == TypeKind::kTensor) {
    if (a->dtype != b->dtype || a->dims.size() != b->dims.size()) return nullptr;
    std::vector<Dim> dims = a->dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != b->dims[i]) dims[i] = AnyDim();
    }
    return types.Tensor(a->dtype, std::move(dims));
  }
  if (a->kind == TypeKind::kList || a->kind == TypeKind::kMap) {
    const TypeRef element = Join(types, a->element, b->element);
    if (element == nullptr) return nullptr;
    if (a->kind == TypeKind::kList) return types.List(element);
    const auto is_it = [&](TypeRef map) { return InFormOf(types, element, map->element) == map->element; };
    return is_it(a) && is_it(b) ? types.Map(element) : nullptr;  // no map is made of another
  }
  if (!IsTuple(a) || !IsTuple(b) || !HaveSameMembers(a, b)) return nullptr;
  std::vector<Field> fields = a->fields;
  for (Field& field : fields) {
    field.type = Join(types, field.type, b->fields[IndexOf(b, field.name)].type);
    if (field.type == nullptr) return nullptr;
  }
  return types.Record("", std::move(fields));
}

TypeRef WithoutBorn(const Body& body, TypeRef type, uint32_t mark) {
  Types& types = body.env.types;
  if (IsTuple(type)) {
    std::vector<Field> fields = type->fields;
    for (Field& field : fields) field.type = WithoutBorn(body, field.type, mark);
    return types.Record("", std::move(fields));
  }
  if (type->kind != TypeKind::kList && type->kind != TypeKind::kMap && type->kind != TypeKind::kOptional) return type;
  return MapDims(types, type, [&](const Dim& dim) {
    const std::vector<std::string> symbols = dim.Symbols();
    const bool is_born = std::any_of(symbols.begin(), symbols.end(), [&](const std::string& s) { return body.IsBornSince(s, mark); });
    return is_born ? AnyDim() : dim;
  });
}

}  // namespace wf::sema
