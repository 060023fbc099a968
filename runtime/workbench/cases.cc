#include "runtime/workbench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <utility>

#include "runtime/onnx/tensor_file.h"
#include "runtime/workbench/session.h"

namespace wf::workbench {
namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Status;

constexpr int kMostLevels = 16;

bool Exists(const std::string& path) {
  std::error_code unknown;
  return fs::exists(path, unknown);
}

void AddCases(const fs::path& folder, int levels, std::vector<Case>& cases) {
  if (Exists(folder / "model.onnx")) {
    cases.push_back({(folder.has_filename() ? folder : folder.parent_path()).filename(), folder});
    return;
  }
  std::error_code unread;
  for (fs::directory_iterator each(folder, unread), end; !unread && each != end && levels > 0; each.increment(unread)) {
    std::error_code unknown;
    if (each->is_directory(unknown) && !each->is_symlink(unknown)) AddCases(each->path(), levels - 1, cases);
  }
}

// The tensors prefix_0.pb, prefix_1.pb, ...
Result<std::vector<onnx::Weight>> ReadNumbered(const std::string& prefix, const std::vector<onnx::Port>& ports) {
  std::vector<onnx::Weight> tensors;
  for (size_t i = 0; Exists(fmt::format("{}_{}.pb", prefix, i)); ++i) {
    const std::string path = fmt::format("{}_{}.pb", prefix, i);
    auto tensor = i < ports.size() && ports[i].optional ? onnx::ReadOptionalFile(path) : onnx::ReadTensorFile(path);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

// Files list what a model takes in its order; where they list more, which have defaults, their names tell.
Result<std::vector<Tensor>> InOrder(const std::vector<onnx::Weight>& given, const std::vector<onnx::Port>& ports, const char* what) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < ports.size(); ++i) {
    const auto named = std::find_if(given.begin(), given.end(), [&](const onnx::Weight& each) { return each.name == ports[i].name; });
    const bool by_place = given.size() == ports.size();
    if (!by_place && named == given.end())
      return Status(base::kInvalidArgument, fmt::format("the model has {} {}s, the data set {}", ports.size(), what, given.size()));
    auto tensor = TensorOf(by_place ? given[i] : *named);
    if (!tensor.ok()) return tensor.status();
    // NumPy, which wrote the data, has no bf16: its bits stand in u16.
    if (tensor->dtype == WF_U16 && ports[i].dtype == WF_BF16) tensor->dtype = WF_BF16;
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

Result<std::vector<Tensor>> ReadTensors(const std::string& prefix, const std::vector<onnx::Port>& ports, const char* what) {
  const auto given = ReadNumbered(prefix, ports);
  return given.ok() ? InOrder(*given, ports, what) : given.status();
}

// The reason does not repeat which folder's model it is.
Outcome OutcomeOf(const Status& status, const std::string& folder) {
  const std::string subject = fmt::format("`{}/model.onnx`: ", folder);
  std::string reason = status.message();
  if (const size_t at = reason.find(subject); at != std::string::npos) reason.erase(at, subject.size());
  return {status.code() == base::kUnimplemented ? Verdict::kUnsupported : Verdict::kFailed, std::move(reason)};
}

std::string DataSet(const Case& each, int i) { return fmt::format("{}/test_data_set_{}", each.folder, i); }

Outcome RunDataSet(Session& session, const Case& each, int set, const Tolerance& tolerance) {
  const onnx::Signature& signature = session.signature();
  const auto inputs = ReadTensors(DataSet(each, set) + "/input", signature.inputs, "input");
  if (!inputs.ok()) return OutcomeOf(inputs.status(), each.folder);
  const auto expected = ReadTensors(DataSet(each, set) + "/output", signature.outputs, "output");
  if (!expected.ok()) return OutcomeOf(expected.status(), each.folder);
  const auto outputs = session.Run(*inputs);
  if (!outputs.ok()) return OutcomeOf(outputs.status(), each.folder);
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::string why = WhyDifferent((*outputs)[i], (*expected)[i], tolerance);
    if (!why.empty()) return {Verdict::kFailed, fmt::format("output `{}`: {}", signature.outputs[i].name, why)};
  }
  return {};
}

}  // namespace

Result<std::vector<Case>> FindCases(const std::string& path) {
  std::error_code unknown;
  if (!fs::is_directory(path, unknown)) return Status(base::kNotFound, fmt::format("`{}` is no folder", path));
  std::vector<Case> cases;
  AddCases(path, kMostLevels, cases);
  if (cases.empty()) return Status(base::kNotFound, fmt::format("`{}` holds no model.onnx, and no folder below it does", path));
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return std::tie(a.name, a.folder) < std::tie(b.name, b.folder); });
  return cases;
}

Outcome RunCase(const Case& each, const Tolerance& tolerance) {
  const auto session = Session::Open(each.folder + "/model.onnx");
  if (!session.ok()) return OutcomeOf(session.status(), each.folder);
  if (!Exists(DataSet(each, 0))) return {Verdict::kFailed, "there is no test_data_set_0"};
  for (int i = 0; Exists(DataSet(each, i)); ++i) {
    Outcome outcome = RunDataSet(**session, each, i, tolerance);
    if (outcome.verdict == Verdict::kPassed) continue;
    if (i > 0) outcome.reason = fmt::format("test_data_set_{}: {}", i, outcome.reason);
    return outcome;
  }
  return {};
}

}  // namespace wf::workbench
