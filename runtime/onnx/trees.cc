#include "runtime/onnx/trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/onnx/op.h"
#include "runtime/onnx/reader.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr size_t kMostNodes = size_t{1} << 28;
constexpr int64_t kMostFeatures = int64_t{1} << 24, kMostTargets = 65536;

Status Wrong(std::string text) { return {base::kInvalidArgument, std::move(text)}; }

// A child: a branch or a leaf, each by its place in Source.
struct Child {
  uint32_t at = 0;
  bool is_leaf = false;
};

// Trees as both forms of the file have them, before they are laid out.
struct Source {
  struct Branch {
    double split = 0;
    uint32_t feature = 0;
    TreeMode mode = TreeMode::kLessOrEqual;
    bool missing_goes_true = false;
    uint32_t members = kNoMembers;
    Child on_true, on_false;
  };
  struct Weight {
    uint32_t leaf, target;
    double value;
  };
  std::vector<Branch> branches;
  size_t leaves = 0;
  std::vector<Weight> weights;  // sorted by leaf
  std::vector<Child> roots;
};

// The attributes of one node.
class Arrays {
 public:
  Arrays(const Model& model, const Graph& graph, const Node& node) : model_(model), graph_(graph), node_(node) {}

  std::span<const int64_t> Ints(const char* name) const { return node_.Ints(name); }

  // Floats of an attribute, or of its form as a tensor, which may be f64. `wide` is set when it is.
  Status Floats(const char* name, const char* as_tensor, std::vector<double>& out, bool& wide) const {
    const Attribute* narrow = node_.Find(name);
    if (narrow != nullptr && narrow->kind == Attribute::Kind::kFloats) out.assign(narrow->floats.begin(), narrow->floats.end());
    const Attribute* tensor = node_.Find(as_tensor);
    if (tensor == nullptr || tensor->kind != Attribute::Kind::kTensor) return Status::Ok();
    if (!out.empty()) return Wrong(fmt::format("both `{}` and `{}`", name, as_tensor));
    const Weight& weight = graph_.weight(tensor->tensor);
    if (weight.dtype != WF_F32 && weight.dtype != WF_F64)
      return Wrong(fmt::format("`{}` has elements of type {}, wanted f32 or f64", as_tensor, TypeName(weight.dtype)));
    wide = wide || weight.dtype == WF_F64;
    std::vector<uint8_t> bytes;
    WF_RETURN_IF_ERROR(Elements(weight, bytes));
    out.resize(static_cast<size_t>(weight.count()));
    for (size_t i = 0; i < out.size(); ++i) {
      float value = 0;
      if (weight.dtype == WF_F32) std::memcpy(&value, bytes.data() + 4 * i, 4);
      if (weight.dtype == WF_F64) std::memcpy(&out[i], bytes.data() + 8 * i, 8);
      if (weight.dtype == WF_F32) out[i] = static_cast<double>(value);
    }
    return Status::Ok();
  }

  Status Bytes(const char* name, std::vector<uint8_t>& out) const {
    const Attribute* tensor = node_.Find(name);
    if (tensor == nullptr || tensor->kind != Attribute::Kind::kTensor) return Wrong(fmt::format("no `{}`", name));
    const Weight& weight = graph_.weight(tensor->tensor);
    if (weight.dtype != WF_U8) return Wrong(fmt::format("`{}` has elements of type {}, wanted u8", name, TypeName(weight.dtype)));
    return Elements(weight, out);
  }

 private:
  Status Elements(const Weight& weight, std::vector<uint8_t>& bytes) const {
    if (weight.size_bytes() > int64_t{8} << 30) return {base::kResourceExhausted, "more elements than fit into memory"};
    bytes.resize(static_cast<size_t>(weight.size_bytes()));
    return ReadElements(model_, weight, bytes);
  }

  const Model& model_;
  const Graph& graph_;
  const Node& node_;
};

Status SameLength(const char* name, size_t length, const char* other, size_t wanted) {
  if (length == wanted) return Status::Ok();
  return Wrong(fmt::format("`{}` has {} elements, `{}` {}", name, length, other, wanted));
}

Status CheckFeature(int64_t feature) {
  if (feature >= 0 && feature < kMostFeatures) return Status::Ok();
  return Wrong(fmt::format("a branch on feature {}", feature));
}

Status CheckTarget(const char* name, int64_t target) {
  if (target >= 0 && target < kMostTargets) return Status::Ok();
  return Wrong(fmt::format("`{}` has {}, wanted 0 to {}", name, target, kMostTargets - 1));
}

bool ModeOf(std::string_view name, TreeMode& mode) {
  constexpr std::pair<std::string_view, TreeMode> kModes[] = {
      {"BRANCH_LEQ", TreeMode::kLessOrEqual}, {"BRANCH_LT", TreeMode::kLess},  {"BRANCH_GTE", TreeMode::kGreaterOrEqual},
      {"BRANCH_GT", TreeMode::kGreater},      {"BRANCH_EQ", TreeMode::kEqual}, {"BRANCH_NEQ", TreeMode::kNotEqual},
  };
  const auto* row = std::find_if(std::begin(kModes), std::end(kModes), [&](const auto& each) { return each.first == name; });
  if (row == std::end(kModes)) return false;
  mode = row->second;
  return true;
}

// The form up to operator set 3: nodes of a tree have numbers, leaves stand among them, weights name both.
class OldForm {
 public:
  OldForm(const Arrays& arrays, const Node& node, bool classifier, Source& out)
      : arrays_(arrays), node_(node), kind_(classifier ? "class" : "target"), out_(out) {}

  Status Read(bool& wide) {
    const Attribute* modes = node_.Find("nodes_modes");
    if (modes == nullptr) return Wrong("no `nodes_modes`");
    tree_ = arrays_.Ints("nodes_treeids");
    id_ = arrays_.Ints("nodes_nodeids");
    const size_t n = id_.size();
    if (n == 0 || n > kMostNodes) return Wrong(fmt::format("{} nodes of trees", n));
    std::vector<double> splits;
    WF_RETURN_IF_ERROR(arrays_.Floats("nodes_values", "nodes_values_as_tensor", splits, wide));
    WF_RETURN_IF_ERROR(CheckLengths(modes->strings.size(), splits.size()));
    MakeIndex();
    for (size_t i = 1; i < n; ++i) {
      if (KeyAt(i - 1) == KeyAt(i)) return Wrong(fmt::format("tree {} has two nodes {}", tree_[order_[i]], id_[order_[i]]));
    }
    WF_RETURN_IF_ERROR(PlaceNodes(modes->strings));
    for (size_t i = 0; i < n; ++i) {
      if (!place_[i].is_leaf) WF_RETURN_IF_ERROR(ReadBranch(i, splits[i]));
    }
    std::set<int64_t> seen;
    for (size_t i = 0; i < n; ++i) {
      if ((i == 0 || tree_[i] != tree_[i - 1]) && seen.insert(tree_[i]).second) out_.roots.push_back(place_[i]);
    }
    return ReadWeights(wide);
  }

 private:
  using Key = std::pair<int64_t, int64_t>;
  Key KeyAt(size_t i) const { return {tree_[order_[i]], id_[order_[i]]}; }

  Status CheckLengths(size_t modes, size_t splits) {
    const size_t n = id_.size();
    WF_RETURN_IF_ERROR(SameLength("nodes_modes", modes, "nodes_nodeids", n));
    WF_RETURN_IF_ERROR(SameLength("nodes_values", splits, "nodes_nodeids", n));
    for (const char* name : {"nodes_treeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids"})
      WF_RETURN_IF_ERROR(SameLength(name, arrays_.Ints(name).size(), "nodes_nodeids", n));
    const size_t tracks = arrays_.Ints("nodes_missing_value_tracks_true").size();
    return tracks == 0 ? Status::Ok() : SameLength("nodes_missing_value_tracks_true", tracks, "nodes_nodeids", n);
  }

  // Places of nodes by tree and number. Exporters write them in that order.
  void MakeIndex() {
    order_.resize(id_.size());
    std::iota(order_.begin(), order_.end(), uint32_t{0});
    const auto before = [this](uint32_t a, uint32_t b) { return Key{tree_[a], id_[a]} < Key{tree_[b], id_[b]}; };
    if (!std::is_sorted(order_.begin(), order_.end(), before)) std::sort(order_.begin(), order_.end(), before);
  }

  // From a node of the same tree near to it, where it stands when the numbers of a tree leave none out.
  bool Find(int64_t tree, int64_t id, uint32_t& at) const {
    const Key wanted{tree, id};
    size_t low = 0, high = order_.size();
    if (last_ < high && tree_[order_[last_]] == tree) {
      int64_t step = 0;
      if (__builtin_sub_overflow(id, id_[order_[last_]], &step)) step = id < 0 ? -kGuess : kGuess;
      const int64_t guess = static_cast<int64_t>(last_) + std::clamp(step, -kGuess, kGuess);
      if (guess >= 0 && static_cast<size_t>(guess) < high && KeyAt(static_cast<size_t>(guess)) == wanted) {
        last_ = static_cast<size_t>(guess);
        at = order_[last_];
        return true;
      }
    }
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (KeyAt(middle) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    if (low == order_.size() || KeyAt(low) != wanted) return false;
    last_ = low;
    at = order_[low];
    return true;
  }

  Status PlaceNodes(const std::vector<std::string>& modes) {
    place_.resize(modes.size());
    for (size_t i = 0; i < modes.size(); ++i) {
      place_[i].is_leaf = modes[i] == "LEAF";
      if (place_[i].is_leaf) {
        place_[i].at = static_cast<uint32_t>(out_.leaves++);
        continue;
      }
      place_[i].at = static_cast<uint32_t>(out_.branches.size());
      if (!ModeOf(modes[i], out_.branches.emplace_back().mode))
        return {base::kUnimplemented, fmt::format("a node of mode `{}` is not supported", modes[i].substr(0, 40))};
    }
    return Status::Ok();
  }

  Status ReadBranch(size_t i, double split) {
    Source::Branch& branch = out_.branches[place_[i].at];
    const int64_t feature = arrays_.Ints("nodes_featureids")[i];
    WF_RETURN_IF_ERROR(CheckFeature(feature));
    branch.split = split;
    branch.feature = static_cast<uint32_t>(feature);
    const auto tracks = arrays_.Ints("nodes_missing_value_tracks_true");
    branch.missing_goes_true = !tracks.empty() && tracks[i] != 0;
    for (const bool on : {true, false}) {
      const int64_t child = arrays_.Ints(on ? "nodes_truenodeids" : "nodes_falsenodeids")[i];
      uint32_t at = 0;
      if (!Find(tree_[i], child, at)) return Wrong(fmt::format("tree {} has no node {}, the child of {}", tree_[i], child, id_[i]));
      (on ? branch.on_true : branch.on_false) = place_[at];
    }
    return Status::Ok();
  }

  Status ReadWeights(bool& wide) {
    const auto name = [this](const char* what) { return kind_ + what; };
    const std::string trees = name("_treeids"), nodes = name("_nodeids"), ids = name("_ids"), weights = name("_weights");
    const auto tree = arrays_.Ints(trees.c_str()), id = arrays_.Ints(nodes.c_str()), target = arrays_.Ints(ids.c_str());
    std::vector<double> value;
    WF_RETURN_IF_ERROR(arrays_.Floats(weights.c_str(), name("_weights_as_tensor").c_str(), value, wide));
    WF_RETURN_IF_ERROR(SameLength(nodes.c_str(), id.size(), trees.c_str(), tree.size()));
    WF_RETURN_IF_ERROR(SameLength(ids.c_str(), target.size(), trees.c_str(), tree.size()));
    WF_RETURN_IF_ERROR(SameLength(weights.c_str(), value.size(), trees.c_str(), tree.size()));
    for (size_t i = 0; i < tree.size(); ++i) {
      uint32_t at = 0;
      if (!Find(tree[i], id[i], at)) return Wrong(fmt::format("a weight of node {} of tree {}, which is not there", id[i], tree[i]));
      WF_RETURN_IF_ERROR(CheckTarget(ids.c_str(), target[i]));
      if (place_[at].is_leaf) out_.weights.push_back({place_[at].at, static_cast<uint32_t>(target[i]), value[i]});
    }
    return Status::Ok();
  }

  static constexpr int64_t kGuess = int64_t{1} << 30;
  const Arrays& arrays_;
  const Node& node_;
  const std::string kind_;
  Source& out_;
  std::span<const int64_t> tree_, id_;
  std::vector<uint32_t> order_;
  std::vector<Child> place_;  // by node
  mutable size_t last_ = 0;   // in order_, found last
};

// The form of operator set 5: branches and leaves are arrays of their own.
class NewForm {
 public:
  NewForm(const Arrays& arrays, Source& out, Trees& trees) : arrays_(arrays), out_(out), trees_(trees) {}

  Status Read(bool& wide) {
    std::vector<double> splits, weights, members;
    std::vector<uint8_t> modes;
    WF_RETURN_IF_ERROR(arrays_.Floats("", "nodes_splits", splits, wide));
    WF_RETURN_IF_ERROR(arrays_.Floats("", "leaf_weights", weights, wide));
    WF_RETURN_IF_ERROR(arrays_.Floats("", "membership_values", members, wide));
    WF_RETURN_IF_ERROR(arrays_.Bytes("nodes_modes", modes));
    WF_RETURN_IF_ERROR(CheckLengths(modes.size(), splits.size()));
    WF_RETURN_IF_ERROR(ReadLeaves(weights));
    out_.branches.resize(modes.size());
    for (size_t i = 0; i < modes.size(); ++i) WF_RETURN_IF_ERROR(ReadBranch(i, modes[i], splits[i]));
    WF_RETURN_IF_ERROR(ReadMembers(members));
    for (const int64_t root : arrays_.Ints("tree_roots")) {
      if (root < 0 || static_cast<size_t>(root) >= modes.size())
        return Wrong(fmt::format("a tree whose root is node {} of {}", root, modes.size()));
      const Source::Branch& branch = out_.branches[static_cast<size_t>(root)];
      const bool only_leaf = branch.on_true.is_leaf && branch.on_false.is_leaf && branch.on_true.at == branch.on_false.at;
      out_.roots.push_back(only_leaf ? branch.on_true : Child{static_cast<uint32_t>(root), false});
    }
    return Status::Ok();
  }

 private:
  Status CheckLengths(size_t modes, size_t splits) const {
    if (modes == 0 || modes > kMostNodes) return Wrong(fmt::format("{} nodes of trees", modes));
    WF_RETURN_IF_ERROR(SameLength("nodes_splits", splits, "nodes_modes", modes));
    for (const char* name : {"nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs"})
      WF_RETURN_IF_ERROR(SameLength(name, arrays_.Ints(name).size(), "nodes_modes", modes));
    const size_t tracks = arrays_.Ints("nodes_missing_value_tracks_true").size();
    return tracks == 0 ? Status::Ok() : SameLength("nodes_missing_value_tracks_true", tracks, "nodes_modes", modes);
  }

  Status ReadLeaves(const std::vector<double>& weights) {
    const auto targets = arrays_.Ints("leaf_targetids");
    if (targets.size() > kMostNodes) return Wrong(fmt::format("{} leaves", targets.size()));
    WF_RETURN_IF_ERROR(SameLength("leaf_weights", weights.size(), "leaf_targetids", targets.size()));
    out_.leaves = targets.size();
    for (size_t i = 0; i < targets.size(); ++i) {
      WF_RETURN_IF_ERROR(CheckTarget("leaf_targetids", targets[i]));
      out_.weights.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(targets[i]), weights[i]});
    }
    return Status::Ok();
  }

  Status ReadBranch(size_t i, uint8_t mode, double split) {
    if (mode > static_cast<uint8_t>(TreeMode::kMember))
      return {base::kUnimplemented, fmt::format("a node of mode {} is not supported", mode)};
    Source::Branch& branch = out_.branches[i];
    const int64_t feature = arrays_.Ints("nodes_featureids")[i];
    WF_RETURN_IF_ERROR(CheckFeature(feature));
    branch.mode = static_cast<TreeMode>(mode);
    branch.split = split;
    branch.feature = static_cast<uint32_t>(feature);
    const auto tracks = arrays_.Ints("nodes_missing_value_tracks_true");
    branch.missing_goes_true = !tracks.empty() && tracks[i] != 0;
    for (const bool on : {true, false}) {
      const int64_t at = arrays_.Ints(on ? "nodes_truenodeids" : "nodes_falsenodeids")[i];
      const bool is_leaf = arrays_.Ints(on ? "nodes_trueleafs" : "nodes_falseleafs")[i] != 0;
      if (at < 0 || static_cast<size_t>(at) >= (is_leaf ? out_.leaves : out_.branches.size()))
        return Wrong(fmt::format("{} {}, the child of node {}, is not there", is_leaf ? "leaf" : "node", at, i));
      (on ? branch.on_true : branch.on_false) = {static_cast<uint32_t>(at), is_leaf};
    }
    return Status::Ok();
  }

  // Sets in the order of their nodes, each closed by a NaN.
  Status ReadMembers(const std::vector<double>& values) {
    size_t at = 0;
    for (Source::Branch& branch : out_.branches) {
      if (branch.mode != TreeMode::kMember) continue;
      std::vector<double> set;
      while (at < values.size() && !std::isnan(values[at])) set.push_back(values[at++]);
      if (at++ >= values.size()) return Wrong("`membership_values` has fewer sets than there are nodes of that mode");
      std::sort(set.begin(), set.end());
      branch.members = static_cast<uint32_t>(trees_.members.size());
      trees_.members.push_back(std::move(set));
    }
    return Status::Ok();
  }

  const Arrays& arrays_;
  Source& out_;
  Trees& trees_;
};

// Lays out what can be reached from the roots.
template <typename T>
class Layout {
 public:
  Layout(const Source& source, Trees& trees, Forest<T>& forest) : source_(source), trees_(trees), forest_(forest) {}

  Status Make() {
    trees_.single = trees_.targets <= 1 && source_.weights.size() == source_.leaves;
    for (size_t i = 0; trees_.single && i < source_.weights.size(); ++i) trees_.single = source_.weights[i].leaf == i;
    if (!trees_.single) SetWeights();
    taken_.resize(source_.branches.size());
    for (const Child& root : source_.roots) {
      forest_.roots.push_back(static_cast<uint32_t>(forest_.nodes.size()));
      forest_.nodes.emplace_back();
      WF_RETURN_IF_ERROR(Place(root));
    }
    return Status::Ok();
  }

 private:
  void SetWeights() {
    forest_.first.resize(source_.leaves + 1);
    for (const Source::Weight& weight : source_.weights) {
      ++forest_.first[weight.leaf + 1];
      forest_.weights.push_back({weight.target, static_cast<T>(weight.value)});
    }
    for (size_t i = 1; i < forest_.first.size(); ++i) forest_.first[i] += forest_.first[i - 1];
  }

  // The tree of a root whose place is the last node. True children first, so that a branch and the way down from it lie close together.
  Status Place(const Child& root) {
    std::vector<std::pair<Child, uint32_t>> open{{root, static_cast<uint32_t>(forest_.nodes.size()) - 1}};
    while (!open.empty()) {
      const auto [child, at] = open.back();
      open.pop_back();
      if (child.is_leaf) {
        SetLeaf(child.at, at);
        continue;
      }
      if (taken_[child.at]) return Wrong("two branches lead to one node, or a tree runs in a circle");
      taken_[child.at] = true;
      const Source::Branch& branch = source_.branches[child.at];
      SetBranch(branch, at);
      const uint32_t next = forest_.nodes[at].next;
      open.emplace_back(branch.on_false, next + 1);
      open.emplace_back(branch.on_true, next);
    }
    return Status::Ok();
  }

  void SetLeaf(uint32_t leaf, uint32_t at) {
    TreeNode<T>& node = forest_.nodes[at];
    node.next = at;
    node.leaf = leaf;
    if (trees_.single) node.split = static_cast<T>(source_.weights[leaf].value);
  }

  void SetBranch(const Source::Branch& branch, uint32_t at) {
    const auto next = static_cast<uint32_t>(forest_.nodes.size());
    forest_.nodes[at] = {static_cast<T>(branch.split), branch.feature, next, branch.members, 1, branch.mode, branch.missing_goes_true};
    forest_.nodes.resize(next + 2);
    trees_.features = std::max(trees_.features, branch.feature + 1);
    trees_.missing = trees_.missing || branch.missing_goes_true;
    trees_.uniform = trees_.uniform && (!has_mode_ || branch.mode == trees_.mode);
    trees_.mode = branch.mode;
    has_mode_ = true;
  }

  const Source& source_;
  Trees& trees_;
  Forest<T>& forest_;
  std::vector<bool> taken_;
  bool has_mode_ = false;
};

void DropArrays(Node& node) {
  constexpr std::string_view kPrefixes[] = {"nodes_", "class_", "target_", "leaf_", "tree_", "membership_", "base_values"};
  std::erase_if(node.attributes, [&](const Attribute& attribute) {
    return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                       [&](std::string_view prefix) { return attribute.name.starts_with(prefix); });
  });
  node.attributes.shrink_to_fit();
}

}  // namespace

Status ReadTrees(const Model& model, const Graph& graph, Node& node) {
  auto trees = std::make_shared<Trees>();
  const Arrays arrays(model, graph, node);
  Source source;
  if (node.op == Op::kMlTreeEnsemble)
    WF_RETURN_IF_ERROR(NewForm(arrays, source, *trees).Read(trees->wide));
  else
    WF_RETURN_IF_ERROR(OldForm(arrays, node, node.op == Op::kMlTreeEnsembleClassifier, source).Read(trees->wide));
  WF_RETURN_IF_ERROR(arrays.Floats("base_values", "base_values_as_tensor", trees->base_values, trees->wide));
  const auto by_leaf = [](const Source::Weight& a, const Source::Weight& b) { return a.leaf < b.leaf; };
  std::stable_sort(source.weights.begin(), source.weights.end(), by_leaf);
  trees->one_target = true;
  for (const Source::Weight& weight : source.weights) {
    trees->targets = std::max(trees->targets, weight.target + 1);
    trees->one_target = trees->one_target && weight.target == source.weights[0].target;
    trees->all_positive = trees->all_positive && !(weight.value < 0);
  }
  WF_RETURN_IF_ERROR(trees->wide ? Layout<double>(source, *trees, trees->f64).Make() : Layout<float>(source, *trees, trees->f32).Make());
  DropArrays(node);
  node.trees = std::move(trees);
  return Status::Ok();
}

}  // namespace wf::onnx
