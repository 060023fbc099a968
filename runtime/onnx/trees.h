#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/base/status.h"

// The trees of an ensemble as kernels walk them: the parallel arrays of the file, checked once and laid out anew.
namespace wf::onnx {

struct Graph;
struct Model;
struct Node;

enum class TreeMode : uint8_t { kLessOrEqual, kLess, kGreaterOrEqual, kGreater, kEqual, kNotEqual, kMember };
inline constexpr uint32_t kNoMembers = std::numeric_limits<uint32_t>::max();

// The two children of a branch lie beside each other, the true one first, behind the branch itself. A leaf is its own child, so that a walk
// may stay in it: `next` its own place, `step` 0.
template <typename T>
struct TreeNode {
  T split = 0;           // of a leaf its weight, when Trees::single
  uint32_t feature = 0;  // of a leaf 0
  uint32_t next = 0;
  uint32_t leaf = 0;  // of a leaf: its place in Forest::first; of a branch of kMember: in Trees::members
  uint8_t step = 0;   // 1: a branch, whose false child is at next + 1
  TreeMode mode = TreeMode::kLessOrEqual;
  bool missing_goes_true = false;  // where NaN goes
};

template <typename T>
struct Forest {
  struct Weight {
    uint32_t target;
    T value;
  };
  std::vector<TreeNode<T>> nodes;
  std::vector<uint32_t> roots;  // by tree
  std::vector<uint32_t> first;  // of the weights of a leaf, and one more; empty when Trees::single
  std::vector<Weight> weights;
};

// Thread: immutable.   Bounds: a small multiple of the arrays in the file; every walk from a root ends in a leaf.
struct Trees {
  bool wide = false;  // thresholds and weights are f64: `f64` is filled, else `f32`
  Forest<float> f32;
  Forest<double> f64;
  bool single = false;   // one target, one weight in each leaf, which lies in the node
  bool uniform = true;   // every branch has `mode`
  bool missing = false;  // some branch sends NaN to its true child
  TreeMode mode = TreeMode::kLessOrEqual;
  uint32_t features = 0;                         // that rows must have
  uint32_t targets = 0;                          // one more than the largest target of a weight
  bool one_target = false, all_positive = true;  // of all weights: they belong to one target; none is below 0
  std::vector<std::vector<double>> members;      // of branches of kMember, each sorted
  std::vector<double> base_values;
};

// Trees of a TreeEnsemble, TreeEnsembleClassifier or TreeEnsembleRegressor, from the node's attributes, which are gone afterwards but for
// those about scores and labels. Errors: kInvalidArgument for arrays of different lengths, children that are not there, nodes that two
// branches lead to (a circle among them), kUnimplemented for a kind of branch that is not known; text without file and node.
base::Status ReadTrees(const Model& model, const Graph& graph, Node& node);

}  // namespace wf::onnx
