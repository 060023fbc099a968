#include "runtime/onnx/lengths.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/onnx/infer.h"

namespace wf::onnx {
namespace {

// Two that nothing else in a model is likely to be, so that a node that takes both together refuses them.
constexpr int64_t kOne = 3, kOther = 59;

class Lengths {
 public:
  Lengths(const Signature& file, const Graph* graph) : file_(file), graph_(graph) {}

  const Port* Find() {
    std::vector<std::string> names;  // of axis 0, each once
    for (const Port& input : file_.inputs) {
      if (std::find(names.begin(), names.end(), NameOf(input)) == names.end()) names.push_back(NameOf(input));
    }
    const auto unlike = std::find_if(file_.outputs.begin(), file_.outputs.end(), [&](const Port& output) {
      return std::find(names.begin(), names.end(), output.dim[0].symbol()) == names.end();
    });
    if (names.size() == 1 && unlike == file_.outputs.end()) return nullptr;
    for (const int64_t length : {kOne, kOther}) {
      std::map<std::string, int64_t> all;
      for (const std::string& name : names) all[name] = length;
      auto& given = length == kOne ? given_one_ : given_other_;
      given = Infer(all);
      if (!given) return names.size() == 1 ? &*unlike : InputOf(names[1]);
    }
    if (const Port* input = FindUnlikeInput(names); input != nullptr) return input;
    return FindUnlikeOutput(names);
  }

 private:
  static std::string NameOf(const Port& input) { return *input.dim[0].symbol(); }
  const Port* InputOf(const std::string& name) const {
    return &*std::find_if(file_.inputs.begin(), file_.inputs.end(), [&](const Port& input) { return NameOf(input) == name; });
  }

  // With these extents of axes 0; nothing when a node refuses them.
  std::optional<std::vector<Known>> Infer(const std::map<std::string, int64_t>& lengths) {
    if (graph_ == nullptr || ++trials_ > kMostTrials) return std::nullopt;
    std::vector<Port> inputs = file_.inputs;
    for (Port& input : inputs) {
      if (const auto at = lengths.find(NameOf(input)); at != lengths.end()) input.dim[0] = Dim(at->second);
    }
    auto known = InferShapes(*graph_, inputs, "");
    return known.ok() ? std::optional(*std::move(known)) : std::nullopt;
  }

  // Both run with each of the two lengths, so what is refused is that they differ.
  bool AreOne(const std::string& a, const std::string& b) { return !Infer({{a, kOne}, {b, kOther}}) && trials_ <= kMostTrials; }

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
  const Port* FindUnlikeOutput(const std::vector<std::string>& names) const {
    for (size_t i = 0; i < file_.outputs.size(); ++i) {
      const auto value = static_cast<size_t>(graph_->outputs[i]);
      const Dim &one = (*given_one_)[value].dim[0], &other = (*given_other_)[value].dim[0];
      if (one == Dim(kOne) && other == Dim(kOther)) continue;
      const bool is_open = !one.is_constant() && !other.is_constant();
      const bool is_named = std::find(names.begin(), names.end(), file_.outputs[i].dim[0].symbol()) != names.end();
      if (!is_open || !is_named) return &file_.outputs[i];
    }
    return nullptr;
  }

  const Signature& file_;
  const Graph* const graph_;
  int trials_ = 0;
  std::optional<std::vector<Known>> given_one_, given_other_;
};

}  // namespace

const Port* FindUnlikeFirst(const Signature& file, const Graph* graph) { return Lengths(file, graph).Find(); }

}  // namespace wf::onnx
