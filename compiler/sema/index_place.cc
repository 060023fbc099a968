// What an index runs over, as far as names say it.

#include "compiler/sema/index_place.h"

#include <algorithm>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/mentions.h"
#include "compiler/sema/names.h"

namespace wf::sema {
namespace {

TypeRef TypeOfConst(Body& body, const Entity* entity) {
  if (entity == nullptr || entity->kind != EntityKind::kConst) return nullptr;
  return entity->ready && !entity->broken ? entity->type : body.env.types.Error();
}

Entity* EntityNamed(Body& body, const ast::Expr& expr) {
  const auto* name = ast::DynAs<ast::NameExpr>(expr);
  return name != nullptr && !body.Find(name->name) ? FindEntity(body.module, name->name) : nullptr;
}

// Of x[..] with a position for some axes; null for slices and look-ups.
TypeRef TypeOfElement(Types& types, TypeRef object, const ast::IndexExpr& index) {
  const size_t count = index.subscripts.size();
  for (const ast::Subscript& subscript : index.subscripts) {
    if (subscript.is_slice) return nullptr;
  }
  if (object->kind == TypeKind::kList && count == 1) return object->element;
  if (object->kind != TypeKind::kTensor || count >= object->dims.size()) return nullptr;
  return types.Tensor(object->dtype, {object->dims.begin() + static_cast<ptrdiff_t>(count), object->dims.end()});
}

}  // namespace

std::vector<Use> UsesOf(const std::string& index, const ast::Expr& inside) {
  std::vector<Use> uses;
  ForEachIndexed(inside, [&](const ast::IndexExpr& expr) {
    for (size_t axis = 0; axis < expr.subscripts.size(); ++axis) {
      const ast::Subscript& subscript = expr.subscripts[axis];
      const auto* name = subscript.first ? ast::DynAs<ast::NameExpr>(*subscript.first) : nullptr;
      if (!subscript.is_slice && name != nullptr && name->name == index) uses.push_back({&expr, axis});
    }
  });
  const auto stands_before = [](const Use& a, const Use& b) { return a.expr->span.begin < b.expr->span.begin; };
  std::sort(uses.begin(), uses.end(), stands_before);
  return uses;
}

TypeRef TypeOfPlace(Body& body, const ast::Expr& expr) {
  if (const auto* name = ast::DynAs<ast::NameExpr>(expr)) {
    if (const auto local = body.Find(name->name)) return body.locals[*local].type;
    return TypeOfConst(body, FindEntity(body.module, name->name));
  }
  if (const auto* paren = ast::DynAs<ast::ParenExpr>(expr)) return TypeOfPlace(body, *paren->inner);
  if (const auto* index = ast::DynAs<ast::IndexExpr>(expr)) {
    const TypeRef indexed = TypeOfPlace(body, *index->object);
    return indexed == nullptr || indexed->kind == TypeKind::kError ? indexed : TypeOfElement(body.env.types, indexed, *index);
  }
  const auto* member = ast::DynAs<ast::MemberExpr>(expr);
  if (member == nullptr) return nullptr;
  if (Entity* module = EntityNamed(body, *member->object); module != nullptr && module->kind == EntityKind::kModule) {
    return module->target == nullptr ? body.env.types.Error() : TypeOfConst(body, FindEntity(*module->target, member->member.text));
  }
  const TypeRef object = TypeOfPlace(body, *member->object);
  if (object == nullptr || object->kind != TypeKind::kRecord)
    return object != nullptr && object->kind == TypeKind::kError ? object : nullptr;
  for (const Field& field : object->fields) {
    if (field.name == member->member.text) return field.type;
  }
  return nullptr;
}

bool IsKnownHere(Body& body, const ast::Expr& place) {
  NameSet names;
  CollectNames(place, names);
  const Module* prelude = body.env.prelude;
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return body.Find(name) || body.symbols.contains(name) || FindEntity(body.module, name) != nullptr || IsBuiltinName(name) ||
           DTypeNamed(name) || (prelude != nullptr && prelude->entities.contains(name));
  });
}

}  // namespace wf::sema
