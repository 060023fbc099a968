#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/diff/type.h"

namespace wf::diff {

struct Input {
  std::string json;                                           // an object
  std::vector<std::pair<std::string, std::string>> metadata;  // that a client sends beside it
};

struct Workflow {
  std::string name;                      // "W7"
  std::string declarations;              // it and what it uses
  std::vector<std::string> shared = {};  // declarations that the file has once
  std::vector<Input> inputs;             // of the calls
  std::vector<uint32_t> choices;         // what was asked: the same list writes the same workflow
};

// A well-typed workflow with inputs for it, directed by the seed, or by a list of answers. The same on every machine.
Workflow Generate(uint32_t number, uint64_t seed);
Workflow Generate(uint32_t number, std::vector<uint32_t> choices);

// A file that publishes them.
std::string FileOf(const std::vector<Workflow>& workflows);
constexpr size_t kPerFile = 64;

}  // namespace wf::diff
