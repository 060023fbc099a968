#include "compiler/sema/match_types.h"

#include <algorithm>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/rest.h"

namespace wf::sema {
namespace {

bool OnlyRest(TypeRef tensor) { return tensor->dims.size() == 1 && IsRest(tensor->dims[0]); }

// One run of MatchTypes.
class Matcher {
 public:
  Matcher(Types& types, TypeBindings* bindings, std::vector<DimPair>& pairs) : types_(types), bindings_(bindings), pairs_(pairs) {}

  bool Matches(TypeRef wanted, TypeRef found, bool nested) {
    if (wanted == found && bindings_ == nullptr && !nested && wanted->kind != TypeKind::kTensor) return true;
    if (wanted->kind == TypeKind::kError || found->kind == TypeKind::kError || found->kind == TypeKind::kNever) return true;
    if (wanted->kind == TypeKind::kVariable) return MatchVariable(wanted->name, found, nested);
    if (wanted->kind == TypeKind::kTensor) return MatchTensor(wanted, found, nested);
    if (wanted->kind == TypeKind::kOptional && found->kind == TypeKind::kNone) return true;
    if (wanted->kind != found->kind) return false;
    switch (wanted->kind) {
      case TypeKind::kScalar:
        return wanted->dtype == found->dtype;
      case TypeKind::kMap:
        if (bindings_ != nullptr && wanted->element->kind == TypeKind::kVariable) bindings_->in_maps.insert(wanted->element->name);
        return Matches(wanted->element, found->element, true);
      case TypeKind::kList:
      case TypeKind::kOptional:
        return Matches(wanted->element, found->element, true);
      case TypeKind::kRecord:
        return MatchRecord(wanted, found, nested);
      case TypeKind::kError:
      case TypeKind::kNever:
      case TypeKind::kNone:
      case TypeKind::kString:
      case TypeKind::kBytes:
      case TypeKind::kTensor:
      case TypeKind::kVariable:
        return true;
    }
    return false;
  }

 private:
  bool MatchVariable(const std::string& name, TypeRef found, bool nested) {
    if (bindings_ == nullptr) return false;
    const auto [at, fresh] = bindings_->types.try_emplace(name, found);
    if (fresh && !nested) bindings_->whole.insert(name);
    if (fresh) return true;
    if (nested) bindings_->whole.erase(name);
    const bool holds = bindings_->whole.contains(name) && at->second->kind == TypeKind::kTensor && found->kind == TypeKind::kTensor;
    if (holds || bindings_->demanded.contains(name)) return Compare(at->second, found, nested);
    const TypeRef joined = Join(types_, at->second, found);
    if (joined == nullptr) return false;
    if (bindings_->in_maps.contains(name) && InFormOf(types_, joined, at->second) != at->second) return false;
    at->second = joined;
    return true;
  }

  bool Compare(TypeRef bound, TypeRef found, bool nested) {
    const size_t before = pairs_.size();
    const bool matches = Matcher(types_, nullptr, pairs_).Matches(bound, found, nested);
    for (size_t pair = before; pair < pairs_.size(); ++pair) pairs_[pair].bound = true;
    return matches;
  }

  bool MatchRecord(TypeRef wanted, TypeRef found, bool nested) {
    if (wanted->name != found->name) return false;
    if (!wanted->name.empty()) return true;
    if (wanted->fields.size() != found->fields.size()) return false;
    for (size_t i = 0; i < wanted->fields.size(); ++i) {
      if (wanted->fields[i].name != found->fields[i].name) return false;
      const size_t before = pairs_.size();
      if (!Matches(wanted->fields[i].type, found->fields[i].type, nested)) return false;
      for (size_t pair = before; pair < pairs_.size(); ++pair) {
        if (pairs_[pair].member.empty()) pairs_[pair].member = wanted->fields[i].name;
      }
    }
    return true;
  }

  bool MatchTensor(TypeRef wanted, TypeRef found, bool nested) {
    if (found->kind == TypeKind::kScalar && bindings_ != nullptr && OnlyRest(wanted)) {  // f32[*s] of rank 0
      const auto [at, fresh] = bindings_->rests.try_emplace(wanted->dims[0].symbol()->substr(1));
      if (!at->second.empty()) return false;
      return wanted->element != nullptr ? MatchVariable(wanted->element->name, found, nested) : wanted->dtype == found->dtype;
    }
    if (found->kind != TypeKind::kTensor) return false;
    if (wanted->element != nullptr) {
      if (!MatchVariable(wanted->element->name, types_.Scalar(found->dtype), nested)) return false;
    } else if (wanted->dtype != found->dtype) {
      return false;
    }
    return MatchDims(wanted, found, nested);
  }

  // f32[*s, n]: the axes that the others leave over are s.
  bool MatchDims(TypeRef wanted, TypeRef found, bool nested) {
    const auto pair = [&](size_t of_wanted, size_t axis) {
      pairs_.push_back({wanted->dims[of_wanted], found->dims[axis], static_cast<uint32_t>(axis), nested});
    };
    const auto rest = std::find_if(wanted->dims.begin(), wanted->dims.end(), IsRest);
    if (rest == wanted->dims.end() || bindings_ == nullptr) {
      if (wanted->dims.size() != found->dims.size()) return false;
      for (size_t axis = 0; axis < wanted->dims.size(); ++axis) pair(axis, axis);
      return true;
    }
    const auto before = static_cast<size_t>(rest - wanted->dims.begin());
    const size_t after = wanted->dims.size() - before - 1;
    if (found->dims.size() < before + after) return false;
    const std::vector<Dim> middle(found->dims.begin() + before, found->dims.end() - after);
    const auto [at, fresh] = bindings_->rests.try_emplace(rest->symbol()->substr(1), middle);
    if (!fresh && at->second.size() != middle.size()) return false;
    for (size_t i = 0; !fresh && i < middle.size(); ++i) {
      pairs_.push_back({at->second[i], middle[i], static_cast<uint32_t>(before + i), nested, /*bound=*/true});
    }
    for (size_t axis = 0; axis < before; ++axis) pair(axis, axis);
    for (size_t i = 0; i < after; ++i) pair(before + 1 + i, found->dims.size() - after + i);
    return true;
  }

  Types& types_;
  TypeBindings* const bindings_;
  std::vector<DimPair>& pairs_;
};

}  // namespace

bool MatchTypes(Types& types, TypeRef wanted, TypeRef found, TypeBindings* bindings, std::vector<DimPair>& pairs) {
  return Matcher(types, bindings, pairs).Matches(wanted, found, false);
}

}  // namespace wf::sema
