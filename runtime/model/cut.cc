#include "runtime/model/cut.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/model/constants.h"

namespace wf::model {
namespace {

class Cutter {
 public:
  Cutter(const Program& whole, size_t begin, size_t end, std::span<const std::pair<int, Elements>> fixed)
      : whole_(whole), begin_(begin), end_(end), fixed_(fixed) {
    cut_.program.subject = whole.subject;
    cut_.program.packed_memory = whole.packed_memory;
    cut_.program.bf16 = whole.bf16;
  }

  Cut Run() {
    for (size_t i = begin_; i < end_; ++i) {
      onnx::Node node = whole_.graph.nodes[i];
      for (int& in : node.in) in = in < 0 ? in : Read(in);
      for (onnx::Attribute& attribute : node.attributes) {
        if (attribute.tensor >= 0) attribute.tensor = AddWeight(attribute.tensor);
      }
      for (int& out : node.out) out = out < 0 ? out : Define(out);
      graph().nodes.push_back(std::move(node));
      cut_.program.then.push_back(whole_.then[i]);
    }
    for (size_t i = begin_; i < end_; ++i) {
      for (const int out : whole_.graph.nodes[i].out) {
        if (out >= 0 && IsReadOutside(out)) Give(out);
      }
    }
    return std::move(cut_);
  }

 private:
  onnx::Graph& graph() { return cut_.program.graph; }

  int Define(int value) {
    const int here = static_cast<int>(graph().values.size());
    graph().values.push_back({whole_.graph.values[static_cast<size_t>(value)].name, -1});
    here_[value] = here;
    return here;
  }

  int Read(int value) {
    if (const auto found = here_.find(value); found != here_.end()) return found->second;
    const int here = Define(value);
    const auto held = std::find_if(fixed_.begin(), fixed_.end(), [&](const auto& each) { return each.first == value; });
    if (const int weight = whole_.graph.values[static_cast<size_t>(value)].weight; weight >= 0) {
      const int added = AddWeight(weight);
      graph().values[static_cast<size_t>(here)].weight = added;
    } else if (held != fixed_.end()) {
      const int added = Hold(graph().values[static_cast<size_t>(here)].name, held->second);
      graph().values[static_cast<size_t>(here)].weight = added;
    } else {
      graph().inputs.push_back(here);
      cut_.reads.push_back(value);
    }
    return here;
  }

  void Give(int value) {
    graph().outputs.push_back(here_.at(value));
    cut_.writes.push_back(value);
  }

  int AddWeight(int weight) {
    graph().weights.push_back(whole_.graph.weights[static_cast<size_t>(weight)]);
    cut_.program.constants.push_back(whole_.constants[static_cast<size_t>(weight)]);
    return static_cast<int>(graph().weights.size()) - 1;
  }

  int Hold(const std::string& name, const Elements& elements) {
    onnx::Weight weight;
    weight.name = name;
    weight.dtype = KnownType(elements.info);
    weight.dim = elements.info.dim;
    weight.held = true;
    weight.bytes.assign(elements.data.get(), elements.data.get() + elements.info.size_bytes());
    cut_.program.constants.push_back(std::make_shared<HeldConstant>(cut_.program.packed_memory, elements.data));
    return graph().Add(std::move(weight));
  }

  bool IsReadOutside(int value) const {
    const auto reads = [&](const onnx::Node& node) { return std::find(node.in.begin(), node.in.end(), value) != node.in.end(); };
    const onnx::Graph& graph = whole_.graph;
    return std::find(graph.outputs.begin(), graph.outputs.end(), value) != graph.outputs.end() ||
           std::any_of(graph.nodes.begin() + static_cast<ptrdiff_t>(end_), graph.nodes.end(), reads);
  }

  const Program& whole_;
  const size_t begin_, end_;
  const std::span<const std::pair<int, Elements>> fixed_;
  std::unordered_map<int, int> here_;  // by value of the whole
  Cut cut_;
};

}  // namespace

Cut CutOut(const Program& whole, size_t begin, size_t end, std::span<const std::pair<int, Elements>> fixed) {
  return Cutter(whole, begin, end, fixed).Run();
}

}  // namespace wf::model
