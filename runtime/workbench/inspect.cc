#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>

#include "runtime/base/dtype.h"
#include "runtime/base/json_text.h"
#include "runtime/base/text.h"
#include "runtime/workbench/commands.h"
#include "runtime/workbench/profile.h"
#include "runtime/workbench/settings.h"

namespace wf::workbench {
namespace {

using base::Result;
using model::Plan;

// What `inspect` says of one file.   Borrows: the session.
struct InspectReport {
  explicit InspectReport(const Session& of) : session(of) {}
  const Session& session;
  uint64_t file_bytes = 0;
  std::vector<std::pair<std::string, int64_t>> operators;  // most frequent first
  std::vector<onnx::Port> shapes;                          // with which the plan is made
  std::shared_ptr<const Plan> plan;                        // null: why not
  std::string why_not;
};

void SortOperators(InspectReport& report) {
  const auto& counts = report.session.contents().operators;
  report.operators.assign(counts.begin(), counts.end());
  std::stable_sort(report.operators.begin(), report.operators.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
}

void AddPlan(Session& session, const ShapeSettings& settings, InspectReport& report) {
  auto shapes = session.ShapesFor(settings.batch, settings.named);
  if (!shapes.ok()) {
    report.why_not = shapes.status().message();
    return;
  }
  report.shapes = *std::move(shapes);
  auto plan = session.PlanFor(report.shapes);
  if (plan.ok()) {
    report.plan = *std::move(plan);
  } else {
    report.why_not = plan.status().message();
  }
}

int64_t BytesOut(const Plan& plan, const Plan::Step& step) {
  int64_t bytes = 0;
  for (const int out : step.out) bytes += out < 0 ? 0 : plan.buffers()[static_cast<size_t>(out)].bytes;
  return bytes;
}

int64_t Offset(const Plan& plan, const Plan::Step& step) {
  return step.out[0] < 0 ? -1 : plan.buffers()[static_cast<size_t>(step.out[0])].offset;
}

std::string PortsText(const std::vector<onnx::Port>& ports) {
  std::string text;
  for (const onnx::Port& port : ports) text += fmt::format("{}{}", text.empty() ? "" : ", ", port.ToString());
  return text.empty() ? "none" : text;
}

// With those of elements that programs do not have.
std::vector<std::string> NotesOf(const Session& session) {
  std::vector<std::string> notes = session.file().notes;
  size_t place = 0;
  const auto add = [&](const std::vector<onnx::Port>& ports, const char* what) {
    for (const onnx::Port& port : ports) {
      const size_t axes = port.dim.size() - (session.axes().axis[place++] < 0 ? 0 : 1);
      const bool is_text = port.dtype == onnx::kStringType && axes > 1;
      if (!is_text && !onnx::IsNarrow(port.dtype)) continue;
      notes.push_back(fmt::format("{} `{}`, which is of {}", what, port.name,
                                  is_text ? fmt::format("strings with {} axes a call", axes) : onnx::TypeName(port.dtype)));
    }
  };
  add(session.signature().inputs, "no program can give input");
  add(session.signature().outputs, "programs do not have output");
  return notes;
}

void PutText(const InspectReport& report, std::ostream& out) {
  const onnx::Model& file = report.session.file();
  const model::Contents& contents = report.session.contents();
  out << fmt::format("{}: {}, ONNX IR {}, opset {}{}\n", file.path, BytesText(static_cast<int64_t>(report.file_bytes)), file.ir_version,
                     file.opset, file.producer.empty() ? "" : ", made by " + file.producer);
  const auto ports = [&out](const char* what, const std::vector<onnx::Port>& list) {
    out << what << "\n";
    for (const onnx::Port& port : list) out << "  " << port.ToString() << "\n";
  };
  ports("inputs", report.session.signature().inputs);
  ports("outputs", report.session.signature().outputs);
  for (const std::string& note : NotesOf(report.session)) out << fmt::format("note: {}\n", note);
  out << fmt::format("samples: {}\n", report.session.axes().reason);
  out << fmt::format("weights: {}, {}\n", base::Counted(contents.weights.count, "tensor"), BytesText(contents.weights.bytes));
  for (const auto& [type, counted] : contents.weights_by_type)
    out << fmt::format("  {:<6} {:>6} {:>12}\n", type, counted.count, BytesText(counted.bytes));
  out << fmt::format("operators: {}\n", base::Counted(contents.nodes, "node"));
  for (const auto& [name, count] : report.operators) out << fmt::format("  {:<24} {:>6}\n", name, count);
  if (report.plan == nullptr) {
    out << fmt::format("what runs where is not known before a run: {}\n", report.why_not);
    return;
  }
  const Plan& plan = *report.plan;
  out << fmt::format("a run of {}: {} of activations, {}\n", PortsText(report.shapes), BytesText(plan.arena_bytes()),
                     base::Counted(plan.steps().size(), "step"));
  for (size_t s = 0; s < plan.steps().size(); ++s) {
    const Plan::Step& step = plan.steps()[s];
    out << fmt::format("  {:<40} {:<8} {:>12} at {}\n", plan.Where(s), step.kernel->impl, BytesText(BytesOut(plan, step)),
                       Offset(plan, step));
  }
}

std::string PortsJson(const std::vector<onnx::Port>& ports) {
  std::string text;
  for (const onnx::Port& port : ports) {
    std::string shape;
    for (const onnx::Dim& dim : port.dim)
      shape += fmt::format("{}{}", shape.empty() ? "" : ", ", dim.is_constant() ? dim.ToString() : base::QuoteJson(dim.ToString()));
    text += fmt::format("{}{{\"name\": {}, \"type\": {}, \"shape\": [{}]}}", text.empty() ? "" : ", ", base::QuoteJson(port.name),
                        base::QuoteJson(onnx::TypeName(port.dtype)), shape);
  }
  return "[" + text + "]";
}

std::string PlanJson(const InspectReport& report) {
  if (report.plan == nullptr) return fmt::format("{{\"unknown\": {}}}", base::QuoteJson(report.why_not));
  const Plan& plan = *report.plan;
  std::string steps;
  for (size_t s = 0; s < plan.steps().size(); ++s) {
    const Plan::Step& step = plan.steps()[s];
    steps += fmt::format("{}{{\"step\": {}, \"operator\": {}, \"kernel\": {}, \"bytes\": {}, \"at\": {}}}", steps.empty() ? "" : ", ",
                         base::QuoteJson(plan.Where(s)), base::QuoteJson(OperatorOf(report.session.program(), plan, s)),
                         base::QuoteJson(step.kernel->impl), BytesOut(plan, step), Offset(plan, step));
  }
  return fmt::format("{{\"inputs\": {}, \"activation_bytes\": {}, \"steps\": [{}]}}", PortsJson(report.shapes), plan.arena_bytes(), steps);
}

void PutJson(const InspectReport& report, std::ostream& out) {
  const onnx::Model& file = report.session.file();
  const model::Contents& contents = report.session.contents();
  std::string operators, types, notes;
  for (const std::string& note : NotesOf(report.session)) notes += fmt::format("{}{}", notes.empty() ? "" : ", ", base::QuoteJson(note));
  for (const auto& [name, count] : report.operators)
    operators += fmt::format("{}{}: {}", operators.empty() ? "" : ", ", base::QuoteJson(name), count);
  for (const auto& [type, counted] : contents.weights_by_type)
    types += fmt::format("{}{}: {{\"tensors\": {}, \"bytes\": {}}}", types.empty() ? "" : ", ", base::QuoteJson(type), counted.count,
                         counted.bytes);
  out << fmt::format(
      "{{\"file\": {}, \"bytes\": {}, \"ir_version\": {}, \"opset\": {}, \"producer\": {}, \"inputs\": {}, \"outputs\": {}, ",
      base::QuoteJson(file.path), report.file_bytes, file.ir_version, file.opset, base::QuoteJson(file.producer),
      PortsJson(report.session.signature().inputs), PortsJson(report.session.signature().outputs));
  if (!notes.empty()) out << fmt::format("\"notes\": [{}], ", notes);
  out << fmt::format("\"batched\": {}, \"samples\": {}, \"weights\": {{\"tensors\": {}, \"bytes\": {}, \"types\": {{{}}}}}, ",
                     report.session.is_batched(), base::QuoteJson(report.session.axes().reason), contents.weights.count,
                     contents.weights.bytes, types);
  out << fmt::format("\"nodes\": {}, \"operators\": {{{}}}, \"run\": {}}}\n", contents.nodes, operators, PlanJson(report));
}

}  // namespace

int Inspect(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  SessionOptions options{1, ReadChoices(arguments, /*measures=*/false, err)};
  const auto session = OpenOnly(arguments, "inspect", err, std::move(options));
  if (session == nullptr) return kFailed;
  const auto settings = ReadShapeSettings(arguments, err);
  if (!settings) return kUsage;
  std::error_code unknown;
  InspectReport report{*session};
  report.file_bytes = std::filesystem::file_size(arguments.paths[0], unknown);
  SortOperators(report);
  AddPlan(*session, *settings, report);
  KeepChoices(*session, err);
  if (arguments.Text("format") == "json") {
    PutJson(report, out);
  } else {
    PutText(report, out);
  }
  return kFine;
}

}  // namespace wf::workbench
