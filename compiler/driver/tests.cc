#include "compiler/driver/tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "compiler/diag/excerpt.h"
#include "compiler/diag/render.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/files.h"
#include "compiler/driver/json_cursor.h"
#include "compiler/driver/local_server.h"
#include "compiler/driver/report.h"
#include "compiler/driver/test_outcome.h"
#include "compiler/driver/test_report.h"
#include "runtime/base/clock.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/units.h"

namespace wf::driver {
namespace {

constexpr int64_t kGraceNs = 2 * base::kNsPerSecond;  // for the answer that says that the time is over

// The tests of one file.
class TestFile {
 public:
  TestFile(const std::string& path, const std::string& folder, const Options& options, Console& console,
           const std::function<void(TestResult)>& report)
      : path_(path), binary_(folder + "tests"), options_(options), report_(report), compilation_(path, options, console) {}

  void Run() {
    const bool checked = compilation_.RunTo(Phase::kCheck, Compilation::Purpose::kCheck);
    if (!checked) {
      compilation_.Finish();
      return report_(NotBuilt());
    }
    std::vector<size_t> chosen;
    for (size_t i = 0; i < program().tests.size(); ++i) {
      if (program().tests[i].name.find(options_.filter) != std::string::npos) chosen.push_back(i);
    }
    left_out_ = program().tests.size() - chosen.size();
    const Groups groups = GroupsOf(chosen);
    const bool built = groups.empty() || Build(groups.front());
    if (compilation_.Finish() != kFine || !built) return report_(NotBuilt());
    for (size_t i = 0; i < groups.size(); ++i) {
      if (i != 0 && !Build(groups[i])) return report_(NotBuilt());
      RunAll(groups[i]);
    }
    ReportUnsound(program().tests.size());
  }
  size_t left_out() const { return left_out_; }
  void AddInputs(std::vector<std::string>& inputs) const {
    for (std::string& input : compilation_.Inputs()) inputs.push_back(std::move(input));
  }

 private:
  using Groups = std::vector<std::vector<size_t>>;  // of the numbers of tests, in the order of the text
  const sema::Program& program() const { return *compilation_.products().checked; }

  TestResult NotBuilt() const {
    TestResult result{.file = path_, .name = "compiles", .line = 1, .is_built = false};
    result.reason = "it does not compile, so none of its tests ran";
    for (const diag::Diagnostic& diagnostic : compilation_.diagnostics().Sorted()) {
      if (diagnostic.code == diag::kCannotReadFile && diagnostic.span.file == source::FileId::kNone)
        result.reason = "it cannot be read, so none of its tests ran";
      if (diagnostic.code == diag::kCannotWriteFile) result.reason = diagnostic.message + ", so none of its tests ran";
      result.details += diag::RenderText(diagnostic, compilation_.sources(), diag::Color::kNever);
    }
    return result;
  }

  bool BuildIr(const std::vector<size_t>& chosen, diag::Emitter& found) {
    return compilation_.BuildTestIr({chosen, options_.timeout_ns}, found);
  }

  // REQUIRES: they are sound.
  bool Build(const std::vector<size_t>& chosen) {
    diag::Emitter found(options_.error_limit);
    if (!BuildIr(chosen, found)) return false;
    compilation_.CompileTests();
    return compilation_.Link(binary_);
  }

  // As few programs as were found to hold all tests of which one can be made. The others have failed: they call what is not there, or are
  // too large.
  Groups GroupsOf(const std::vector<size_t>& chosen) {
    Groups groups = Split(chosen);
    std::vector<size_t> sound;
    for (const std::vector<size_t>& group : groups) sound.insert(sound.end(), group.begin(), group.end());
    diag::Emitter found(options_.error_limit);
    return groups.size() > 1 && BuildIr(sound, found) ? Groups{sound} : groups;
  }

  Groups Split(const std::vector<size_t>& chosen) {
    diag::Emitter found(options_.error_limit);
    if (chosen.empty()) return {};
    if (BuildIr(chosen, found)) return {chosen};
    if (chosen.size() == 1) {
      AddUnsound(chosen.front(), found);
      return {};
    }
    const auto middle = chosen.begin() + static_cast<std::ptrdiff_t>(chosen.size() / 2);
    Groups groups = Split({chosen.begin(), middle});
    for (std::vector<size_t>& group : Split({middle, chosen.end()})) groups.push_back(std::move(group));
    return groups;
  }

  void AddUnsound(size_t index, const diag::Emitter& found) {
    TestResult& result = unsound_[index] = ResultOf(program().tests[index]);
    for (const diag::Diagnostic& diagnostic : found.Sorted()) {
      if (result.reason.empty()) result.reason = diagnostic.message;
      result.details += diag::RenderText(diagnostic, compilation_.sources(), diag::Color::kNever);
    }
    if (result.details.ends_with("\n\n")) result.details.pop_back();
  }

  // Of those that stand before a test, in the order of the text.
  void ReportUnsound(size_t before) {
    for (auto next = unsound_.begin(); next != unsound_.end() && next->first < before; next = unsound_.erase(next)) report_(next->second);
  }

  // REQUIRES: they are built. One that needs what is not there, such as the file of a model, must not stop the others.
  void RunAll(const std::vector<size_t>& chosen) {
    const std::string folder = FolderOf(path_);
    LocalServer server(binary_, {"--host", "127.0.0.1", "--http-port", "0", "--admin-port", "0", "--model-root",
                                 folder.empty() ? "." : folder, "--log-level", "error", "--limits-timeout", "24h"});
    for (size_t i = 0; i < chosen.size(); ++i) {
      const sema::Test& test = program().tests[chosen[i]];
      TestResult result = ResultOf(test);
      const base::Status started = server.runs() ? base::Status() : server.Start();
      const int64_t start = base::SystemClock().Now();
      if (!started.ok() && i == 0 && chosen.size() > 1) return RunApart(chosen);
      if (started.ok()) {
        RunOne(server, i, test, result);
      } else {
        Fail(test, "cannot be run: " + started.message(), server, result);
      }
      result.time_ns = base::SystemClock().Now() - start;
      ReportUnsound(chosen[i]);
      report_(std::move(result));
    }
  }

  void RunApart(const std::vector<size_t>& chosen) {
    for (const size_t index : chosen) {
      if (Build({index})) {
        RunAll({index});
      } else {
        report_(NotBuilt());
      }
    }
  }

  TestResult ResultOf(const sema::Test& test) const {
    TestResult result{.file = path_, .name = test.name};
    result.line = compilation_.sources().PositionOf(test.span.file, test.span.begin).line;
    return result;
  }

  void RunOne(LocalServer& server, size_t number, const sema::Test& test, TestResult& result) {
    const auto answer = server.Call(fmt::format("/test/t{}", number), options_.timeout_ns + kGraceNs);
    const std::string slow = "not done within " + base::DurationText(options_.timeout_ns);
    if (!answer.ok()) {
      const bool hangs = answer.status().code() == base::kDeadlineExceeded;
      server.Stop();
      return Fail(test, hangs ? slow : "crashed: " + answer.status().message(), server, result);
    }
    JsonCursor json(*answer);
    if (json.Take('{') && json.Key() == "error" && json.Take('{') && json.Key() == "code") {
      const std::string code(json.Value());
      return Fail(test, code == std::to_string(code::kTimeout) ? slow : "no result: " + *answer, server, result);
    }
    JudgeTest(program(), test, *answer, compilation_.sources(), result);
    const std::string written = server.TakeErrors();  // of a test that passed it is nobody's, least of all the next one's
    if (!result.passed) AddWritten(written, result);
  }

  void Fail(const sema::Test& test, const std::string& reason, LocalServer& server, TestResult& result) const {
    result.reason = reason;
    result.details = diag::RenderPlace(test.span, reason, {}, compilation_.sources(), diag::Color::kNever);
    AddWritten(server.TakeErrors(), result);
  }

  static void AddWritten(const std::string& text, TestResult& result) {
    if (!text.empty()) result.details += text + (text.back() == '\n' ? "" : "\n");
  }

  const std::string path_, binary_;
  const Options& options_;
  const std::function<void(TestResult)>& report_;
  Compilation compilation_;
  std::map<size_t, TestResult> unsound_;  // by the number of the test; not reported yet
  size_t left_out_ = 0;
};

}  // namespace

int ListTests(const Options& options, Console& console) {
  int status = kFine;
  for (const std::string& input : options.inputs) {
    Compilation compilation(input, options, console);
    const bool checked = compilation.RunTo(Phase::kCheck, Compilation::Purpose::kCheck);
    status = std::max<int>(status, compilation.Finish());
    if (!checked) continue;
    for (const sema::Test& test : compilation.products().checked->tests) {
      if (test.name.find(options.filter) == std::string::npos) continue;
      const uint32_t line = compilation.sources().PositionOf(test.span.file, test.span.begin).line;
      console.out << fmt::format("{}:{}: {}\n", diag::Harmless(input), line, diag::Harmless(diag::OneLine(test.name)));
    }
  }
  return status;
}

int RunTests(const Options& options, Console& console) {
  Options for_files = options;
  for_files.format = Format::kText;  // of diagnostics
  std::vector<TestResult> results;
  std::vector<std::string> inputs = options.inputs;  // and what their programs are made of
  std::string text;
  const std::string output = options.output == "-" ? std::string() : options.output;
  size_t left_out = 0;
  const bool streams = output.empty() && options.format == Format::kText;
  const std::function<void(TestResult)> report = [&](TestResult result) {
    text += TestLine(result);
    if (streams) console.out << std::exchange(text, "") << std::flush;
    results.push_back(std::move(result));
  };
  const int64_t start = base::SystemClock().Now();
  for (const std::string& input : options.inputs) {
    const TemporaryFolder folder;
    if (folder.path().empty()) {
      console.err << "wfc: " << folder.WhyNone() << "\n";
      return kProgramHasErrors;
    }
    if (options.inputs.size() > 1) text += input + "\n";
    TestFile file(input, folder.path(), for_files, console, report);
    file.Run();
    left_out += file.left_out();
    file.AddInputs(inputs);
  }
  const int64_t time_ns = base::SystemClock().Now() - start;
  text += TestSummary(results, left_out, time_ns);
  if (options.format == Format::kTap) text = TapReport(results, left_out);
  if (options.format == Format::kJunit) text = JunitReport(results, time_ns);
  if (output.empty()) {
    console.out << text << std::flush;
  } else if (diag::Emitter emitter(1); ReportInput(output, inputs, emitter)) {
    return Report(emitter, source::SourceMap(), for_files, console);
  } else if (const base::Status status = WriteFile(output, text); !status.ok()) {
    console.err << fmt::format("wfc: cannot write `{}`: {}\n", output, status.message());
    return kProgramHasErrors;
  }
  const bool passed = std::all_of(results.begin(), results.end(), [](const TestResult& result) { return result.passed; });
  return passed ? kFine : kProgramHasErrors;
}

}  // namespace wf::driver
