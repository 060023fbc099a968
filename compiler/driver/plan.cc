#include "compiler/driver/plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "compiler/interface/wire.h"
#include "compiler/lower/frames.h"
#include "runtime/abi/defaults.h"
#include "runtime/abi/plan.h"
#include "runtime/onnx/reader.h"

namespace wf::driver {
namespace {

std::vector<Plan::Endpoint> Endpoints(const interface::Interface& interface) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [name, call] : interface::OipNames(interface)) names[call].push_back(name);
  std::vector<Plan::Endpoint> endpoints;
  for (const interface::Service& service : interface.services) {
    if (service.name.empty()) continue;  // there is none: its workflows are shown as they are
    for (const interface::Call& call : service.calls) {
      const std::string path = service.name + "/" + call.name;
      const interface::Port* raw = interface::RawBody(call);
      endpoints.push_back({path, "/" + path, raw == nullptr ? "" : raw->name, names[path]});
    }
  }
  return endpoints;
}

// Bytes of a row's inputs, where the signature says them.
std::optional<uint64_t> RowBytes(const ir::Program& program, const ir::Model& model) {
  uint64_t bytes = 0;
  for (const ir::Port& port : model.in) {
    const ir::Type& type = program.types[port.type];
    if (type.kind != ir::TypeKind::kTensor && type.kind != ir::TypeKind::kScalar) return std::nullopt;
    uint64_t own = ir::SizeOf(type.dtype);
    for (const int64_t extent : type.dims) {
      if (extent < 0 || __builtin_mul_overflow(own, static_cast<uint64_t>(extent), &own)) return std::nullopt;
    }
    bytes += own;
  }
  return bytes;
}

// Nodes with equal values of what defines a batcher share one (docs/semantics.md 15).
class BatcherTable {
 public:
  explicit BatcherTable(const ir::Program& program) : program_(program) {
    for (const ir::Task& task : program.tasks) {
      if (task.kind == ir::TaskKind::kModel) Add(task);
    }
  }
  std::vector<Plan::Batcher> Take() { return std::move(batchers_); }

 private:
  void Add(const ir::Task& task) {
    const ir::Model& model = program_.models[Index(task.model)];
    const ir::Policy policy = task.policy == ir::PolicyId::kNone ? ir::Policy() : program_.policies[Index(task.policy)];
    const uint32_t rows = abi::BatchRows(policy.batch_max, model.batched);
    const uint32_t queue = abi::QueueRows(policy.queue_max, rows);
    std::vector<std::tuple<uint16_t, uint16_t, int32_t, int32_t, int32_t>> pads;
    for (const auto* list : {&policy.pads, &policy.crops}) {
      for (const ir::Policy::Pad& pad : *list) pads.emplace_back(pad.port, pad.axis, pad.mul, pad.div, pad.add);
    }
    const Key key{Index(task.model), rows, queue, policy.instances, policy.precision, policy.buckets, pads};
    const auto [row, is_new] = rows_.try_emplace(key, batchers_.size());
    if (is_new) {
      batchers_.push_back({model.name, Shared(policy, model.batched), {}, policy.instances, rows, RowBytes(program_, model)});
    }
    auto& nodes = batchers_[row->second].nodes;
    std::pair node(task.node == ir::NodeId::kNone ? model.name : program_[task.node].path, policy.delay_ns);
    if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) nodes.push_back(std::move(node));
  }

  // Without what each node has for itself.
  static ir::Settings Shared(ir::Policy policy, bool batched) {
    policy.timeout_ns = policy.delay_ns = 0;
    policy.retry = 0;
    ir::Settings settings = ir::SettingsOf(policy, batched);
    std::erase_if(settings, [](const auto& setting) { return setting.first == "priority"; });
    return settings;
  }

  using Key = std::tuple<size_t, uint32_t, uint32_t, uint16_t, ir::DType, std::vector<int64_t>,
                         std::vector<std::tuple<uint16_t, uint16_t, int32_t, int32_t, int32_t>>>;
  const ir::Program& program_;
  std::map<Key, size_t> rows_;
  std::vector<Plan::Batcher> batchers_;
};

// The files that a server would load, newest first.
std::vector<onnx::VersionFile> Chosen(const ir::Model& model, std::vector<onnx::VersionFile> files) {
  std::reverse(files.begin(), files.end());
  if (model.version_policy == WF_SPECIFIC) {
    std::erase_if(files, [&](const onnx::VersionFile& file) {
      return std::find(model.versions.begin(), model.versions.end(), file.version) == model.versions.end();
    });
  }
  const size_t most = model.versions.empty() ? 1 : static_cast<size_t>(model.versions[0]);
  if (model.version_policy == WF_LATEST && files.size() > most) files.resize(most);
  return files;
}

// What a signature that is written says of inputs: of a sequence it lists the tensors.
std::optional<onnx::Given> GivenOf(const ir::Program& program, const ir::Model& model) {
  if (!model.signature_written) return std::nullopt;
  onnx::Given given;
  base::UnknownDims unknown("p");
  for (const ir::Port& port : model.in) {
    const ir::Type& type = program.types[port.type];
    onnx::Port& input = given.inputs.emplace_back(onnx::Port{port.name, static_cast<uint8_t>(type.dtype), {}});
    for (const int64_t extent : port.text_dims.empty() ? type.dims : port.text_dims)
      input.dim.push_back(extent < 0 ? unknown.Next() : onnx::Dim(extent));
  }
  return given;
}

Plan::Model ModelOf(const ir::Program& program, const ir::Model& model, const std::string& folder) {
  Plan::Model out{model.name, model.path, {}, {}};
  const std::string path = model.path.starts_with('/') ? model.path : folder + model.path;
  const auto files = onnx::FindVersions(path);
  if (!files.ok()) {
    out.missing = files.status().message();
    return out;
  }
  for (const onnx::VersionFile& file : Chosen(model, *files)) {
    onnx::ReadOptions reading;
    reading.given = GivenOf(program, model);
    const auto read = onnx::ReadModel(file.path, reading);
    if (!read.ok()) {
      out.missing = read.status().message();
      continue;
    }
    std::error_code ignored;
    Plan::Version version{file.version, file.path, std::filesystem::file_size(file.path, ignored), 0};
    for (const auto& weight : read->graph.weights) version.weight_bytes += static_cast<uint64_t>(weight->size_bytes());
    out.versions.push_back(std::move(version));
  }
  if (out.versions.empty() && out.missing.empty()) out.missing = "`" + path + "`: none of the versions that the program names";
  return out;
}

}  // namespace

Plan PlanOf(const sema::Program& checked, const ir::Program& program, const interface::Interface& interface, const std::string& folder) {
  Plan plan{.graph = GraphOf(program),
            .endpoints = Endpoints(interface),
            .workflows = {},
            .batchers = BatcherTable(program).Take(),
            .models = {},
            .externs = {}};
  const lower::FrameLayout frames = lower::LayOutFrames(program);
  for (size_t i = 0; i < program.workflows.size(); ++i) {
    const Graph::Workflow& shown = plan.graph.workflows[i];
    Plan::Workflow row{.call = Spelling(shown), .tasks = shown.own_tasks.size()};
    for (const Graph::Stage& stage : shown.stages) {
      row.stages += stage.name.empty() ? 0 : 1;
      row.nodes += stage.nodes.size();
      for (const Graph::Node& node : stage.nodes) row.tasks += node.tasks.size();
    }
    row.frame_bytes = frames.regions[Index(program.workflows[i].root)].bytes;
    plan.workflows.push_back(std::move(row));
  }
  for (const ir::Model& model : program.models) plan.models.push_back(ModelOf(program, model, folder));
  for (const sema::Extern& one : checked.externs) plan.externs.push_back({one.name, one.source, one.is_node});
  return plan;
}

}  // namespace wf::driver
