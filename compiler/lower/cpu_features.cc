#include "compiler/lower/cpu_features.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include <algorithm>

namespace wf::lower {
namespace {

using enum CpuFeature::Word;
constexpr uint32_t kAvx = 0x6, kAvx512 = 0xe6;  // SSE and AVX; then the masks and the upper halves, too

// LLVM chooses instructions of these by itself. Those of others (aes, sha, AMX, xsave and the system's) come of intrinsics alone, which
// lowering does not use, and a virtual machine may hide them.
constexpr CpuFeature kFeatures[] = {
    {"sse3", 1, 0, kC, 0, 0},
    {"ssse3", 1, 0, kC, 9, 0},
    {"fma", 1, 0, kC, 12, kAvx},
    {"cx16", 1, 0, kC, 13, 0},
    {"sse4.1", 1, 0, kC, 19, 0},
    {"sse4.2", 1, 0, kC, 20, 0},
    {"movbe", 1, 0, kC, 22, 0},
    {"popcnt", 1, 0, kC, 23, 0},
    {"avx", 1, 0, kC, 28, kAvx},
    {"f16c", 1, 0, kC, 29, kAvx},
    {"bmi", 7, 0, kB, 3, 0},
    {"avx2", 7, 0, kB, 5, kAvx},
    {"bmi2", 7, 0, kB, 8, 0},
    {"avx512f", 7, 0, kB, 16, kAvx512},
    {"avx512dq", 7, 0, kB, 17, kAvx512},
    {"avx512ifma", 7, 0, kB, 21, kAvx512},
    {"avx512cd", 7, 0, kB, 28, kAvx512},
    {"avx512bw", 7, 0, kB, 30, kAvx512},
    {"avx512vl", 7, 0, kB, 31, kAvx512},
    {"avx512vbmi", 7, 0, kC, 1, kAvx512},
    {"avx512vbmi2", 7, 0, kC, 6, kAvx512},
    {"gfni", 7, 0, kC, 8, 0},
    {"avx512vnni", 7, 0, kC, 11, kAvx512},
    {"avx512bitalg", 7, 0, kC, 12, kAvx512},
    {"avx512vpopcntdq", 7, 0, kC, 14, kAvx512},
    {"avx512fp16", 7, 0, kD, 23, kAvx512},
    {"avxvnni", 7, 1, kA, 4, kAvx},
    {"avx512bf16", 7, 1, kA, 5, kAvx512},
    {"avxifma", 7, 1, kA, 23, kAvx},
    {"avxvnniint8", 7, 1, kD, 4, kAvx},
    {"avxneconvert", 7, 1, kD, 5, kAvx},
    {"avxvnniint16", 7, 1, kD, 10, kAvx},
    {"sahf", 0x80000001, 0, kC, 0, 0},
    {"lzcnt", 0x80000001, 0, kC, 5, 0},
    {"sse4a", 0x80000001, 0, kC, 6, 0},
    {"xop", 0x80000001, 0, kC, 11, kAvx},
    {"fma4", 0x80000001, 0, kC, 16, kAvx},
    {"tbm", 0x80000001, 0, kC, 21, 0},
};

// LLVM's list leaves out what others of it imply.
constexpr std::pair<std::string_view, std::string_view> kImplied[] = {{"avx512vl", "avx512f"}, {"avx512f", "avx2"},  {"avx2", "avx"},
                                                                      {"avx", "sse4.2"},       {"sse4.2", "sse4.1"}, {"sse4.1", "ssse3"},
                                                                      {"ssse3", "sse3"}};

}  // namespace

std::vector<CpuFeature> FeaturesOf(std::string_view cpu) {
  llvm::SmallVector<llvm::StringRef, 64> listed;
  llvm::X86::getFeaturesForCPU(cpu, listed);
  std::vector<std::string_view> names(listed.begin(), listed.end());
  const auto has = [&names](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  for (const auto& [one, implied] : kImplied) {
    if (has(one) && !has(implied)) names.push_back(implied);
  }
  std::vector<CpuFeature> features;
  std::copy_if(std::begin(kFeatures), std::end(kFeatures), std::back_inserter(features),
               [&](const CpuFeature& one) { return has(one.name); });
  return features;
}

std::vector<std::string> MissingHere(std::string_view cpu) {
  const llvm::StringMap<bool> here = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> missing;
  for (const CpuFeature& feature : FeaturesOf(cpu)) {
    if (!here.lookup(feature.name)) missing.emplace_back(feature.name);
  }
  return missing;
}

}  // namespace wf::lower
