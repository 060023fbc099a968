#include "runtime/onnx/lengths.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/onnx/infer.h"
#include "runtime/onnx/unread.h"

namespace wf::onnx {
namespace {

// A node that takes inputs of both lengths and does not take one for a multiple of the other refuses one of the two ways round. Others: a
// multiple, one that differs from it, and one that is neither, so that what they have in common, as that a sum of two has to be even, is
// not taken for what all lengths have. Many: more than outputs are cut to; the next where tensors of so many rows are too large.
constexpr int64_t kOne = 3, kOthers[] = {60, 6, 11}, kMany[] = {1 << 20, 1 << 14, 1 << 10};

class Lengths {
 public:
  Lengths(const Signature& file, const Graph* graph) : file_(file), graph_(graph), inputs_(file.inputs), is_asked_(Asked(file, graph)) {}

  Unlike Find() {
    const std::vector<std::string> names = Names();
    const Port* unlike = FindAmong(names);
    return unlike == nullptr ? Unlike() : Unlike{unlike, InputOf(names[0])};
  }

 private:
  // By input: a node reads it, or it is an output. All of them where none is.
  static std::vector<bool> Asked(const Signature& file, const Graph* graph) {
    std::vector<bool> all(file.inputs.size(), true);
    if (graph == nullptr) return all;
    const std::vector<bool> is_read = ReadValues(*graph);
    std::vector<bool> asked;
    for (const int input : graph->inputs) asked.push_back(is_read[static_cast<size_t>(input)]);
    return std::find(asked.begin(), asked.end(), true) == asked.end() ? all : asked;
  }

  const Port* FindAmong(const std::vector<std::string>& names) {
    const auto unlike =
        std::find_if(file_.outputs.begin(), file_.outputs.end(), [&](const Port& output) { return !IsNamed(output, names); });
    if (names.size() == 1 && unlike == file_.outputs.end()) return nullptr;
    std::vector<int64_t> lengths = {kOne};
    lengths.insert(lengths.end(), std::begin(kOthers), std::end(kOthers));
    for (const int64_t length : lengths) {
      auto given = InferAll(names, length);
      if (!given) return names.size() == 1 ? &*unlike : InputOf(names[1]);
      cost_ = WorkOf(*given);
      given_.emplace_back(length, *std::move(given));
    }
    if (const Port* input = FindUnlikeInput(names); input != nullptr) return input;
    return FindUnlikeOutput(names);
  }

  static std::string NameOf(const Port& input) { return *input.dim[0].symbol(); }
  static bool IsNamed(const Port& output, const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), output.dim[0].symbol()) != names.end();
  }
  const Port* InputOf(const std::string& name) const {
    return &*std::find_if(file_.inputs.begin(), file_.inputs.end(), [&](const Port& input) { return NameOf(input) == name; });
  }

  std::vector<std::string> Names() const {  // of axis 0, each once
    std::vector<std::string> names;
    for (size_t i = 0; i < file_.inputs.size(); ++i) {
      const std::string name = NameOf(file_.inputs[i]);
      if (is_asked_[i] && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  }

  // With these extents of axes 0; nothing when a node refuses them, or when there was work enough.
  std::optional<std::vector<Known>> Infer(const std::map<std::string, int64_t>& lengths) {
    work_ += cost_;
    if (graph_ == nullptr || IsSpent()) return std::nullopt;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const auto at = lengths.find(NameOf(file_.inputs[i]));
      inputs_[i].dim[0] = at == lengths.end() ? file_.inputs[i].dim[0] : Dim(at->second);
    }
    auto known = InferShapes(*graph_, inputs_, "");
    return known.ok() ? std::optional(*std::move(known)) : std::nullopt;
  }
  std::optional<std::vector<Known>> InferAll(const std::vector<std::string>& names, int64_t length) {
    std::map<std::string, int64_t> all;
    for (const std::string& name : names) all[name] = length;
    return Infer(all);
  }
  bool IsSpent() const { return work_ > kMostLengthWork; }

  // Of one inference: values, and elements that were followed.
  static int64_t WorkOf(const std::vector<Known>& known) {
    int64_t work = static_cast<int64_t>(known.size());
    for (const Known& each : known) work += each.content ? static_cast<int64_t>(each.content->size()) : 0;
    return work;
  }

  // Both run with each of the lengths, so what is refused is that they differ.
  bool AreOne(const std::string& a, const std::string& b) {
    return std::all_of(std::begin(kOthers), std::end(kOthers),
                       [&](int64_t other) { return !Infer({{a, kOne}, {b, other}}) && !Infer({{a, other}, {b, kOne}}) && !IsSpent(); });
  }

  // A name is joined to those that are known to be one with the first by any of them: the nodes need not take it together with each.
  const Port* FindUnlikeInput(const std::vector<std::string>& names) {
    std::vector<std::string> joined = {names[0]}, left(names.begin() + 1, names.end());
    for (size_t i = 0; i < joined.size(); ++i) {
      const std::string with = joined[i];
      std::erase_if(left, [&](const std::string& name) {
        if (!AreOne(with, name)) return false;
        joined.push_back(name);
        return true;
      });
    }
    return left.empty() ? nullptr : InputOf(left[0]);
  }

  // What only data decides is as long as the file says.
  const Port* FindUnlikeOutput(const std::vector<std::string>& names) {
    for (size_t i = 0; i < file_.outputs.size(); ++i) {
      const auto value = static_cast<size_t>(graph_->outputs[i]);
      const auto all = [&](const auto& holds) {
        return std::all_of(given_.begin(), given_.end(), [&](const auto& each) { return holds(each.second[value].dim[0], each.first); });
      };
      const bool is_named = IsNamed(file_.outputs[i], names);
      const bool is_as_long = all([](const Dim& dim, int64_t length) { return dim == Dim(length); });
      if (is_as_long && (is_named || !IsCut(names, value))) continue;
      const bool is_open = all([](const Dim& dim, int64_t) { return !dim.is_constant(); });
      if (!is_open || !is_named) return &file_.outputs[i];
    }
    return nullptr;
  }

  // It has fewer rows than many inputs have: Min(n, 1000).
  bool IsCut(const std::vector<std::string>& names, size_t value) {
    for (; !given_many_ && tried_ < std::size(kMany); ++tried_) given_many_ = InferAll(names, kMany[tried_]);
    if (!given_many_) return false;
    const Dim& many = (*given_many_)[value].dim[0];
    return many.is_constant() && many != Dim(kMany[tried_ - 1]);
  }

  const Signature& file_;
  const Graph* const graph_;
  std::vector<Port> inputs_;
  const std::vector<bool> is_asked_;  // by input
  int64_t work_ = 0, cost_ = 0;
  size_t tried_ = 0;                                           // of kMany
  std::vector<std::pair<int64_t, std::vector<Known>>> given_;  // of all inputs so long
  std::optional<std::vector<Known>> given_many_;
};

}  // namespace

Unlike FindUnlikeFirst(const Signature& file, const Graph* graph) { return Lengths(file, graph).Find(); }

}  // namespace wf::onnx
