#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/driver/plan.h"
#include "compiler/driver/report.h"
#include "runtime/base/json_text.h"
#include "runtime/base/text.h"
#include "runtime/base/units.h"

namespace wf::driver {
namespace {

// For people: three digits are enough.
std::string Rounded(uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  for (; size >= 1024 && unit + 1 < std::size(kUnits); ++unit) size /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.{}f} {}", size, size < 10 ? 1 : 0, kUnits[unit]);
}

uint64_t StagingBytes(const Plan::Batcher& batcher) { return batcher.row_bytes.value_or(0) * batcher.rows * batcher.instances; }

std::string Endpoints(const Plan& plan) {
  std::string text = plan.endpoints.empty() ? "endpoints: none, as the program has no service\n" : "endpoints\n";
  for (const Plan::Endpoint& endpoint : plan.endpoints) {
    text += fmt::format("  POST {}{}\n", endpoint.route,
                        endpoint.raw_body.empty() ? "" : fmt::format("  (the body may be `{}` itself)", endpoint.raw_body));
    text += fmt::format("      /v2/models/{}\n", fmt::join(endpoint.names, "  /v2/models/"));
  }
  return text;
}

std::string Workflows(const Plan& plan) {
  std::string text = "workflows\n";
  for (size_t i = 0; i < plan.workflows.size(); ++i) {
    const Plan::Workflow& workflow = plan.workflows[i];
    text += fmt::format("  {}: {}, {}, {}; a request begins with {}\n", workflow.call, base::Counted(workflow.stages, "stage"),
                        base::Counted(workflow.nodes, "node"), base::Counted(workflow.tasks, "task"), Rounded(workflow.frame_bytes));
    text += fmt::format("      {}\n", ir::Joined(plan.graph.workflows[i].settings));
    for (const Graph::Stage& stage : plan.graph.workflows[i].stages) {
      std::vector<std::string> names;
      for (const Graph::Node& node : stage.nodes) names.push_back(node.name);
      text += fmt::format("      {}{}\n", stage.name.empty() ? "" : stage.name + ": ", fmt::join(names, ", "));
    }
  }
  return text;
}

std::string Batchers(const Plan& plan) {
  std::string text = "batchers\n";
  for (const Plan::Batcher& batcher : plan.batchers) {
    std::vector<std::string> nodes;
    for (const auto& [path, delay_ns] : batcher.nodes)
      nodes.push_back(delay_ns == 0 ? path : path + " within " + base::DurationText(delay_ns));
    text += fmt::format("  {}: {}\n      for {}\n", batcher.model, ir::Joined(batcher.settings), fmt::join(nodes, ", "));
    text += batcher.row_bytes
                ? fmt::format("      staging up to {}, {} a row\n", Rounded(StagingBytes(batcher)), Rounded(*batcher.row_bytes))
                : std::string("      staging as large as the shapes of requests make it\n");
  }
  return text;
}

std::string Models(const Plan& plan) {
  std::string text = "models\n";
  for (const Plan::Model& model : plan.models) {
    text += fmt::format("  {}: `{}`\n", model.name, model.path);
    for (const Plan::Version& version : model.versions) {
      text += fmt::format("      version {}: {}, {}, weights {}\n", version.number, version.file, Rounded(version.file_bytes),
                          Rounded(version.weight_bytes));
    }
    if (!model.missing.empty()) text += fmt::format("      {}; a server looks for it when it starts\n", model.missing);
  }
  return text;
}

std::string Externs(const Plan& plan) {
  std::string text = "externs\n";
  for (const Plan::Extern& one : plan.externs) text += fmt::format("  {} {}: {}\n", one.is_node ? "node" : "fn", one.name, one.source);
  return text;
}

struct Totals {
  uint64_t copies = 0, weight_bytes = 0, staging_bytes = 0;
};
Totals TotalsOf(const Plan& plan) {
  Totals totals;
  for (const Plan::Model& model : plan.models) {
    for (const Plan::Version& version : model.versions) totals.weight_bytes += version.weight_bytes;
  }
  for (const Plan::Batcher& batcher : plan.batchers) {
    totals.copies += batcher.instances;
    totals.staging_bytes += StagingBytes(batcher);
  }
  return totals;
}

// ---- JSON ----

template <typename T, typename F>
std::string Array(const std::vector<T>& items, const F& each) {
  std::string json;
  for (const T& item : items) json += (json.empty() ? "" : ",") + each(item);
  return "[" + json + "]";
}

std::string SettingsJson(const ir::Settings& settings) {
  std::string json;
  for (const auto& [name, value] : settings)
    json += fmt::format("{}{}:{}", json.empty() ? "" : ",", base::QuoteJson(name), base::QuoteJson(value));
  return "{" + json + "}";
}

std::string EndpointJson(const Plan::Endpoint& endpoint) {
  const auto quoted = [](const std::string& name) { return base::QuoteJson(name); };
  std::string json =
      fmt::format(R"({{"call":{},"post":{},"oip":{})", quoted(endpoint.call), quoted(endpoint.route), Array(endpoint.names, quoted));
  if (!endpoint.raw_body.empty()) json += R"(,"raw_body":)" + quoted(endpoint.raw_body);
  return json + "}";
}

std::string WorkflowJson(const Plan::Workflow& workflow) {
  return fmt::format(R"({{"call":{},"stages":{},"nodes":{},"tasks":{},"frame_bytes":{}}})", base::QuoteJson(workflow.call), workflow.stages,
                     workflow.nodes, workflow.tasks, workflow.frame_bytes);
}

std::string BatcherJson(const Plan::Batcher& batcher) {
  const std::string bytes =
      batcher.row_bytes ? fmt::format(R"(,"row_bytes":{},"staging_bytes":{})", *batcher.row_bytes, StagingBytes(batcher)) : "";
  return fmt::format(R"({{"model":{},"settings":{},"nodes":{},"rows":{}{}}})", base::QuoteJson(batcher.model),
                     SettingsJson(batcher.settings), Array(batcher.nodes, [](const auto& node) { return base::QuoteJson(node.first); }),
                     batcher.rows, bytes);
}

std::string ModelJson(const Plan::Model& model) {
  const auto version = [](const Plan::Version& one) {
    return fmt::format(R"({{"version":{},"file":{},"file_bytes":{},"weight_bytes":{}}})", one.number, base::QuoteJson(one.file),
                       one.file_bytes, one.weight_bytes);
  };
  std::string json = fmt::format(R"({{"name":{},"path":{},"versions":{})", base::QuoteJson(model.name), base::QuoteJson(model.path),
                                 Array(model.versions, version));
  if (!model.missing.empty()) json += R"(,"missing":)" + base::QuoteJson(model.missing);
  return json + "}";
}

}  // namespace

std::string PlanText(const Plan& plan) {
  std::string text = Endpoints(plan) + "\n" + Workflows(plan);
  if (!plan.batchers.empty()) text += "\n" + Batchers(plan);
  if (!plan.models.empty()) text += "\n" + Models(plan);
  if (!plan.externs.empty()) text += "\n" + Externs(plan);
  const Totals totals = TotalsOf(plan);
  const bool missing = std::any_of(plan.models.begin(), plan.models.end(), [](const Plan::Model& model) { return model.versions.empty(); });
  const bool open =
      std::any_of(plan.batchers.begin(), plan.batchers.end(), [](const Plan::Batcher& batcher) { return !batcher.row_bytes; });
  return text + fmt::format("\nplan: {}, {}, {} with {}; weights {}{}, staging {}{}\n", base::Counted(plan.endpoints.size(), "endpoint"),
                            base::Counted(plan.models.size(), "model"), base::Counted(plan.batchers.size(), "batcher"),
                            base::Counted(totals.copies, "instance"), Rounded(totals.weight_bytes),
                            missing ? " and those of missing models" : "", Rounded(totals.staging_bytes),
                            open ? " and what requests decide" : "");
}

std::string PlanJson(const Plan& plan) {
  const Totals totals = TotalsOf(plan);
  const auto extern_json = [](const Plan::Extern& one) {
    return fmt::format(R"({{"name":{},"node":{},"source":{}}})", base::QuoteJson(one.name), one.is_node, base::QuoteJson(one.source));
  };
  const std::string counted =
      fmt::format(R"({{"instances":{},"weight_bytes":{},"staging_bytes":{}}})", totals.copies, totals.weight_bytes, totals.staging_bytes);
  return fmt::format(R"({{"source":{},"endpoints":{},"workflows":{},"batchers":{},"models":{},"externs":{},"totals":{},"graph":{}}})",
                     base::QuoteJson(plan.graph.source), Array(plan.endpoints, EndpointJson), Array(plan.workflows, WorkflowJson),
                     Array(plan.batchers, BatcherJson), Array(plan.models, ModelJson), Array(plan.externs, extern_json), counted,
                     GraphJson(plan.graph, Level::kNode)) +
         "\n";
}

}  // namespace wf::driver
