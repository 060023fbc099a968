#include <algorithm>

#include "runtime/onnx/graph_reader.h"
#include "runtime/onnx/op.h"
#include "runtime/onnx/tensor.h"

// Loops that put one tensor behind a sequence in each turn, as exporters write a list that grows: how often they turn only a run tells, and
// so what they put there is stacked, as results of loops are.
namespace wf::onnx {

using base::Status;

namespace {

bool Names(const pb::GraphProto& graph, const std::string& name);

bool Reads(const pb::NodeProto& node, const std::string& name) {
  return std::find(node.input().begin(), node.input().end(), name) != node.input().end() ||
         std::any_of(node.attribute().begin(), node.attribute().end(),
                     [&](const pb::AttributeProto& attribute) { return attribute.has_g() && Names(attribute.g(), name); });
}

// Whether a node or a result of it is or reads what has this name. Graphs lie within each other at most as deep as protobuf reads.
bool Names(const pb::GraphProto& graph, const std::string& name) {
  return std::any_of(graph.node().begin(), graph.node().end(), [&](const pb::NodeProto& node) { return Reads(node, name); }) ||
         std::any_of(graph.output().begin(), graph.output().end(), [&](const pb::ValueInfoProto& output) { return output.name() == name; });
}

int UsesIn(const pb::GraphProto& body, const std::string& name) {
  const auto uses =
      std::count_if(body.node().begin(), body.node().end(), [&](const pb::NodeProto& node) { return Reads(node, name); }) +
      std::count_if(body.output().begin(), body.output().end(), [&](const pb::ValueInfoProto& output) { return output.name() == name; });
  return static_cast<int>(uses);
}

// The node of a body that puts a tensor behind the sequence `in` and gives `out`, which nobody else reads; -1: there is none.
int FindInsert(const pb::GraphProto& body, const std::string& in, const std::string& out) {
  for (int i = 0; i < body.node_size(); ++i) {
    const pb::NodeProto& node = body.node(i);
    if (node.op_type() != "SequenceInsert" || !IsStandard(node.domain()) || node.input_size() < 2 || node.output_size() != 1) continue;
    if (node.output(0) != out) continue;
    const bool is_last = node.input_size() == 2 || node.input(2).empty();
    const bool fits = node.input(0) == in && is_last && node.input(1) != in && UsesIn(body, in) == 1 && UsesIn(body, out) == 1;
    return fits ? i : -1;
  }
  return -1;
}

}  // namespace

Status GraphReader::ReadGrowingLoop(const pb::NodeProto& proto, const Node& node, bool& done) {
  pb::NodeProto loop = proto;
  const auto attribute = std::find_if(loop.mutable_attribute()->begin(), loop.mutable_attribute()->end(),
                                      [](const pb::AttributeProto& each) { return each.name() == "body"; });
  pb::GraphProto& body = *attribute->mutable_g();
  const std::vector<std::string> inputs = GivenInputs(body);
  const int carried = proto.input_size() - 2;
  if (static_cast<int>(inputs.size()) != proto.input_size() || body.output_size() != proto.output_size() + 1 ||
      carried > proto.output_size())
    return Status::Ok();
  std::vector<std::pair<std::string, std::string>> grown;  // results of the node, and what they are stacked as
  for (int i = carried - 1; i >= 0; --i) {
    const Thing given = FindThing(loop.input(2 + i));
    if (!given.sequence) continue;
    const std::string& grows = inputs[static_cast<size_t>(2 + i)];
    const int insert = FindInsert(body, grows, body.output(1 + i).name());
    if (!given.sequence->elements.empty() || given.sequence->is_absent || given.sequence->stacked >= 0 || insert < 0) return Status::Ok();
    body.add_output()->set_name(body.node(insert).input(1));
    body.mutable_node()->DeleteSubrange(insert, 1);
    body.mutable_input()->erase(
        std::find_if(body.input().begin(), body.input().end(), [&](const pb::ValueInfoProto& input) { return input.name() == grows; }));
    body.mutable_output()->DeleteSubrange(1 + i, 1);
    grown.emplace_back(loop.output(i), fmt::format("{}#{}#{}", loop.output(i), node.index, i));
    loop.add_output(grown.back().second);
    loop.mutable_output()->DeleteSubrange(i, 1);
    loop.mutable_input()->DeleteSubrange(2 + i, 1);
  }
  done = true;
  WF_RETURN_IF_ERROR(ReadNewer(loop, node.index, FindOperator(loop.domain(), loop.op_type())));
  for (const auto& [name, stacked] : grown) {
    Thing thing;
    thing.sequence = Sequence{{}, false, Find(*scope_, stacked)};
    WF_RETURN_IF_ERROR(Bind(node, name, std::move(thing)));
  }
  return Status::Ok();
}

// The axis comes first; where parts keep it, they have it as one of 1, too.
Status GraphReader::StackParts(const Node& node, int value, bool keeps_axis, int& stacked) {
  int64_t axis = node.Int("axis", 0);
  const Known* const known = KnownOf(value);
  if (known == nullptr && axis != 0) return NotBuiltAt(node, "a part of each point of an axis, of as many axes as only a run tells");
  const auto rank = known == nullptr ? 0 : static_cast<int64_t>(known->dim.size());
  if (axis < 0) axis += rank;
  stacked = value;
  if (axis != 0) {
    std::vector<int64_t> order = {axis};
    for (int64_t i = 0; i < rank; ++i) {
      if (i != axis) order.push_back(i);
    }
    stacked = AddNode(node, Op::kTranspose, {stacked}, 1, {IntsAttribute("perm", order)})[0];
  }
  if (keeps_axis) stacked = AddNode(node, Op::kUnsqueeze, {stacked}, 1, {IntsAttribute("axes", {axis + 1})})[0];
  return Status::Ok();
}

// What is done with such a sequence.
Status GraphReader::ReadStacked(const pb::NodeProto& proto, const Node& node, int stacked) {
  const auto bind = [&](int value) { return Bind(node, proto.output(0), {value, std::nullopt}); };
  if (node.op == Op::kSequenceLength) {
    const int shape = AddNode(node, Op::kShape, {stacked}, 1, {})[0];
    return bind(AddNode(node, Op::kGather, {shape, AddConstant(node, WF_I64, 0)}, 1, {IntAttribute("axis", 0)})[0]);
  }
  if (node.op == Op::kSequenceAt) {
    int position = -1;
    WF_RETURN_IF_ERROR(TakeTensor(proto, node, 1, position));
    return bind(AddNode(node, Op::kGather, {stacked, position}, 1, {IntAttribute("axis", 0)})[0]);
  }
  const int64_t axis = node.Int("axis", 0);
  const bool is_new = node.Int("new_axis", 0) != 0;
  const Known* const known = KnownOf(stacked);
  if (is_new && axis == 0) return bind(AddNode(node, Op::kIdentity, {stacked}, 1, {})[0]);
  if (known == nullptr) return NotBuiltAt(node, "it joins as many tensors as only a run tells, which is not supported here");
  const auto rank = static_cast<int64_t>(known->dim.size());  // one more than that of a tensor
  const int64_t most = is_new ? rank : rank - 1, at = axis < 0 ? axis + most : axis;
  if (at < 0 || at >= most) return Fail(fmt::format("{}: axis {} of {}", node.Describe(), axis, most));
  std::vector<int64_t> order;  // of axes: those before `at`, the new one, the others
  for (int64_t i = 0; i < rank; ++i) order.push_back(i == at ? 0 : i < at ? i + 1 : i);
  const int moved = AddNode(node, Op::kTranspose, {stacked}, 1, {IntsAttribute("perm", order)})[0];
  if (is_new) return bind(moved);
  const auto part = [&](int64_t begin, int64_t end) {
    return AddNode(node, Op::kShape, {moved}, 1, {IntAttribute("start", begin), IntAttribute("end", end)})[0];
  };
  const int joined = AddNode(node, Op::kUnsqueeze, {AddConstant(node, WF_I64, -1)}, 1, {IntsAttribute("axes", {0})})[0];
  const int shape = AddNode(node, Op::kConcat, {part(0, at), joined, part(at + 2, rank)}, 1, {IntAttribute("axis", 0)})[0];
  return bind(AddNode(node, Op::kReshape, {moved, shape}, 1, {})[0]);
}

}  // namespace wf::onnx
