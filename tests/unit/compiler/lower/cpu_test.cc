#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <set>

#include <llvm/ADT/SmallVector.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include "compiler/ir/math.h"
#include "compiler/lower/cpu_features.h"
#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

// What a machine answers: the highest leaf of cpuid, ecx of leaf 1, ebx of leaf 7, ecx of leaf 0x80000001, xgetbv, and ecx of leaf 7.
struct Machine {
  const char* name;
  uint32_t leaves, leaf1, leaf7, extended, saved;
  uint32_t more7 = 0;
};
constexpr uint32_t kNehalemBits = 1u << 0 | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23;
constexpr uint32_t kSandyBits = kNehalemBits | 1u << 27 | 1u << 28;             // OSXSAVE, AVX
constexpr uint32_t kHaswellBits = kSandyBits | 1u << 12 | 1u << 22 | 1u << 29;  // FMA, MOVBE, F16C
constexpr uint32_t kHaswell7 = 1u << 3 | 1u << 5 | 1u << 8, kExtended = 1u << 0 | 1u << 5;
constexpr uint32_t kSkylake7 = kHaswell7 | 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
constexpr Machine kCore2{"Core 2", 5, 1u << 0 | 1u << 9 | 1u << 13, 0, 1u << 0, 0};
constexpr Machine kNehalem{"Nehalem", 11, kNehalemBits, 0, 1u << 0, 0};
constexpr Machine kSandyBridge{"Sandy Bridge", 13, kSandyBits, 0, 1u << 0, 0x7};
constexpr Machine kHaswell{"Haswell", 13, kHaswellBits, kHaswell7, kExtended, 0x7};
constexpr Machine kHaswellUnsaved{"Haswell, a system that does not save AVX", 13, kHaswellBits, kHaswell7, kExtended, 0x3};
constexpr Machine kSkylake{"Skylake-SP", 22, kHaswellBits, kSkylake7, kExtended, 0xe7};
constexpr Machine kCascadeLake{"Cascade Lake", 22, kHaswellBits, kSkylake7, kExtended, 0xe7, 1u << 11};
constexpr Machine kSkylakeUnsaved{"Skylake-SP, a system that does not save AVX-512", 22, kHaswellBits, kSkylake7, kExtended, 0x7};

// Gives the machine's answer where `pid` is about to ask the processor for it.
void AnswerFor(const Machine& machine, pid_t pid) {
  user_regs_struct r{};
  ptrace(PTRACE_GETREGS, pid, nullptr, &r);
  const auto code = static_cast<uint64_t>(ptrace(PTRACE_PEEKTEXT, pid, r.rip, nullptr));
  if ((code & 0xffff) == 0xa20f) {  // cpuid
    const auto leaf = static_cast<uint32_t>(r.rax);
    r.rax = leaf == 0 ? machine.leaves : leaf == 0x80000000 ? 0x80000008 : 0;
    r.rbx = leaf == 7 ? machine.leaf7 : 0;
    r.rcx = leaf == 1 ? machine.leaf1 : leaf == 0x80000001 ? machine.extended : leaf == 7 ? machine.more7 : 0;
    r.rdx = 0;
    r.rip += 2;
  } else if ((code & 0xffffff) == 0xd0010f) {  // xgetbv
    EXPECT_NE(machine.saved, 0U) << "xgetbv on a machine that does not know it";
    r.rax = machine.saved;
    r.rdx = 0;
    r.rip += 3;
  } else {
    return;
  }
  ptrace(PTRACE_SETREGS, pid, nullptr, &r);
}

struct Ended {
  int status = -1;
  std::string message;
};

// Loads the shared object, and so runs what it runs before `main`, in a process whose every instruction is watched.
Ended LoadOn(const Machine& machine, const std::string& path) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(ends[1], STDERR_FILENO);
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    _exit(dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr ? 0 : 99);
  }
  close(ends[1]);
  int state = 0;
  waitpid(pid, &state, 0);
  while (WIFSTOPPED(state)) {
    AnswerFor(machine, pid);
    if (ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr) != 0) break;
    waitpid(pid, &state, 0);
  }
  Ended ended{WIFEXITED(state) ? WEXITSTATUS(state) : -1, ""};
  std::array<char, 512> text{};
  for (ssize_t n = 0; (n = read(ends[0], text.data(), text.size())) > 0;) ended.message.append(text.data(), static_cast<size_t>(n));
  close(ends[0]);
  return ended;
}

class Cpu : public BodyTest {
 protected:
  // lacks: what the message names; empty: it runs
  void Expect(const char* target, const Machine& machine, const std::string& lacks) {
    if (cases_.cases.empty()) cases_.Add("one", {I64()}, I64(), [](Builder&, const In& in) { return in[0]; });
    const test::SharedObject object(cases_.program, target);
    const Ended ended = LoadOn(machine, object.path());
    const std::string base = std::string(target) == "generic" ? "x86-64-v3" : target;
    EXPECT_EQ(ended.status, lacks.empty() ? 0 : 1) << target << " on " << machine.name;
    EXPECT_EQ(ended.message, lacks.empty() ? ""
                                           : "this server was built for " + base + ", and this machine lacks " + lacks +
                                                 "; build it with --target-cpu for this machine\n")
        << target << " on " << machine.name;
  }
};

TEST_F(Cpu, AnOlderOneGetsAMessageAndStatus1) {
  Expect("generic", kCore2, "fma sse4.1 sse4.2 movbe popcnt avx f16c bmi avx2 bmi2 lzcnt");
  Expect("generic", kNehalem, "fma movbe avx f16c bmi avx2 bmi2 lzcnt");
  Expect("generic", kSandyBridge, "fma movbe f16c bmi avx2 bmi2 lzcnt");
  Expect("generic", kHaswellUnsaved, "fma avx f16c avx2");
}

TEST_F(Cpu, OneThatIsNewEnoughRuns) {
  Expect("generic", kHaswell, "");
  Expect("generic", kSkylake, "");
  Expect("generic", kSkylakeUnsaved, "");
  Expect("x86-64", kNehalem, "");
  Expect("skylake-avx512", kCascadeLake, "");
}

TEST_F(Cpu, CodeForAvx512NeedsItAndASystemThatSavesIt) {
  Expect("x86-64-v4", kHaswell, "avx512f avx512dq avx512cd avx512bw avx512vl");
  Expect("x86-64-v4", kSkylakeUnsaved, "avx512f avx512dq avx512cd avx512bw avx512vl");
  Expect("x86-64-v4", kSkylake, "");
}

TEST_F(Cpu, CodeForANamedOneNeedsAllThatItHas) {
  Expect("bdver4", kSkylake, "sse4a xop fma4 tbm");
  Expect("cascadelake", kSkylake, "avx512vnni");
  Expect("cascadelake", kCascadeLake, "");
  Expect("haswell", kSandyBridge, "fma movbe f16c bmi avx2 bmi2 lzcnt");
}

TEST_F(Cpu, CodeForThisOneRunsHere) {
  if (cases_.cases.empty()) cases_.Add("one", {I64()}, I64(), [](Builder&, const In& in) { return in[0]; });
  const test::SharedObject object(cases_.program, "native");
  void* loaded = dlopen(object.path().c_str(), RTLD_LAZY | RTLD_LOCAL);
  EXPECT_NE(loaded, nullptr);
}

// A feature that a new LLVM brings is either asked for at the start or is one that no code has unless it is asked for by name.
TEST(CpuFeatures, AreAllKnown) {
  const std::set<std::string_view> unused = {
      "adx",        "aes",      "amx-bf16",   "amx-complex", "amx-fp16",  "amx-int8",  "amx-tile",  "cldemote",
      "clflushopt", "clwb",     "clzero",     "cmov",        "cmpccxadd", "crc32",     "cx8",       "enqcmd",
      "evex512",    "fsgsbase", "fxsr",       "hreset",      "invpcid",   "kl",        "lwp",       "mmx",
      "movdir64b",  "movdiri",  "mwaitx",     "pclmul",      "pconfig",   "pku",       "prefetchi", "prfchw",
      "ptwrite",    "rdpid",    "rdpru",      "rdrnd",       "rdseed",    "serialize", "sgx",       "sha",
      "sha512",     "shstk",    "sm3",        "sm4",         "sse",       "sse2",      "tsxldtrk",  "uintr",
      "usermsr",    "vaes",     "vpclmulqdq", "waitpkg",     "wbnoinvd",  "widekl",    "x87",       "avx512vp2intersect",
      "xsave",      "xsavec",   "xsaveopt",   "xsaves"};
  llvm::SmallVector<llvm::StringRef, 64> cpus;
  llvm::X86::fillValidCPUArchList(cpus, /*Only64Bit=*/true);
  for (const llvm::StringRef cpu : cpus) {
    std::set<std::string_view> known = unused;
    for (const CpuFeature& feature : FeaturesOf(cpu)) known.insert(feature.name);
    llvm::SmallVector<llvm::StringRef, 64> listed;
    llvm::X86::getFeaturesForCPU(cpu, listed);
    for (const llvm::StringRef feature : listed) EXPECT_TRUE(known.contains(feature)) << feature.str() << " of " << cpu.str();
  }
}

// The other tests of bodies compare v3, and v4 where the CPU has it: this one says which of the two happened.
TEST_F(Cpu, WideCopiesGiveTheBitsOfNarrowOnes) {
  if (!__builtin_cpu_supports("x86-64-v4"))
    GTEST_SKIP() << "this CPU has no AVX-512: copies of loops for x86-64-v4 are not compared with v3";
  const TypeId floats = Tensor(DType::kF32, {-1});
  cases_.Add("exp", {floats}, floats, [this](Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    b.Close(ir::EmitMath(b, OpKind::kExp, b.Load(in[0], {b.Param(0)})));
    return b.Build(DType::kF32, {b.Dim(in[0], 0)}, block);
  });
  wide_ = true;
  Check({0, 1, 15, 16, 17, 63, 200});
}

size_t WideCopies(const ir::Program& program) {
  llvm::LLVMContext context;
  const auto module = Lower(program, context, {});
  return static_cast<size_t>(
      std::count_if(module->begin(), module->end(), [](const llvm::Function& function) { return function.getName().ends_with(".v4"); }));
}

TEST_F(Cpu, LoopsOfFewTurnsHaveNoCopyForWideOnes) {
  const auto add = [this](const std::string& name, int64_t rows, int64_t columns) {
    const TypeId given = Tensor(DType::kF32, {rows, columns});
    cases_.Add(name, {given}, given, [=, this](Builder& b, const In& in) {
      const ir::BlockId each = b.Open({I64(), I64()});
      b.Close(b.Mul(b.Load(in[0], {b.Param(0), b.Param(1)}), b.F32(2)));
      const ValueId width = columns < 0 ? b.Dim(in[0], 1) : b.I64(columns);
      return b.Build(DType::kF32, {b.I64(rows), width}, each);
    });
  };
  add("few", 32, 32);
  EXPECT_EQ(WideCopies(cases_.program), 0U);
  add("more", 32, 33);
  EXPECT_EQ(WideCopies(cases_.program), 1U);
  add("any", 1, -1);
  EXPECT_EQ(WideCopies(cases_.program), 2U);
}

}  // namespace
}  // namespace wf::lower::testing
