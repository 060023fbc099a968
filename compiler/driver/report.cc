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

// "3 errors, 1 warning (2 of them shown; --error-limit=2)". `is_cut`: there are more errors than were looked for.
std::string Total(size_t errors, bool is_cut, size_t warnings, size_t dropped, const Options& options) {
  std::string total = errors > 0 ? (is_cut ? "at least " : "") + base::Counted(errors, "error") : "";
  if (warnings > 0) total += (total.empty() ? "" : ", ") + base::Counted(warnings, "warning");
  const size_t shown = errors + warnings - dropped;
  const std::string some = shown == 0 ? "none" : fmt::format("{} of them", shown);
  if (dropped > 0) total += fmt::format(" ({} shown; --error-limit={})", some, options.error_limit);
  return total;
}

// Programs are told of the total where something is left out.
std::string TotalLine(const std::string& total, Format format, bool is_cut) {
  return format == Format::kText || is_cut ? SayingLine(total, format) : std::string();
}

}  // namespace

void Reports::Add(const diag::Emitter& emitter, const source::SourceMap& sources) {
  const Format format = options_.format;
  const diag::Color color = ColorFor(options_, console_);
  errors_ += emitter.error_count();
  warnings_ += emitter.warning_count();
  is_cut_ = is_cut_ || emitter.is_cut();
  dropped_ += emitter.dropped_error_count() + emitter.dropped_warning_count();
  for (const diag::Diagnostic& diagnostic : emitter.Sorted()) {
    const std::string line = diag::RenderGithub(diagnostic, sources);
    if (!said_.insert(line).second) {
      --(diagnostic.severity == diag::Severity::kError ? errors_ : warnings_);
      continue;
    }
    if (format == Format::kJson) console_.err << diag::RenderJson(diagnostic, sources);
    if (format == Format::kGithub) console_.err << line;
    if (format == Format::kText) console_.err << diag::RenderText(diagnostic, sources, color);
  }
}

ExitStatus Reports::Finish() {
  if (errors_ + warnings_ > 0) {
    console_.err << TotalLine(Total(errors_, is_cut_, warnings_, dropped_, options_), options_.format, dropped_ > 0);
  }
  return errors_ > 0 ? kProgramHasErrors : kFine;
}

ExitStatus Report(const diag::Emitter& emitter, const source::SourceMap& sources, const Options& options, Console& console) {
  Reports reports(options, console);
  reports.Add(emitter, sources);
  return reports.Finish();
}

std::string SayingLine(const std::string& text, Format format) {
  switch (format) {
    case Format::kJson:
      return fmt::format(R"({{"code":"","severity":"note","message":{0},"spans":[],"help":[],"fixes":[],"rendered":{0}}})",
                         base::QuoteJson(text)) +
             "\n";
    case Format::kGithub:
      return diag::RenderGithubNotice(text);
    case Format::kText:
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
  return "wfc: " + text + "\n";
}

}  // namespace wf::driver
