#include "compiler/driver/test_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/diag/excerpt.h"
#include "compiler/diag/render.h"
#include "compiler/driver/xml.h"
#include "runtime/base/json_text.h"
#include "runtime/base/units.h"

namespace wf::driver {
namespace {

std::string Duration(int64_t ns) {
  if (ns < base::kNsPerSecond) return fmt::format("{} ms", (ns + base::kNsPerMs / 2) / base::kNsPerMs);
  return fmt::format("{:.2f} s", static_cast<double>(ns) / 1e9);
}

size_t CountFailed(const std::vector<TestResult>& results) {
  return static_cast<size_t>(std::count_if(results.begin(), results.end(), [](const TestResult& result) { return !result.passed; }));
}
size_t CountNotBuilt(const std::vector<TestResult>& results) {
  return static_cast<size_t>(std::count_if(results.begin(), results.end(), [](const TestResult& result) { return !result.is_built; }));
}

// In a description a `#` begins a directive.
std::string TapText(std::string_view text) {
  std::string out;
  for (const char c : diag::Harmless(diag::OneLine(text))) {
    if (c == '#' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// A value of YAML: lines below one another where they are plain text, else one string. `head` is the first line where the text begins with
// a space, which would count as a margin.
std::string YamlText(std::string_view head, std::string_view text, std::string_view margin) {
  const std::string whole = text.starts_with(' ') ? fmt::format("{}\n{}", head, text) : std::string(text);
  std::string lines = "|";
  for (size_t at = 0; at < whole.size();) {
    const size_t end = std::min(whole.find('\n', at), whole.size());
    const std::string line = whole.substr(at, end - at);
    if (diag::Harmless(line) != line || (at == 0 && (line.empty() || line.starts_with(' ')))) return base::QuoteJson(text);
    lines += fmt::format("\n{}{}", margin, line);
    at = end + 1;
  }
  return whole.empty() ? base::QuoteJson(text) : lines;
}

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

void AddSuite(std::string& out, const TestResult* first, const TestResult* last) {
  size_t failed = 0;
  int64_t time_ns = 0;
  for (const TestResult* result = first; result != last; ++result) {
    failed += result->passed ? 0 : 1;
    time_ns += result->time_ns;
  }
  const std::string file = XmlText(first->file);
  out += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.6f}\">\n", file, last - first, failed,
                     Seconds(time_ns));
  for (const TestResult* result = first; result != last; ++result) {
    out += fmt::format("    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\" time=\"{:.6f}\"", file, XmlText(result->name),
                       file, result->line, Seconds(result->time_ns));
    if (result->passed) {
      out += "/>\n";
      continue;
    }
    out +=
        fmt::format(">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n", XmlText(result->reason), XmlText(result->details));
  }
  out += "  </testsuite>\n";
}

}  // namespace

std::string TestLine(const TestResult& result) {
  if (!result.is_built) return fmt::format("FAILED {}: {}\n\n", diag::Harmless(result.file), result.reason);
  const std::string head = fmt::format("{} {} ({})\n", result.passed ? "ok    " : "FAILED", diag::Harmless(diag::OneLine(result.name)),
                                       Duration(result.time_ns));
  return result.passed ? head : head + result.details + "\n";
}

std::string TestSummary(const std::vector<TestResult>& results, size_t left_out, int64_t time_ns) {
  const size_t not_passed = CountFailed(results), not_built = CountNotBuilt(results), failed = not_passed - not_built;
  if (results.empty() && left_out == 0) return "no tests\n";
  std::string counts = fmt::format("{} passed", results.size() - not_passed);
  if (failed > 0) counts += fmt::format(", {} failed", failed);
  if (not_built > 0) counts += fmt::format(", {} {} not built", not_built, not_built == 1 ? "file was" : "files were");
  if (left_out > 0) counts += fmt::format(", {} filtered out", left_out);
  return fmt::format("{} ({})\n", counts, Duration(time_ns));
}

std::string TapReport(const std::vector<TestResult>& results, size_t left_out) {
  const std::string skipped = results.empty() && left_out > 0 ? fmt::format(" # SKIP {} filtered out", left_out) : "";
  std::string out = fmt::format("TAP version 13\n1..{}{}\n", results.size(), skipped);
  for (size_t i = 0; i < results.size(); ++i) {
    const TestResult& result = results[i];
    out += fmt::format("{}ok {} - {}: {}\n", result.passed ? "" : "not ", i + 1, TapText(result.file), TapText(result.name));
    out += fmt::format("  ---\n  duration_ms: {:.3f}\n", static_cast<double>(result.time_ns) / 1e6);
    if (!result.passed) {
      out +=
          fmt::format("  message: {}\n  file: {}\n  line: {}\n", base::QuoteJson(result.reason), base::QuoteJson(result.file), result.line);
      if (!result.details.empty()) out += fmt::format("  details: {}\n", YamlText(result.reason, result.details, "    "));
    }
    out += "  ...\n";
  }
  return out;
}

std::string JunitReport(const std::vector<TestResult>& results, int64_t time_ns) {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.6f}\">\n", results.size(), CountFailed(results),
                     Seconds(time_ns));
  const TestResult* const end = results.data() + results.size();
  for (const TestResult* first = results.data(); first != end;) {
    const TestResult* const last = std::find_if(first, end, [&](const TestResult& other) { return other.file != first->file; });
    AddSuite(out, first, last);
    first = last;
  }
  return out + "</testsuites>\n";
}

}  // namespace wf::driver
