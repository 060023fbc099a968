#include "compiler/sema/field_numbers.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/base/field_number.h"

namespace wf::sema {
namespace {

struct Member {
  std::string name;  // on the wire
  Span span;
};

class Messages {
 public:
  explicit Messages(Env& env) : env_(env) {
    for (const Module& module : env.modules) {
      for (const auto& [name, entity] : module.entities) {
        if (entity.kind == EntityKind::kType) types_.emplace(entity.type, &entity);
        if (entity.kind == EntityKind::kWorkflow && !entity.broken) workflows_.emplace(entity.index, &entity);
      }
    }
  }

  void Add(const Service::Member& member) {
    if (member.is_model) {
      const Model& model = env_.program.models[member.index];
      Add(model.in, model.span);
      Add(model.out, model.span);
    } else {
      Add(env_.program.workflows[member.index], member.index);
    }
  }

 private:
  void Add(const std::vector<ModelPort>& ports, const Span& span) {
    std::vector<Member> members;
    for (const ModelPort& port : ports) members.push_back({port.wire_name, span});
    Check(members);
  }

  void Add(const Workflow& workflow, uint32_t index) {
    std::vector<Member> members;
    for (const Param& param : workflow.params) {
      const Local& local = workflow.locals[param.local];
      members.push_back({param.wire_name, local.span});
      AddRecordsIn(local.type, local.span);
    }
    Check(members);
    members.clear();
    const auto entity = workflows_.find(index);
    const auto* decl = entity == workflows_.end() ? nullptr : ast::DynAs<ast::WorkflowDecl>(*entity->second->decl);
    for (size_t i = 0; i < workflow.results.size(); ++i) {
      const bool is_written = decl != nullptr && decl->result != nullptr && i < decl->result->fields.size();
      const Span span = is_written ? decl->result->fields[i].label.span : workflow.span;
      members.push_back({workflow.result_wire_names[i], span});
      AddRecordsIn(workflow.results[i].type, span);
    }
    Check(members);
  }

  // `span`: where tuples, which have no declaration, are written.
  void AddRecordsIn(TypeRef type, const Span& span) {
    if (type->element != nullptr) AddRecordsIn(type->element, span);
    if (type->kind != TypeKind::kRecord || !seen_.insert(type).second) return;
    const auto entity = types_.find(type);
    const auto* decl =
        entity == types_.end() || entity->second->decl == nullptr ? nullptr : ast::DynAs<ast::TypeDecl>(*entity->second->decl);
    std::vector<Member> members;
    for (size_t i = 0; i < type->fields.size(); ++i) {
      const bool is_written = decl != nullptr && i < decl->fields.size();
      members.push_back({type->fields[i].name, is_written ? decl->fields[i].label.span : span});
      AddRecordsIn(type->fields[i].type, span);
    }
    Check(members);
  }

  void Check(const std::vector<Member>& members) {
    std::map<uint32_t, const Member*> numbers;
    for (const Member& member : members) {
      const uint32_t number = source::FieldNumber(member.name);
      const auto [first, is_new] = numbers.emplace(number, &member);
      if (!is_new && first->second->name != member.name)
        env_.Report(member.span, kFieldNumbers, {first->second->name, member.name, number})
            .Label(first->second->span, "the other one")
            .Help("numbers follow from names; `wfc export --format=proto` moves one of them on, as long as the other is there");
    }
  }

  Env& env_;
  std::map<TypeRef, const Entity*> types_;
  std::map<uint32_t, const Entity*> workflows_;  // by index
  std::set<TypeRef> seen_;
};

}  // namespace

void WarnOfFieldNumbers(Env& env) {
  Messages messages(env);
  for (const Service& service : env.program.services) {
    for (const Service::Member& member : service.members) messages.Add(member);
  }
}

}  // namespace wf::sema
