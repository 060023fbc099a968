#include "compiler/driver/bench.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <optional>

#include "compiler/driver/compile.h"
#include "compiler/driver/files.h"
#include "compiler/driver/local_server.h"
#include "compiler/driver/serve.h"
#include "compiler/interface/sample.h"
#include "compiler/load/generator.h"
#include "compiler/load/report.h"
#include "compiler/load/server_times.h"
#include "compiler/load/target.h"
#include "runtime/base/ascii.h"

namespace wf::driver {
namespace {

constexpr size_t kMaxBody = size_t{64} << 20;
constexpr int kConnections = 16, kConnectionsOfARate = 256;

std::atomic<bool> stop = false;
extern "C" void OnInterrupt(int) noexcept { stop.store(true, std::memory_order_relaxed); }

// While it lives an interrupt ends the measurement, not wfc.
class StopsByHand {
 public:
  StopsByHand() : before_(std::signal(SIGINT, OnInterrupt)) {}
  ~StopsByHand() { std::signal(SIGINT, before_); }
  StopsByHand(const StopsByHand&) = delete;
  StopsByHand& operator=(const StopsByHand&) = delete;

 private:
  void (*const before_)(int);
};

// What is sent and to whom.
struct Job {
  std::string url;
  std::string admin;  // HOST:PORT; empty: not known
  std::optional<std::string> body;
  std::string content_type;
};

std::string TypeOf(const std::string& body) {
  const size_t first = body.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && (body[first] == '{' || body[first] == '[');
  return json ? "application/json" : "application/octet-stream";
}

bool HasField(const Options& options, std::string_view name) {
  return std::any_of(options.headers.begin(), options.headers.end(),
                     [name](std::string_view header) { return base::EqualIgnoringCase(header.substr(0, header.find(':')), name); });
}

std::string RequestOf(const Job& job, const load::Target& target, const Options& options) {
  std::string text = fmt::format("{} {} HTTP/1.1\r\n", job.body ? "POST" : "GET", target.path);
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!HasField(options, name)) text += fmt::format("{}: {}\r\n", name, value);
  };
  add("host", target.host);
  add("user-agent", "wfc-bench");
  for (const std::string& header : options.headers) text += header + "\r\n";
  if (!job.body) return text + "\r\n";
  add("content-type", job.content_type);
  return text + fmt::format("content-length: {}\r\n\r\n", job.body->size()) + *job.body;
}

int Measure(const Job& job, const Options& options, Console& console) {
  const auto target = load::ParseUrl(job.url);
  if (!target.ok()) return Fail(console, target.status().message());
  load::Plan plan{.target = *target, .request = RequestOf(job, *target, options)};
  plan.rate = options.rate;
  plan.connections = options.connections > 0 ? options.connections : options.rate > 0 ? kConnectionsOfARate : kConnections;
  plan.measured_ns = options.duration_ns;
  plan.timeout_ns = options.timeout_ns;
  const StopsByHand stops;
  if (options.warm_up_ns > 0) {
    load::Plan warm_up = plan;
    warm_up.measured_ns = options.warm_up_ns;
    const auto warmed = load::Generate(warm_up, stop);
    if (!warmed.ok()) return Fail(console, warmed.status().message());
  }
  std::optional<load::ServerTimes> before;
  if (!job.admin.empty()) {
    auto asked = load::AskServer(job.admin);
    if (!asked.ok()) return Fail(console, asked.status().message());
    before = *std::move(asked);
  }
  const auto outcome = load::Generate(plan, stop);
  if (!outcome.ok()) return Fail(console, outcome.status().message());
  load::Report report{.plan = plan, .outcome = *outcome, .url = job.url};
  report.warm_up_ns = options.warm_up_ns;
  if (before) {
    auto after = load::AskServer(job.admin);
    if (after.ok()) report.server = load::Since(*before, *std::move(after));
  }
  console.out << (options.format == Format::kJson ? load::ReportJson(report) : load::ReportText(report));
  return outcome->good.count() > 0 ? kFine : kProgramHasErrors;
}

// The body that `--data` says: a text, or @FILE as curl has it. False: reported.
bool ReadData(const Options& options, Console& console, Job& job) {
  if (options.data.empty()) return true;
  if (!options.data.starts_with('@')) {
    job.body = options.data;
  } else {
    const std::string path = options.data.substr(1);
    auto read = ReadFile(path, kMaxBody);
    if (!read.ok()) console.err << fmt::format("wfc: cannot read `{}`: {}\n", path, read.status().message());
    if (!read.ok()) return false;
    job.body = *std::move(read);
  }
  job.content_type = TypeOf(*job.body);
  return true;
}

struct Chosen {
  const interface::Service& service;
  const interface::Call& call;
};

// The call that `--workflow` names, as NAME or SERVICE/NAME; without it the only one.   Errors: `error` says which there are.
std::optional<Chosen> Choose(const interface::Interface& described, const std::string& name, std::string& error) {
  std::vector<Chosen> matching;
  std::vector<std::string> names;
  for (const interface::Service& service : described.services) {
    for (const interface::Call& call : service.calls) {
      names.push_back(service.name + "/" + call.name);
      if (name.empty() || name == call.name || name == names.back()) matching.push_back({service, call});
    }
  }
  if (matching.size() == 1) return matching.front();
  error = names.empty() ? "the program has no service" : fmt::format("`--workflow` must name one of {}", fmt::join(names, ", "));
  return std::nullopt;
}

bool Says(const std::vector<std::string>& arguments, std::string_view flag) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) { return argument.starts_with(flag); });
}

std::vector<std::string> ArgumentsOf(const Options& options) {
  const std::vector<std::string>& given = options.server_arguments;
  std::vector<std::string> arguments;
  constexpr std::pair<const char*, const char*> kOwn[] = {
      {"--host", "127.0.0.1"}, {"--http-port", "0"}, {"--admin-port", "0"}, {"--log-level", "error"}};
  for (const auto& [flag, value] : kOwn) {
    if (!Says(given, flag)) arguments.insert(arguments.end(), {flag, value});
  }
  const auto rest = ServerArguments(options.inputs.front(), given);
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  return arguments;
}

int BenchProgram(const Options& options, Console& console) {
  const TemporaryFolder folder;
  if (folder.path().empty()) return Fail(console, folder.WhyNone());
  const std::string binary = folder.path() + "server";
  Options for_diagnostics = options;
  for_diagnostics.format = Format::kText;
  Compilation compilation(options.inputs.front(), for_diagnostics, console);
  const bool built = compilation.BuildServer(binary);
  const ExitStatus status = compilation.Finish();
  if (!built || status != kFine) return status;
  const interface::Interface described = compilation.DescribeInterface();
  std::string error;
  const auto chosen = Choose(described, options.workflow, error);
  if (!chosen) return Fail(console, error, kUsage);
  Job job;
  if (!ReadData(options, console, job)) return kProgramHasErrors;
  if (!job.body) {
    job.body = interface::SampleBody(described, chosen->call);
    job.content_type = "application/json";
  } else if (interface::RawBody(chosen->call) == nullptr) {
    job.content_type = "application/json";
  }
  if (!job.body) return Fail(console, "its input is too large to be made up; `--data @FILE` has one");
  LocalServer server(binary, ArgumentsOf(options));
  if (const base::Status started = server.Start(); !started.ok())
    return console.err << server.TakeErrors(), Fail(console, "cannot start the server: " + started.message());
  if (server.http().starts_with("unix:"))
    return Fail(console, fmt::format("the server listens on `{}`, and `wfc bench` calls it over TCP; leave `listen` out", server.http()),
                kUsage);
  job.url = fmt::format("http://{}/{}/{}", server.http(), chosen->service.name, chosen->call.name);
  job.admin = server.admin();
  const int measured = Measure(job, options, console);
  console.err << server.TakeErrors();
  return measured;
}

}  // namespace

int Bench(const Options& options, Console& console) {
  for (const std::string_view name : {"content-length", "transfer-encoding"})
    if (HasField(options, name)) return Fail(console, fmt::format("`--header` gives `{}`, which the body of `--data` says", name), kUsage);
  const std::string& input = options.inputs.front();
  if (input.ends_with(".wf") && input.find("://") == std::string::npos) return BenchProgram(options, console);
  Job job{.url = input.find("://") == std::string::npos ? "http://" + input : input, .admin = options.admin};
  if (!ReadData(options, console, job)) return kProgramHasErrors;
  return Measure(job, options, console);
}

}  // namespace wf::driver
