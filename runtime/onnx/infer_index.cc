// Shape rules of operators that take elements by index or put them there.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

using base::Status;

// The first of constant indices that an axis of this extent has not.
std::optional<int64_t> OutOfAxis(const NodeContext& node, size_t indices, int64_t extent) {
  const auto outside = [extent](int64_t each) { return each < -extent || each >= extent; };
  if (const Weight* weight = node.weight(indices); weight != nullptr && weight->held) {
    const size_t size = static_cast<size_t>(base::DTypeSize(weight->dtype));
    for (size_t at = 0; at < weight->bytes.size(); at += size) {
      if (const int64_t index = IntegerAt(*weight, at); outside(index)) return index;
    }
    return std::nullopt;
  }
  for (const int64_t index : node.Numbers(indices).value_or(std::vector<int64_t>())) {
    if (outside(index)) return index;
  }
  return std::nullopt;
}

Status CheckIndices(const NodeContext& node, size_t i, bool narrow) {
  const uint8_t dtype = node.in(i).dtype;
  if (dtype == WF_I64 || (narrow && dtype == WF_I32)) return Status::Ok();
  return node.Fail(fmt::format("the indices are {}, wanted {}", node.InType(i), narrow ? "i32 or i64" : "i64"));
}

Status CheckReduction(const NodeContext& node) {
  const std::string_view reduction = node.node.String("reduction", "none");
  const bool old = node.node.opset < 18;
  if (node.in(0).dtype == kStringType && reduction != "none")
    return node.NotBuilt(fmt::format("reduction `{}` of strings is not supported", reduction));
  if (reduction == "none" || reduction == "add" || reduction == "mul" || (!old && (reduction == "min" || reduction == "max")))
    return Status::Ok();
  return node.Fail(fmt::format("reduction `{}`", reduction));
}

// Indices of the axes of data beside `axis` lie within them.
Status CheckElementwise(const NodeContext& node, size_t& axis) {
  WF_RETURN_IF_ERROR(CheckIndices(node, 1, true));
  WF_RETURN_IF_ERROR(node.Rank(1, node.rank(0)));
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", 0), node.rank(0), axis));
  for (size_t i = 0; i < node.rank(0); ++i) {
    const auto extent = node.in(0).dim[i].constant(), taken = node.in(1).dim[i].constant();
    if (i != axis && extent && taken && *taken > *extent)
      return node.Fail(fmt::format("indices {} for {}", node.InType(1), node.InType(0)));
  }
  return Status::Ok();
}

// How many axes of data, behind those of the batch, an index of the last axis of input 1 picks from.
Status TupleLength(const NodeContext& node, size_t batch, size_t& length) {
  if (node.rank(0) == 0 || node.rank(1) == 0) return node.Fail("a scalar input");
  const auto last = node.in(1).dim.back().constant();
  if (!last) return node.NotBuilt("how many axes its indices pick from is computed from data, which is not supported");
  if (*last < 1 || static_cast<size_t>(*last) > node.rank(0) - batch)
    return node.Fail(fmt::format("indices {} for {}", node.InType(1), node.InType(0)));
  length = static_cast<size_t>(*last);
  return Status::Ok();
}

}  // namespace

Status InferGather(NodeContext& node) {
  const Known &data = node.in(0), &at = node.in(1);
  if (at.dtype != WF_I64 && at.dtype != WF_I32) return node.Fail(fmt::format("the indices are {}, wanted i32 or i64", node.InType(1)));
  if (data.dim.empty()) return node.Fail("a scalar input");
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", 0), data.dim.size(), axis));
  Shape shape(data.dim.begin(), data.dim.begin() + static_cast<ptrdiff_t>(axis));
  shape.insert(shape.end(), at.dim.begin(), at.dim.end());
  shape.insert(shape.end(), data.dim.begin() + static_cast<ptrdiff_t>(axis) + 1, data.dim.end());
  if (const auto extent = data.dim[axis].constant()) {
    if (const auto index = OutOfAxis(node, 1, *extent))
      return node.Fail(fmt::format("index {} of axis {} of {}", *index, axis, node.InType(0)));
  }
  Known& out = node.out(0);
  const auto numbers = node.Numbers(1);
  if (data.content && numbers && data.dim.size() == 1) {
    std::vector<Dim> content;
    const int64_t n = static_cast<int64_t>(data.content->size());
    for (const int64_t each : *numbers) {
      content.push_back((*data.content)[static_cast<size_t>(each < 0 ? each + n : each)]);
    }
    out.content = std::move(content);
  }
  out.dtype = data.dtype;
  out.dim = std::move(shape);
  return Status::Ok();
}

Status InferGatherElements(NodeContext& node) {
  size_t axis = 0;
  WF_RETURN_IF_ERROR(CheckElementwise(node, axis));
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = node.in(1).dim;
  return Status::Ok();
}

Status InferGatherND(NodeContext& node) {
  const Shape &data = node.in(0).dim, &at = node.in(1).dim;
  WF_RETURN_IF_ERROR(CheckIndices(node, 1, false));
  const int64_t wanted = node.node.Int("batch_dims", 0);
  const size_t batch = static_cast<size_t>(std::clamp<int64_t>(wanted, 0, WF_MAX_RANK));
  if (wanted < 0 || batch >= std::min(data.size(), at.size()))
    return node.Fail(fmt::format("batch_dims {} of {} and {}", wanted, node.InType(0), node.InType(1)));
  size_t length = 0;
  WF_RETURN_IF_ERROR(TupleLength(node, batch, length));
  for (size_t i = 0; i < batch; ++i) {
    if (Dim::ProvedDifferent(data[i], at[i])) return node.Fail(fmt::format("batches of {} and {}", node.InType(0), node.InType(1)));
  }
  Shape shape(at.begin(), at.end() - 1);
  shape.insert(shape.end(), data.begin() + static_cast<ptrdiff_t>(batch + length), data.end());
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = std::move(shape);
  return Status::Ok();
}

Status InferScatter(NodeContext& node) {
  size_t axis = 0;
  WF_RETURN_IF_ERROR(CheckElementwise(node, axis));
  WF_RETURN_IF_ERROR(CheckReduction(node));
  WF_RETURN_IF_ERROR(node.SameType(0, 2));
  WF_RETURN_IF_ERROR(node.Rank(2, node.rank(1)));
  for (size_t i = 0; i < node.rank(1); ++i) {
    if (Dim::ProvedDifferent(node.in(1).dim[i], node.in(2).dim[i]))
      return node.Fail(fmt::format("updates {} for indices {}", node.InType(2), node.InType(1)));
  }
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

Status InferScatterND(NodeContext& node) {
  const Shape &data = node.in(0).dim, &at = node.in(1).dim, &updates = node.in(2).dim;
  WF_RETURN_IF_ERROR(CheckIndices(node, 1, false));
  WF_RETURN_IF_ERROR(CheckReduction(node));
  WF_RETURN_IF_ERROR(node.SameType(0, 2));
  size_t length = 0;
  WF_RETURN_IF_ERROR(TupleLength(node, 0, length));
  Shape wanted(at.begin(), at.end() - 1);
  wanted.insert(wanted.end(), data.begin() + static_cast<ptrdiff_t>(length), data.end());
  const auto fail = [&] { return node.Fail(fmt::format("updates {}, wanted {}", node.InType(2), ToString(node.in(0).dtype, wanted))); };
  if (updates.size() != wanted.size()) return fail();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (Dim::ProvedDifferent(updates[i], wanted[i])) return fail();
  }
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = data;
  return Status::Ok();
}

Status InferOneHot(NodeContext& node) {
  Shape shape = node.in(0).dim;
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", -1), shape.size() + 1, axis));
  for (size_t i = 1; i < 3; ++i) {
    if (Dim::ProvedDifferent(Product(node.in(i).dim), Dim(static_cast<int64_t>(i))))
      return node.Fail(fmt::format("input {} is {}, wanted {} elements", i, node.InType(i), i));
  }
  WF_RETURN_IF_ERROR(node.Rank(2, 1));
  const auto depth = node.Reals(1);
  if (depth && !((*depth)[0] >= 0 && (*depth)[0] < 9e15)) return node.Fail(fmt::format("a depth of {}", (*depth)[0]));
  const auto& followed = node.Content(1);
  const Dim extent = followed ? (*followed)[0] : depth ? Dim(static_cast<int64_t>((*depth)[0])) : node.unknown.Next();
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), extent);
  node.out(0).dtype = node.in(2).dtype;
  node.out(0).dim = std::move(shape);
  return Status::Ok();
}

Status InferCompress(NodeContext& node) {
  if (node.in(1).dtype != WF_BOOL) return node.Fail(fmt::format("the condition is {}, wanted bool", node.InType(1)));
  WF_RETURN_IF_ERROR(node.Rank(1, 1));
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = {node.unknown.Next()};
  if (const Attribute* attribute = node.node.Find("axis")) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis(attribute->i, node.rank(0), axis));
    out.dim = node.in(0).dim;
    out.dim[axis] = node.unknown.Next();
  }
  return Status::Ok();
}

namespace {
// Of an input that follows from shapes, which are not asked for its sake: what is found in data is counted when it is there.
Dim CountOfNonZero(NodeContext& node) {
  const auto& content = node.in(0).content;
  const auto is_number = [](const Dim& each) { return each.is_constant(); };
  if (!content || !std::all_of(content->begin(), content->end(), is_number)) return node.unknown.Next();
  return Dim(std::count_if(content->begin(), content->end(), [](const Dim& each) { return each != Dim(0); }));
}
}  // namespace

Status InferNonZero(NodeContext& node) {
  node.out(0).dtype = WF_I64;
  node.out(0).dim = {Dim(static_cast<int64_t>(std::max<size_t>(node.rank(0), 1))), CountOfNonZero(node)};
  return Status::Ok();
}

}  // namespace wf::onnx
