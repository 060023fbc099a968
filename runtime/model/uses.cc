#include "runtime/model/uses.h"

namespace wf::model {

Uses::Uses(const Program& program, const std::vector<bool>& gone)
    : readers(program.graph.values.size()), writer(program.graph.values.size(), kNoNode) {
  const auto& nodes = program.graph.nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (gone[i]) continue;
    for (const int in : nodes[i].in) {
      if (in >= 0) readers[static_cast<size_t>(in)].push_back(i);
    }
    for (const int out : nodes[i].out) {
      if (out >= 0) writer[static_cast<size_t>(out)] = i;
    }
  }
  for (const int out : program.graph.outputs) readers[static_cast<size_t>(out)].push_back(kNoNode);
}

}  // namespace wf::model
