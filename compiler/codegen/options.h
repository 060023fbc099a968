#pragma once

#include <memory>
#include <string>
#include <vector>

namespace wf::codegen {

enum class Emit { kObject, kAssembly, kLlvm };
enum class Sanitizer { kNone, kAddress, kThread };

// Bytes that the module declares as an external symbol and that become a section of their own: 64-aligned, followed by zeros up to the next
// multiple of 64.
struct BigConstant {
  std::string symbol;
  std::shared_ptr<const std::string> bytes;
};

struct Options {
  Emit emit = Emit::kObject;
  int opt_level = 2;  // 0..3
  Sanitizer sanitizer = Sanitizer::kNone;
  bool verify = false;  // run LLVM's verifier before and after the passes; a finding is our bug
  std::vector<BigConstant> big_constants;
  // How a module is cut for threads, EmitObjects alone. Part of what decides the bytes, so nothing of the machine goes in.
  size_t most_objects = 8;
  size_t least_instructions = 500;  // in an object: below, starting LLVM's passes anew costs more than another core saves
};

}  // namespace wf::codegen
