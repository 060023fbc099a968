#include "compiler/lsp/index.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/policy_text.h"
#include "compiler/sema/names.h"
#include "compiler/sema/value_text.h"

namespace wf::lsp {
namespace {

std::optional<ThingKind> KindOf(const ast::Decl& decl) {
  switch (decl.kind) {
    case ast::DeclKind::kConstDecl:
      return ThingKind::kConst;
    case ast::DeclKind::kTypeDecl:
      return ThingKind::kType;
    case ast::DeclKind::kErrorCodeDecl:
      return ThingKind::kError;
    case ast::DeclKind::kFnDecl:
      return ThingKind::kFn;
    case ast::DeclKind::kExternDecl:
      return ThingKind::kExtern;
    case ast::DeclKind::kModelDecl:
      return ThingKind::kModel;
    case ast::DeclKind::kRemoteDecl:
      return ThingKind::kRemote;
    case ast::DeclKind::kWorkflowDecl:
      return ThingKind::kWorkflow;
    case ast::DeclKind::kServiceDecl:
      return ThingKind::kService;
    case ast::DeclKind::kImportDecl:
      return ThingKind::kModule;
    case ast::DeclKind::kTestDecl:
    case ast::DeclKind::kErrorDecl:
      return std::nullopt;
  }
  return std::nullopt;
}

ThingKind KindOf(sema::LocalKind kind) {
  switch (kind) {
    case sema::LocalKind::kParam:
      return ThingKind::kParam;
    case sema::LocalKind::kNode:
      return ThingKind::kNode;
    case sema::LocalKind::kIndex:
      return ThingKind::kIndex;
    case sema::LocalKind::kLoop:
      return ThingKind::kLoop;
    case sema::LocalKind::kAccumulator:
      return ThingKind::kAccumulator;
    case sema::LocalKind::kLet:
    case sema::LocalKind::kArm:
    case sema::LocalKind::kErr:
      return ThingKind::kLet;
  }
  return ThingKind::kLet;
}

// The type of a value, or what it would be of a wrong call.
sema::TypeRef Meant(sema::TypeRef type) { return type->kind == sema::TypeKind::kError && type->element != nullptr ? type->element : type; }
std::string TypeText(sema::TypeRef type, const sema::RecordNames& names) {
  return Meant(type)->kind == sema::TypeKind::kError ? "" : ToString(Meant(type), names);
}

std::vector<FieldText> FieldsOf(sema::TypeRef type, const sema::RecordNames& names) {
  std::vector<FieldText> fields;
  for (const sema::Field& field : Meant(type)->fields) fields.emplace_back(field.name, TypeText(field.type, names));
  return fields;
}

// The first part of an expression that is of a kind; null: it has none.
const sema::Expr* FindPart(const sema::Expr& expr, sema::ExprKind kind) {
  std::vector<const sema::Expr*> open{&expr};
  while (!open.empty()) {
    const sema::Expr& next = *open.back();
    open.pop_back();
    if (next.kind == kind) return &next;
    for (const sema::ExprPtr& part : next.args) open.push_back(part.get());
    for (const sema::BlockStep& step : next.steps) open.push_back(step.value.get());
    for (size_t i = 0; next.loop && i < next.loop->sources.size(); ++i) open.push_back(next.loop->sources[i].get());
  }
  return nullptr;
}

// Those in force for a node.
std::string SettingsText(const sema::Stmt& node, const sema::Program& program) {
  if (!node.value) return "";
  const sema::Expr* call = FindPart(*node.value, sema::ExprKind::kCallModel);
  const sema::Model* model = call != nullptr && call->index < program.models.size() ? &program.models[call->index] : nullptr;
  const bool has_loop = FindPart(*node.value, sema::ExprKind::kEach) != nullptr;
  return ir::Joined(
      ir::SettingsOf(node.policy, model != nullptr ? std::optional(model->batched) : std::nullopt, has_loop ? node.limit : 0));
}

std::string SignatureText(const sema::Signature& signature, const sema::RecordNames& names) {
  std::string text = "(";
  for (const sema::SigParam& param : signature.params)
    text += (text.size() > 1 ? ", " : "") + param.name + ": " + TypeText(param.type, names);
  return text + ")" + (signature.result != nullptr ? " -> " + TypeText(signature.result, names) : "");
}

// A model that is declared without a signature has that of its file.
void NoteFile(const sema::Signature& signature, const sema::RecordNames& names, Thing& thing) {
  for (const sema::SigParam& param : signature.params)
    thing.takes.emplace_back(param.name, param.name + ": " + TypeText(param.type, names));
  if (signature.result != nullptr) thing.gives = TypeText(signature.result, names);
}

void NoteConst(const sema::Entity& entity, const sema::Program& so_far, const sema::RecordNames& names, Thing& thing) {
  constexpr size_t kMostOfAValue = 80;
  thing.type = TypeText(entity.type, names);
  if (entity.broken || entity.index >= so_far.consts.size() || so_far.consts[entity.index].name != entity.name) return;
  thing.value = sema::ValueText(entity.type, so_far.consts[entity.index].value, kMostOfAValue, names);
}

}  // namespace

std::string_view WordFor(ThingKind kind) {
  constexpr std::string_view kWords[] = {"const", "type", "error", "fn",    "extern", "model", "remote",    "workflow", "service", "import",
                                         "param", "let",  "node",  "index", "loop",   "fold",  "dimension", "field",    "stage"};
  return kWords[static_cast<size_t>(kind)];
}

Thing& Index::Add(ThingKind kind, const ast::Name& name, const ast::Decl* decl) {
  Thing& thing = things_[PlaceOf(name.span)];
  thing.kind = kind;
  thing.name = name.text;
  thing.span = name.span;
  thing.decl = decl;
  Use(name.span, name.span);
  return thing;
}

// What a call of the declaration takes and gives, as it is written.
void Index::NoteCall(const ast::Decl& decl, Thing& thing) const {
  const auto note = [&](const std::vector<ast::Param>& params, const ast::TypePtr& result) {
    for (const ast::Param& param : params) thing.takes.emplace_back(param.name.text, sources_.Text(param.span));
    if (result) thing.gives = sources_.Text(result->span);
  };
  if (const auto* fn = ast::DynAs<ast::FnDecl>(decl)) note(fn->params, fn->result);
  if (const auto* external = ast::DynAs<ast::ExternDecl>(decl)) note(external->params, external->result);
  if (const auto* model = ast::DynAs<ast::ModelDecl>(decl)) note(model->params, model->result);
  if (const auto* remote = ast::DynAs<ast::RemoteDecl>(decl)) note(remote->params, remote->result);
  if (const auto* workflow = ast::DynAs<ast::WorkflowDecl>(decl)) note(workflow->params, workflow->result);
  const auto* record = ast::DynAs<ast::TypeDecl>(decl);
  for (size_t i = 0; record != nullptr && i < record->fields.size(); ++i) {
    const ast::Type::Field& field = record->fields[i];
    thing.takes.emplace_back(field.label.text, field.label.text + ": " + (field.type ? std::string(sources_.Text(field.type->span)) : ""));
  }
  if (record != nullptr) thing.gives = record->name.text;
}

// The members of what a call gives are things, too.
void Index::AddMembers(const ast::TypePtr& result) {
  for (size_t i = 0; result && i < result->fields.size(); ++i) {
    const ast::Type::Field& field = result->fields[i];
    if (field.label.text.empty()) continue;
    Thing& part = Add(ThingKind::kField, field.label, nullptr);
    if (field.type) part.type = sources_.Text(field.type->span);
  }
}

void Index::AddStages(const std::vector<ast::StmtPtr>& body) {
  for (const ast::StmtPtr& stmt : body) {
    if (const auto* stage = ast::DynAs<ast::StageStmt>(*stmt); stage != nullptr && !stage->name.text.empty())
      Add(ThingKind::kStage, stage->name, nullptr);
    const auto* branch = ast::DynAs<ast::IfStmt>(*stmt);
    for (size_t i = 0; branch != nullptr && i < branch->arms.size(); ++i) AddStages(branch->arms[i].body);
    if (branch != nullptr && branch->otherwise) AddStages(*branch->otherwise);
  }
}

void Index::AddModule(const ast::File& file) {
  for (const ast::DeclPtr& decl : file.decls) {
    const auto kind = KindOf(*decl);
    const auto* import = ast::DynAs<ast::ImportDecl>(*decl);
    const bool unnamed = decl->name.text.empty() && (import == nullptr || import->path.parts.empty());
    if (!kind || unnamed) continue;
    Thing& thing = Add(*kind, decl->name.text.empty() ? import->path.parts.back() : decl->name, decl.get());
    NoteCall(*decl, thing);
    if (const auto* fn = ast::DynAs<ast::FnDecl>(*decl)) AddMembers(fn->result);
    if (const auto* external = ast::DynAs<ast::ExternDecl>(*decl)) AddMembers(external->result);
    if (const auto* model = ast::DynAs<ast::ModelDecl>(*decl)) AddMembers(model->result);
    if (const auto* remote = ast::DynAs<ast::RemoteDecl>(*decl)) AddMembers(remote->result);
    if (const auto* workflow = ast::DynAs<ast::WorkflowDecl>(*decl)) {
      AddMembers(workflow->result);
      AddStages(workflow->body);
    }
    if (import != nullptr) thing.target = ast::ToString(import->path);
    const auto* record = ast::DynAs<ast::TypeDecl>(*decl);
    for (size_t i = 0; record != nullptr && i < record->fields.size(); ++i) {
      const ast::Type::Field& field = record->fields[i];
      Thing& part = Add(ThingKind::kField, field.label, nullptr);
      if (field.type) part.type = sources_.Text(field.type->span);
      record_fields_.emplace(std::pair(PlaceOf(record->name.span), field.label.text), PlaceOf(field.label.span));
    }
  }
}

// As the file itself calls them.
sema::RecordNames Index::NamesIn(FileId file) const {
  const auto module = std::find_if(modules_->begin(), modules_->end(),
                                   [&](const sema::Module& one) { return one.file != nullptr && one.file->id == file; });
  if (module == modules_->end()) return [](sema::TypeRef record) { return record->name; };
  return [&module = *module](sema::TypeRef record) { return sema::NameIn(module, record); };
}

void Index::Declare(const sema::Local& local, sema::LocalKind kind) {
  if (local.span.file == FileId::kNone) return;
  const auto [at, is_new] = things_.try_emplace(PlaceOf(local.span));
  Use(local.span, local.span);
  if (!is_new && !at->second.type.empty()) return;
  Thing& thing = at->second;
  thing.kind = KindOf(kind);
  thing.name = local.name;
  thing.span = local.span;
  const sema::RecordNames names = NamesIn(local.span.file);
  thing.type = TypeText(local.type, names);
  thing.fields = FieldsOf(local.type, names);
}

void Index::Use(const Span& use, const Span& declared) {
  if (use.file == FileId::kNone || declared.file == FileId::kNone) return;
  occurrences_.push_back({use, PlaceOf(declared)});
}

void Index::UseField(const Span& use, sema::TypeRef record, const sema::Field& field) {
  if (!record->name.empty()) field_uses_.push_back({use, PlaceOf(record->declared), field.name});
  field_types_[PlaceOf(use)] = TypeText(field.type, NamesIn(use.file));
}

void Index::ReadMember(const Span& name, sema::TypeRef object) {
  const sema::TypeRef record = object->kind == sema::TypeKind::kOptional ? object->element : object;
  if (name.file == FileId::kNone || record->fields.empty()) return;
  const auto [known, is_new] = known_records_.try_emplace({name.file, record}, records_.size());
  if (is_new) records_.push_back(FieldsOf(record, NamesIn(name.file)));
  member_reads_.try_emplace(PlaceOf(name), MemberRead{name, known->second});
}

void Index::NoteWorkflow(const sema::Workflow& workflow, const sema::Program& program) {
  for (const sema::Stmt& stmt : workflow.body) {
    if (stmt.kind != sema::StmtKind::kNode || stmt.local >= workflow.locals.size()) continue;
    const auto thing = things_.find(PlaceOf(workflow.locals[stmt.local].span));
    if (thing == things_.end()) continue;
    thing->second.settings = SettingsText(stmt, program);
    if (stmt.stage >= workflow.stages.size()) continue;
    thing->second.stage = workflow.stages[stmt.stage].name;
    thing->second.in_written_stage = workflow.stages[stmt.stage].written;
  }
}

void Index::Checked(const sema::Entity& entity, const sema::Program& so_far) {
  const auto at = things_.find(PlaceOf(entity.span));
  if (at == things_.end()) return;
  Thing& thing = at->second;
  const bool typed = entity.type != nullptr && (entity.kind == sema::EntityKind::kConst || entity.kind == sema::EntityKind::kType);
  const sema::RecordNames names = NamesIn(entity.span.file);
  if (typed) thing.fields = FieldsOf(entity.type, names);
  if (typed && entity.kind == sema::EntityKind::kConst) NoteConst(entity, so_far, names, thing);
  if (entity.kind == sema::EntityKind::kModel && entity.signature && !entity.signature->broken) {
    thing.type = SignatureText(*entity.signature, names);
    if (thing.takes.empty()) NoteFile(*entity.signature, names, thing);
    const bool known = entity.index < so_far.models.size() && so_far.models[entity.index].name == entity.name;
    if (known) thing.settings = ir::Joined(ir::SettingsOf(so_far.models[entity.index].defaults, so_far.models[entity.index].batched));
  }
  const bool workflow = entity.kind == sema::EntityKind::kWorkflow && entity.index < so_far.workflows.size();
  if (workflow && so_far.workflows[entity.index].name == entity.name) NoteWorkflow(so_far.workflows[entity.index], so_far);
}

void Index::Finish() {
  known_records_.clear();  // the types are gone, and the modules
  modules_ = nullptr;
  for (const FieldUse& use : field_uses_) {
    const auto declared = record_fields_.find({use.record, use.name});
    if (declared != record_fields_.end()) occurrences_.push_back({use.span, declared->second});
  }
  for (const Occurrence& one : occurrences_) {  // a dimension begins to exist where it is first written
    const bool own = PlaceOf(one.span) == one.thing;
    const auto [at, is_new] = own ? things_.try_emplace(one.thing) : std::pair(things_.end(), false);
    if (!is_new) continue;
    at->second.kind = ThingKind::kDimension;
    at->second.name = sources_.Text(one.span);
    at->second.span = one.span;
  }
  std::erase_if(occurrences_, [&](const Occurrence& one) {
    const Thing* thing = Find(one.thing);
    return thing == nullptr || sources_.Text(one.span) != thing->name;
  });
  std::sort(occurrences_.begin(), occurrences_.end(), [](const Occurrence& a, const Occurrence& b) {
    return std::pair(PlaceOf(a.span), a.thing) < std::pair(PlaceOf(b.span), b.thing);
  });
  const auto last = std::unique(occurrences_.begin(), occurrences_.end(),
                                [](const Occurrence& a, const Occurrence& b) { return PlaceOf(a.span) == PlaceOf(b.span); });
  occurrences_.erase(last, occurrences_.end());
}

const Occurrence* Index::At(FileId file, uint32_t byte) const {
  const auto after = std::upper_bound(occurrences_.begin(), occurrences_.end(), Place{file, byte},
                                      [](const Place& place, const Occurrence& one) { return place < PlaceOf(one.span); });
  if (after == occurrences_.begin()) return nullptr;
  const Occurrence& one = *std::prev(after);
  return one.span.file == file && byte <= one.span.end ? &one : nullptr;
}

const std::string* Index::FieldAt(const Span& use) const {
  const auto at = field_types_.find(PlaceOf(use));
  return at == field_types_.end() ? nullptr : &at->second;
}

const std::vector<FieldText>* Index::MembersAt(FileId file, uint32_t byte) const {
  const auto after = member_reads_.upper_bound({file, byte});
  if (after == member_reads_.begin()) return nullptr;
  const MemberRead& read = std::prev(after)->second;
  return read.name.file == file && byte <= read.name.end ? &records_[read.record] : nullptr;
}

const Thing* Index::Find(Place place) const {
  const auto at = things_.find(place);
  return at == things_.end() ? nullptr : &at->second;
}

}  // namespace wf::lsp
