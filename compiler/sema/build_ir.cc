#include "compiler/sema/build_ir.h"

#include "compiler/sema/build_workflow.h"
#include "compiler/sema/model_workflow.h"

namespace wf::sema {
namespace {

constexpr size_t kMaxIds = 60'000;  // tasks, slots, regions and nodes have 16-bit ids

constexpr int kMaxRegionDepth = 64;  // as abi::Verify wants

// Parents stand before what they enclose.
bool NestsTooDeep(const ir::Program& program) {
  std::vector<int> depth(program.regions.size());
  for (size_t i = 0; i < depth.size(); ++i) {
    const ir::RegionId parent = program.regions[i].parent;
    if (parent != ir::RegionId::kNone) depth[i] = depth[static_cast<size_t>(parent)] + 1;
    if (depth[i] > kMaxRegionDepth) return true;
  }
  return false;
}

ir::Port PortOf(BodyWriter& writer, const ModelPort& port) {
  return {port.wire_name, writer.TypeOf(port.type), ir::SlotId::kNone, {}, true};
}

void AddModels(BuildContext& c) {
  ir::Body scratch;
  BodyWriter writer(c, scratch, nullptr);
  for (const Model& model : c.program.models) {
    ir::Model out{.name = model.name, .path = model.path};
    for (const ModelPort& port : model.in) out.in.push_back(PortOf(writer, port));
    for (const ModelPort& port : model.out) out.out.push_back(PortOf(writer, port));
    out.batch_axis = model.batch_axis;
    out.versions = model.versions;
    out.version_policy = model.version_policy;
    out.batched = model.batched;
    out.signature_written = model.signature_written;
    c.out.models.push_back(std::move(out));
  }
}

void AddService(BuildContext& c, size_t index, std::map<std::pair<bool, uint32_t>, size_t>& built) {
  const Service& service = c.program.services[index];
  for (size_t i = 0; i < service.members.size(); ++i) {
    const Service::Member& member = service.members[i];
    const std::string& declared = member.is_model ? c.program.models[member.index].name : c.program.workflows[member.index].name;
    ir::Workflow workflow{.name = member.published_name, .declared_name = declared, .service = service.name};
    const auto [at, is_new] = built.try_emplace({member.is_model, member.index}, c.out.workflows.size());
    if (!is_new) {  // published before: the same regions serve both
      const ir::Workflow& first = c.out.workflows[at->second];
      workflow.in = first.in;
      workflow.out = first.out;
      workflow.root = first.root;
      workflow.model = first.model;
    } else if (member.is_model) {
      const Workflow source = WorkflowOf(c.program.models[member.index], member.index);
      c.root = source.span.file;
      c.out.models[member.index].published = true;
      WorkflowBuilder(c, source, source.name).Build(workflow);
      workflow.model = static_cast<ir::ModelId>(member.index);
    } else {
      const Workflow& source = c.program.workflows[member.index];
      c.root = source.span.file;
      WorkflowBuilder(c, source, source.name).Build(workflow);
    }
    workflow.is_default = i == 0;
    workflow.service_index = static_cast<uint16_t>(index);
    workflow.timeout_ns = service.timeout_ns;
    workflow.body_max = service.body_max;
    workflow.inflight_max = service.inflight_max;
    workflow.rows_max = service.rows_max;
    c.out.workflows.push_back(std::move(workflow));
  }
}

}  // namespace

std::optional<ir::Program> BuildIr(const Program& program, const source::SourceMap& sources, diag::Emitter& diag) {
  ir::Program out;
  BuildContext c{.program = program, .out = out, .sources = &sources};
  out.source_name = program.source_name;
  out.source_hash = program.source_hash;
  for (const ErrorCode& error : program.errors) out.errors.push_back({error.code, error.name, error.message, error.canonical_status});
  AddModels(c);
  std::map<std::pair<bool, uint32_t>, size_t> built;
  for (size_t i = 0; i < program.services.size(); ++i) {
    AddService(c, i, built);
    const bool is_full = std::max({out.tasks.size(), out.slots.size(), out.regions.size(), out.nodes.size()}) > kMaxIds;
    const bool is_deep = NestsTooDeep(out);
    if (is_full || is_deep || c.too_large != nullptr) {
      const Span span = c.too_large != nullptr ? *c.too_large : program.workflows.empty() ? Span{} : program.workflows[0].span;
      const char* const limit = is_full   ? "60000 tasks; workflows are written out where they are called"
                                : is_deep ? "64 levels of `if`, `for` and called workflows"
                                          : c.limit;
      diag.Emit(span, diag::kProgramTooLarge, {limit});
      return std::nullopt;
    }
  }
  Renumber(out);
  return out;
}

ir::Outcome EvaluateConst(const Program& program, const Expr& expr, uint64_t max_steps) {
  ir::Program out;
  BuildContext c{.program = program, .out = out, .ops_left = 200'000};
  ir::Body body;
  BodyWriter writer(c, body, nullptr);
  const ir::ValueId value = writer.Write(expr);
  writer.builder().Close(value);
  if (c.too_large != nullptr) {
    return {.value = {}, .failure = ir::Failure{.code = ir::kOutOfSteps, .message = "more than 200000 operations"}};
  }
  return ir::Interpreter(out, {}, {.max_steps = max_steps}).RunBody(body);
}

}  // namespace wf::sema
