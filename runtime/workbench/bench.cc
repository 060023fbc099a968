#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <thread>

#include "runtime/base/clock.h"
#include "runtime/base/json_text.h"
#include "runtime/base/text.h"
#include "runtime/base/units.h"
#include "runtime/kernels/operation.h"
#include "runtime/workbench/commands.h"
#include "runtime/workbench/files.h"
#include "runtime/workbench/latency.h"
#include "runtime/workbench/profile.h"
#include "runtime/workbench/random.h"
#include "runtime/workbench/settings.h"

namespace wf::workbench {
namespace {

using base::Result;
using base::Status;

constexpr size_t kSlowestShown = 10;

struct BenchSettings {
  int threads = 1;      // of runs side by side
  int run_threads = 1;  // that work at one
  int64_t duration_ns = 5 * base::kNsPerSecond;
  ShapeSettings shapes;
};

// What the threads share.   Thread: `go` and `stop` any; a thread has its own of everything else.
struct Load {
  Session& session;
  const std::vector<Tensor>& inputs;
  std::atomic<bool> go{false}, stop{false};
};

// One thread's runs, one after the other; the end of one is the beginning of the next.
void RunAlone(Load& load, int instance, Latency& latency, Status& failure) {
  const base::SystemClock clock;
  const std::vector<wf_tensor> in = ViewsOf(load.inputs);
  std::vector<wf_tensor> out(load.session.signature().outputs.size());
  const int64_t rows = load.session.RowsOf(load.inputs);
  kernels::UseOneThread();
  failure = load.session.RunInPlace(instance, rows, in, out);  // makes what later runs find
  while (!load.go.load(std::memory_order_acquire)) std::this_thread::yield();
  for (int64_t before = clock.Now(); failure.ok();) {  // a run longer than the time that there is counts, too
    failure = load.session.RunInPlace(instance, rows, in, out);
    const int64_t now = clock.Now();
    latency.Add(now - before);
    before = now;
    if (load.stop.load(std::memory_order_relaxed)) break;
  }
}

struct Measured {
  Latency latency;
  double seconds = 0;
};

Result<Measured> Measure(Session& session, const std::vector<Tensor>& inputs, const BenchSettings& settings) {
  const base::SystemClock clock;
  Load load{session, inputs};
  const auto count = static_cast<size_t>(settings.threads);
  std::vector<Latency> latencies(count);
  std::vector<Status> failures(count);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] { RunAlone(load, static_cast<int>(i), latencies[i], failures[i]); });
  }
  const int64_t begin = clock.Now();
  load.go.store(true, std::memory_order_release);
  std::this_thread::sleep_for(std::chrono::nanoseconds(settings.duration_ns));
  load.stop = true;
  for (std::thread& thread : threads) thread.join();
  Measured measured;
  measured.seconds = base::Seconds(clock.Now() - begin);
  for (size_t i = 0; i < count; ++i) {
    if (!failures[i].ok()) return failures[i];
    measured.latency.Add(latencies[i]);
  }
  return measured;
}

struct BenchReport {
  const Session& session;
  const BenchSettings& settings;
  const Measured& measured;
  double ready_ms = 0;                // from the file to the first answer
  const model::Plan* plan = nullptr;  // with a profile
  const Profile* profile = nullptr;

  double Ms(double share) const { return static_cast<double>(measured.latency.Quantile(share)) / 1e6; }
  double mean_ms() const {
    return measured.latency.count() == 0
               ? 0
               : static_cast<double>(measured.latency.sum_ns()) / static_cast<double>(measured.latency.count()) / 1e6;
  }
  double per_second() const { return static_cast<double>(measured.latency.count()) / measured.seconds; }
};

void PutProfile(const BenchReport& report, std::ostream& out) {
  int64_t total = 0;
  for (const Share& share : report.profile->shares) total += share.ns;
  out << fmt::format("\nof a run, {:.4g} ms in {} steps, the mean of {} runs\n", static_cast<double>(total) / 1e6,
                     report.plan->steps().size(), report.profile->runs);
  out << fmt::format("  {:>6}  {:>10}  {:>5}  {:<24} {}\n", "share", "ms", "steps", "operator", "kernel");
  for (const Share& share : report.profile->shares) {
    out << fmt::format("  {:>5.1f}%  {:>10.4f}  {:>5}  {:<24} {}\n", share.share * 100, static_cast<double>(share.ns) / 1e6, share.steps,
                       share.op, share.impl);
  }
  out << "the slowest steps\n";
  for (size_t i = 0; i < std::min(kSlowestShown, report.profile->slowest.size()); ++i) {
    const auto [step, ns] = report.profile->slowest[i];
    out << fmt::format("  {:>5.1f}%  {:>10.4f}  {}\n", 100 * static_cast<double>(ns) / static_cast<double>(std::max<int64_t>(total, 1)),
                       static_cast<double>(ns) / 1e6, report.plan->Where(step));
  }
}

void PutText(const BenchReport& report, std::ostream& out) {
  const Latency& latency = report.measured.latency;
  out << fmt::format("{}: {} a run, {}{}, {} in {:.1f} s\n", report.session.file().path,
                     base::Counted(static_cast<uint64_t>(report.settings.shapes.batch), "sample"),
                     base::Counted(static_cast<uint64_t>(report.settings.threads), "thread"),
                     report.settings.run_threads == 1 ? "" : fmt::format(" of {} each", report.settings.run_threads),
                     base::Counted(latency.count(), "run"), report.measured.seconds);
  out << fmt::format("  {:.4g} ms p50, {:.4g} p90, {:.4g} p99, {:.4g} longest, {:.4g} mean\n", report.Ms(0.5), report.Ms(0.9),
                     report.Ms(0.99), static_cast<double>(latency.max_ns()) / 1e6, report.mean_ms());
  out << fmt::format("  {:.4g} runs a second, {:.4g} samples\n", report.per_second(),
                     report.per_second() * static_cast<double>(report.settings.shapes.batch));
  if (report.profile != nullptr) PutProfile(report, out);
}

std::string ProfileJson(const BenchReport& report) {
  std::string rows;
  for (const Share& share : report.profile->shares) {
    rows +=
        fmt::format("{}{{\"operator\": {}, \"kernel\": {}, \"steps\": {}, \"ms\": {}, \"share\": {:.4f}}}", rows.empty() ? "" : ", ",
                    base::QuoteJson(share.op), base::QuoteJson(share.impl), share.steps, static_cast<double>(share.ns) / 1e6, share.share);
  }
  return fmt::format(", \"profile\": {{\"runs\": {}, \"operators\": [{}]}}", report.profile->runs, rows);
}

void PutJson(const BenchReport& report, std::ostream& out) {
  const double rows = report.per_second() * static_cast<double>(report.settings.shapes.batch);
  out << fmt::format(
      "{{\"model\": {}, \"batch\": {}, \"threads\": {}, \"run_threads\": {}, \"precision\": \"{}\", \"seconds\": {}, \"runs\": {}, ",
      base::QuoteJson(report.session.file().path), report.settings.shapes.batch, report.settings.threads, report.settings.run_threads,
      report.session.program().bf16 ? "bf16" : "f32", report.measured.seconds, report.measured.latency.count());
  out << fmt::format(
      "\"ready_ms\": {}, \"p50_ms\": {}, \"p90_ms\": {}, \"p99_ms\": {}, \"max_ms\": {}, \"mean_ms\": {}, \"per_second\": {}, "
      "\"samples_per_second\": "
      "{}{}}}\n",
      report.ready_ms, report.Ms(0.5), report.Ms(0.9), report.Ms(0.99), static_cast<double>(report.measured.latency.max_ns()) / 1e6,
      report.mean_ms(), report.per_second(), rows, report.profile == nullptr ? "" : ProfileJson(report));
}

struct Profiled {
  std::unique_ptr<model::Plan> plan;
  Profile profile;
};

// The measured runs are not timed step by step: what that costs would be in them.
Result<Profiled> ProfileOf(const Session& session, const std::vector<Tensor>& inputs, int64_t duration_ns, int run_threads) {
  std::vector<onnx::Port> shapes = session.signature().inputs;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t axis = 0; axis < shapes[i].dim.size(); ++axis) shapes[i].dim[axis] = onnx::Dim(inputs[i].dim[axis]);
  }
  auto plan = model::Plan::Make(session.program(), shapes, onnx::kMostTensorBytes, 0, run_threads);
  if (!plan.ok()) return plan.status();
  auto profile = ProfileRuns(session.program(), **plan, ViewsOf(inputs), duration_ns);
  if (!profile.ok()) return profile.status();
  return Profiled{*std::move(plan), *std::move(profile)};
}

Status WriteTrace(const std::string& path, const Session& session, const Profiled& profiled) {
  return WriteFile(path, TraceJson(session.program(), *profiled.plan, profiled.profile));
}

}  // namespace

int BenchModel(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  BenchSettings settings;
  settings.threads = static_cast<int>(arguments.Whole("threads").value_or(1));
  settings.run_threads = static_cast<int>(arguments.Whole("run-threads").value_or(1));
  settings.duration_ns = arguments.TimeNs("seconds").value_or(settings.duration_ns);
  const auto shapes_given = ReadShapeSettings(arguments, err);
  if (!shapes_given) return kUsage;
  settings.shapes = *shapes_given;
  const base::SystemClock clock;
  const int64_t begin = clock.Now();
  const bool is_profiled = arguments.Has("profile") || arguments.Has("trace");
  SessionOptions options{.instances = settings.threads, .choices = ReadChoices(arguments, /*measures=*/true, err)};
  options.threads = settings.run_threads;
  if (is_profiled) options.texts = onnx::TextPorts::kNone;  // step by step there are none
  const auto session = OpenOnly(arguments, "bench", err, std::move(options));
  if (session == nullptr) return kFailed;
  for (const std::string& name : session->file().left_out)
    err << fmt::format("wfc: output `{}`, which is of strings, is left out of what is profiled\n", name);
  const auto shapes = session->ShapesFor(settings.shapes.batch, settings.shapes.named);
  if (!shapes.ok()) return Fail(shapes.status(), err);
  const auto inputs = FittingInputs(*session, *shapes, static_cast<uint64_t>(arguments.Whole("random").value_or(0)));
  if (!inputs.ok()) return Fail(inputs.status(), err);
  const int64_t ready = clock.Now();  // inputs fit when a run has taken them
  KeepChoices(*session, err);
  const auto measured = Measure(*session, *inputs, settings);
  if (!measured.ok()) return Fail(measured.status(), err);
  BenchReport report{*session, settings, *measured, static_cast<double>(ready - begin) / 1e6};
  std::optional<Profiled> profiled;
  if (is_profiled) {
    auto made = ProfileOf(*session, *inputs, settings.duration_ns / 2, settings.run_threads);
    if (!made.ok()) return Fail(made.status(), err);
    profiled = *std::move(made);
    report.plan = profiled->plan.get();
    report.profile = &profiled->profile;
  }
  if (const std::string trace = arguments.Text("trace"); !trace.empty()) {
    if (const Status written = WriteTrace(trace, *session, *profiled); !written.ok()) return Fail(written, err);
  }
  if (arguments.Text("format") == "json") {
    PutJson(report, out);
  } else {
    PutText(report, out);
  }
  return kFine;
}

}  // namespace wf::workbench
