#include "compiler/driver/report.h"

#include <fmt/format.h>

#include "compiler/diag/render.h"
#include "runtime/base/json_text.h"
#include "runtime/base/text.h"

namespace wf::driver {
namespace {

diag::Color ColorFor(const Options& options, const Console& console) {
  const auto set = [&](const char* name) -> std::string {
    const char* value = console.environment ? console.environment(name) : nullptr;
    return value == nullptr ? "" : value;
  };
  if (options.color == ColorWhen::kAlways) return diag::Color::kAlways;
  if (options.color == ColorWhen::kNever || !set("NO_COLOR").empty()) return diag::Color::kNever;
  const std::string force = set("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return diag::Color::kAlways;
  return console.err_is_terminal ? diag::Color::kAlways : diag::Color::kNever;
}

// "3 errors, 1 warning (2 of them shown; --error-limit=2)"
std::string Total(const diag::Emitter& emitter, const Options& options) {
  const size_t errors = emitter.error_count(), warnings = emitter.warning_count();
  std::string total = errors > 0 ? base::Counted(errors, "error") : "";
  if (warnings > 0) total += (total.empty() ? "" : ", ") + base::Counted(warnings, "warning");
  const size_t shown = errors + warnings - emitter.dropped_error_count() - emitter.dropped_warning_count();
  const std::string some = shown == 0 ? "none" : fmt::format("{} of them", shown);
  if (shown < errors + warnings) total += fmt::format(" ({} shown; --error-limit={})", some, options.error_limit);
  return total;
}

// Programs that read every line as one form are told of what is left out in that form, those that read stdout beside it.
std::string TotalLine(const std::string& total, Format format, bool is_cut) {
  switch (format) {
    case Format::kText:
      return "wfc: " + total + "\n";
    case Format::kJson:
      if (!is_cut) return {};
      return fmt::format(R"({{"code":"","severity":"note","message":{0},"spans":[],"help":[],"fixes":[],"rendered":{0}}})",
                         base::QuoteJson(total)) +
             "\n";
    case Format::kGithub:
      return is_cut ? "::notice::" + total + "\n" : std::string();
    case Format::kDot:
    case Format::kMermaid:
    case Format::kSvg:
    case Format::kSarif:
    case Format::kTap:
    case Format::kJunit:
    case Format::kOpenApi:
    case Format::kProto:
      break;
  }
  return is_cut ? "wfc: " + total + "\n" : std::string();
}

}  // namespace

ExitStatus Report(const diag::Emitter& emitter, const source::SourceMap& sources, const Options& options, Console& console) {
  const Format format = options.format;
  const diag::Color color = ColorFor(options, console);
  for (const diag::Diagnostic& diagnostic : emitter.Sorted()) {
    if (format == Format::kJson) console.err << diag::RenderJson(diagnostic, sources);
    if (format == Format::kGithub) console.err << diag::RenderGithub(diagnostic, sources);
    if (format == Format::kText) console.err << diag::RenderText(diagnostic, sources, color);
  }
  const size_t errors = emitter.error_count(), warnings = emitter.warning_count();
  const bool is_cut = emitter.dropped_error_count() + emitter.dropped_warning_count() > 0;
  if (errors + warnings > 0) console.err << TotalLine(Total(emitter, options), format, is_cut);
  return errors > 0 ? kProgramHasErrors : kFine;
}

}  // namespace wf::driver
