#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/kernels/chain.h"
#include "runtime/kernels/onednn/library.h"
#include "runtime/kernels/onednn/nan_keeper.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/onednn/operands.h"
#include "runtime/kernels/onednn/shapes.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"

namespace wf::kernels::onednn {
namespace {

// The convolution with what is behind it: what oneDNN can do is fused, the rest left to `tail`. Null: it does not have it.
// impl: the implementation; empty: oneDNN's first.
PrimitiveDesc FuseBehind(const dnnl_convolution_desc_t& op, std::string_view impl, const Operation& operation, Fused& fused, Tail& tail) {
  const Unary& then = std::get<Conv>(operation.params).then;
  const bool is_quicker_apart = then.op == UnaryOp::kSwish && avx2::Available() && op.dst_desc.data_type != dnnl_bf16;
  if (is_quicker_apart || !FusedOf(then, fused)) {
    fused = {};
    tail.then = then;
  }
  PrimitiveDesc desc = MakeDesc(&op, MakeAttr(fused), impl);
  if (desc == nullptr || !HasInput(operation, 3)) return desc;
  Fused with = fused;
  with.addend = Query(desc, dnnl_query_dst_md);
  PrimitiveDesc joined = MakeDesc(&op, MakeAttr(with), impl);
  // Matrix products of oneDNN 2.6 take the elements of an addend from the wrong places where channels lie last.
  const bool misplaces = ImplName(desc).find("gemm") != std::string_view::npos && FormatOf(*with.addend, operation.out[0].dim) != nullptr;
  if (joined != nullptr && !misplaces) {
    const dnnl_memory_desc_t dst = Query(joined, dnnl_query_dst_md);
    if (Load()->dnnl_memory_desc_equal(&dst, &*with.addend) != 0) {
      fused = with;
      return joined;
    }
  }
  fused = {};
  tail = {.addend = 3, .then = then};
  return MakeDesc(&op, MakeAttr(fused), impl);
}

// How oneDNN is asked for a convolution.
struct ConvAsk {
  dnnl_alg_kind_t alg = dnnl_convolution_direct;
  dnnl_memory_desc_t src, dst;  // mostly in formats that are for oneDNN to choose
  std::string impl = {};        // empty: its first
};

bool DescribeConv(const Operation& operation, const ConvAsk& ask, dnnl_convolution_desc_t& op) {
  const Conv& conv = std::get<Conv>(operation.params);
  const TensorInfo& w = operation.in[1];
  const Sliding s = SlidingOf(operation, conv, std::span(w.dim).subspan(2));
  const dnnl_memory_desc_t weights = AnyDesc(GroupedDim(w.dim, conv.group), ask.src.data_type);
  const bool has_bias = HasInput(operation, 2);
  const dnnl_memory_desc_t bias = has_bias ? PlainDesc(operation.in[2].dim) : dnnl_memory_desc_t{};
  return Load()->dnnl_dilated_convolution_forward_desc_init(&op, dnnl_forward_inference, ask.alg, &ask.src, &weights,
                                                            has_bias ? &bias : nullptr, &ask.dst, s.stride, s.dilation, s.begin,
                                                            s.end) == dnnl_success;
}

Made MakeConvAsAsked(const Operation& operation, const ConvAsk& ask) {
  const Conv& conv = std::get<Conv>(operation.params);
  const TensorInfo& w = operation.in[1];
  dnnl_convolution_desc_t op{};
  if (!DescribeConv(operation, ask, op)) return NotHere();
  Fused fused;
  Around around;
  const PrimitiveDesc desc = FuseBehind(op, ask.impl, operation, fused, around.tail);
  if (desc == nullptr || (ask.dst.data_type == dnnl_bf16 && !around.tail.TakesBf16())) return NotHere();
  std::vector<Operand> operands = {{DNNL_ARG_SRC, 0, Query(desc, dnnl_query_src_md), nullptr}};
  if (fused.addend) operands.push_back({kAddendArg, 3, *fused.addend, nullptr});
  const dnnl_memory_desc_t packed = Query(desc, dnnl_query_weights_md, 0);
  if (w.constant == nullptr && (conv.group != 1)) return NotHere();  // weights that change are not seen in another shape
  auto operand = MakeOperand(DNNL_ARG_WEIGHTS, 1, w, PlainDesc(GroupedDim(w.dim, conv.group)), packed);
  if (!operand.ok()) return operand.status();
  operands.push_back(*std::move(operand));
  if (HasInput(operation, 2)) WF_RETURN_IF_ERROR(AddOperand(operation, 2, DNNL_ARG_BIAS, op.bias_desc, operands));
  if (ask.alg == dnnl_convolution_direct) around.keeper = KeeperFor(fused, op, desc);
  return MakePrimitive(desc, std::move(operands), operation.in.size(), operation.out[0], std::move(around));
}

// What oneDNN takes by itself. A row-major image of few channels is read as it is; deeper inputs in the format that it likes.
ConvAsk OwnAsk(const Operation& operation) { return {.src = AnyDesc(operation.in[0].dim), .dst = AnyDesc(operation.out[0].dim)}; }

PrimitiveDesc DescOfAsk(const Operation& operation, const ConvAsk& ask) {
  dnnl_convolution_desc_t op{};
  Fused fused;
  Tail tail;
  if (!DescribeConv(operation, ask, op)) return nullptr;
  return FuseBehind(op, ask.impl, operation, fused, tail);
}

// The formats of the other description, which is there.
void AskAlike(const PrimitiveDesc& desc, ConvAsk& ask) {
  ask.src = Query(desc, dnnl_query_src_md);
  ask.dst = Query(desc, dnnl_query_dst_md);
}

// Ways of a convolution are named by how oneDNN is asked, and by its name of the implementation.
constexpr std::string_view kAlike = "alike ";          // in the formats that oneDNN takes by itself
constexpr std::string_view kFollowing = "following ";  // in the format that the input comes in
constexpr std::string_view kWinograd = "winograd ";

std::optional<ConvAsk> AskOfWay(const Operation& operation, std::string_view way) {
  ConvAsk ask = OwnAsk(operation);
  if (way.empty()) return ask;
  ask.impl = way.substr(way.find(' ') + 1);
  if (way.starts_with(kAlike)) {
    const PrimitiveDesc own = DescOfAsk(operation, OwnAsk(operation));
    if (own == nullptr) return std::nullopt;
    AskAlike(own, ask);
    return ask;
  }
  if (way.starts_with(kFollowing)) {
    ask.src = DescOf(operation.in[0]);
    return ask;
  }
  ask.alg = dnnl_convolution_winograd;
  return way.starts_with(kWinograd) ? std::optional(ask) : std::nullopt;
}

// Winograd's sums mix neighbours: one NaN or infinity among them, or what overflows, would spread to all. Its filters are up to four times
// as large as those that they are made of, which are kept beside them.
constexpr int64_t kMostWinogradBytes = int64_t{5} << 19;
constexpr float kMostMixed = 0x1p40F;

// Weights and bias are known, and small enough that no result is NaN or infinite where x is small, too.
base::Result<bool> IsTame(const Operation& operation) {
  if (HasInput(operation, 3)) return false;
  for (size_t i = 1; i < operation.in.size(); ++i) {
    const TensorInfo& in = operation.in[i];
    if (in.dtype == 0) continue;
    if (in.constant == nullptr) return false;
    auto elements = in.constant->Load();
    if (!elements.ok()) return elements.status();
    if (!AllBelow(kMostMixed, reinterpret_cast<const float*>(elements->get()), in.count())) return false;
  }
  return true;
}

Made MakeWinograd(const Operation& operation, const ConvAsk& ask) {
  const auto tame = IsTame(operation);
  if (!tame.ok()) return tame.status();
  if (!*tame) return NotHere();
  const PrimitiveDesc desc = DescOfAsk(operation, ask);
  if (desc == nullptr) return NotHere();
  ConvAsk direct = OwnAsk(operation);
  AskAlike(desc, direct);
  auto mixed = MakeConvAsAsked(operation, ask);
  if (!mixed.ok() || *mixed == nullptr) return mixed;
  auto whole = MakeConvAsAsked(operation, direct);
  if (!whole.ok() || *whole == nullptr) return whole;
  return WhereBelow(kMostMixed, operation.in[0], *std::move(mixed), *std::move(whole));
}

// How a convolution of bf16 is asked for.
ConvAsk OwnBf16Ask(const Operation& operation, dnnl_data_type_t result) {
  ConvAsk ask = OwnAsk(operation);
  ask.src.data_type = dnnl_bf16;
  ask.dst.data_type = result;
  return ask;
}

// Numbers are multiplied by twos: of an odd number of channels the last is taken with one of the next point, times 0, which is NaN where
// that is not finite.
bool ConvTakesBf16(const Operation& operation) {
  const int64_t channels = operation.in[1].dim[1];
  return MultipliesBf16() && operation.in[1].constant != nullptr && (channels == 1 || channels % 2 == 0);
}

// The result is f32 where what is behind it has to be done apart.
Made MakeConvInBf16(const Operation& operation) {
  if (!ConvTakesBf16(operation) || (!operation.way.empty() && !operation.way.starts_with(kAlike))) return NotHere();
  for (const dnnl_data_type_t result : {dnnl_bf16, dnnl_f32}) {
    if (result == dnnl_bf16 && !operation.bf16_out) continue;
    ConvAsk ask = OwnBf16Ask(operation, result);
    if (!operation.way.empty()) {
      const PrimitiveDesc own = DescOfAsk(operation, ask);
      if (own == nullptr) continue;
      AskAlike(own, ask);
      ask.impl = operation.way.substr(kAlike.size());
    }
    auto made = MakeConvAsAsked(operation, ask);
    if (!made.ok() || *made != nullptr) return made;
  }
  return NotHere();
}

// Those of bf16, and that of f32.
std::vector<std::string> Bf16ConvWays(const Operation& operation) {
  ConvAsk ask = OwnBf16Ask(operation, operation.bf16_out ? dnnl_bf16 : dnnl_f32);
  const PrimitiveDesc own = DescOfAsk(operation, ask);
  std::vector<std::string> ways;
  dnnl_convolution_desc_t op{};
  if (own == nullptr) return ways;
  AskAlike(own, ask);
  if (DescribeConv(operation, ask, op)) {
    for (const std::string& impl : ImplNames(&op, MakeAttr({}))) {
      if (impl != ImplName(own) && IsWorthTrying(impl, ImplName(own))) ways.push_back(std::string(kAlike).append(impl));
    }
  }
  ways.emplace_back(kWide);
  return ways;
}

}  // namespace

Made MakeConv(const Operation& operation) {
  if (Load() == nullptr || AnyEmpty(operation)) return NotHere();
  if (operation.way == kDirect) {
    Operation own = operation;
    own.way.clear();
    return MakeConv(own);
  }
  if (operation.bf16 && operation.way != kWide) {
    auto made = MakeConvInBf16(operation);
    if (!made.ok() || *made != nullptr) return made;
    if (!operation.way.empty() && ConvTakesBf16(operation)) return NotHere();
  }
  const std::optional<ConvAsk> ask = AskOfWay(operation, operation.way == kWide ? std::string_view() : operation.way);
  if (!ask) return NotHere();
  return ask->alg == dnnl_convolution_winograd ? MakeWinograd(operation, *ask) : MakeConvAsAsked(operation, *ask);
}

std::vector<std::string> ConvWays(const Operation& operation) {
  const TensorInfo &x = operation.in[0], &w = operation.in[1];
  if (Load() == nullptr || AnyEmpty(operation) || w.constant == nullptr) return {};
  if (operation.bf16 && ConvTakesBf16(operation)) return Bf16ConvWays(operation);
  const PrimitiveDesc own = DescOfAsk(operation, OwnAsk(operation));
  if (own == nullptr) return {};
  std::vector<std::string> ways;
  const auto add = [&](std::string_view prefix, const ConvAsk& ask) {
    dnnl_convolution_desc_t op{};
    if (!DescribeConv(operation, ask, op)) return;
    for (const std::string& impl : ImplNames(&op, MakeAttr({}))) {
      const bool is_own = prefix == kAlike && impl == ImplName(own);
      if (!is_own && IsWorthTrying(impl, ImplName(own))) ways.push_back(std::string(prefix).append(impl));
    }
  };
  ConvAsk ask = OwnAsk(operation);
  ask.alg = dnnl_convolution_winograd;
  if (w.size_bytes() <= kMostWinogradBytes && !HasInput(operation, 3)) add(kWinograd, ask);
  ask = OwnAsk(operation);
  AskAlike(own, ask);
  add(kAlike, ask);
  const dnnl_memory_desc_t given = DescOf(x);
  if (x.format != nullptr && Load()->dnnl_memory_desc_equal(&given, &ask.src) == 0) {
    ask = OwnAsk(operation);
    ask.src = given;
    add(kFollowing, ask);
  }
  std::erase_if(ways, [&](const std::string& way) {
    if (!way.starts_with(kWinograd)) return false;
    const auto named = AskOfWay(operation, way);
    const PrimitiveDesc desc = DescOfAsk(operation, *named);
    if (desc == nullptr) return true;
    const dnnl_memory_desc_t packed = Query(desc, dnnl_query_weights_md, 0);
    return static_cast<int64_t>(Load()->dnnl_memory_desc_get_size(&packed)) > kMostWinogradBytes;
  });
  return ways;
}

Made MakePool(const Operation& operation) {
  const Pool& pool = std::get<Pool>(operation.params);
  if (Load() == nullptr || AnyEmpty(operation) || pool.power > 0) return NotHere();
  const TensorInfo& x = operation.in[0];
  const size_t spatial = x.dim.size() - 2;
  const Sliding s = SlidingOf(operation, pool, pool.kernel);
  dnnl_dims_t kernel{};
  std::copy(pool.kernel.begin(), pool.kernel.end(), kernel);
  for (size_t i = 0; i < spatial; ++i) {
    if (pool.mean && (s.dilation[i] != 0 || (pool.count_padding && s.end[i] != pool.pad_end[i]))) return NotHere();
    if (s.begin[i] >= kernel[i] || s.end[i] >= kernel[i]) return NotHere();  // a window of padding alone
  }
  const dnnl_alg_kind_t alg = !pool.mean           ? dnnl_pooling_max
                              : pool.count_padding ? dnnl_pooling_avg_include_padding
                                                   : dnnl_pooling_avg_exclude_padding;
  const dnnl_memory_desc_t src = DescOf(x);
  const std::vector<int64_t>& out = operation.out[0].dim;
  const dnnl_memory_desc_t dst = x.format != nullptr ? AnyDesc(out, src.data_type) : PlainDesc(out, src.data_type);
  dnnl_pooling_v2_desc_t op{};
  if (Load()->dnnl_pooling_v2_forward_desc_init(&op, dnnl_forward_inference, alg, &src, &dst, s.stride, kernel, s.dilation, s.begin,
                                                s.end) != dnnl_success) {
    return NotHere();
  }
  const PrimitiveDesc desc = MakeDesc(&op, MakeAttr({}));
  if (desc == nullptr) return NotHere();
  Around around;
  if (!pool.mean && x.dtype == WF_F32) around.keeper = std::make_unique<const NanKeeper>(src, Query(desc, dnnl_query_dst_md));
  return MakePrimitive(desc, {{DNNL_ARG_SRC, 0, src, nullptr}}, 1, operation.out[0], std::move(around));
}

namespace {
// Below this many elements a plain loop is done before a primitive has started; blocked data always stays in its format.
constexpr int64_t kWorthwhile = 1024;

// The kernel of one input. A keeper reads it behind the run.
Made MakeOfOne(const PrimitiveDesc& desc, const dnnl_memory_desc_t& data, const Operation& operation,
               std::unique_ptr<const NanKeeper> keeper) {
  const bool is_kept = keeper != nullptr;
  Around around;
  around.keeper = std::move(keeper);
  auto kernel = MakePrimitive(desc, {{DNNL_ARG_SRC, 0, data, nullptr}}, 1, operation.out[0], std::move(around));
  if (kernel.ok() && *kernel != nullptr) (*kernel)->in_place = !is_kept;
  return kernel;
}

// Element by element over data of any format, whose padding is 0: where 0 stays 0, plain code does it as fast, and keeps NaN.
Made MakeInFormat(const Operation& operation) {
  TensorInfo flat{WF_F32, {operation.in[0].size_bytes() / int64_t{sizeof(float)}}, nullptr, nullptr};
  auto kernel = ref::MakeUnary({operation.params, {flat}, {flat}});
  if (!kernel.ok() || *kernel == nullptr) return kernel;
  (*kernel)->in_format[0] = (*kernel)->out_format = operation.in[0].format;
  return kernel;
}
}  // namespace

Made MakeUnary(const Operation& operation) {
  Fused fused;
  const TensorInfo& x = operation.in[0];
  if (operation.in.size() != 1 || AnyEmpty(operation) || (x.format == nullptr && operation.out[0].count() < kWorthwhile)) return NotHere();
  const UnaryOp op_kind = std::get<Unary>(operation.params).op;
  const bool cheap = op_kind == UnaryOp::kRelu || op_kind == UnaryOp::kAbs || op_kind == UnaryOp::kClip || op_kind == UnaryOp::kSqrt ||
                     op_kind == UnaryOp::kLeakyRelu;
  if (x.format == nullptr && cheap) return NotHere();
  if (Load() == nullptr || !FusedOf(std::get<Unary>(operation.params), fused) || fused.alg == dnnl_alg_kind_undef) return NotHere();
  const bool keeps_zero = op_kind == UnaryOp::kRelu || (op_kind == UnaryOp::kClip && fused.alpha <= 0 && fused.beta >= 0);
  if (keeps_zero) return MakeInFormat(operation);
  const int64_t flat[] = {x.count()};
  const dnnl_memory_desc_t data = x.format != nullptr ? DescOf(x) : PlainDesc(flat);
  dnnl_eltwise_desc_t op{};
  if (Load()->dnnl_eltwise_forward_desc_init(&op, dnnl_forward_inference, fused.alg, &data, fused.alpha, fused.beta) != dnnl_success)
    return NotHere();
  const PrimitiveDesc desc = MakeDesc(&op, MakeAttr({}));
  if (desc == nullptr) return NotHere();
  return MakeOfOne(desc, data, operation, LosesNan(fused) ? std::make_unique<const NanKeeper>(data) : nullptr);
}

// Only for two operands of one blocked format, as where a residual joins, or one of them a number for each channel, as of a gate; plain
// code does the rest as fast.
Made MakeBinary(const Operation& operation) {
  const BinaryOp op_kind = std::get<Binary>(operation.params).op;
  if (op_kind != BinaryOp::kAdd && op_kind != BinaryOp::kSub && op_kind != BinaryOp::kMul && op_kind != BinaryOp::kDiv) return NotHere();
  const bool turned = operation.in[0].dim != operation.out[0].dim;
  if (turned && op_kind != BinaryOp::kAdd && op_kind != BinaryOp::kMul) return NotHere();
  const TensorInfo &a = operation.in[turned ? 1 : 0], &b = operation.in[turned ? 0 : 1];
  const bool all_f32 = a.dtype == WF_F32 && b.dtype == WF_F32;
  if (!all_f32 || a.format == nullptr || a.dim != operation.out[0].dim || b.constant != nullptr || Load() == nullptr || AnyEmpty(operation))
    return NotHere();
  const bool by_channel = b.format != nullptr && b.dim.size() == a.dim.size() && b.dim[0] == a.dim[0] && b.dim[1] == a.dim[1] &&
                          std::all_of(b.dim.begin() + 2, b.dim.end(), [](int64_t extent) { return extent == 1; });
  if (a.dim != b.dim && !by_channel) return NotHere();
  const dnnl_alg_kind_t alg = op_kind == BinaryOp::kAdd   ? dnnl_binary_add
                              : op_kind == BinaryOp::kSub ? dnnl_binary_sub
                              : op_kind == BinaryOp::kMul ? dnnl_binary_mul
                                                          : dnnl_binary_div;
  const dnnl_memory_desc_t data = DescOf(a), other = a.dim == b.dim ? data : DescOf(b);
  dnnl_binary_desc_t op{};
  if (Load()->dnnl_binary_desc_init(&op, alg, &data, &other, &data) != dnnl_success) return NotHere();
  const PrimitiveDesc desc = MakeDesc(&op, MakeAttr({}));
  if (desc == nullptr || !ImplName(desc).starts_with("jit")) return NotHere();
  auto kernel = MakePrimitive(desc, {{DNNL_ARG_SRC_0, turned ? 1 : 0, data, nullptr}, {DNNL_ARG_SRC_1, turned ? 0 : 1, other, nullptr}}, 2,
                              operation.out[0]);
  if (kernel.ok() && *kernel != nullptr) (*kernel)->in_place = !turned;
  return kernel;
}

Made MakeSoftmax(const Operation& operation) {
  const Softmax& softmax = std::get<Softmax>(operation.params);
  const TensorInfo& x = operation.in[0];
  // Its logarithms are off by 1e-6 near 1, which is most of a LogSoftmax near 0.
  if (softmax.log || AnyEmpty(operation) || x.count() < 64 || Load() == nullptr) return NotHere();
  std::vector<int64_t> dim = {1, 1, 1};  // outer, taken together, inner
  for (size_t i = 0; i < x.dim.size(); ++i) dim[i < softmax.begin ? 0 : i < softmax.end ? 1 : 2] *= x.dim[i];
  if (dim[2] != 1) return NotHere();  // across rows oneDNN falls back to slow code
  dim.pop_back();
  const dnnl_memory_desc_t data = PlainDesc(dim);
  dnnl_softmax_v2_desc_t op{};
  if (Load()->dnnl_softmax_v2_forward_desc_init(&op, dnnl_forward_inference, dnnl_softmax_accurate, &data, &data, 1) != dnnl_success)
    return NotHere();
  const PrimitiveDesc desc = MakeDesc(&op, MakeAttr({}));
  if (desc == nullptr) return NotHere();
  return MakeOfOne(desc, data, operation, std::make_unique<const NanKeeper>(data, dim.back()));
}

}  // namespace wf::kernels::onednn
