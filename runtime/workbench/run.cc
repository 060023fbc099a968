#include <fmt/format.h>

#include <ostream>

#include "runtime/base/json_text.h"
#include "runtime/workbench/commands.h"
#include "runtime/workbench/files.h"
#include "runtime/workbench/json.h"
#include "runtime/workbench/random.h"
#include "runtime/workbench/settings.h"

namespace wf::workbench {
namespace {

base::Result<std::vector<Tensor>> InputsFor(Session& session, const Arguments& arguments, const ShapeSettings& settings) {
  const auto seed = arguments.Whole("random");
  if (!seed) return ReadInputs(std::span(arguments.paths).subspan(1), session.signature());
  if (arguments.paths.size() > 1)
    return base::Status(base::kInvalidArgument, fmt::format("`{}` and `--random` both give inputs", arguments.paths[1]));
  const auto shapes = session.ShapesFor(settings.batch, settings.named);
  return shapes.ok() ? FittingInputs(session, *shapes, static_cast<uint64_t>(*seed)) : shapes.status();
}

}  // namespace

int RunModel(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  const auto settings = ReadShapeSettings(arguments, err);
  if (!settings) return kUsage;
  SessionOptions options{1, ReadChoices(arguments, /*measures=*/false, err)};
  const auto session = OpenOnly(arguments, "run", err, std::move(options));
  if (session == nullptr) return kFailed;
  const auto inputs = InputsFor(*session, arguments, *settings);
  if (!inputs.ok()) return Fail(inputs.status(), err);
  const auto outputs = session->Run(*inputs);
  if (!outputs.ok()) return Fail(outputs.status(), err);
  KeepChoices(*session, err);
  const onnx::Signature& signature = session->signature();
  if (const std::string folder = arguments.Text("output"); !folder.empty()) {
    const base::Status written = WriteOutputs(folder, signature, *outputs);
    return written.ok() ? kFine : Fail(written, err);
  }
  for (size_t i = 0; i < outputs->size(); ++i)
    out << fmt::format("{}{}: {}", i == 0 ? "{" : ",\n ", base::QuoteJson(signature.outputs[i].name), JsonOf((*outputs)[i]));
  out << "}\n";
  return kFine;
}

}  // namespace wf::workbench
