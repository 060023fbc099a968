#include "compiler/link/lld.h"

#include <csignal>
#include <mutex>

#include <lld/Common/CommonLinkerContext.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/CrashRecoveryContext.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>

LLD_HAS_DRIVER(elf)

namespace wf::link {
namespace {

// LLVM's crash recovery puts a signal stack of its own on the calling thread and leaves it there; the thread's owner (a sanitizer, at its
// end) expects to find the old one.
class KeepSignalStack {
 public:
  KeepSignalStack() { sigaltstack(nullptr, &old_); }
  ~KeepSignalStack() { sigaltstack(&old_, nullptr); }
  KeepSignalStack(const KeepSignalStack&) = delete;
  KeepSignalStack& operator=(const KeepSignalStack&) = delete;

 private:
  stack_t old_{};
};

// LLVM ends the process where it cannot write. Here it leaves the linker, with its words in `out`.
void LeaveLinker(void* out, const char* words, bool) {
  *static_cast<llvm::raw_ostream*>(out) << words;
  if (auto* context = llvm::CrashRecoveryContext::GetCurrent()) context->HandleExit(1);
}

}  // namespace

base::Status RunLld(const std::vector<std::string>& arguments) {
  static std::mutex mutex;
  static bool is_broken = false;
  const std::lock_guard<std::mutex> lock(mutex);
  const KeepSignalStack keep;
  if (is_broken) return {base::kInternal, "the linker crashed before"};
  std::vector<const char*> args{"ld.lld"};
  for (const std::string& argument : arguments) args.push_back(argument.c_str());
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::CrashRecoveryContext::Enable();
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  const llvm::ScopedFatalErrorHandler handler(LeaveLinker, &out);
  const lld::Result result = lld::lldMain(args, out, out, drivers);
  if (!result.canRunAgain) {
    is_broken = true;
    lld::CommonLinkerContext::destroy();
  }
  llvm::CrashRecoveryContext::Disable();
  if (result.retCode != 0) return {base::kInternal, text.empty() ? "the linker failed" : text};
  return base::Status::Ok();
}

}  // namespace wf::link
