#pragma once

#include <list>
#include <memory>
#include <span>
#include <vector>

#include "runtime/model/part.h"

namespace wf::model {

// Runs a program of which some shapes depend on data, part by part: a stretch of nodes whose shapes follow from those of what it reads is
// a plan; a node whose parameters are computed gets them as constants; one of which only the elements tell the extents is a kernel of its
// own. Parts are kept for runs of the same shapes.
// Thread: one at a time; REQUIRES kernels::UseOneThread() on it before.   Owns: its parts.   Borrows: program, budget.
// Bounds: kMostParts are kept.   Cost: of shapes and parameters that ran before no allocation.
class Walk {
 public:
  static constexpr size_t kMostParts = 128;

  Walk(const Program& program, const PartLimits& limits) : program_(program), limits_(limits), values_(program.graph.values.size()) {}

  // inputs: of the program's graph, in its order. Errors: as of Part; kCancelled.
  base::Status Run(std::span<const Elements> inputs);
  // Of the last run that did not fail, until the next; in the order of the graph.
  const Elements& output(size_t i) const { return values_[static_cast<size_t>(program_.graph.outputs[i])]; }
  std::vector<Elements> outputs() const;
  void Drop() { parts_.clear(); }  // what is kept; outputs are gone

 private:
  base::Result<Part*> PartAt(size_t begin);
  base::Status Begin(std::span<const Elements> inputs);

  const Program& program_;
  const PartLimits limits_;
  std::vector<Elements> values_;            // by value of the graph, those that are there
  std::list<std::unique_ptr<Part>> parts_;  // the one used last first
};

// Whether running it takes a walk: for inputs of these shapes, all numbers, a plan does not know the shapes of some results. Errors: the
// program takes no such inputs.
base::Result<bool> DependsOnData(const Program& program, std::span<const onnx::Port> inputs);
// The same where no such shapes are known: by what the nodes are.
bool HasNodesOfData(const Program& program);
// Whether any run of a walk has room in so many bytes, as far as that is certain: each node that every run reaches, its results and what it
// reads of other nodes, where their extents are numbers. inputs: as the file has them. Errors: kOutOfRange; the text names the node and the
// largest of its results.   Cost: one shape inference.
base::Status CheckSettled(const Program& program, std::span<const onnx::Port> inputs, int64_t most_bytes);

}  // namespace wf::model
