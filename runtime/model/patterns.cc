#include "runtime/model/patterns.h"

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <optional>

#include "runtime/model/numbers.h"
#include "runtime/onnx/op.h"

namespace wf::model {
namespace {

using base::Status;
using onnx::Node;
using onnx::Op;

constexpr size_t kNone = SIZE_MAX;

class Patterns {
 public:
  Patterns(Program& program, std::span<const onnx::Known> known, std::vector<bool>& gone)
      : program_(program), known_(known), gone_(gone), readers_(program.graph.values.size()), writer_(readers_.size(), kNone) {
    for (size_t i = 0; i < nodes().size(); ++i) {
      if (gone_[i]) continue;
      for (const int in : nodes()[i].in) {
        if (in >= 0) readers_[static_cast<size_t>(in)].push_back(i);
      }
      for (const int out : nodes()[i].out) {
        if (out >= 0) writer_[static_cast<size_t>(out)] = i;
      }
    }
    for (const int out : program.graph.outputs) readers_[static_cast<size_t>(out)].push_back(kNone);
  }

  Status Run() {
    for (size_t i = 0; i < nodes().size(); ++i) {
      if (gone_[i] || !IsPlain(nodes()[i])) continue;
      if (nodes()[i].op == Op::kErf) JoinGelu(i);
      if (nodes()[i].op == Op::kSigmoid) JoinSwish(i);
      if (nodes()[i].op == Op::kMatMul) JoinFactor(i);
    }
    return status_;
  }

 private:
  std::vector<Node>& nodes() { return program_.graph.nodes; }
  Node& node(size_t i) { return nodes()[i]; }

  // One result, of f32 and with axes, so that numbers do not change its shape.
  bool IsPlain(const Node& node) const {
    const onnx::Known& out = known_[static_cast<size_t>(node.out[0])];
    return node.out.size() == 1 && out.dtype == WF_F32 && !out.dim.empty();
  }

  // The node of this operator that alone reads the value; kNone: there is none.
  size_t Only(int value, Op op) {
    const std::vector<size_t>& readers = readers_[static_cast<size_t>(value)];
    const bool only = readers.size() == 1 && readers[0] != kNone && !gone_[readers[0]] && node(readers[0]).op == op;
    return only && IsPlain(node(readers[0])) ? readers[0] : kNone;
  }

  int Other(size_t i, int value) { return node(i).in[0] == value ? node(i).in[1] : node(i).in[0]; }

  // A constant of one element.
  std::optional<double> NumberOf(int value) {
    const int weight = program_.graph.values[static_cast<size_t>(value)].weight;
    if (weight < 0) return std::nullopt;
    const onnx::Weight& held = program_.graph.weights[static_cast<size_t>(weight)];
    if (held.dtype != WF_F32 || held.count() != 1 || held.dim.size() > 1) return std::nullopt;
    const auto elements = program_.constants[static_cast<size_t>(weight)]->Load();
    if (!elements.ok()) {
      status_ = elements.status();
      return std::nullopt;
    }
    return NumberAt(held.dtype, elements->get(), 0);
  }

  // What the node multiplies by a number, and by which; -1: it does something else.
  struct Scaled {
    int value = -1;
    double factor = 1;
  };
  Scaled ScaledBy(size_t i) {
    if (i == kNone || gone_[i] || !IsPlain(node(i)) || (node(i).op != Op::kMul && node(i).op != Op::kDiv)) return {};
    const auto second = NumberOf(node(i).in[1]);
    if (second) return {node(i).in[0], node(i).op == Op::kDiv ? 1 / *second : *second};
    const auto first = node(i).op == Op::kMul ? NumberOf(node(i).in[0]) : std::nullopt;
    return first ? Scaled{node(i).in[1], *first} : Scaled{};
  }
  // What is scaled by about this factor; -1: nothing is.
  int ScaledBy(size_t i, double factor) {
    const Scaled scaled = ScaledBy(i);
    return std::abs(scaled.factor - factor) < 1e-6 ? scaled.value : -1;
  }
  size_t Writer(int value) const { return writer_[static_cast<size_t>(value)]; }

  void Replace(size_t last, Op op, int in, std::initializer_list<size_t> others) {
    for (const size_t each : others) gone_[each] = true;
    node(last).op = op;
    node(last).in = {in};
    node(last).attributes.clear();
  }

  // x/2 (1 + erf(x / sqrt 2)), multiplied in any order.
  void JoinGelu(size_t erf) {
    const size_t inner = Writer(node(erf).in[0]);
    const int x = ScaledBy(inner, std::numbers::sqrt2 / 2);
    const size_t add = Only(node(erf).out[0], Op::kAdd);
    if (x < 0 || add == kNone || readers_[static_cast<size_t>(node(erf).in[0])].size() != 1) return;
    if (NumberOf(Other(add, node(erf).out[0])).value_or(0) != 1) return;
    const size_t first = Only(node(add).out[0], Op::kMul);
    if (first == kNone) return;
    const int other = Other(first, node(add).out[0]);
    if (const size_t half = Writer(other); half != kNone && ScaledBy(half, 0.5) == x && Only(other, Op::kMul) == first)
      return Replace(first, Op::kMsGelu, x, {inner, erf, add, half});
    const size_t last = Only(node(first).out[0], Op::kMul);
    if (last == kNone) return;
    const bool halved_last = other == x && ScaledBy(last, 0.5) == node(first).out[0];
    const bool halved_first = ScaledBy(first, 0.5) == node(add).out[0] && Other(last, node(first).out[0]) == x;
    if (halved_last || halved_first) Replace(last, Op::kMsGelu, x, {inner, erf, add, first});
  }

  void JoinSwish(size_t sigmoid) {
    const int x = node(sigmoid).in[0];
    const size_t product = Only(node(sigmoid).out[0], Op::kMul);
    if (product == kNone || Other(product, node(sigmoid).out[0]) != x) return;
    Replace(product, Op::kMsQuickGelu, x, {sigmoid});
    AddFactor(product, 1);
  }

  // Of two matrices that are computed: the product may scale what it writes.
  void JoinFactor(size_t product) {
    if (program_.graph.values[static_cast<size_t>(node(product).in[1])].weight >= 0 || node(product).in.size() != 2) return;
    const std::vector<size_t>& readers = readers_[static_cast<size_t>(node(product).out[0])];
    if (readers.size() != 1) return;
    const Scaled scaled = ScaledBy(readers[0]);
    if (scaled.value != node(product).out[0] || !std::isfinite(scaled.factor)) return;
    gone_[readers[0]] = true;
    node(product).op = Op::kMsFusedMatMul;
    node(product).out = {node(readers[0]).out[0]};
    AddFactor(product, static_cast<float>(scaled.factor));
  }

  void AddFactor(size_t i, float factor) {
    onnx::Attribute alpha;
    alpha.name = "alpha";
    alpha.kind = onnx::Attribute::Kind::kFloat;
    alpha.f = factor;
    node(i).attributes.push_back(std::move(alpha));
  }

  Program& program_;
  const std::span<const onnx::Known> known_;
  std::vector<bool>& gone_;
  std::vector<std::vector<size_t>> readers_;  // of a value; kNone: it is a result of the graph
  std::vector<size_t> writer_;
  Status status_;
};

}  // namespace

Status JoinWrittenOut(Program& program, std::span<const onnx::Known> known, std::vector<bool>& gone) {
  return Patterns(program, known, gone).Run();
}

}  // namespace wf::model
