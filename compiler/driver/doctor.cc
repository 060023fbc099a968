#include "compiler/driver/doctor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <sstream>

#include "compiler/driver/compile.h"
#include "compiler/driver/extern_objects.h"
#include "compiler/driver/files.h"
#include "compiler/driver/layout.h"
#include "compiler/driver/local_server.h"
#include "compiler/driver/new_program.h"
#include "compiler/link/link.h"
#include "runtime/abi/version.h"
#include "runtime/base/units.h"

namespace wf::driver {
namespace {

enum class Verdict { kGood, kPoor, kBad };  // kPoor: works, but slower or not everything

struct Finding {
  Verdict verdict;
  std::string what, found;
};

Finding Cpu() {
  const bool base = __builtin_cpu_supports("x86-64-v3") != 0, wide = __builtin_cpu_supports("x86-64-v4") != 0;
  if (!base)
    return {Verdict::kBad, "processor",
            "lacks x86-64-v3 (AVX2, FMA, BMI2), which servers need; `wfc build --target-cpu=x86-64` makes one without"};
  return {Verdict::kGood, "processor", wide ? "x86-64-v4: kernels with 512 bits" : "x86-64-v3: kernels with 256 bits"};
}

Finding Stdlib(const Console& console) {
  const std::string folder = StdlibFolder(console.executable);
  const bool there = access((folder + "prelude.wf").c_str(), R_OK) == 0;
  return {there ? Verdict::kGood : Verdict::kBad, "standard library", folder + (there ? "" : " is missing; install wfc whole")};
}

// A plan refers to a symbol that only an archive of the same headers defines.
Finding Runtime() {
  constexpr size_t kMaxArchiveBytes = size_t{4} << 30;
  const std::string archive = link::FindRuntime() + "/libwf_runtime.a";
  const auto bytes = ReadFile(archive, kMaxArchiveBytes);
  if (!bytes.ok()) return {Verdict::kBad, "runtime archive", fmt::format("{}: {}", archive, bytes.status().message())};
  if (bytes->find(WF_ABI_SYMBOL_TEXT) == std::string::npos) {
    return {Verdict::kBad, "runtime archive", fmt::format("{} is of another version: it has no {}", archive, WF_ABI_SYMBOL_TEXT)};
  }
  return {Verdict::kGood, "runtime archive", fmt::format("{} ({})", archive, WF_ABI_SYMBOL_TEXT)};
}

Finding OneDnn() {
  if (dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL) == nullptr)
    return {Verdict::kPoor, "oneDNN", "libdnnl.so.2 is not installed: models run on the kernels of wfc's own, slower"};
  return {Verdict::kGood, "oneDNN", "libdnnl.so.2"};
}

Finding Compiler(const Console& console) {
  const std::string found = FindCompiler(console);
  if (found.empty()) return {Verdict::kPoor, "C++ compiler", "none: programs with externs cannot be built; install one, or set CXX"};
  return {Verdict::kGood, "C++ compiler", found + ", for programs with externs"};
}

Finding OpenFiles() {
  constexpr rlim_t kFew = 4096;
  struct rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const std::string found = limit.rlim_max == RLIM_INFINITY ? "no limit" : fmt::format("{}, at most {}", limit.rlim_cur, limit.rlim_max);
  const bool few = limit.rlim_max < kFew;
  return {few ? Verdict::kPoor : Verdict::kGood, "open files",
          found + (few ? ": a server takes fewer connections than that; raise `ulimit -n`" : "")};
}

Finding Memory() {
  constexpr uint64_t kLittle = uint64_t{512} << 20;
  const uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const std::string found = fmt::format("{} MiB, {} processors", bytes >> 20, sysconf(_SC_NPROCESSORS_ONLN));
  return {bytes < kLittle ? Verdict::kPoor : Verdict::kGood, "memory", found};
}

// What stands first in a report, behind its warnings: the reason. Each line may begin with who says it.
std::string FirstLine(std::string_view report, std::string_view by) {
  for (;;) {
    const size_t end = report.find('\n');
    std::string_view line = report.substr(0, end);
    if (line.starts_with(by)) line.remove_prefix(by.size());
    if (!line.starts_with("warning: ") || end == std::string_view::npos) return std::string(line);
    report.remove_prefix(end + 1);
  }
}

// Starts the server on a free port, asks it for a greeting and stops it. Nothing: it did all of that; else what it did not.
std::string TryServer(const std::string& binary) {
  constexpr int64_t kWithinNs = 20 * base::kNsPerSecond;
  LocalServer server(binary, {"--host", "127.0.0.1", "--http-port", "0", "--admin-port", "0", "--log-level", "error"});
  const auto failed = [&](std::string_view what, const std::string& why) {
    const std::string said = FirstLine(server.TakeErrors(), "server: ");
    return fmt::format("was built, but {}: {}", what, said.empty() ? why : said);
  };
  if (const base::Status started = server.Start(); !started.ok())
    return failed("cannot start on a free port of 127.0.0.1", started.message());
  const std::string place = server.http();
  const auto answer = server.Call("/Hello/Greet", kWithinNs);
  if (!answer.ok()) return failed("does not answer at " + place + ", which a firewall or a sandbox may forbid", answer.status().message());
  if (*answer != R"({"text":"hello, world"})") return failed("answers something else than a greeting", FirstLine(*answer, ""));
  const base::Status ended = server.End(kWithinNs);
  return ended.ok() ? "" : failed("does not stop when it is told to", ended.message());
}

// The last word: the first template built, linked, served and asked.
Finding Server(const Console& console) {
  const TemporaryFolder folder;
  if (folder.path().empty()) return {Verdict::kBad, "a server", folder.WhyNone()};
  std::ostringstream out, err;
  Console quiet{.out = out, .err = err, .environment = console.environment, .executable = console.executable};
  Options options;
  options.inputs = {folder.path() + "probe"};
  if (NewProgram(options, quiet) != kFine) return {Verdict::kBad, "a server", FirstLine(err.str(), "wfc: ")};
  const std::string server = folder.path() + "server";
  Compilation compilation(options.inputs.front() + "/probe.wf", options, quiet);
  const bool built = compilation.BuildServer(server);
  if (compilation.Finish() != kFine || !built) return {Verdict::kBad, "a server", FirstLine(err.str(), "wfc: ")};
  const std::string wrong = TryServer(server);
  if (!wrong.empty()) return {Verdict::kBad, "a server", wrong};
  return {Verdict::kGood, "a server",
          fmt::format("built ({} KiB), started on a free port, answered, stopped", std::filesystem::file_size(server) >> 10)};
}

}  // namespace

int Examine(Console& console) {
  static constexpr std::array kMarks = {"ok  ", "poor", "bad "};
  int status = kFine;
  const auto tell = [&](const Finding& finding) {
    console.out << fmt::format("{}  {:<17} {}\n", kMarks[static_cast<size_t>(finding.verdict)], finding.what, finding.found) << std::flush;
    if (finding.verdict == Verdict::kBad) status = kProgramHasErrors;
  };
  tell(Cpu());
  tell(Memory());
  tell(OpenFiles());
  tell(Stdlib(console));
  tell(Runtime());
  tell(OneDnn());
  tell(Compiler(console));
  tell(Server(console));
  return status;
}

std::string VersionDetails(const std::string& executable) {
  return fmt::format("wfc {}\nllvm and lld: {}\nabi: {}\nruntime: {}\nstandard library: {}\nbuilt by: {}\n", WF_VERSION, WF_LLVM_VERSION,
                     WF_ABI_SYMBOL_TEXT, link::FindRuntime(), StdlibFolder(executable), WF_BUILT_BY);
}

}  // namespace wf::driver
