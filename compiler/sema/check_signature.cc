// Calls of what has a signature: its type variables, symbols and ranks, and what the arguments and the wanted result make of them.

#include <algorithm>
#include <set>

#include "compiler/sema/check_call.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/default_value.h"
#include "compiler/sema/instantiation.h"
#include "compiler/sema/mentions.h"
#include "compiler/sema/model_outputs.h"
#include "compiler/sema/names.h"
#include "compiler/sema/rest.h"

namespace wf::sema {
namespace {

bool IsIntegerParam(const SigParam& param) { return param.type->kind == TypeKind::kScalar && IsInteger(param.type->dtype); }

// What is known of a default; of an optional one that is there, of what it holds. Nothing after a report.
DefaultPart DefaultOf(const Body& body, const SigParam& param) {
  const auto known = body.env.defaults.find(param.default_value);
  if (known == body.env.defaults.end() || !known->second) return {};
  return DefaultPart{known->second->type, &known->second->value}.Held();
}

// Whether an argument says nothing of some axes, so that others, which do, come before it.
bool LeavesAxesOpen(const Body& body, const SigParam& param, const GivenArgument& given) {
  if (given.value != nullptr) return LeavesAxesOpen(*given.value, param.type);
  return param.default_value != nullptr && DefaultOf(body, param).LeavesOpen();
}

// `[]` or `[[], []]`, given or as a default: how many rows it has on each axis, to the first that has none. Nothing of other arguments.
std::vector<int64_t> RowsOfEmpty(const Body& body, const SigParam& param, const GivenArgument& given) {
  std::vector<int64_t> rows;
  if (given.value != nullptr) {
    const auto* list = ast::DynAs<ast::ListExpr>(Bare(*given.value));
    for (; list != nullptr; list = ast::DynAs<ast::ListExpr>(Bare(*list->elements.front()))) {
      rows.push_back(static_cast<int64_t>(list->elements.size()));
      if (list->elements.empty()) return rows;
    }
    return {};
  }
  const DefaultPart known = param.default_value != nullptr ? DefaultOf(body, param) : DefaultPart{};
  if (known.value == nullptr || known.type->kind != TypeKind::kTensor) return {};
  for (const int64_t extent : known.value->dims) {
    rows.push_back(extent);
    if (extent == 0) return rows;
  }
  return {};
}

// Lists that hold nothing, at any depth: no element has a shape.
bool HoldsNothing(TypeRef type, const ir::Value& value) {
  if (type->kind != TypeKind::kList) return false;
  return value.items == nullptr ||
         std::all_of(value.items->begin(), value.items->end(), [&](const ir::Value& item) { return HoldsNothing(type->element, item); });
}
bool HoldsNothing(const Body& body, const Expr& list) {
  if (list.kind == ExprKind::kConst) return HoldsNothing(list.type, body.env.program.consts[list.index].value);
  return list.kind == ExprKind::kList && list.type->kind == TypeKind::kList &&
         std::all_of(list.args.begin(), list.args.end(), [&](const ExprPtr& item) { return HoldsNothing(body, *item); });
}

// How many axes a list or `[i < n, ..] => e` says that it has; 0 for other expressions.
size_t WrittenRank(const ast::Expr& value) {
  size_t rank = 0;
  const ast::Expr* inner = &Bare(value);
  for (const auto* list = ast::DynAs<ast::ListExpr>(*inner); list != nullptr; list = ast::DynAs<ast::ListExpr>(*inner)) {
    ++rank;
    if (list->elements.empty()) return rank;
    inner = &Bare(*list->elements.front());
  }
  const auto* lambda = ast::DynAs<ast::LambdaExpr>(*inner);
  return lambda != nullptr ? rank + lambda->indices.size() : rank;
}

// The `T` of `pattern` as they stand in `wanted`.
void ReadVariables(Types& types, TypeRef pattern, TypeRef wanted, std::map<std::string, TypeRef>& variables) {
  if (pattern->kind == TypeKind::kVariable) {
    if (wanted->kind != TypeKind::kTensor || wanted->dtype != DType::kNone) variables.emplace(pattern->name, wanted);
    return;
  }
  if (wanted->kind == TypeKind::kOptional && pattern->kind != TypeKind::kOptional) wanted = wanted->element;
  if (wanted->kind != pattern->kind || !pattern->is_unknown) return;
  if (pattern->kind == TypeKind::kTensor) {
    if (wanted->dtype != DType::kNone) variables.emplace(pattern->element->name, types.Scalar(wanted->dtype));
  } else if (pattern->kind == TypeKind::kRecord) {
    for (size_t i = 0; i < pattern->fields.size() && i < wanted->fields.size(); ++i) {
      if (pattern->fields[i].name == wanted->fields[i].name)
        ReadVariables(types, pattern->fields[i].type, wanted->fields[i].type, variables);
    }
  } else if (pattern->element != nullptr) {
    ReadVariables(types, pattern->element, wanted->element, variables);
  }
}

// Where nothing may be none, an optional is wanted of a result around which it can be put.
bool MentionNone(const std::vector<GivenArgument>& given) {
  NameSet names;
  for (const GivenArgument& argument : given) {
    if (argument.value != nullptr) CollectNames(*argument.value, names);
  }
  return names.contains("none");
}

// Whether values of the type are of what a type variable is; elements of tensors are numbers.
bool HoldsVariable(TypeRef type) {
  if (type->kind == TypeKind::kVariable) return true;
  return (type->kind != TypeKind::kTensor && type->element != nullptr && HoldsVariable(type->element)) ||
         std::any_of(type->fields.begin(), type->fields.end(), [](const Field& field) { return HoldsVariable(field.type); });
}

bool HoldsExtent(TypeRef type) {
  bool holds = false;
  ForEachDim(type, [&](const Dim& dim) { holds = holds || !IsAny(dim); });
  return holds;
}

// The `T` of elements of `result` that have extents where it is wanted: these are not compared once it is there.
void ReadDemanded(Types& types, TypeRef result, TypeRef wanted, std::map<std::string, TypeRef>& demanded) {
  if (wanted->kind == TypeKind::kOptional && result->kind != TypeKind::kOptional) wanted = wanted->element;
  if (wanted->kind != result->kind || result->kind == TypeKind::kTensor || result->element == nullptr) return;
  ReadVariables(types, result->element, wanted->element, demanded);
  std::erase_if(demanded, [](const auto& variable) { return !HoldsExtent(variable.second); });
}

// One call of a signature: arguments are checked and unified from left to right, so that shapes known from earlier ones are wanted of later
// ones. Those that say little of what a type variable is come after the others.
class SignatureCall {
 public:
  SignatureCall(Body& body, const Entity& callee, const Where& where)
      : body_(body), callee_(callee), signature_(*callee.signature), where_(where), solver_(body, signature_) {}

  bool AddArguments(const std::vector<GivenArgument>& given, TypeRef wanted, const Span& call_span) {
    if (wanted->kind == TypeKind::kOptional && signature_.result->kind == TypeKind::kVariable && !MentionNone(given))
      wanted = wanted->element;
    if (wanted->kind != TypeKind::kError) ReadVariables(body_.env.types, signature_.result, wanted, wanted_);
    if (wanted->kind != TypeKind::kError && !where_.soft) ReadDemanded(body_.env.types, signature_.result, wanted, bindings_.types);
    for (const auto& [variable, type] : bindings_.types) bindings_.demanded.insert(variable);
    std::vector<Certainty> certainties;
    for (size_t i = 0; i < given.size(); ++i) {
      const SigParam& param = signature_.params[i];
      const bool decides = given[i].value != nullptr && param.type->is_unknown;
      const Certainty known = LeavesAxesOpen(body_, param, given[i]) ? Certainty::kOpen : Certainty::kWhole;
      certainties.push_back(decides ? CertaintyOf(body_, *given[i].value) : known);
    }
    bool sound = true;
    args_.resize(given.size());
    marks_.assign(given.size(), UINT32_MAX);
    const std::vector<size_t> order = InOrder(given, certainties);
    for (size_t at = 0; at < order.size(); ++at) {
      const size_t i = order[at];
      marks_[i] = body_.NextSymbol();
      const auto says_nothing = [&](size_t other) { return !RowsOfEmpty(body_, signature_.params[other], given[other]).empty(); };
      is_last_ =
          certainties[i] == Certainty::kOpen && std::all_of(order.begin() + static_cast<ptrdiff_t>(at) + 1, order.end(), says_nothing);
      later_ = LeavesAxesOpen(body_, signature_.params[i], given[i]) ? FirstOfLater(given, i) : UINT32_MAX;
      args_[i] = Argument(signature_.params[i], given[i], certainties[i], call_span);
      sound = sound && args_[i] != nullptr;
    }
    solver_.Finish();
    return sound && !solver_.failed() && BindVariables(call_span) && (is_never_ || FinishArguments());
  }

  // An argument is `fail E`, and no other says what the callee is: it is not called.
  bool is_never() const { return is_never_; }
  std::vector<ExprPtr> TakeArguments() { return std::move(args_); }

  // Fills the call and its result type. False after a report.
  bool Finish(Expr& call) {
    for (const std::string& symbol : signature_.result_symbols) {
      solver_.Bind(symbol, body_.NewSymbol(symbol, call.span), call.span);
    }
    const uint32_t mark = body_.NextSymbol() - static_cast<uint32_t>(signature_.result_symbols.size());
    call.args = std::move(args_);
    Instantiation result(body_.env.types, solver_, bindings_);
    call.type = result.Of(signature_.result);
    if (result.faulty()) {
      solver_.ReportNoValue(*result.faulty(), call.span)->Label(signature_.span, "an extent of its result");
      return false;
    }
    for (const auto& [symbol, value] : solver_.values()) {
      const auto& fresh = signature_.result_symbols;
      if (std::find(fresh.begin(), fresh.end(), symbol) == fresh.end()) call.symbols.emplace_back(symbol, value);
    }
    for (const auto& [rest, dims] : bindings_.rests) {
      for (size_t i = 0; i < dims.size(); ++i) call.symbols.emplace_back(rest + "_" + std::to_string(i), dims[i]);
    }
    for (const auto& [variable, type] : bindings_.types) {
      for (size_t axis = 0; type->kind == TypeKind::kTensor && axis < type->dims.size(); ++axis) {
        if (!type->dims[axis].is_constant() && !IsAny(type->dims[axis]))
          call.symbols.emplace_back(VariableSymbol(variable, axis), type->dims[axis]);
      }
    }
    call.checks = solver_.TakeChecks();
    const Model* const model = call.kind == ExprKind::kCallModel ? &body_.env.program.models[call.index] : nullptr;
    if (model != nullptr) LocateOutputs(*model, [&](const std::string& symbol) { return ResultSymbol(symbol); }, call);
    Settle(body_, call, mark);
    for (const FreshSymbol& fresh : call.fresh) {
      const bool is_axis = fresh.axis != FreshSymbol::kWholeValue && fresh.mul == 1 && fresh.add == 0;
      if (is_axis && body_.IsBornSince(fresh.symbol, mark)) body_.extents.insert(fresh.symbol);
    }
    if (model != nullptr) AddOutputChecks(*model, call);
    return true;
  }

  const TypeBindings& bindings() const { return bindings_; }

 private:
  std::optional<Dim> ResultSymbol(const std::string& symbol) const {
    const auto& fresh = signature_.result_symbols;
    return std::find(fresh.begin(), fresh.end(), symbol) == fresh.end() ? std::nullopt : solver_.ValueOf(Dim::Symbol(symbol));
  }

  void AddOutputChecks(const Model& model, Expr& call) {
    const size_t of_arguments = call.checks.size();
    const auto new_symbol = [&] { return body_.NewSymbol(kAnySymbol, call.span); };
    CheckOutputs(model, new_symbol, [](const std::string&) { return true; }, call);
    for (size_t i = of_arguments; i < call.checks.size(); ++i) {
      DimCheck& check = call.checks[i];
      check = CheckOf(body_, check.left, check.right, check.message);
    }
  }

  // What says more comes first, and `[]` last of all; of these is known how many rows they have.
  std::vector<size_t> InOrder(const std::vector<GivenArgument>& given, const std::vector<Certainty>& certainties) {
    std::vector<std::pair<Certainty, bool>> keys;
    std::vector<size_t> order;
    for (size_t i = 0; i < given.size(); ++i) {
      const std::vector<int64_t> rows = RowsOfEmpty(body_, signature_.params[i], given[i]);
      keys.emplace_back(certainties[i], certainties[i] == Certainty::kOpen && !rows.empty());
      order.push_back(i);
      const TypeRef type =
          signature_.params[i].type->kind == TypeKind::kOptional ? signature_.params[i].type->element : signature_.params[i].type;
      const bool is_tensor = type->kind == TypeKind::kTensor && std::none_of(type->dims.begin(), type->dims.end(), IsRest);
      for (uint32_t axis = 0; is_tensor && axis < std::min(rows.size(), type->dims.size()); ++axis)
        rows_.push_back({type->dims[axis], Dim(rows[axis]), axis});
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
    return order;
  }

  // What symbols are where nothing says more: by the rows of each `[]`, and then as small as they may be.
  void LearnLeast(DimSolver& known, const std::vector<Dim>& open) const {
    for (const DimPair& pair : rows_) known.Learn(pair);
    for (const Dim& dim : open) known.LearnLeast(dim);
  }

  // The first symbol that is born in an argument which is computed behind number `index`, of those that were checked before it.
  uint32_t FirstOfLater(const std::vector<GivenArgument>& given, size_t index) const {
    uint32_t first = UINT32_MAX;
    for (size_t i = 0; i < given.size(); ++i) {
      const bool is_later = given[index].value == nullptr || i > index || given[i].span.begin > given[index].span.begin;
      if (i != index && is_later) first = std::min(first, marks_[i]);
    }
    return first;
  }

  // What is not yet there when the argument is computed is no extent of what is wanted of it: it is compared then.
  TypeRef WithoutLater(TypeRef wanted) const { return wanted == nullptr || later_ == UINT32_MAX ? wanted : WithoutBorn(wanted, later_); }
  TypeRef WithoutBorn(TypeRef wanted, uint32_t since) const {
    return MapDims(body_.env.types, wanted, [&](const Dim& dim) {
      const std::vector<std::string> symbols = dim.Symbols();
      const auto is_later = [&](const std::string& symbol) { return body_.IsBornSince(symbol, since); };
      return std::any_of(symbols.begin(), symbols.end(), is_later) ? AnyDim() : dim;
    });
  }

  // A value, so that neither its names nor its locals meet those of the call.
  ExprPtr Default(const SigParam& param, const Span& call_span) const {
    const DefaultPart known = DefaultOf(body_, param);
    if (known.value == nullptr) return Poison(body_, call_span);
    if (known.type->kind == TypeKind::kNone || known.type->kind == TypeKind::kScalar) {
      ExprPtr plain = Make(known.type->kind == TypeKind::kNone ? ExprKind::kNone : ExprKind::kScalar, known.type, call_span);
      plain->bits = known.value->bits;
      return plain;
    }
    const bool is_held = param.type->kind == TypeKind::kOptional && known.type->kind != TypeKind::kOptional;
    const TypeRef type = is_held ? param.type->element : param.type;
    DimSolver told = solver_;
    std::vector<Dim> left;
    for (uint32_t axis = 0; type->kind == TypeKind::kTensor && axis < std::min(type->dims.size(), known.type->dims.size()); ++axis) {
      if (known.LeavesOpen(axis)) left.push_back(type->dims[axis]);
    }
    if (is_last_) LearnLeast(told, left);
    Instantiation open(body_.env.types, told, bindings_);
    const TypeRef wanted = WithoutLater(open.Of(type));
    return ReadDefault(body_, param.name, known, open.faulty() ? nullptr : wanted, call_span);
  }

  // Null after a report.
  ExprPtr Argument(const SigParam& param, const GivenArgument& given, Certainty certainty, const Span& call_span) {
    if (param.type->kind == TypeKind::kError) return nullptr;
    ExprPtr value;
    if (given.value == nullptr) {
      if (param.default_value != nullptr) {
        value = Default(param, call_span);
      } else {
        value = Make(ExprKind::kNone, param.type, call_span);  // an optional parameter
      }
    } else {
      TypeBindings bindings = bindings_;
      if (certainty != Certainty::kWhole) bindings.types.insert(wanted_.begin(), wanted_.end());
      Instantiation known(body_.env.types, solver_, bindings);
      const TypeRef hint = WithoutLater(HintFor(known, *param.type, *given.value));
      if (known.faulty()) {
        solver_.ReportNoValue(*known.faulty(), given.span)->Label(param.span, TextOf(param));
        SkipUnchecked(body_, *given.value);
        return nullptr;
      }
      const Origin origin{param.span, TextOf(param), nullptr, {}, param.name};
      const uint32_t mark = body_.NextSymbol();
      Where where = where_.Hard(&origin);
      where.soft = bindings_.demanded.empty() && HoldsVariable(param.type);  // of what other arguments have
      value = CheckExpr(body_, *given.value, hint, where);
      if (!IsPoison(*value) && LeavesAxesOpen(*given.value, param.type)) Close(param, value, mark);
      if (signature_.may_wait) Settle(body_, *value, mark);  // what the value alone says is all that a task of its own knows of it
    }
    if (IsPoison(*value)) return nullptr;
    if (later_ != UINT32_MAX) SettleRead(body_, *value);
    value = Fit(param, std::move(value), given.value == nullptr && param.default_value != nullptr);
    if (!value) return nullptr;
    const std::string_view name = given.value == nullptr ? std::string_view(param.name) : "";  // of a default, the span is the call's
    const Span& written = given.value == nullptr && param.default_value != nullptr ? param.default_value->span : value->span;
    if (IsIntegerParam(param)) solver_.Bind(param.name, DimOf(body_, *value, name), written, &param);
    return value;
  }

  // `[]` has the axes that what stands beside it in a tuple says, and where nobody does the least that they may be.
  void Close(const SigParam& param, ExprPtr& value, uint32_t mark) const {
    const TypeRef wanted = BelowOptional(param.type, *value);
    TypeBindings bindings = bindings_;
    std::vector<DimPair> pairs;
    if (!MatchTypes(body_.env.types, wanted, value->type, &bindings, pairs)) return;
    DimSolver known = solver_;
    for (const DimPair& pair : pairs) known.Learn(pair);
    std::vector<Dim> left;
    for (const DimPair& pair : pairs) {
      if (IsAny(pair.found)) left.push_back(pair.wanted);
    }
    if (is_last_ && IsKnownButEmpty(*value)) LearnLeast(known, left);
    Instantiation closed(body_.env.types, known, bindings);
    const TypeRef type = WithoutBorn(closed.Of(wanted), std::min(mark, later_));
    if (!closed.faulty() && type->kind != TypeKind::kError) CloseAxes(body_, value, type);
  }

  // What no argument says is what is wanted; else it has to be written.
  bool BindVariables(const Span& call_span) {
    const auto is_bound = [&](const std::string& variable) {
      const auto bound = bindings_.types.find(variable);
      return bound != bindings_.types.end() && !bound->second->is_open;
    };
    const auto is_given = [&](const std::string& rest) { return bindings_.rests.contains(rest); };
    const bool is_known = std::all_of(signature_.type_params.begin(), signature_.type_params.end(), is_bound) &&
                          std::all_of(signature_.rests.begin(), signature_.rests.end(), is_given);
    is_never_ =
        !is_known && std::any_of(args_.begin(), args_.end(), [](const ExprPtr& arg) { return arg->type->kind == TypeKind::kNever; });
    if (is_known || is_never_) return true;
    for (const std::string& variable : signature_.type_params) {
      if (is_bound(variable)) continue;
      const auto wanted = wanted_.find(variable);
      if (wanted == wanted_.end()) return ReportUnbound(call_span);
      bindings_.types[variable] = wanted->second;
    }
    return true;
  }

  bool ReportUnbound(const Span& call_span) {
    const auto is_open = [](const ExprPtr& arg) { return arg->type->is_open; };
    const auto open = std::find_if(args_.begin(), args_.end(), is_open);
    if (open != args_.end())
      ReportOpen(body_, **open);
    else
      body_.env.Report(call_span, kCannotInfer, {"this call"}).Help("a name can say it: `let x: i64? = none;`");
    return false;
  }

  // What is wanted of an argument; null when nothing is known. A list written for T[n] is a tensor of whatever it holds.
  TypeRef HintFor(Instantiation& open, const Type& type, const ast::Expr& value) const {
    const TypeRef known = open.Of(&type);
    if (known->kind != TypeKind::kError) return known;
    if (type.kind != TypeKind::kTensor || open.faulty()) return nullptr;
    DType dtype = type.dtype;
    if (const TypeRef element = type.element != nullptr ? open.Of(type.element) : nullptr) dtype = element->dtype;
    const size_t written = WrittenRank(value), n_rests = static_cast<size_t>(std::count_if(type.dims.begin(), type.dims.end(), IsRest));
    if (written == 0) return nullptr;
    const size_t rank = n_rests == 0 ? type.dims.size() : std::max(written, type.dims.size() - n_rests);
    return body_.env.types.Tensor(dtype, std::vector<Dim>(rank, AnyDim()));
  }

  // Structure first, with T? around a plain value; then the dimensions.
  ExprPtr Fit(const SigParam& param, ExprPtr value, bool is_default) {
    const TypeRef wanted = BelowOptional(param.type, *value);
    const auto shown = [&] { return Instantiation(body_.env.types, solver_, bindings_, Instantiation::Open::kNamed).Of(wanted); };
    value = InForm(body_, std::move(value), bindings_.demanded.empty() ? wanted : shown());
    std::vector<DimPair> pairs;
    TypeBindings bindings = bindings_;
    if (!MatchTypes(body_.env.types, wanted, value->type, &bindings, pairs) || !HasNumbers(bindings)) {
      ReportMisfit(param, wanted, *value);
      return nullptr;
    }
    bindings_ = std::move(bindings);
    if (HoldsNothing(body_, *value)) pairs.clear();
    for (const DimPair& pair : pairs) solver_.Add(pair, pair.bound ? shown() : wanted, *value, &param, is_default);
    return wanted == param.type ? std::move(value) : MakeSome(body_, std::move(value));
  }

  // Whether what is an element of a tensor is a number.
  bool HasNumbers(const TypeBindings& bindings) const {
    return std::all_of(signature_.params.begin(), signature_.params.end(), [&](const SigParam& param) {
      const bool has_one = param.type->kind == TypeKind::kTensor && param.type->element != nullptr;
      const auto bound = has_one ? bindings.types.find(param.type->element->name) : bindings.types.end();
      return bound == bindings.types.end() || bound->second->kind == TypeKind::kScalar;
    });
  }

  // Gives each argument the form of what all of them made the type variables; and what has no type of its own, one.
  bool FinishArguments() {
    Instantiation known(body_.env.types, solver_, bindings_);
    for (size_t i = 0; i < args_.size(); ++i) {
      const SigParam& param = signature_.params[i];
      if (!param.type->is_unknown && !args_[i]->type->is_open) continue;
      const TypeRef type = known.Of(param.type);
      if (type->is_unknown) continue;  // Finish tells why
      args_[i] = InForm(body_, std::move(args_[i]), type);
      std::vector<DimPair> pairs;
      if (!MatchTypes(body_.env.types, type, args_[i]->type, nullptr, pairs)) {
        ReportMisfit(param, type, *args_[i]);
        return false;
      }
      GiveType(*args_[i], type);
    }
    return true;
  }

  std::string TextOf(const SigParam& param) const { return "parameter `" + param.name + "` of `" + signature_.name + "`"; }

  // `wanted`: the parameter's type, or what an optional one holds.
  void ReportMisfit(const SigParam& param, TypeRef wanted, const Expr& value) {
    const TypeRef shown = Instantiation(body_.env.types, solver_, bindings_, Instantiation::Open::kNamed).Of(wanted);
    const TypeRef found = value.type;
    if (param.type->kind == TypeKind::kVariable && !told_.emplace(param.type->name, found).second) {
      ++body_.env.untold;
      return;
    }
    const bool same_dtype = shown->kind == TypeKind::kTensor && found->kind == TypeKind::kTensor && shown->dtype == found->dtype;
    const auto rest = std::find_if(shown->dims.begin(), shown->dims.end(), IsRest);
    const bool ranks = same_dtype && rest == shown->dims.end();
    auto builder =
        ranks ? body_.env.Report(value.span, kRankMismatch, {ToString(shown), ToString(found), shown->dims.size(), found->dims.size()})
              : body_.env.Report(value.span, kTypeMismatch, {ToString(shown), ToString(found)});
    builder.Label(param.span, TextOf(param));
    if (same_dtype) LabelSource(body_, value, builder);
    if (callee_.kind == EntityKind::kModel && found->dims.size() == wanted->dims.size() + 1) {
      builder.Help("a call takes one sample; the server adds the batch axis");
    } else if (const auto help = HelpForAllSamples(*wanted, *found)) {
      builder.Help(*help);
    } else if (found->kind == TypeKind::kOptional && found->element == wanted) {
      builder.Help("give it a value with `??`");
    } else if (callee_.name == "clamp" && shown->kind == TypeKind::kTensor && found->kind == TypeKind::kScalar) {
      builder.Help("of a tensor it is `tensor.clip(x, low, high)` of std.tensor");
    } else if (same_dtype && !ranks) {
      builder.Help("`" + rest->ToString() + "` stands for any number of axes, or none");
    } else if (same_dtype && shown->dims.size() == 1 && found->dims.size() == 2) {
      builder.HelpIf(HelpForRows());
    } else {
      builder.HelpIf(HelpToFit(body_, shown, value));
    }
  }

  // One sample is given, where a call gives them all.
  std::optional<std::string> HelpForAllSamples(const Type& wanted, const Type& found) const {
    if (callee_.kind != EntityKind::kModel || found.dims.size() + 1 != wanted.dims.size()) return std::nullopt;
    const Model& model = body_.env.program.models[callee_.index];
    if (model.batched) return std::nullopt;
    return "a call gives all samples, since the model has no batch axis: " + model.batch_reason;
  }

  // What does for each row of a matrix what the callee does for a vector.
  std::optional<std::string> HelpForRows() const {
    const std::string name = callee_.name + "_rows";
    if (callee_.home != nullptr && FindEntity(*callee_.home, name) != nullptr) return "`" + name + "` takes a matrix, row by row";
    if (signature_.params.size() != 1 || signature_.result->kind != TypeKind::kScalar) return std::nullopt;
    return "of each row it is `[r] => " + callee_.name + "(m[r])`";
  }

  Body& body_;
  const Entity& callee_;
  const Signature& signature_;
  const Where& where_;
  DimSolver solver_;
  TypeBindings bindings_;
  std::map<std::string, TypeRef> wanted_;           // of the type variables of the result
  std::set<std::pair<std::string, TypeRef>> told_;  // type variables that something else than what they are was told to be given
  std::vector<ExprPtr> args_;
  std::vector<DimPair> rows_;    // of each `[]`
  std::vector<uint32_t> marks_;  // of the arguments: no symbol of one was born before
  uint32_t later_ = UINT32_MAX;  // of the one that is checked: what is born from here on is of those behind it
  bool is_last_ = false;         // what stands behind it says nothing of the axes that it leaves open
  bool is_never_ = false;
};

// `slice(x, 2, 1)` of `f32[b - a]`.
bool HasNoExtent(Body& body, const Expr& call) {
  bool reported = false;
  ForEachDim(call.type, [&](const Dim& dim) {
    auto report = reported ? std::nullopt : ReportNoExtent(body.env, dim, call.span, dim.ToString());
    if (report) report->Label(call.span, "`" + ToString(call.type) + "`");
    reported = reported || report;
  });
  return reported;
}

}  // namespace

ExprPtr CheckSignatureCall(Body& body, ExprPtr expr, Entity& callee, const Call& call, const Where& where) {
  const Signature& signature = *callee.signature;
  const TypeRef meant = MeantBy(body, callee);
  if (signature.broken) return CheckArgumentsOnly(body, call, where, meant);
  std::vector<ParamName> names;
  for (const SigParam& param : signature.params) {
    names.push_back({param.name, param.default_value == nullptr && param.type->kind != TypeKind::kOptional, param.span,
                     param.type->kind == TypeKind::kList});
  }
  const auto given = BindArguments(body, call, callee.name, callee.span, names);
  if (!given) return CheckArgumentsOnly(body, call, where, meant);
  SignatureCall resolved(body, callee, where);
  if (!resolved.AddArguments(*given, expr->type, call.span())) return Poison(body, call.span(), meant);
  if (resolved.is_never()) {
    expr = Make(ExprKind::kList, body.env.types.Simple(TypeKind::kNever), call.span());
    expr->args = resolved.TakeArguments();
    return expr;
  }
  bool may_fail = signature.may_fail;
  if (signature.is_generic()) {
    const auto instance = InstanceOf(body.env, callee, resolved.bindings(), call.span());
    if (!instance) return Poison(body, call.span(), meant);
    expr->index = *instance;
    may_fail = may_fail || body.env.program.functions[*instance].may_fail;
  }
  const auto may = callee.kind == EntityKind::kFn ? CallMayFail : MayFail;
  if (!signature.may_wait && may_fail && !may(body, call.span(), "`" + callee.name + "` may fail", where)) {
    return Poison(body, call.span(), meant);
  }
  return resolved.Finish(*expr) && !HasNoExtent(body, *expr) ? std::move(expr) : Poison(body, call.span(), meant);
}

}  // namespace wf::sema
