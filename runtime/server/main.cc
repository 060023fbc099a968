#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "runtime/abi/verify.h"
#include "runtime/abi/version.h"
#include "runtime/base/reserve.h"
#include "runtime/loop/loop.h"
#include "runtime/observe/crash.h"
#include "runtime/observe/log.h"
#include "runtime/server/server.h"

// The plan refers to this name, so that only the archive of the same contract links with it.
extern "C" const char WF_ABI_SYMBOL = 1;

namespace wf::server {
namespace {

bool Print(std::FILE* file, const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

// What was asked for, or where the server listens. The exit status, where that is all.
int Show(const std::string& text, const std::string& program) {
  if (Print(stdout, text)) return 0;
  return Print(stderr, program + ": the output could not be written whole\n"), 1;
}

// Whoever starts a server may have closed them; a socket in their place would be taken for them.
void OpenMissingStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) == -1) open("/dev/null", O_RDWR);  // takes the lowest that is free: this one
  }
}

std::string VersionText(const wf_plan& plan) {
  std::string text = "wf server, contract " WF_ABI_SYMBOL_TEXT ", source ";
  for (const uint8_t byte : plan.source_hash) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text + "\n";
}

// Until the server watches for them: there is nothing yet to finish, and no configuration but the one that is being read.
void HandleSignalsOfStart(bool serves) {
  std::signal(SIGHUP, SIG_IGN);
  if (!serves) return;
  for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, [](int) { _exit(0); });
}

// The soft limit is for programs that `select`.
void AllowAllDescriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  observe::Log(observe::Level::kDebug, "as many descriptors may be open as the hard limit says",
               {{"limit", static_cast<uint64_t>(limit.rlim_max)}});
}

int Serve(const wf_plan& plan, const Settings& settings, const LoadFrom& from, const std::string& program) {
  Server server(plan, settings);
  LoadFrom again = from;
  again.again = true;
  server.set_reload([again] { return LoadSettings(again); });
  if (const base::Status status = server.Start(); !status.ok()) {
    server.RemoveFiles();
    observe::FlushLogs(STDERR_FILENO, 1000);
    Print(stderr, program + ": " + status.message() + "\n");
    std::fflush(nullptr);
    _exit(1);  // threads may be running already
  }
  Show(server.ListeningLine(), program);
  base::Reserve::BeginServing();
  return server.Run();
}

int Check(const wf_plan& plan, const Settings& settings, const std::string& program) {
  const base::Status status = CheckStart(plan, settings);
  observe::FlushLogs(STDERR_FILENO, 1000);
  if (!status.ok()) return Print(stderr, program + ": " + status.message() + "\n"), 1;
  return Show("the configuration is fine\n", program);
}

}  // namespace

int Main(int argc, const char* const* argv, const char* const* environment, const wf_plan& plan) {
  OpenMissingStreams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not the end of the process
  loop::InsistOnMemory();
  HandleSignalsOfStart(false);
  const std::string path = argc > 0 ? argv[0] : "server";
  const std::string program = path.substr(path.rfind('/') + 1);
  const size_t skipped = argc > 0 ? 1 : 0;
  const LoadFrom from = {.arguments = {argv + skipped, static_cast<size_t>(argc) - skipped}, .environment = environment, .plan = &plan};
  const Loaded loaded = LoadSettings(from);
  if (loaded.wish == Wish::kHelp) return Show(HelpText(program), program);
  if (loaded.wish == Wish::kVersion) return Show(VersionText(plan), program);
  for (const std::string& warning : loaded.warnings) Print(stderr, program + ": warning: " + warning + "\n");
  for (const std::string& error : loaded.errors) Print(stderr, program + ": " + error + "\n");
  if (!loaded.errors.empty()) return loaded.exit_status();
  if (loaded.wish == Wish::kPrintConfig) return Show(ConfigText(loaded.settings), program);
#ifndef NDEBUG
  if (const base::Status status = abi::Verify(plan); !status.ok())
    return Print(stderr, program + ": the plan is broken: " + status.message() + "\n"), 1;
#endif
  HandleSignalsOfStart(loaded.wish == Wish::kServe);
  observe::InstallCrashHandler();
  observe::UseAlternateStack();
  observe::SetLogLevel(static_cast<observe::Level>(loaded.settings.log_level));
  if (!base::Reserve::Keep()) return Print(stderr, program + ": there is no memory to start with\n"), 1;
  AllowAllDescriptors();
  if (loaded.wish == Wish::kCheckConfig) return Check(plan, loaded.settings, program);
  return Serve(plan, loaded.settings, from, program);
}

}  // namespace wf::server

int main(int argc, char** argv) { return wf::server::Main(argc, argv, environ, wf_plan_main); }
