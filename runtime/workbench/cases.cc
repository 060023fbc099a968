#include "runtime/workbench/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <tuple>
#include <utility>

#include "runtime/onnx/reader.h"
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

// The values prefix_0.pb, prefix_1.pb, ...: their tensors, those of sequences one after another.
struct Data {
  std::vector<std::pair<std::string, Tensor>> tensors;
  onnx::Given given;
};
Result<Data> ReadNumbered(const std::string& prefix, const std::vector<onnx::DeclaredPort>& ports) {
  Data data;
  for (size_t i = 0; Exists(fmt::format("{}_{}.pb", prefix, i)); ++i) {
    const onnx::DeclaredPort port = i < ports.size() ? ports[i] : onnx::DeclaredPort();
    auto value = onnx::ReadValueFile(fmt::format("{}_{}.pb", prefix, i), port.is_optional, port.is_sequence);
    if (!value.ok()) return value.status();
    if (value->is_absent) data.given.absent.insert(port.name);
    for (size_t k = 0; k < value->tensors.size(); ++k) {
      const onnx::Weight& weight = value->tensors[k];
      const std::string name = port.is_sequence ? fmt::format("{}[{}]", port.name, k) : weight.name;
      auto tensor = TensorOf(weight, value->texts);
      if (!tensor.ok()) return tensor.status();
      data.given.inputs.push_back({name, weight.dtype, onnx::Shape(weight.dim.begin(), weight.dim.end())});
      data.tensors.emplace_back(name, *std::move(tensor));
    }
  }
  return data;
}

// Files list what a model takes in its order; where they list more, which have defaults, their names tell.
Result<std::vector<Tensor>> InOrder(const std::vector<std::pair<std::string, Tensor>>& given, const std::vector<onnx::Port>& ports,
                                    const char* what) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < ports.size(); ++i) {
    const auto named = std::find_if(given.begin(), given.end(), [&](const auto& each) { return each.first == ports[i].name; });
    const bool by_place = given.size() == ports.size();
    if (!by_place && named == given.end())
      return Status(base::kInvalidArgument, fmt::format("the model has {} {}s, the data set {}", ports.size(), what, given.size()));
    tensors.push_back(by_place ? given[i].second : named->second);
    // NumPy, which wrote the data, has no bf16: its bits stand in u16.
    if (tensors.back().dtype == WF_U16 && ports[i].dtype == WF_BF16) tensors.back().dtype = WF_BF16;
  }
  return tensors;
}

// The reason does not repeat which folder's model it is.
Outcome OutcomeOf(const Status& status, const std::string& folder) {
  const std::string subject = fmt::format("`{}/model.onnx`: ", folder);
  std::string reason = status.message();
  if (const size_t at = reason.find(subject); at != std::string::npos) reason.erase(at, subject.size());
  return {status.code() == base::kUnimplemented ? Verdict::kUnsupported : Verdict::kFailed, std::move(reason)};
}

std::string DataSet(const Case& each, int i) { return fmt::format("{}/test_data_set_{}", each.folder, i); }

// session: of the data sets before, which this one takes, too, unless what is given of it is another model (onnx::Given).
Outcome RunDataSet(std::unique_ptr<Session>& session, const onnx::Declared& declared, const Case& each, int set,
                   const Tolerance& tolerance) {
  const auto given = ReadNumbered(DataSet(each, set) + "/input", declared.inputs);
  const auto wanted = ReadNumbered(DataSet(each, set) + "/output", declared.outputs);
  if (!given.ok() || !wanted.ok()) return OutcomeOf(given.ok() ? wanted.status() : given.status(), each.folder);
  const auto is_special = [](const onnx::DeclaredPort& port) { return port.is_optional || port.is_sequence; };
  if (session == nullptr || std::any_of(declared.inputs.begin(), declared.inputs.end(), is_special)) {
    auto opened = Session::Open(each.folder + "/model.onnx", {.given = given->given});
    if (!opened.ok()) return OutcomeOf(opened.status(), each.folder);
    session = *std::move(opened);
  }
  const onnx::Signature& signature = session->signature();
  const auto inputs = InOrder(given->tensors, signature.inputs, "input"), expected = InOrder(wanted->tensors, signature.outputs, "output");
  if (!inputs.ok() || !expected.ok()) return OutcomeOf(inputs.ok() ? expected.status() : inputs.status(), each.folder);
  const auto outputs = session->Run(*inputs);
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
  const auto declared = onnx::ReadDeclared(each.folder + "/model.onnx");
  if (!declared.ok()) return OutcomeOf(declared.status(), each.folder);
  std::unique_ptr<Session> session;
  if (!Exists(DataSet(each, 0))) return {Verdict::kFailed, "there is no test_data_set_0"};
  for (int i = 0; Exists(DataSet(each, i)); ++i) {
    Outcome outcome = RunDataSet(session, *declared, each, i, tolerance);
    if (outcome.verdict == Verdict::kPassed) continue;
    if (i > 0) outcome.reason = fmt::format("test_data_set_{}: {}", i, outcome.reason);
    return outcome;
  }
  return {};
}

}  // namespace wf::workbench
