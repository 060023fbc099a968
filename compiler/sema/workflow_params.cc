#include "compiler/sema/workflow_params.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "compiler/sema/consts.h"
#include "compiler/sema/dims.h"
#include "compiler/sema/match_types.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/waiting.h"

namespace wf::sema {
namespace {

class ParamSymbols {
 public:
  ParamSymbols(Body& body, const ast::WorkflowDecl& decl, Workflow& out) : body_(body), decl_(decl), out_(out) {}

  // Gives names to the extents of parameter `index`; its type with `_` replaced. `missing`: the type of its default, or null.
  TypeRef Add(uint32_t index, TypeRef type, TypeRef missing) {
    const ast::Param& param = decl_.params[index];
    return Visit(type, {param, param.external_name.value_or(param.name.text), {index}, missing});
  }

 private:
  // A parameter, or a member of a tuple in it.
  struct Place {
    const ast::Param& param;
    std::string name;            // as clients know it
    std::vector<uint32_t> path;  // FreshSymbol::path
    TypeRef missing;             // of its default; null: it has none
    Place Member(uint32_t field, const std::string& member) const {
      Place inside{param, name + "." + member, path, nullptr};
      inside.path.push_back(field);
      if (missing == nullptr) return inside;
      for (const Field& other : missing->fields) {
        if (other.name == member) inside.missing = other.type;
      }
      return inside;
    }
    std::optional<int64_t> ExtentByDefault(uint32_t axis) const {
      const bool is_tensor = missing != nullptr && missing->kind == TypeKind::kTensor;
      return is_tensor && axis < missing->dims.size() ? missing->dims[axis].constant() : std::nullopt;
    }
  };
  // What gave a symbol its value.
  struct Source {
    std::string name;  // Place::name
    int64_t value;     // by its default
  };

  TypeRef Visit(TypeRef type, const Place& place) {
    Types& types = body_.env.types;
    if (type->kind == TypeKind::kTensor) {
      Type tensor = *type;
      for (uint32_t axis = 0; axis < tensor.dims.size(); ++axis) tensor.dims[axis] = Axis(tensor.dims[axis], axis, place);
      return types.Intern(std::move(tensor));
    }
    if (type->kind == TypeKind::kRecord && type->name.empty()) {
      std::vector<Field> fields = type->fields;
      for (uint32_t i = 0; i < fields.size(); ++i) fields[i].type = Visit(fields[i].type, place.Member(i, fields[i].name));
      return types.Record("", std::move(fields));
    }
    const bool optional = type->kind == TypeKind::kOptional;
    if (type->element != nullptr)
      CheckNested(
          type->element, place.param,
          optional ? "a parameter that may be none does not say it" : "it would have to be one number for all that the list or map holds");
    return type;
  }

  Dim Axis(const Dim& dim, uint32_t axis, const Place& place) {
    if (dim.is_constant()) return dim;  // the codec compares it
    if (IsAny(dim)) {
      Dim symbol = body_.NewSymbol(kAnySymbol, place.param.span);
      body_.extents.insert(*symbol.symbol());
      out_.param_symbols.push_back({*symbol.symbol(), place.path, axis});
      return symbol;
    }
    const auto linear = dim.AsLinear();
    const bool binds = linear && !IsBound(linear->symbol) && !IsInteger(linear->symbol);
    const std::optional<int64_t> missing = place.ExtentByDefault(axis);
    if (binds) out_.param_symbols.push_back({linear->symbol, place.path, axis, linear->mul, linear->add});
    if (binds && missing) sources_.insert({linear->symbol, {place.name, (*missing - linear->add) / linear->mul}});
    if (binds && linear->mul == 1 && linear->add <= 0) return dim;
    const Dim found = body_.NewSymbol(kAnySymbol, place.param.span);
    body_.extents.insert(*found.symbol());
    out_.param_symbols.push_back({*found.symbol(), place.path, axis});
    const std::string text = "axis " + std::to_string(axis) + " of `" + place.name + "` " + ExtentText(dim, binds);
    if (auto least = binds ? LeastCheck(body_, *linear, found, text) : std::nullopt) out_.param_checks.push_back(std::move(*least));
    AddCheck(CheckOf(body_, dim, found, text), missing);
    return dim;
  }

  // Where an extent is that of a default, the message says so: a client that has sent nothing looks in vain for it in what it has sent.
  // `missing`: of the default of what is compared.
  void AddCheck(DimCheck check, std::optional<int64_t> missing) {
    const auto linear = check.left.AsLinear();
    const auto source = linear ? sources_.find(linear->symbol) : sources_.end();
    const auto add = [&](bool of_found, bool of_wanted) {
      DimCheck::Told& told = check.told.emplace_back(DimCheck::Told{{}, check.message});
      if (of_found) {
        told.where.emplace_back(check.right, *missing);
        told.message.insert(told.message.find("{1}") + 3, ", as its default is");
      }
      if (!of_wanted) return;
      told.where.emplace_back(Dim::Symbol(source->first), source->second.value);
      told.message += "; `" + source->first + "` is as the default of `" + source->second.name + "` has it";
    };
    const bool has_source = source != sources_.end();
    if (missing && has_source) add(true, true);
    if (missing) add(true, false);
    if (has_source) add(false, true);
    out_.param_checks.push_back(std::move(check));
  }

  bool IsBound(const std::string& symbol) const {
    return std::any_of(out_.param_symbols.begin(), out_.param_symbols.end(),
                       [&](const FreshSymbol& known) { return known.symbol == symbol; });
  }
  bool IsInteger(const std::string& symbol) const {
    return std::any_of(decl_.params.begin(), decl_.params.end(), [&](const ast::Param& param) { return param.name.text == symbol; });
  }

  // Elements of a list come in shapes of their own, and an optional tensor may be absent: nothing compares them with a symbol.
  void CheckNested(TypeRef element, const ast::Param& param, const std::string& why) {
    ForEachDim(element, [&](const Dim& dim) {
      if (dim.is_constant() || IsAny(dim)) return;
      body_.env.Report(param.type->span, kBadDimension, {dim.ToString(), why + "; write `_`"});
    });
  }

  Body& body_;
  const ast::WorkflowDecl& decl_;
  Workflow& out_;
  std::map<std::string, Source> sources_;  // by symbol
};

// Shapes of one default that contradict its parameter, whatever else a call sends.
void CheckAlone(Body& body, const Signature& signature, const SigParam& param, const Expr& value) {
  std::vector<DimPair> pairs;
  if (!MatchTypes(body.env.types, param.type, value.type, nullptr, pairs)) return;
  DimSolver solver(body, signature);
  for (const DimPair& pair : pairs) {
    if (!pair.nested && !IsAny(pair.found)) solver.Add(pair, param.type, value, &param, true);
  }
  solver.Finish();
}

void AddDefault(Body& body, const ast::Param& param, const Signature& signature, Param& row) {
  const TypeRef type = signature.params[row.local].type;
  Body outside(body.env, body.module, body.self);
  outside.around = &body;
  Where where;
  where.may_fail = false;
  where.what = "a default";
  where.span = param.span;
  const std::string instead = "`" + param.name.text + ": " + ToString(type) + (type->kind == TypeKind::kOptional ? "" : "?") +
                              "` may be left out, too; `node NAME = " + param.name.text + " ?? " +
                              CodeAt(body, param.default_value->span, "..") + ";` then gives it a value";
  where.instead = instead;
  const ExprPtr value = CheckAs(outside, *param.default_value, WithoutSymbols(body.env.types, type), where,
                                Origin{param.type->span, "the type of the parameter", param.type.get()});
  if (IsPoison(*value)) return;
  CheckAlone(outside, signature, signature.params[row.local], *value);
  row.default_value = ValueOf(body.env, *value, "a default");
  if (!row.default_value) return;
  if (!CountConst(body.env, *row.default_value, value->span)) {
    row.default_value.reset();
    return;
  }
  row.default_type = value->type;
  body.env.defaults[param.default_value.get()] = Const{param.name.text, value->type, *row.default_value, value->span};
}

}  // namespace

void ReadWorkflowParams(Body& body, const ast::WorkflowDecl& decl, Signature& signature, Workflow& out) {
  ParamSymbols symbols(body, decl, out);
  std::map<std::string, const ast::Param*> wire_names;
  for (uint32_t i = 0; i < decl.params.size(); ++i) {
    const ast::Param& param = decl.params[i];
    const TypeRef type = signature.params[i].type;
    Param row{i, param.external_name.value_or(param.name.text), false, std::nullopt};
    const auto [first, fresh] = wire_names.emplace(row.wire_name, &param);
    const bool is_told = !param.external_name && !fresh && !first->second->external_name;  // two of one name in the program
    if (!fresh && !is_told) body.env.Report(param.span, kDuplicateName, {row.wire_name}).Label(first->second->span, "first declared here");
    row.required = !param.default_value && type->kind != TypeKind::kOptional;
    if (type->kind != TypeKind::kError) {
      if (param.default_value) AddDefault(body, param, signature, row);
      body.locals[i].type = symbols.Add(i, type, row.default_type);
      if (type->kind == TypeKind::kScalar && IsInteger(type->dtype)) {
        out.param_symbols.push_back({param.name.text, {i}, FreshSymbol::kWholeValue});
      }
    }
    out.params.push_back(std::move(row));
  }
}

}  // namespace wf::sema
