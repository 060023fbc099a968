#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "runtime/base/json_text.h"
#include "runtime/workbench/agree.h"
#include "runtime/workbench/commands.h"
#include "runtime/workbench/convert.h"
#include "runtime/workbench/random.h"
#include "runtime/workbench/settings.h"

namespace wf::workbench {
namespace {

using base::Status;

constexpr double kUsualTolerance = 1e-3;
constexpr int64_t kUsualRuns = 4;

// Two models side by side.   Borrows: both.
struct Pair {
  Session &a, &b;
  std::string a_path, b_path;
};

// What keeps the two from being asked the same. Outputs are compared by place: exporters rename them.
Status CheckPair(const Pair& pair) {
  const onnx::Signature &a = pair.a.signature(), &b = pair.b.signature();
  const auto fail = [](std::string text) { return Status(base::kInvalidArgument, std::move(text)); };
  if (a.inputs.size() != b.inputs.size() || a.outputs.size() != b.outputs.size()) {
    return fail(fmt::format("`{}` has {} inputs and {} outputs, `{}` {} and {}", pair.a_path, a.inputs.size(), a.outputs.size(),
                            pair.b_path, b.inputs.size(), b.outputs.size()));
  }
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    if (a.inputs[i].dtype == b.inputs[i].dtype && a.inputs[i].dim.size() == b.inputs[i].dim.size()) continue;
    return fail(
        fmt::format("input {} is `{}` in `{}`, `{}` in `{}`", i, a.inputs[i].ToString(), pair.a_path, b.inputs[i].ToString(), pair.b_path));
  }
  return Status::Ok();
}

struct FoundApart {
  Difference most;  // over all runs
  int64_t elements = 0;
  std::string misfit;
};

// `b` in the element type of `a`: a file of another precision may have another.
void Add(const Tensor& a, const Tensor& b, const Tolerance& tolerance, FoundApart& found) {
  const bool is_kept = b.dtype == a.dtype || a.dtype == onnx::kStringType || b.dtype == onnx::kStringType;  // no text is near a number
  const auto same_type = is_kept ? base::Result<Tensor>(b) : Convert(b, a.dtype);
  found.misfit = same_type.ok() ? FindMisfit(*same_type, a) : same_type.status().message();
  if (!found.misfit.empty()) return;
  const Difference one = Compare(*same_type, a, tolerance);
  found.most.differ += one.differ;
  found.most.max_absolute = std::max(found.most.max_absolute, one.max_absolute);
  found.most.max_relative = std::max(found.most.max_relative, one.max_relative);
  found.elements += a.count();
}

// Errors: an input that one of the two does not take.
Status CompareRuns(const Pair& pair, const Arguments& arguments, const ShapeSettings& settings, std::vector<FoundApart>& found) {
  const double tolerance = arguments.Number("tolerance").value_or(kUsualTolerance);
  const int64_t runs = arguments.Whole("runs").value_or(kUsualRuns);
  const auto seed = static_cast<uint64_t>(arguments.Whole("random").value_or(0));
  const auto shapes = pair.a.ShapesFor(settings.batch, settings.named);
  if (!shapes.ok()) return shapes.status();
  found.resize(pair.a.signature().outputs.size());
  for (int64_t run = 0; run < runs; ++run) {
    const auto inputs = FittingInputs(pair.a, *shapes, seed + static_cast<uint64_t>(run));
    if (!inputs.ok()) return inputs.status();
    const auto a = pair.a.Run(*inputs), b = pair.b.Run(*inputs);
    if (!a.ok()) return a.status();
    if (!b.ok()) return b.status();
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].misfit.empty()) Add((*a)[i], (*b)[i], {tolerance, tolerance}, found[i]);
    }
  }
  return Status::Ok();
}

bool Agrees(const FoundApart& found) { return found.misfit.empty() && found.most.differ == 0; }

void PutText(const Pair& pair, const std::vector<FoundApart>& found, std::ostream& out) {
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string& name = pair.a.signature().outputs[i].name;
    if (!found[i].misfit.empty()) {
      out << fmt::format("FAIL {}: {}\n", name, found[i].misfit);
      continue;
    }
    const Difference& most = found[i].most;
    out << fmt::format("{} {}: largest difference {:.3g}, relative {:.3g}; {} of {} elements beyond the tolerance\n",
                       Agrees(found[i]) ? "ok  " : "FAIL", name, most.max_absolute, most.max_relative, most.differ, found[i].elements);
  }
}

// JSON has no infinity: null.
std::string NumberJson(double number) { return std::isfinite(number) ? fmt::format("{}", number) : "null"; }

void PutJson(const Pair& pair, const std::vector<FoundApart>& found, std::ostream& out) {
  std::string rows;
  for (size_t i = 0; i < found.size(); ++i) {
    const Difference& most = found[i].most;
    rows += fmt::format("{}{{\"output\": {}, \"agrees\": {}, ", rows.empty() ? "" : ", ",
                        base::QuoteJson(pair.a.signature().outputs[i].name), Agrees(found[i]));
    rows += found[i].misfit.empty()
                ? fmt::format("\"max_absolute\": {}, \"max_relative\": {}, \"differ\": {}, \"elements\": {}}}",
                              NumberJson(most.max_absolute), NumberJson(most.max_relative), most.differ, found[i].elements)
                : fmt::format("\"misfit\": {}}}", base::QuoteJson(found[i].misfit));
  }
  out << fmt::format("{{\"a\": {}, \"b\": {}, \"outputs\": [{}]}}\n", base::QuoteJson(pair.a_path), base::QuoteJson(pair.b_path), rows);
}

}  // namespace

int CompareModels(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const auto settings = ReadShapeSettings(arguments, err);
  if (!settings) return kUsage;
  const auto bf16 = ReadBf16(arguments, err);
  if (!bf16) return kFailed;
  if (arguments.paths.size() != 2 && !(*bf16 && arguments.paths.size() == 1)) {
    err << "wfc: `wfc model compare` needs two ONNX files, or one and `--precision=bf16`\n";
    return kUsage;
  }
  const std::string &first = arguments.paths.front(), &second = arguments.paths.back();
  const auto a = Session::Open(first), b = Session::Open(second, {.bf16 = *bf16});
  if (!a.ok()) return Fail(a.status(), err);
  if (!b.ok()) return Fail(b.status(), err);
  const Pair pair{**a, **b, first, second};
  std::vector<FoundApart> found;
  if (const Status fits = CheckPair(pair); !fits.ok()) return Fail(fits, err);
  if (const Status ran = CompareRuns(pair, arguments, *settings, found); !ran.ok()) return Fail(ran, err);
  if (arguments.Text("format") == "json") {
    PutJson(pair, found, out);
  } else {
    PutText(pair, found, out);
  }
  return std::all_of(found.begin(), found.end(), Agrees) ? kFine : kFailed;
}

}  // namespace wf::workbench
