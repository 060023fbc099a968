#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/model/program.h"

namespace wf::model {

inline constexpr size_t kNoNode = SIZE_MAX;

// Which nodes of a graph write and read a value, by the value's number. Kept up to date by who changes the graph.
struct Uses {
  Uses(const Program& program, const std::vector<bool>& gone);  // gone: nodes that do not count

  std::vector<std::vector<size_t>> readers;  // kNoNode: it is a result of the graph
  std::vector<size_t> writer;                // kNoNode: it is an input or a constant
};

}  // namespace wf::model
