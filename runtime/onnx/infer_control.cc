#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"

// Nodes with bodies. What differs between the ways that a run may take is an extent that only the run tells.
namespace wf::onnx {
namespace {

using base::Status;

// What is known of a value that is one of two. Errors: types or ranks differ; how many axes there are decides what all behind it computes,
// and is known of every value.
Status Join(const Known& other, NodeContext& node, Known& known) {
  if (known.dtype != other.dtype)
    return node.Fail(
        fmt::format("a result is {} on one way and {} on another", ToString(known.dtype, known.dim), ToString(other.dtype, other.dim)));
  if (known.dim.size() != other.dim.size())
    return node.NotBuilt(fmt::format("a result is {} on one way and {} on another: how many axes it has, only a run tells",
                                     ToString(known.dtype, known.dim), ToString(other.dtype, other.dim)));
  for (size_t axis = 0; axis < known.dim.size(); ++axis) {
    if (!(known.dim[axis] == other.dim[axis])) known.dim[axis] = node.unknown.Next();
  }
  known.content.reset();
  return Status::Ok();
}

// The results of a body for these inputs, behind which come what it reads from outside.
base::Result<std::vector<Known>> ResultsOf(const NodeContext& node, std::string_view attribute, std::vector<Known> inputs) {
  const Graph& body = *node.Body(attribute);
  if (inputs.size() != body.formal_inputs)
    return node.Fail(fmt::format("`{}` takes {} inputs, and is given {}", attribute, body.formal_inputs, inputs.size()));
  for (Known& each : node.Captured(attribute)) inputs.push_back(std::move(each));
  const auto known = InferGraph(body, inputs, node.exact);
  if (!known.ok()) return Status(known.status().code(), fmt::format("in `{}`: {}", attribute, known.status().message()));
  std::vector<Known> results;
  for (const int output : body.outputs) results.push_back((*known)[static_cast<size_t>(output)]);
  return results;
}

Status CheckOne(const NodeContext& node, size_t i, uint8_t dtype) {
  if (!node.has_in(i)) return Status::Ok();
  const Known& in = node.in(i);
  const bool is_one = std::all_of(in.dim.begin(), in.dim.end(), [](const Dim& dim) { return !dim.is_constant() || dim == Dim(1); });
  if (in.dtype != dtype || !is_one) return node.Fail(fmt::format("input {} is {}, wanted one {}", i, node.InType(i), TypeName(dtype)));
  return Status::Ok();
}

// What goes round has the same shape in each turn, or an extent that a run tells.
base::Result<std::vector<Known>> Settle(NodeContext& node, std::vector<Known> inputs, size_t first, size_t count, size_t first_result) {
  for (size_t turn = 0; turn <= WF_MAX_RANK * count + 1; ++turn) {
    auto results = ResultsOf(node, "body", inputs);
    if (!results.ok()) return results;
    if (results->size() < first_result + count) return node.Fail("its `body` has too few results");
    bool same = true;
    for (size_t i = 0; i < count; ++i) {
      Known joined = inputs[first + i];
      WF_RETURN_IF_ERROR(Join((*results)[first_result + i], node, joined));
      for (size_t axis = 0; axis < joined.dim.size(); ++axis) {
        const bool was_unknown = inputs[first + i].dim[axis].symbol().value_or("").starts_with("_#");
        if (joined.dim[axis] == inputs[first + i].dim[axis]) continue;
        if (was_unknown) {
          joined.dim[axis] = inputs[first + i].dim[axis];  // it stays one that a run tells
        } else {
          same = false;
        }
      }
      inputs[first + i] = std::move(joined);
    }
    if (!same) continue;
    for (size_t i = 0; i < count; ++i) (*results)[first_result + i] = inputs[first + i];
    return results;
  }
  return node.NotBuilt("shapes that differ in every turn");
}

}  // namespace

Status InferIf(NodeContext& node) {
  WF_RETURN_IF_ERROR(CheckOne(node, 0, WF_BOOL));
  if (node.Body("then_branch") == nullptr || node.Body("else_branch") == nullptr) return node.Fail("it lacks a branch");
  auto taken = ResultsOf(node, "then_branch", {});
  if (!taken.ok()) return taken.status();
  const auto other = ResultsOf(node, "else_branch", {});
  if (!other.ok()) return other.status();
  if (taken->size() != node.node.out.size() || other->size() != taken->size()) return node.Fail("its branches have other results than it");
  for (size_t i = 0; i < taken->size(); ++i) {
    WF_RETURN_IF_ERROR(Join((*other)[i], node, (*taken)[i]));
    if (node.has_out(i)) node.out(i) = std::move((*taken)[i]);
  }
  return Status::Ok();
}

Status InferLoop(NodeContext& node) {
  WF_RETURN_IF_ERROR(CheckOne(node, 0, WF_I64));
  WF_RETURN_IF_ERROR(CheckOne(node, 1, WF_BOOL));
  if (node.Body("body") == nullptr || node.FormalInputs() < 2) return node.Fail("it lacks its `body`, or its first inputs");
  const size_t count = node.FormalInputs() - 2;
  std::vector<Known> inputs = {{WF_I64, {}, std::nullopt}, {WF_BOOL, {}, std::nullopt}};
  for (size_t i = 0; i < count; ++i) {
    if (!node.has_in(2 + i)) return node.Fail(fmt::format("input {} is absent", 2 + i));
    inputs.push_back({node.in(2 + i).dtype, node.in(2 + i).dim, std::nullopt});
  }
  auto results = Settle(node, std::move(inputs), 2, count, 1);
  if (!results.ok()) return results.status();
  if (results->size() != node.node.out.size() + 1) return node.Fail("its `body` has other results than it");
  const Dim turns = node.unknown.Next();
  for (size_t i = 0; i < node.node.out.size(); ++i) {
    if (!node.has_out(i)) continue;
    Known& out = node.out(i);
    out = std::move((*results)[1 + i]);
    out.content.reset();
    if (i >= count) out.dim.insert(out.dim.begin(), turns);
  }
  return Status::Ok();
}

Status InferScan(NodeContext& node) {
  const int64_t scanned = node.node.Int("num_scan_inputs", 0);
  const size_t formal = node.FormalInputs();
  if (node.Body("body") == nullptr || scanned < 1 || scanned > static_cast<int64_t>(formal))
    return node.Fail("a wrong `num_scan_inputs`, or no `body`");
  const size_t count = formal - static_cast<size_t>(scanned);
  std::vector<Known> inputs;
  std::optional<Dim> turns;
  for (size_t i = 0; i < formal; ++i) {
    if (!node.has_in(i)) return node.Fail(fmt::format("input {} is absent", i));
    Known each{node.in(i).dtype, node.in(i).dim, std::nullopt};
    if (i >= count) {
      const auto axes = node.node.Ints("scan_input_axes");
      size_t axis = 0;
      WF_RETURN_IF_ERROR(node.Axis(i - count < axes.size() ? axes[i - count] : 0, each.dim.size(), axis));
      const Dim extent = each.dim[axis];
      if (turns && Dim::ProvedDifferent(*turns, extent)) return node.Fail("its inputs have different extents along the axes that it walks");
      if (!turns || extent.is_constant()) turns = extent;
      each.dim.erase(each.dim.begin() + static_cast<ptrdiff_t>(axis));
    }
    inputs.push_back(std::move(each));
  }
  auto results = Settle(node, std::move(inputs), 0, count, 0);
  if (!results.ok()) return results.status();
  if (results->size() != node.node.out.size()) return node.Fail("its `body` has other results than it");
  for (size_t i = 0; i < results->size(); ++i) {
    if (!node.has_out(i)) continue;
    Known& out = node.out(i);
    out = std::move((*results)[i]);
    out.content.reset();
    if (i < count) continue;
    const auto axes = node.node.Ints("scan_output_axes");
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis(i - count < axes.size() ? axes[i - count] : 0, out.dim.size() + 1, axis));
    out.dim.insert(out.dim.begin() + static_cast<ptrdiff_t>(axis), *turns);
  }
  return Status::Ok();
}

}  // namespace wf::onnx
