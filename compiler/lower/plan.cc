// The plan: constant tables laid out by runtime/abi/plan.h, whose structs are filled here and copied in whole.

#include "compiler/lower/plan.h"

#include <algorithm>
#include <cstddef>

#include "compiler/lower/layout.h"
#include "runtime/abi/plan.h"
#include "runtime/base/check.h"
#include "runtime/base/json_text.h"

namespace wf::lower {
namespace {

Image TypeRow(Context& context, ir::TypeId id, const std::string& name) {
  const ir::Type& type = context.type(id);
  const ir::Layout layout = ir::LayoutOf(context.types(), id);
  wf_type row{};
  row.kind = static_cast<uint8_t>(type.kind);
  row.dtype = static_cast<uint8_t>(type.dtype);
  row.rank = static_cast<uint8_t>(type.dims.size());
  row.element = type.element == ir::TypeId::kNone ? static_cast<uint16_t>(WF_NONE) : PlanIndex(type.element);
  row.n_fields = static_cast<uint16_t>(type.fields.size());
  row.size = layout.size;
  row.align = layout.align;
  if (type.kind == ir::TypeKind::kOptional) row.has_offset = ir::LayoutOf(context.types(), type.element).size;
  if (type.kind == ir::TypeKind::kMap) {
    const ir::EntryLayout entry = ir::MapEntry(context.types(), type.element);
    row.map_value_offset = entry.value_offset;
    row.map_entry_size = entry.size;
  }
  Image image;
  image.Add(row);
  Image fields;
  for (size_t i = 0; i < type.fields.size(); ++i) {
    const size_t at = fields.Add(wf_field{{}, {}, ir::FieldOffset(context.types(), id, i), PlanIndex(type.fields[i].type), 0});
    SetText(context, &fields, at + offsetof(wf_field, name), type.fields[i].name);
    SetText(context, &fields, at + offsetof(wf_field, text), base::JsonBeforeValue(type.fields[i].name));
  }
  image.Pointer(offsetof(wf_type, fields), fields.Global(context.module(), "fields"));
  image.Pointer(offsetof(wf_type, dim), EmitNumbers(context, type.dims, "dims"));
  SetText(context, &image, offsetof(wf_type, name), name);
  return image;
}

void AppendPort(Context& context, const ir::Port& port, Image* ports) {
  const ir::Type& type = context.type(port.type);
  const bool is_texts = port.slot == ir::SlotId::kNone && (type.kind == ir::TypeKind::kString || type.kind == ir::TypeKind::kList);
  const std::vector<int64_t>& dims = is_texts ? port.text_dims : type.dims;
  wf_port row{};
  row.slot = PlanIndex(port.slot);
  row.type = context.RowOf(port);
  row.dtype = is_texts ? uint8_t{WF_TEXTS} : static_cast<uint8_t>(type.dtype);
  row.rank = static_cast<uint8_t>(dims.size());
  row.required = port.required ? 1 : 0;
  const size_t at = ports->Add(row);
  SetText(context, ports, at + offsetof(wf_port, name), port.name);
  if (is_texts || type.kind == ir::TypeKind::kTensor) ports->Pointer(at + offsetof(wf_port, dim), EmitNumbers(context, dims, "dims"));
  if (port.if_missing) ports->Pointer(at + offsetof(wf_port, if_missing), context.Constant(port.type, *port.if_missing));
}

llvm::GlobalVariable* EmitNodes(Context& context) {
  Image nodes;
  for (const ir::Node& node : context.program().nodes) {
    const uint32_t stage = node.stage == ir::StageId::kNone ? uint32_t{WF_NONE} : static_cast<uint32_t>(node.stage);
    SetText(context, &nodes, nodes.Add(wf_node{{}, node.line, stage}) + offsetof(wf_node, path), node.path);
  }
  return nodes.Global(context.module(), "nodes");
}

llvm::GlobalVariable* EmitStages(Context& context) {
  Image stages;
  for (const ir::Stage& stage : context.program().stages) {
    const size_t at = stages.Add(wf_stage{});
    SetText(context, &stages, at + offsetof(wf_stage, workflow), stage.workflow);
    SetText(context, &stages, at + offsetof(wf_stage, name), stage.name);
  }
  return stages.Global(context.module(), "stages");
}

llvm::GlobalVariable* EmitErrors(Context& context) {
  std::vector<ir::ErrorCode> sorted = context.program().errors;
  std::stable_sort(sorted.begin(), sorted.end(), [](const ir::ErrorCode& a, const ir::ErrorCode& b) { return a.code < b.code; });
  Image errors;
  for (const ir::ErrorCode& error : sorted) {
    const size_t at = errors.Add(wf_declared_error{error.code, static_cast<uint32_t>(error.canonical_status), {}});
    SetText(context, &errors, at + offsetof(wf_declared_error, name), error.name);
  }
  return errors.Global(context.module(), "errors");
}

llvm::GlobalVariable* EmitPads(Context& context, const std::vector<ir::Policy::Pad>& pads) {
  Image image;
  for (const ir::Policy::Pad& pad : pads) image.Add(wf_pad{pad.port, pad.axis, pad.mul, pad.div, pad.add});
  return image.Global(context.module(), "pads");
}

llvm::GlobalVariable* EmitPolicies(Context& context) {
  Image policies;
  for (const ir::Policy& policy : context.program().policies) {
    wf_policy row{};
    row.timeout_ns = policy.timeout_ns;
    row.delay_ns = policy.delay_ns;
    row.batch_max = policy.batch_max;
    row.queue_max = policy.queue_max;
    row.n_buckets = static_cast<uint16_t>(policy.buckets.size());
    row.n_pads = static_cast<uint16_t>(policy.pads.size());
    row.n_crops = static_cast<uint16_t>(policy.crops.size());
    row.retry = policy.retry;
    row.instances = policy.instances;
    row.threads = policy.threads;
    row.priority = policy.priority;
    row.precision = static_cast<uint8_t>(policy.precision);
    const size_t at = policies.Add(row);
    policies.Pointer(at + offsetof(wf_policy, bucket), EmitNumbers(context, policy.buckets, "buckets"));
    policies.Pointer(at + offsetof(wf_policy, pad), EmitPads(context, policy.pads));
    policies.Pointer(at + offsetof(wf_policy, crop), EmitPads(context, policy.crops));
  }
  return policies.Global(context.module(), "policies");
}

llvm::GlobalVariable* EmitTexts(Context& context, const std::vector<std::string>& texts) {
  Image image;
  for (const std::string& text : texts) SetText(context, &image, image.Add(wf_bytes{}), text);
  return image.Global(context.module(), "texts");
}

llvm::GlobalVariable* EmitModels(Context& context) {
  Image models;
  for (const ir::Model& model : context.program().models) {
    wf_model row{};
    row.n_in = static_cast<uint16_t>(model.in.size());
    row.n_out = static_cast<uint16_t>(model.out.size());
    row.n_versions = static_cast<uint16_t>(model.versions.size());
    row.version_policy = model.version_policy;
    row.batched = model.batched ? 1 : 0;
    row.published = model.published ? 1 : 0;
    row.signature_written = model.signature_written ? 1 : 0;
    row.mixing_allowed = model.mixing_allowed ? 1 : 0;
    const size_t at = models.Add(row);
    SetText(context, &models, at + offsetof(wf_model, name), model.name);
    SetText(context, &models, at + offsetof(wf_model, path), model.path);
    models.Pointer(at + offsetof(wf_model, in), EmitPorts(context, model.in));
    models.Pointer(at + offsetof(wf_model, out), EmitPorts(context, model.out));
    models.Pointer(at + offsetof(wf_model, batch_axis), EmitNumbers(context, model.batch_axis, "batch_axis"));
    models.Pointer(at + offsetof(wf_model, versions), EmitNumbers(context, model.versions, "versions"));
    models.Pointer(at + offsetof(wf_model, extents), EmitNumbers(context, model.extents, "extents"));
    models.Pointer(at + offsetof(wf_model, symbols), EmitTexts(context, model.symbols));
  }
  return models.Global(context.module(), "models");
}

llvm::GlobalVariable* EmitAxes(Context& context, const ir::Workflow& workflow) {
  Image axes;
  for (const ir::Axis& axis : workflow.axes) {
    wf_axis row{};
    row.port = static_cast<uint16_t>(axis.port);
    row.axis = axis.axis == ir::Axis::kWhole ? uint16_t{WF_WHOLE} : static_cast<uint16_t>(axis.axis);
    ir::TypeId type = workflow.in[axis.port].type;
    for (const uint32_t field : axis.path) {
      row.offset += ir::FieldOffset(context.types(), type, field);
      type = context.type(type).fields[field].type;
    }
    row.symbol = axis.symbol;
    row.open_by_default = axis.open_by_default ? 1 : 0;
    row.mul = axis.mul;
    row.add = axis.add;
    axes.Add(row);
  }
  return axes.Global(context.module(), "axes");
}

llvm::GlobalVariable* EmitWorkflows(Context& context, const Functions& functions, const std::vector<llvm::GlobalVariable*>& in_ports) {
  Image workflows;
  for (size_t i = 0; i < context.program().workflows.size(); ++i) {
    const ir::Workflow& workflow = context.program().workflows[i];
    wf_workflow row{};
    row.n_in = static_cast<uint16_t>(workflow.in.size());
    row.n_out = static_cast<uint16_t>(workflow.out.size());
    row.root = PlanIndex(workflow.root);
    row.service_index = workflow.service_index;
    row.is_default = workflow.is_default ? 1 : 0;
    row.is_model = workflow.model == ir::ModelId::kNone ? 0 : 1;
    row.model = row.is_model != 0 ? PlanIndex(workflow.model) : uint16_t{0};
    row.timeout_ns = workflow.timeout_ns;
    row.body_max = workflow.body_max;
    row.inflight_max = workflow.inflight_max;
    row.rows_max = workflow.rows_max;
    row.n_axes = static_cast<uint32_t>(workflow.axes.size());
    const size_t at = workflows.Add(row);
    SetText(context, &workflows, at + offsetof(wf_workflow, name), workflow.name);
    SetText(context, &workflows, at + offsetof(wf_workflow, service), workflow.service);
    workflows.Pointer(at + offsetof(wf_workflow, in), in_ports[i]);
    workflows.Pointer(at + offsetof(wf_workflow, out), EmitPorts(context, workflow.out));
    workflows.Pointer(at + offsetof(wf_workflow, find_in), functions.workflows[i].find_in);
    workflows.Pointer(at + offsetof(wf_workflow, read_json), functions.workflows[i].read_json);
    workflows.Pointer(at + offsetof(wf_workflow, write_json), functions.workflows[i].write_json);
    workflows.Pointer(at + offsetof(wf_workflow, axes), EmitAxes(context, workflow));
  }
  return workflows.Global(context.module(), "workflows");
}

}  // namespace

void SetText(Context& context, Image* image, size_t offset, std::string_view text) {
  const uint64_t length = text.size();
  image->Pointer(offset + offsetof(wf_bytes, ptr), context.Text(text));
  image->Write(offset + offsetof(wf_bytes, len), &length, sizeof length);
}

void EmitTypeTable(Context& context) {
  const ir::TypeTable& types = context.types();
  std::vector<std::pair<ir::TypeId, std::string>> rows;
  for (size_t i = 0; i < types.size(); ++i) rows.emplace_back(static_cast<ir::TypeId>(i), types.ToString(static_cast<ir::TypeId>(i)));
  Context::WrittenTypes written;
  const auto add = [&](const ir::Port& port) {
    const bool is_other = types[port.type].kind == ir::TypeKind::kTensor && port.written != rows[static_cast<size_t>(port.type)].second;
    const bool is_new = is_other && written.try_emplace({port.type, port.written}, static_cast<uint16_t>(rows.size())).second;
    if (is_new) rows.emplace_back(port.type, port.written);
  };
  for (const ir::Workflow& workflow : context.program().workflows) {
    std::for_each(workflow.in.begin(), workflow.in.end(), add);
    std::for_each(workflow.out.begin(), workflow.out.end(), add);
  }
  WF_CHECK(rows.size() < WF_NONE, rows.size());
  Image table(sizeof(wf_type) * rows.size());
  for (size_t i = 0; i < rows.size(); ++i) table.Embed(i * sizeof(wf_type), TypeRow(context, rows[i].first, rows[i].second));
  context.set_type_table(table.Global(context.module(), "types"), std::move(written));
}

llvm::GlobalVariable* EmitPorts(Context& context, const std::vector<ir::Port>& ports) {
  Image image;
  for (const ir::Port& port : ports) AppendPort(context, port, &image);
  return image.Global(context.module(), "ports");
}

void EmitPlan(Context& context, const FrameLayout& frames, const Functions& functions, const std::vector<llvm::GlobalVariable*>& in_ports) {
  const ir::Program& program = context.program();
  WF_CHECK(program.tasks.size() < WF_NONE && program.slots.size() < WF_NONE && program.regions.size() < WF_NONE, program.tasks.size());
  wf_plan row{};
  row.bytes = sizeof(wf_plan);
  row.n_workflows = static_cast<uint32_t>(program.workflows.size());
  row.n_regions = static_cast<uint32_t>(program.regions.size());
  row.n_tasks = static_cast<uint32_t>(program.tasks.size());
  row.n_slots = static_cast<uint32_t>(program.slots.size());
  row.n_nodes = static_cast<uint32_t>(program.nodes.size());
  row.n_stages = static_cast<uint32_t>(program.stages.size());
  row.n_policies = static_cast<uint32_t>(program.policies.size());
  row.n_models = static_cast<uint32_t>(program.models.size());
  row.n_types = static_cast<uint32_t>(context.type_rows());
  row.n_errors = static_cast<uint32_t>(program.errors.size());
  static_assert(sizeof row.source_hash == sizeof program.source_hash);
  std::memcpy(row.source_hash, program.source_hash.data(), sizeof row.source_hash);
  Image plan;
  plan.Add(row);
  plan.Pointer(offsetof(wf_plan, workflows), EmitWorkflows(context, functions, in_ports));
  plan.Pointer(offsetof(wf_plan, regions), EmitRegions(context, frames));
  plan.Pointer(offsetof(wf_plan, tasks), EmitTasks(context, functions));
  plan.Pointer(offsetof(wf_plan, slots), EmitSlots(context, frames));
  plan.Pointer(offsetof(wf_plan, nodes), EmitNodes(context));
  plan.Pointer(offsetof(wf_plan, stages), EmitStages(context));
  plan.Pointer(offsetof(wf_plan, policies), EmitPolicies(context));
  plan.Pointer(offsetof(wf_plan, models), EmitModels(context));
  plan.Pointer(offsetof(wf_plan, types), context.type_table());
  plan.Pointer(offsetof(wf_plan, errors), EmitErrors(context));
  llvm::GlobalVariable* global = plan.Global(context.module(), "wf_plan_main");
  global->setLinkage(llvm::GlobalValue::ExternalLinkage);
}

}  // namespace wf::lower
