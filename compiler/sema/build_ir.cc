#include "compiler/sema/build_ir.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/ir/told.h"
#include "compiler/sema/build_workflow.h"
#include "compiler/sema/model_workflow.h"

namespace wf::sema {
namespace {

constexpr size_t kMaxIds = 60'000;  // a plan numbers tasks, nodes, stages, regions, slots and types with 16 bits

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
  ir::Port out{port.wire_name, writer.TypeOf(port.type), ir::SlotId::kNone, {}, true};
  for (const Dim& dim : port.is_text() ? port.dims : std::vector<Dim>()) out.text_dims.push_back(dim.constant().value_or(-1));
  return out;
}

// What a version of the model is held against when it is loaded.
void AddExtents(const Model& model, ir::Model& out) {
  std::map<std::string, int64_t> numbers;
  const auto number_of = [&](const std::string& symbol) {
    const auto [at, is_new] = numbers.try_emplace(symbol, static_cast<int64_t>(out.symbols.size()));
    if (is_new) out.symbols.push_back(symbol.substr(0, symbol.find('#')));
    return at->second;
  };
  const auto add = [&](const Dim& dim, bool is_checked) {
    out.extents.push_back(is_checked ? 1 : 0);
    dim.Write(number_of, out.extents);
  };
  for (const ModelPort& port : model.in) {
    for (const Dim& dim : port.dims) add(dim, false);
  }
  for (size_t i = 0; i < model.out.size(); ++i) {
    const ModelPort& port = model.out[i];  // of a list nothing is taken for granted
    for (size_t axis = 0; axis < port.dims.size(); ++axis) add(port.dims[axis], model.unproved[i][axis] || port.is_text());
  }
}

void AddModels(BuildContext& c) {
  ir::Body scratch;
  BodyWriter writer(c, scratch, nullptr);
  for (const Model& model : c.program.models) {
    ir::Model out{.name = NameIn(c.program, model), .path = model.path};
    for (const ModelPort& port : model.in) out.in.push_back(PortOf(writer, port));
    for (const ModelPort& port : model.out) out.out.push_back(PortOf(writer, port));
    out.batch_axis = model.batch_axis;
    AddExtents(model, out);
    out.versions = model.versions;
    out.version_policy = model.version_policy;
    out.batched = model.batched;
    out.signature_written = model.signature_written;
    out.mixing_allowed = model.mixing_allowed;
    c.out.models.push_back(std::move(out));
  }
}

void AddTables(BuildContext& c) {
  c.out.source_name = c.program.source_name;
  c.out.source_hash = c.program.source_hash;
  for (const ErrorCode& error : c.program.errors) c.out.errors.push_back({error.code, error.name, error.message, error.canonical_status});
  for (const Remote& remote : c.program.remotes) c.out.remotes.push_back(remote.name);
  AddModels(c);
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
      workflow.axes = first.axes;
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
    workflow.is_default = i == 0 && !service.name.empty();
    workflow.service_index = static_cast<uint16_t>(index);
    workflow.timeout_ns = service.timeout_ns;
    workflow.body_max = service.body_max;
    workflow.inflight_max = service.inflight_max;
    workflow.rows_max = service.rows_max;
    c.out.workflows.push_back(std::move(workflow));
  }
}

// At the call that one can change, with the first of the calls inside it and the last.
void ReportTooLarge(const BuildContext& c, std::string_view limit, diag::Emitter& diag) {
  constexpr size_t kMostCalls = 4;
  const std::vector<BuildContext::Call>& calls = c.calls_there;
  diag::Builder error = diag.Emit(calls.empty() ? *c.too_large : *calls[0].span, diag::kProgramTooLarge, {limit});
  if (calls.empty()) return;
  error.Here("`" + *calls[0].name + "` is written out here");
  for (size_t i = 1; i < std::min(calls.size(), kMostCalls); ++i) error.Label(*calls[i].span, "with `" + *calls[i].name + "` in it");
  error.Label(*c.too_large, "and here it becomes too much");
}

// A limit as it is told: what made the program large is no call where it has none.
std::string_view Told(std::string_view limit, const BuildContext& c) {
  const bool is_of_calls = limit.find(" are written out") != std::string_view::npos;
  return is_of_calls && !c.writes_calls ? limit.substr(0, limit.find(';')) : limit;
}

// What a plan has no numbers for, or null.
const char* FullOf(const ir::Program& out) {
  if (out.tasks.size() > kMaxIds) return "60000 tasks; workflows are written out where they are called";
  if (out.nodes.size() > kMaxIds) return "60000 nodes; workflows are written out where they are called";
  if (out.stages.size() > kMaxIds) return "60000 stages; workflows are written out where they are called";
  if (out.regions.size() > kMaxIds) return "60000 arms, loops and calls; workflows are written out where they are called";
  if (out.slots.size() > kMaxIds) return "60000 parameters, results and values of tasks; workflows are written out where they are called";
  if (out.types.size() > kMaxIds) return "60000 types";
  return nullptr;
}

// What has no place in memory or in a plan.
bool IsTooLarge(const BuildContext& c, const Span& whole, diag::Emitter& diag) {
  const char* const full = FullOf(c.out);
  const bool is_deep = NestsTooDeep(c.out);
  if (full == nullptr && !is_deep && c.too_large == nullptr) return false;
  const std::string_view limit = full != nullptr ? Told(full, c) : is_deep ? kDepthLimit : Told(c.limit, c);
  if (c.too_large != nullptr)
    ReportTooLarge(c, limit, diag);
  else
    diag.Emit(whole, diag::kProgramTooLarge, {limit});
  return true;
}

// Remotes that the tasks from `first` on call: only a stub answers.
bool CallsRemote(const BuildContext& c, const Test& test, size_t first, diag::Emitter& diag) {
  std::set<uint16_t> called;
  for (size_t i = first; i < c.out.tasks.size(); ++i) {
    const ir::Task& task = c.out.tasks[i];
    if (task.kind == ir::TaskKind::kRemote) called.insert(task.remote);
  }
  for (const uint16_t at : called) {
    const Remote& remote = c.program.remotes[at];
    Span word = test.span;
    word.end = word.begin + 4;
    diag.Emit(word, diag::kNotBuiltYet, {"a call of the remote `" + remote.name + "`"})
        .Label(remote.span, "declared here")
        .Help("in the test, `stub " + remote.name + "(..) = ..` stands for it");
  }
  return !called.empty();
}

// Models that nothing calls need no file.
void DropUncalledModels(ir::Program& out) {
  std::vector<ir::ModelId> moved(out.models.size(), ir::ModelId::kNone);
  std::vector<ir::Model> kept;
  for (ir::Task& task : out.tasks) {
    if (task.kind != ir::TaskKind::kModel) continue;
    ir::ModelId& id = moved[static_cast<size_t>(task.model)];
    if (id == ir::ModelId::kNone) {
      id = static_cast<ir::ModelId>(kept.size());
      kept.push_back(out.models[static_cast<size_t>(task.model)]);
    }
    task.model = id;
  }
  out.models = std::move(kept);
}

}  // namespace

std::optional<ir::Program> BuildIr(const Program& program, const source::SourceMap& sources, diag::Emitter& diag) {
  ir::Program out;
  BuildContext c{.program = program, .out = out, .sources = &sources};
  AddTables(c);
  std::map<std::pair<bool, uint32_t>, size_t> built;
  for (size_t i = 0; i < program.services.size(); ++i) {
    AddService(c, i, built);
    if (IsTooLarge(c, program.workflows.empty() ? Span{} : program.workflows[0].span, diag)) return std::nullopt;
  }
  Renumber(out);
  return out;
}

std::optional<ir::Program> BuildTests(const Program& program, const TestBuild& build, const source::SourceMap& sources,
                                      diag::Emitter& diag) {
  ir::Program out;
  BuildContext c{.program = program, .out = out, .sources = &sources};
  AddTables(c);
  bool calls_remote = false;
  for (const size_t index : build.tests) {
    const Test& test = program.tests[index];
    c.root = test.span.file;
    const BuildContext fresh{.program = program, .out = out};
    c.ops_left = fresh.ops_left;
    c.visits_left = fresh.visits_left;
    c.stubs.clear();
    c.metadata = test.metadata;
    c.paths.clear();
    for (const Test::Stub& stub : test.stubs) c.stubs.emplace(std::pair(stub.call, stub.target), stub.function);
    const std::string name = "t" + std::to_string(out.workflows.size());
    ir::Workflow workflow{.name = name, .declared_name = name, .service = "test"};
    const size_t first = out.tasks.size();
    WorkflowBuilder(c, test.workflow, "").Build(workflow);
    calls_remote = CallsRemote(c, test, first, diag) || calls_remote;
    workflow.is_default = out.workflows.empty();
    workflow.timeout_ns = build.timeout_ns;
    out.workflows.push_back(std::move(workflow));
    if (IsTooLarge(c, test.span, diag)) return std::nullopt;
  }
  if (calls_remote) return std::nullopt;
  DropUncalledModels(out);
  Renumber(out);
  return out;
}

ir::Outcome EvaluateConst(const Program& program, const Expr& expr, ir::Limits& left, Folded* folded, const Natives& natives) {
  ir::Program out;
  BuildContext c{.program = program, .out = out};
  ir::Body body;
  BodyWriter writer(c, body, nullptr);
  const ir::ValueId value = writer.Write(expr);
  writer.builder().Close(value);
  body.divisor_first = ir::IsDivisorFirst(body);
  if (c.misses_body) return {};
  if (c.too_large != nullptr) {
    return {.value = {}, .failure = ir::Failure{.code = ir::kOutOfSteps, .message = std::string("more than ") + c.limit}};
  }
  const Folded::Key key = folded != nullptr ? Folded::KeyOf(out, body) : Folded::Key();
  if (const Folded::Known* known = folded != nullptr ? folded->Find(key) : nullptr; known != nullptr && known->HoldsUnder(left)) {
    left.max_steps -= std::min(left.max_steps, known->steps);
    return known->outcome;
  }
  ir::Hooks hooks;
  if (natives) {
    hooks.native = [&](const std::string& symbol, std::span<const ir::Value> args, ir::TypeId type) {
      return natives(out.types, symbol, args, type, left.max_bytes);
    };
  }
  ir::Interpreter interpreter(out, std::move(hooks), left);
  ir::Outcome outcome = interpreter.RunBody(body);
  const ir::Limits spent = interpreter.is_spent() ? left : ir::Limits{0, 0};
  if (folded != nullptr) folded->Add(key, {outcome, interpreter.steps(), interpreter.bytes(), spent});
  left.max_steps -= std::min(left.max_steps, interpreter.steps());
  return outcome;
}

}  // namespace wf::sema
