#include "compiler/interface/describe.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/sema/model_workflow.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/value_text.h"
#include "runtime/abi/plan.h"
#include "runtime/base/check.h"

namespace wf::interface {
namespace {

using source::Span;

std::string VersionsText(const sema::Model& model) {
  std::string text = model.version_policy == WF_ALL ? "all" : model.version_policy == WF_LATEST ? "latest" : "specific";
  for (const int64_t version : model.versions) text += " " + std::to_string(version);
  return text;
}

class Describer {
 public:
  Describer(const sema::Program& program, const std::vector<DescribedModule>& modules, const source::SourceMap& sources)
      : program_(program), sources_(sources), examples_(ExamplesIn(program)) {
    for (const DescribedModule& module : modules) {
      for (const ast::DeclPtr& decl : module.file->decls) {
        if (decl->doc.empty()) continue;
        docs_by_place_.try_emplace({module.file->id, decl->name.span.begin}, decl->doc);
        if (decl->kind == ast::DeclKind::kServiceDecl && module.path.empty()) service_docs_.try_emplace(decl->name.text, decl->doc);
      }
      if (!module.path.empty()) continue;
      for (const ast::DeclPtr& decl : module.file->decls) {
        if (decl->kind == ast::DeclKind::kServiceDecl) service_places_.try_emplace(decl->name.text, decl->name.span);
      }
    }
  }

  Interface Run() {
    for (const sema::Service& service : program_.services) AddService(service);
    for (const sema::ErrorCode& error : program_.errors) {
      if (spoken_errors_.contains(error.code))
        result_.errors.push_back({error.code, error.name, error.message, error.canonical_status, PlaceOf(error.span)});
    }
    std::sort(result_.errors.begin(), result_.errors.end(), [](const Error& a, const Error& b) { return a.code < b.code; });
    return std::move(result_);
  }

 private:
  Place PlaceOf(const Span& span) const {
    if (span.file == source::FileId::kNone) return {};
    const source::Position at = sources_.ShownPosition(span.file, span.begin);
    return {std::string(sources_.name(span.file)), at.line, at.column};
  }
  std::string DocOf(const Span& span) const {
    const auto doc = docs_by_place_.find({span.file, span.begin});
    return doc == docs_by_place_.end() ? "" : doc->second;
  }

  Type TypeOf(sema::TypeRef type) {
    Type out{.dtype = type->dtype, .dims = type->dims};
    for (base::Dim& dim : out.dims) {
      if (sema::IsAny(dim)) dim = unknown_.Next();  // each one is equal to itself alone
    }
    if (type->element != nullptr) out.element.push_back(TypeOf(type->element));
    switch (type->kind) {
      case sema::TypeKind::kScalar:
        out.kind = ir::TypeKind::kScalar;
        break;
      case sema::TypeKind::kString:
        out.kind = ir::TypeKind::kString;
        break;
      case sema::TypeKind::kBytes:
        out.kind = ir::TypeKind::kBytes;
        break;
      case sema::TypeKind::kTensor:
        out.kind = ir::TypeKind::kTensor;
        break;
      case sema::TypeKind::kRecord:
        out.kind = ir::TypeKind::kRecord;
        AddRecord(*type, out);
        break;
      case sema::TypeKind::kList:
        out.kind = ir::TypeKind::kList;
        break;
      case sema::TypeKind::kMap:
        out.kind = ir::TypeKind::kMap;
        break;
      case sema::TypeKind::kOptional:
        out.kind = ir::TypeKind::kOptional;
        break;
      case sema::TypeKind::kError:
      case sema::TypeKind::kNever:
      case sema::TypeKind::kNone:
      case sema::TypeKind::kVariable:
        WF_CHECK(false, static_cast<int>(type->kind));  // no signature of a checked program has one
    }
    return out;
  }

  void AddRecord(const sema::Type& type, Type& out) {
    std::vector<Field> fields;
    for (const sema::Field& field : type.fields) fields.push_back({field.name, TypeOf(field.type)});
    if (type.name.empty()) {
      out.fields = std::move(fields);
      return;
    }
    out.record = type.name;
    if (result_.FindRecord(type.name) != nullptr) return;
    result_.records.push_back({type.name, DocOf(type.declared), std::move(fields)});
  }

  void AddService(const sema::Service& in) {
    Service service{.name = in.name,
                    .doc = service_docs_.contains(in.name) ? service_docs_.at(in.name) : "",
                    .calls = {},
                    .timeout_ns = in.timeout_ns,
                    .body_bytes = in.body_max,
                    .rows = in.rows_max,
                    .place = service_places_.contains(in.name) ? PlaceOf(service_places_.at(in.name)) : Place()};
    for (const sema::Service::Member& member : in.members) {
      Call call = member.is_model ? ModelCall(program_.models[member.index], member.index) : WorkflowCall(program_.workflows[member.index]);
      call.name = member.published_name;
      const auto example = examples_.find({member.is_model, member.index});
      if (example != examples_.end()) call.example = example->second;
      service.calls.push_back(std::move(call));
    }
    result_.services.push_back(std::move(service));
  }

  Call ModelCall(const sema::Model& model, uint32_t index) {
    Call call = WorkflowCall(sema::WorkflowOf(model, index));
    call.is_model = true;
    call.versions = VersionsText(model);
    return call;
  }

  Call WorkflowCall(const sema::Workflow& workflow) {
    Call call;
    call.doc = DocOf(workflow.span);
    call.place = PlaceOf(workflow.span);
    for (const sema::Param& param : workflow.params) {
      const sema::Local& local = workflow.locals[param.local];
      const std::string absent = !param.required && local.type->kind == sema::TypeKind::kOptional ? "null" : "";
      call.in.push_back({.name = param.wire_name,
                         .type = TypeOf(local.type),
                         .required = param.required,
                         .default_value = param.default_value ? JsonOf(local.type, *param.default_value) : absent,
                         .written = param.default_value ? sema::DefaultText(local.type, *param.default_value) : "",
                         .place = PlaceOf(local.span)});
    }
    for (size_t i = 0; i < workflow.results.size(); ++i) {
      call.out.push_back({.name = workflow.result_wire_names[i], .type = TypeOf(workflow.results[i].type), .place = call.place});
    }
    Spoken spoken = SpokenBy(program_, workflow);
    spoken_errors_.insert(spoken.errors.begin(), spoken.errors.end());
    call.errors = std::move(spoken.errors);
    call.annotations = std::move(spoken.annotations);
    for (const sema::Expr* meta : spoken.meta) call.meta.push_back(MetaOf(*meta));
    return call;
  }

  Meta MetaOf(const sema::Expr& expr) {
    const sema::Expr& otherwise = *expr.args[1];
    Meta meta{.key = expr.args[0]->text, .type = TypeOf(expr.type), .default_value = {}, .written = {}, .place = PlaceOf(expr.span)};
    const auto tell = [&](const ir::Value& value) {
      meta.default_value = JsonOf(otherwise.type, value);
      meta.written = sema::DefaultText(otherwise.type, value);
    };
    if (otherwise.kind == sema::ExprKind::kScalar) tell(ir::Value::Scalar(otherwise.bits));
    if (otherwise.kind == sema::ExprKind::kText && otherwise.args.empty()) tell(ir::Value::Text(otherwise.text));
    if (otherwise.kind == sema::ExprKind::kConst) tell(program_.consts[otherwise.index].value);
    return meta;
  }

  const sema::Program& program_;
  const source::SourceMap& sources_;
  const Examples examples_;
  Interface result_;
  base::UnknownDims unknown_{"d"};
  std::set<int32_t> spoken_errors_;
  std::map<std::pair<source::FileId, uint32_t>, std::string> docs_by_place_;
  std::map<std::string, std::string> service_docs_;
  std::map<std::string, Span> service_places_;
};

}  // namespace

Interface Describe(const sema::Program& program, const std::vector<DescribedModule>& modules, const source::SourceMap& sources) {
  return Describer(program, modules, sources).Run();
}

}  // namespace wf::interface
