// Shape rules of operators that compute: convolution, pooling, products, elementwise and reductions.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/text.h"
#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr int64_t kMaxWindow = int64_t{1} << 30;  // of strides, pads and the like: keeps sums of them from overflowing

std::string Extents(std::span<const int64_t> values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

// What an attribute of windows may hold.
struct WindowRule {
  const char* attribute;
  size_t per_axis;
  int64_t least;
};
constexpr WindowRule kKernelRule{"kernel_shape", 1, 1}, kStrideRule{"strides", 1, 1}, kDilationRule{"dilations", 1, 1},
    kPadRule{"pads", 2, 0};

Status CheckWindow(const WindowRule& rule, size_t spatial, std::span<const int64_t> values) {
  const auto& [attribute, per_axis, least] = rule;
  if (values.size() != per_axis * spatial)
    return {base::kInvalidArgument, fmt::format("{} {} for {} spatial axes", attribute, Extents(values), spatial)};
  const auto wrong = std::find_if(values.begin(), values.end(), [&rule](int64_t each) { return each < rule.least || each > kMaxWindow; });
  if (wrong == values.end()) return Status::Ok();
  return {base::kInvalidArgument,
          fmt::format("{} {} with {}, which is not from {} to {}", attribute, Extents(values), *wrong, least, kMaxWindow)};
}

// The attribute, or the least for all.
Status FillWindow(const Node& node, const WindowRule& rule, size_t spatial, std::vector<int64_t>& out) {
  const auto given = node.Ints(rule.attribute);
  out.assign(given.begin(), given.end());
  if (node.Find(rule.attribute) == nullptr) out.assign(rule.per_axis * spatial, rule.least);
  return CheckWindow(rule, spatial, out);
}

// Extents that a window makes of the spatial axes of input 0, behind those that the output has.
Status SlideWindow(NodeContext& node, const Window& window) {
  const Shape& in = node.in(0).dim;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const bool open = node.exact && !IsExact(window, i, in[2 + i]);
    Dim extent = open ? node.unknown.Next() : WindowExtent(window, i, in[2 + i]);
    if (extent.constant().value_or(1) < 1) return node.Fail(fmt::format("input {} is smaller than the window", node.InType(0)));
    node.out(0).dim.push_back(std::move(extent));
  }
  return Status::Ok();
}

}  // namespace

base::Result<Window> ReadWindow(const Node& node, size_t spatial, std::span<const int64_t> kernel) {
  const auto fail = [](std::string text) { return Status(base::kInvalidArgument, std::move(text)); };
  Window window;
  const auto given = node.Ints("kernel_shape");
  if (!given.empty() && !kernel.empty() && !std::equal(given.begin(), given.end(), kernel.begin(), kernel.end())) {
    return fail(fmt::format("kernel_shape {} where the weights have {}", Extents(given), Extents(kernel)));
  }
  const auto extents = kernel.empty() ? given : kernel;
  window.kernel.assign(extents.begin(), extents.end());
  std::vector<int64_t> pads;
  WF_RETURN_IF_ERROR(CheckWindow(kKernelRule, spatial, window.kernel));
  WF_RETURN_IF_ERROR(FillWindow(node, kStrideRule, spatial, window.stride));
  WF_RETURN_IF_ERROR(FillWindow(node, kDilationRule, spatial, window.dilation));
  WF_RETURN_IF_ERROR(FillWindow(node, kPadRule, spatial, pads));
  const std::string_view mode = node.String("auto_pad", "NOTSET");
  if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
    window.auto_pad = mode == "SAME_UPPER" ? Window::AutoPad::kSameUpper : Window::AutoPad::kSameLower;
  } else if (mode != "NOTSET" && mode != "VALID" && mode != "") {
    return fail(fmt::format("auto_pad `{}`", mode));
  }
  if (mode != "NOTSET" && mode != "") pads.assign(2 * spatial, 0);
  window.pad_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(spatial));
  window.pad_end.assign(pads.begin() + static_cast<ptrdiff_t>(spatial), pads.end());
  window.ceil_mode = node.Int("ceil_mode", 0) != 0;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(window.kernel[i], window.dilation[i], &reach) || reach > kMaxWindow)
      return fail("a window larger than any tensor");
  }
  return window;
}

Dim WindowExtent(const Window& window, size_t axis, const Dim& in) {
  const int64_t stride = window.stride[axis];
  if (window.auto_pad != Window::AutoPad::kExplicit) return Dim::FloorDiv(in + (stride - 1), stride);
  const int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
  const int64_t pads = window.pad_begin[axis] + window.pad_end[axis];
  if (!window.ceil_mode) return Dim::FloorDiv(in + (pads - reach), stride) + 1;
  const Dim up = Dim::FloorDiv(in + (pads - reach + stride - 1), stride) + 1;
  // A window that would start in the padding at the end is left out.
  const auto extent = up.constant(), whole = in.constant();
  const bool starts_behind = extent && whole && (*extent - 1) * stride >= *whole + window.pad_begin[axis];
  return starts_behind ? up - 1 : up;
}

// Rounded up, a window at the end may start in the padding, and is then left out.
bool IsExact(const Window& window, size_t axis, const Dim& in) {
  const int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
  const bool rounds_up = window.ceil_mode && window.auto_pad == Window::AutoPad::kExplicit;
  return in.is_constant() || !rounds_up || window.stride[axis] + window.pad_end[axis] <= reach;
}

void ResolvePads(Window& window, std::span<const int64_t> in) {
  if (window.auto_pad == Window::AutoPad::kExplicit) return;
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t out = (in[i] + window.stride[i] - 1) / window.stride[i];
    const int64_t reach = window.dilation[i] * (window.kernel[i] - 1) + 1;
    const int64_t pads = std::max<int64_t>(0, (out - 1) * window.stride[i] + reach - in[i]);
    const int64_t small = pads / 2;
    window.pad_begin[i] = window.auto_pad == Window::AutoPad::kSameUpper ? small : pads - small;
    window.pad_end[i] = pads - window.pad_begin[i];
  }
  window.auto_pad = Window::AutoPad::kExplicit;
}

Status ConvShape(NodeContext& node, size_t weights, size_t bias) {
  const Known &x = node.in(0), &w = node.in(weights);
  if (x.dim.size() < 3 || x.dim.size() > 5)
    return node.NotBuilt(fmt::format("a convolution of {}; 1 to 3 spatial axes are supported", node.InType(0)));
  WF_RETURN_IF_ERROR(node.Rank(weights, x.dim.size()));
  const size_t spatial = x.dim.size() - 2;
  std::vector<int64_t> kernel;
  for (const Dim& dim : w.dim) {
    if (!dim.is_constant()) return node.NotBuilt("weights whose shape is not constant");
    if (*dim.constant() < 1) return node.Fail(fmt::format("weights {}", node.InType(weights)));
  }
  for (size_t i = 0; i < spatial; ++i) kernel.push_back(*w.dim[2 + i].constant());
  auto window = ReadWindow(node.node, spatial, kernel);
  if (!window.ok()) return window.status();
  const int64_t group = node.node.Int("group", 1), filters = *w.dim[0].constant(), channels = *w.dim[1].constant();
  if (group < 1 || filters % group != 0)
    return node.Fail(fmt::format("{} groups for {}", group, base::Counted(static_cast<uint64_t>(filters), "filter")));
  if (Dim::ProvedDifferent(x.dim[1], Dim(channels) * Dim(group))) {
    return node.Fail(fmt::format("input {} has {} channels, weights {} in {} take {}", node.InType(0), x.dim[1].ToString(),
                                 node.InType(weights), base::Counted(static_cast<uint64_t>(group), "group"),
                                 (Dim(channels) * Dim(group)).ToString()));
  }
  if (node.has_in(bias)) {
    WF_RETURN_IF_ERROR(node.Rank(bias, 1));
    if (Dim::ProvedDifferent(node.in(bias).dim[0], filters))
      return node.Fail(fmt::format("bias {} for {} filters", node.InType(bias), filters));
  }
  Known& out = node.out(0);
  out.dtype = x.dtype;
  out.dim = {x.dim[0], Dim(filters)};
  return SlideWindow(node, *window);
}

Status InferConv(NodeContext& node) {
  WF_RETURN_IF_ERROR(node.SameType(0, 1));
  if (node.has_in(2)) WF_RETURN_IF_ERROR(node.SameType(0, 2));
  return ConvShape(node, 1, 2);
}

Status InferPool(NodeContext& node) {
  const Known& x = node.in(0);
  if (x.dim.size() < 3 || x.dim.size() > 5)
    return node.NotBuilt(fmt::format("pooling of {}; 1 to 3 spatial axes are supported", node.InType(0)));
  const int64_t power = node.node.Int("p", 2);
  if (power < 1 || power > 1000) return node.Fail(fmt::format("p is {}, wanted 1 to 1000", power));
  const size_t spatial = x.dim.size() - 2;
  auto window = ReadWindow(node.node, spatial, {});
  if (!window.ok()) return window.status();
  for (size_t i = 0; i < spatial; ++i) {
    if (window->pad_begin[i] >= window->kernel[i] * window->dilation[i] || window->pad_end[i] >= window->kernel[i] * window->dilation[i]) {
      return node.Fail("padding as large as the window");
    }
  }
  Known& out = node.out(0);
  out.dtype = x.dtype;
  out.dim = {x.dim[0], x.dim[1]};
  WF_RETURN_IF_ERROR(SlideWindow(node, *window));
  if (node.has_out(1)) {  // where the maxima stand
    node.out(1).dtype = WF_I64;
    node.out(1).dim = out.dim;
  }
  return Status::Ok();
}

Status InferGlobalPool(NodeContext& node) {
  const Known& x = node.in(0);
  if (x.dim.size() < 3) return node.Fail(fmt::format("input {} has no spatial axes", node.InType(0)));
  for (size_t i = 2; i < x.dim.size(); ++i) {
    if (x.dim[i] == Dim(0)) return node.Fail(fmt::format("input {} has nothing to pool", node.InType(0)));
  }
  Known& out = node.out(0);
  out.dtype = x.dtype;
  out.dim = x.dim;
  std::fill(out.dim.begin() + 2, out.dim.end(), Dim(1));
  return Status::Ok();
}

Status InferGemm(NodeContext& node) {
  for (size_t i = 0; i < 2; ++i) WF_RETURN_IF_ERROR(node.Rank(i, 2));
  WF_RETURN_IF_ERROR(node.SameType(0, 1));
  const size_t turn_a = node.node.Int("transA", 0) != 0 ? 1 : 0, turn_b = node.node.Int("transB", 0) != 0 ? 1 : 0;
  const Shape &a = node.in(0).dim, &b = node.in(1).dim;
  if (Dim::ProvedDifferent(a[1 - turn_a], b[turn_b]))
    return node.Fail(fmt::format("inputs {} and {} cannot be multiplied", node.InType(0), node.InType(1)));
  Known& out = node.out(0);
  const Shape product = {a[turn_a], b[1 - turn_b]};
  if (node.has_in(2)) {
    WF_RETURN_IF_ERROR(node.SameType(0, 2));
    const auto sum = BroadcastShape(product, node.in(2).dim, node.unknown);
    const bool fits =
        sum && sum->size() == 2 && !Dim::ProvedDifferent((*sum)[0], product[0]) && !Dim::ProvedDifferent((*sum)[1], product[1]);
    if (!fits) return node.Fail(fmt::format("{} cannot be added to {}", node.InType(2), ToString(node.in(0).dtype, product)));
  }
  out.dtype = node.in(0).dtype;
  out.dim = product;
  return Status::Ok();
}

Status InferMatMul(NodeContext& node) {
  WF_RETURN_IF_ERROR(node.SameType(0, 1));
  return MultipliedShape(node, node.in(0).dim, node.in(1).dim);
}

Status MultipliedShape(NodeContext& node, Shape a, Shape b) {
  if (a.empty() || b.empty()) return node.Fail("a scalar input");
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), Dim(1));
  if (column) b.emplace_back(1);
  const auto fail = [&] { return node.Fail(fmt::format("inputs {} and {} cannot be multiplied", node.InType(0), node.InType(1))); };
  if (Dim::ProvedDifferent(a.back(), b[b.size() - 2])) return fail();
  auto batch = BroadcastShape(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2), node.unknown);
  if (!batch) return fail();
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = *std::move(batch);
  if (!row) out.dim.push_back(a[a.size() - 2]);
  if (!column) out.dim.push_back(b.back());
  return Status::Ok();
}

Status InferSame(NodeContext& node) {
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = node.in(0).dim;
  if (node.node.op == Op::kIdentity) out.content = node.in(0).content;
  return Status::Ok();
}

Status InferClip(NodeContext& node) {
  for (size_t i = 1; i < 3; ++i) {
    if (!node.has_in(i)) continue;
    WF_RETURN_IF_ERROR(node.SameType(0, i));
    if (Dim::ProvedDifferent(Product(node.in(i).dim), 1)) return node.Fail(fmt::format("the bound {} is no scalar", node.InType(i)));
  }
  return InferSame(node);
}

Status InferBroadcast(NodeContext& node) {
  const Known &a = node.in(0), &b = node.in(1);
  if (node.node.op == Op::kPow) {  // the exponent may have a type of its own
    const bool number = b.dtype != WF_BOOL && b.dtype != kStringType;
    if (!number) return node.NotBuilt(fmt::format("an exponent of type {} is not supported", TypeName(b.dtype)));
  } else {
    WF_RETURN_IF_ERROR(node.SameType(0, 1));
  }
  auto shape = BroadcastShape(a.dim, b.dim, node.unknown);
  if (!shape) return node.Fail(fmt::format("inputs {} and {} do not broadcast", node.InType(0), node.InType(1)));
  Known& out = node.out(0);
  out.dtype = a.dtype;
  out.dim = *std::move(shape);
  return Status::Ok();
}

Status InferWhere(NodeContext& node) {
  if (node.in(0).dtype != WF_BOOL) return node.Fail(fmt::format("the condition is {}, wanted bool", node.InType(0)));
  WF_RETURN_IF_ERROR(node.SameType(1, 2));
  auto values = BroadcastShape(node.in(1).dim, node.in(2).dim, node.unknown);
  if (values) values = BroadcastShape(*values, node.in(0).dim, node.unknown);
  if (!values) return node.Fail(fmt::format("inputs {}, {} and {} do not broadcast", node.InType(0), node.InType(1), node.InType(2)));
  node.out(0).dtype = node.in(1).dtype;
  node.out(0).dim = *std::move(values);
  return Status::Ok();
}

Status InferSoftmax(NodeContext& node) {
  size_t axis = 0;
  const int64_t wanted = node.node.Int("axis", node.node.opset < 13 ? 1 : -1);
  const bool flattened = node.node.opset < 13 && wanted == static_cast<int64_t>(node.rank(0));  // one element a row
  if (!flattened) WF_RETURN_IF_ERROR(node.Axis(wanted, node.rank(0), axis));
  return InferSame(node);
}

Status ReducedAxes(const NodeContext& node, std::vector<bool>& reduced) {
  std::optional<std::vector<int64_t>> axes;
  WF_RETURN_IF_ERROR(node.IntsOf("axes", 1, axes));
  const size_t rank = node.rank(0);
  reduced.assign(rank, false);
  if (axes && !axes->empty()) {
    for (const int64_t each : *axes) {
      size_t axis = 0;
      WF_RETURN_IF_ERROR(node.Axis(each, rank, axis));
      reduced[axis] = true;
    }
  } else if (node.node.Int("noop_with_empty_axes", 0) == 0) {
    reduced.assign(rank, true);
  }
  return Status::Ok();
}

Status ReducedShape(NodeContext& node, Shape& shape) {
  const size_t rank = node.rank(0);
  const bool keep = node.node.Int("keepdims", 1) != 0;
  shape.clear();
  if (node.FindInts("axes", 1).from_data()) {
    const auto count = node.Length(1);
    if (!keep && !count) return node.NotBuilt("how many axes its result has is computed from data, which is not supported");
    if (!keep && *count > rank) return node.Fail(fmt::format("{} axes of {}", *count, node.InType(0)));
    shape = node.Unknowns(keep ? rank : rank - *count);
    return Status::Ok();
  }
  std::vector<bool> reduced;
  WF_RETURN_IF_ERROR(ReducedAxes(node, reduced));
  for (size_t i = 0; i < rank; ++i) {
    if (!reduced[i]) shape.push_back(node.in(0).dim[i]);
    if (reduced[i] && keep) shape.emplace_back(1);
  }
  return Status::Ok();
}

Status InferReduce(NodeContext& node) {
  node.out(0).dtype = node.in(0).dtype;
  return ReducedShape(node, node.out(0).dim);
}

}  // namespace wf::onnx
