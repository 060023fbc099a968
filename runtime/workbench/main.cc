#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "runtime/base/poison.h"
#include "runtime/workbench/commands.h"

namespace {

// As wfc ends for its bugs.
extern "C" void OnBug(int) noexcept {
  constexpr char kText[] =
      "wfc: this is a bug in wfc, not in your model; please report the lines above with the .onnx file (exit status 101)\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof(kText) - 1);
  _exit(101);
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  std::signal(SIGABRT, OnBug);
  if (!wf::base::kSeesPoison) {  // sanitizers tell more of a crash
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) std::signal(signal, OnBug);
  }
  const int status = wf::workbench::RunCommand({argv + 1, argv + argc}, std::cout, std::cerr);
  std::cout.flush();
  if (std::cout) return status;
  std::cerr << "wfc: the output could not be written whole\n";
  return status == wf::workbench::kFine ? static_cast<int>(wf::workbench::kFailed) : status;
}
