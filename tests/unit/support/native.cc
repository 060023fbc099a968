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

SharedObject::SharedObject(const ir::Program& program, const std::string& cpu, int opt_level, [[maybe_unused]] bool watch,
                           uint64_t part_weight) {
  const auto broken = ir::Verify(program);
  WF_CHECK(!broken, *broken);
  llvm::LLVMContext context;
  lower::Options options;
  options.target_cpu = cpu;
  if (part_weight > 0) options.part_weight = part_weight;
  const auto module = lower::Lower(program, context, options);
  codegen::Options code;
  code.opt_level = opt_level;
  code.verify = true;
#ifdef WF_ADDRESS_SANITIZER
  if (watch) code.sanitizer = codegen::Sanitizer::kAddress;
#endif
  for (const lower::BigConstant& constant : lower::BigConstants(program)) code.big_constants.push_back({constant.symbol, constant.bytes});
  llvm::SmallVector<char, 0> object;
  const base::Status emitted = codegen::EmitObject(*module, code, object);
  WF_CHECK(emitted.ok(), emitted.message());
  object_.assign(object.begin(), object.end());
  const char* const folder = std::getenv("TMPDIR");
  path_ = std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/wf-native-XXXXXX";
  const int file = mkstemp(path_.data());
  WF_CHECK(file >= 0, path_, errno);
  close(file);
  const std::string linked_from = path_ + ".o";
  std::ofstream(linked_from, std::ios::binary) << object_;
  const base::Status linked = link::RunLld({"-shared", "-z", "lazy", "--threads=1", "-o", path_, linked_from});
  unlink(linked_from.c_str());
  WF_CHECK(linked.ok(), linked.message());
}

SharedObject::~SharedObject() { unlink(path_.c_str()); }

Native::Native(const ir::Program& program, const std::string& cpu, int opt_level, bool watch, uint64_t part_weight) {
  const SharedObject shared(program, cpu, opt_level, watch, part_weight);  // no longer than this: a run that is killed leaves no file
  handle_ = dlopen(shared.path().c_str(), RTLD_LAZY | RTLD_LOCAL);
  WF_CHECK(handle_ != nullptr, dlerror());
  object_ = shared.object();
  plan_ = static_cast<const wf_plan*>(dlsym(handle_, "wf_plan_main"));
}

Native::~Native() { dlclose(handle_); }

}  // namespace wf::test
