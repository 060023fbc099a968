#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace wf::lower {

// Where a processor says that it has a feature, by LLVM's name: a bit of a register that cpuid answers in. What its system must save of the
// registers that it brings: bits of xcr0.
struct CpuFeature {
  enum class Word : uint8_t { kA, kB, kC, kD };
  std::string_view name;
  uint32_t leaf, subleaf;
  Word word;
  uint32_t bit, saved;
};

// Those that code for `cpu` may use, though nobody asked for one by name, and that not every x86-64 has.
std::vector<CpuFeature> FeaturesOf(std::string_view cpu);

// Names of those of `cpu` that this machine lacks.
std::vector<std::string> MissingHere(std::string_view cpu);

}  // namespace wf::lower
