#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/driver/graph.h"

namespace wf::driver {

// What decides whether parts of a workflow run: the tasks that pass control on, and the tasks that enter blocks.
// Borrows: program, names (must outlive this).
class ControlReader {
 public:
  using NameOf = std::function<std::string(ir::NodeId)>;  // as the graph shows it; empty: it does not

  // `root`: of the workflow that is read.
  ControlReader(const ir::Program& program, ir::RegionId root, const NameOf& name_of);
  std::vector<Graph::Control> Controls() const;  // in textual order
  void Read(ir::TaskId id, Graph::Node& node) const;
  Graph::Control Return(ir::TaskId id) const;  // of the workflow itself

  // The task that enters the block that `region` is; kNone: it is a workflow's own.
  ir::TaskId Entering(ir::RegionId region) const { return entering_[static_cast<size_t>(region)]; }

 private:
  bool Inside(ir::RegionId region) const;
  void NameControls();
  std::vector<std::string> NodesRead(ir::TaskId id) const;
  bool IsNobodys(ir::NodeId node) const;
  std::vector<ir::TaskId> Waits(ir::TaskId id) const;
  void ReadBlocks(ir::TaskId id, std::vector<std::string>& after, std::vector<std::string>& inside) const;
  std::string BlockName(ir::TaskId entering, ir::RegionId block) const;
  uint32_t LineOf(const ir::Task& task) const;
  std::string KindOf(const ir::Task& task) const;

  const ir::Program& program_;
  const ir::RegionId root_;
  const NameOf& name_of_;
  std::vector<ir::TaskId> entering_;   // per region
  std::vector<ir::TaskId> writers_;    // per slot
  std::vector<std::string> controls_;  // names, per task; empty: it is none
};

}  // namespace wf::driver
