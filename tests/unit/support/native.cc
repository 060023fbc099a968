#include "tests/unit/support/native.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "compiler/codegen/codegen.h"
#include "compiler/ir/verify.h"
#include "compiler/link/lld.h"
#include "compiler/lower/lower.h"
#include "runtime/abi/version.h"
#include "runtime/base/check.h"

extern "C" {
extern const char WF_ABI_SYMBOL;
const char WF_ABI_SYMBOL = 1;
}

namespace wf::test {

constexpr size_t kLeastInstructions = 100;  // so that small programs are of several objects, too

SharedObject::SharedObject(const ir::Program& program, const std::string& cpu, int opt_level, [[maybe_unused]] bool watch,
                           uint64_t part_weight) {
  const auto broken = ir::Verify(program);
  WF_CHECK(!broken, *broken);
  llvm::LLVMContext context;
  lower::Options options;
  options.target_cpu = cpu;
  options.few_turns = 0;  // so that small programs have copies for wide CPUs, too
  if (part_weight > 0) options.part_weight = part_weight;
  const auto module = lower::Lower(program, context, options);
  codegen::Options code;
  code.opt_level = opt_level;
  code.verify = true;
#ifdef WF_ADDRESS_SANITIZER
  if (watch) code.sanitizer = codegen::Sanitizer::kAddress;
#endif
  for (const lower::BigConstant& constant : lower::BigConstants(program)) code.big_constants.push_back({constant.symbol, constant.bytes});
  if (cpu == "generic") code.least_instructions = kLeastInstructions;
  base::Result<std::vector<std::string>> objects = codegen::EmitObjects(*module, code);
  WF_CHECK(objects.ok(), objects.status().message());
  objects_ = std::move(*objects);
  const char* const folder = std::getenv("TMPDIR");
  path_ = std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/wf-native-XXXXXX";
  const int file = mkstemp(path_.data());
  WF_CHECK(file >= 0, path_, errno);
  close(file);
  std::vector<std::string> arguments = {"-shared", "-z", "lazy", "--threads=1", "-o", path_};
  const size_t options_end = arguments.size();
  for (size_t i = 0; i < objects_.size(); ++i) {
    std::ofstream(arguments.emplace_back(path_ + std::to_string(i) + ".o"), std::ios::binary) << objects_[i];
  }
  const base::Status linked = link::RunLld(arguments);
  for (size_t i = options_end; i < arguments.size(); ++i) unlink(arguments[i].c_str());
  WF_CHECK(linked.ok(), linked.message());
}

SharedObject::~SharedObject() { unlink(path_.c_str()); }

Native::Native(const ir::Program& program, const std::string& cpu, int opt_level, bool watch, uint64_t part_weight) {
  const SharedObject shared(program, cpu, opt_level, watch, part_weight);  // no longer than this: a run that is killed leaves no file
  handle_ = dlopen(shared.path().c_str(), RTLD_LAZY | RTLD_LOCAL);
  WF_CHECK(handle_ != nullptr, dlerror());
  objects_ = shared.objects();
  plan_ = static_cast<const wf_plan*>(dlsym(handle_, "wf_plan_main"));
}

Native::~Native() { dlclose(handle_); }

}  // namespace wf::test
