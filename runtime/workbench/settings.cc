#include "runtime/workbench/settings.h"

#include <fmt/format.h>

#include <charconv>
#include <ostream>

#include "runtime/abi/bounds.h"
#include "runtime/model/precision.h"

namespace wf::workbench {
namespace {

std::optional<int64_t> WholeIn(std::string_view text, int64_t least, int64_t most) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && number >= least && number <= most;
  return whole ? std::optional(number) : std::nullopt;
}

// Whether bf16 is what `--precision=auto` of this file is, which is told.
base::Result<bool> ChoosesBf16(const std::string& path, const SessionOptions& session, std::ostream& err) {
  if (!kernels::MultipliesBf16()) {
    err << "wfc: f32: this machine has no instructions for bf16\n";
    return false;
  }
  const base::SystemClock clock;
  model::LoadOptions options;
  options.name = path;
  options.choices = session.choices;
  auto f32 = model::Version::Load(path, options);
  if (!f32.ok()) return f32.status();
  options.bf16 = true;
  auto bf16 = model::Version::Load(path, options);
  if (!bf16.ok()) return bf16.status();
  const model::PrecisionFound found = model::FindPrecision(**f32, **bf16, /*instance=*/0, clock);
  err << fmt::format("wfc: {}: {}\n", found.bf16 ? "bf16" : "f32", found.reason);
  return found.bf16;
}

}  // namespace

std::optional<ShapeSettings> ReadShapeSettings(const Arguments& arguments, std::ostream& err) {
  ShapeSettings settings;
  settings.batch = arguments.Whole("batch").value_or(1);
  for (const std::string& text : arguments.All("dim")) {
    const size_t equals = text.rfind('=');
    const auto extent = equals == std::string::npos ? std::nullopt : WholeIn(std::string_view(text).substr(equals + 1), 0, INT32_MAX);
    if (!extent || equals == 0) {
      err << fmt::format("wfc: `{}` is no value of `--dim`; it takes NAME=N, an axis that the file names and its extent\n", text);
      return std::nullopt;
    }
    settings.named[text.substr(0, equals)] = *extent;
  }
  return settings;
}

int Fail(const base::Status& status, std::ostream& err) {
  err << fmt::format("wfc: {}\n", status.message());
  return kFailed;
}

std::shared_ptr<kernels::Choices> ReadChoices(const Arguments& arguments, bool measures, std::ostream& err) {
  const std::string file = arguments.Text("kernel-cache");
  if (file.empty() && !measures) return nullptr;
  auto choices = std::make_shared<kernels::Choices>(file);
  if (!choices->odd().empty()) err << fmt::format("wfc: warning: {}; kernels are measured anew\n", choices->odd());
  return choices;
}

void KeepChoices(const Session& session, std::ostream& err) {
  const auto& choices = session.program().choices;
  const base::Status kept = choices == nullptr ? base::Status() : choices->Save();
  if (!kept.ok()) err << fmt::format("wfc: warning: {}\n", kept.message());
}

std::optional<bool> ReadBf16(const Arguments& arguments, std::ostream& err) {
  const std::string precision = arguments.Text("precision", "f32");
  if (precision == "f32") return false;
  if (precision != "bf16") {
    err << (precision == "auto"
                ? "wfc: what is compared is in f32 or bf16: `--precision=auto` could be either\n"
                : fmt::format("wfc: models run in f32, bf16 or what `auto` finds; `--precision={}` is not built yet\n", precision));
    return std::nullopt;
  }
  if (kernels::MultipliesBf16()) return true;
  err << "wfc: this machine has no instructions for bf16 (avx512_bf16, AMX)\n";
  return std::nullopt;
}

std::unique_ptr<Session> OpenOnly(const Arguments& arguments, const char* command, std::ostream& err, SessionOptions options) {
  const bool is_auto = arguments.Text("precision") == "auto";
  const auto bf16 = is_auto ? std::optional(false) : ReadBf16(arguments, err);
  if (!bf16) return nullptr;
  options.bf16 = *bf16;
  if (arguments.paths.empty()) {
    err << fmt::format("wfc: `wfc model {}` needs an ONNX file\n", command);
    return nullptr;
  }
  if (is_auto) {
    const auto chosen = ChoosesBf16(arguments.paths[0], options, err);
    if (!chosen.ok()) {
      Fail(chosen.status(), err);
      return nullptr;
    }
    options.bf16 = *chosen;
  }
  auto session = Session::Open(arguments.paths[0], std::move(options));
  if (session.ok()) return *std::move(session);
  Fail(session.status(), err);
  return nullptr;
}

std::string BytesText(int64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace wf::workbench
