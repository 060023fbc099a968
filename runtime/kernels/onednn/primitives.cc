#include <algorithm>
#include <numeric>

#include "runtime/kernels/onednn/library.h"
#include "runtime/kernels/onednn/nan_keeper.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/onednn/shapes.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"

namespace wf::kernels::onednn {
namespace {

using Made = base::Result<std::unique_ptr<Kernel>>;
Made NotHere() { return std::unique_ptr<Kernel>(); }

// The operand of a constant is packed now; others come when the kernel runs.
base::Result<Operand> MakeOperand(int arg, int input, const TensorInfo& tensor, const dnnl_memory_desc_t& from,
                                  const dnnl_memory_desc_t& to) {
  Operand operand{arg, input, to, nullptr};
  if (tensor.constant == nullptr) return operand;
  auto packed = Pack(*tensor.constant, from, to);
  if (!packed.ok()) return packed.status();
  operand.input = -1;
  operand.prepared = *std::move(packed);
  return operand;
}

// Input `i` as it is, in the format that `desc` describes.
base::Status AddOperand(const Operation& operation, size_t i, int arg, const dnnl_memory_desc_t& desc, std::vector<Operand>& operands) {
  auto operand = MakeOperand(arg, static_cast<int>(i), operation.in[i], desc, desc);
  if (!operand.ok()) return operand.status();
  operands.push_back(*std::move(operand));
  return base::Status::Ok();
}

// For an operation of this kind with `fused` behind it, which `desc` stands for.
template <typename OpDesc>
std::unique_ptr<const NanKeeper> KeeperFor(const Fused& fused, OpDesc op, const PrimitiveDesc& desc) {
  if (!LosesNan(fused)) return nullptr;
  op.src_desc = Query(desc, dnnl_query_src_md);
  op.weights_desc = Query(desc, dnnl_query_weights_md, 0);
  op.dst_desc = Query(desc, dnnl_query_dst_md);
  const auto plain = [op, scale = fused.scale] { return MakeDesc(&op, MakeAttr({.scale = scale})); };
  return std::make_unique<const NanKeeper>(plain, op.dst_desc);
}

// The convolution with what is behind it: what oneDNN can do is fused, the rest left to `tail`. Null: it does not have it.
PrimitiveDesc FuseBehind(const dnnl_convolution_desc_t& op, const Operation& operation, Fused& fused, Tail& tail) {
  const Unary& then = std::get<Conv>(operation.params).then;
  const bool is_quicker_apart = then.op == UnaryOp::kSwish && avx2::Available();
  if (is_quicker_apart || !FusedOf(then, fused)) {
    fused = {};
    tail.then = then;
  }
  PrimitiveDesc desc = MakeDesc(&op, MakeAttr(fused));
  if (desc == nullptr || !HasInput(operation, 3)) return desc;
  Fused with = fused;
  with.addend = Query(desc, dnnl_query_dst_md);
  PrimitiveDesc joined = MakeDesc(&op, MakeAttr(with));
  if (joined != nullptr) {
    const dnnl_memory_desc_t dst = Query(joined, dnnl_query_dst_md);
    if (Load()->dnnl_memory_desc_equal(&dst, &*with.addend) != 0) {
      fused = with;
      return joined;
    }
  }
  fused = {};
  tail = {.addend = 3, .then = then};
  return MakeDesc(&op, MakeAttr(fused));
}

}  // namespace

Made MakeConv(const Operation& operation) {
  const Conv& conv = std::get<Conv>(operation.params);
  if (Load() == nullptr || AnyEmpty(operation)) return NotHere();
  const TensorInfo &x = operation.in[0], &w = operation.in[1];
  const std::vector<int64_t> w_dim = GroupedDim(w.dim, conv.group);
  const Sliding s = SlidingOf(operation, conv, std::span(w.dim).subspan(2));
  // A row-major image of few channels is read as it is; deeper inputs in the format that oneDNN likes.
  const dnnl_memory_desc_t src = AnyDesc(x.dim), weights = AnyDesc(w_dim), dst = AnyDesc(operation.out[0].dim);
  const bool has_bias = HasInput(operation, 2);
  const dnnl_memory_desc_t bias = has_bias ? PlainDesc(operation.in[2].dim) : dnnl_memory_desc_t{};
  dnnl_convolution_desc_t op{};
  if (Load()->dnnl_dilated_convolution_forward_desc_init(&op, dnnl_forward_inference, dnnl_convolution_direct, &src, &weights,
                                                         has_bias ? &bias : nullptr, &dst, s.stride, s.dilation, s.begin,
                                                         s.end) != dnnl_success) {
    return NotHere();
  }
  Fused fused;
  Around around;
  const PrimitiveDesc desc = FuseBehind(op, operation, fused, around.tail);
  if (desc == nullptr) return NotHere();
  std::vector<Operand> operands = {{DNNL_ARG_SRC, 0, Query(desc, dnnl_query_src_md), nullptr}};
  if (fused.addend) operands.push_back({kAddendArg, 3, *fused.addend, nullptr});
  const dnnl_memory_desc_t packed = Query(desc, dnnl_query_weights_md, 0);
  if (w.constant == nullptr && (conv.group != 1)) return NotHere();  // weights that change are not seen in another shape
  auto operand = MakeOperand(DNNL_ARG_WEIGHTS, 1, w, PlainDesc(w_dim), packed);
  if (!operand.ok()) return operand.status();
  operands.push_back(*std::move(operand));
  if (has_bias) WF_RETURN_IF_ERROR(AddOperand(operation, 2, DNNL_ARG_BIAS, bias, operands));
  around.keeper = KeeperFor(fused, op, desc);
  return MakePrimitive(desc, std::move(operands), operation.in.size(), operation.out[0], std::move(around));
}

namespace {

// A product x [m, k] times constant weights [k, n] as oneDNN can do it.
struct ProductForm {
  PrimitiveDesc desc;
  dnnl_memory_desc_t src, given;  // given: the row-major weights, seen as the form wants them
  std::unique_ptr<const NanKeeper> keeper;
};

struct ProductShape {
  int64_t m, k, n;
  bool turned;  // the weights are given as [n, k]
  bool has_bias;
};

ProductForm AsInnerProduct(const ProductShape& s, const Fused& fused) {
  const int64_t src_dim[] = {s.m, s.k}, weights_dim[] = {s.n, s.k}, dst_dim[] = {s.m, s.n}, bias_dim[] = {s.n};
  const int64_t stride[] = {s.turned ? s.k : 1, s.turned ? 1 : s.n};
  const dnnl_memory_desc_t src = PlainDesc(src_dim), weights = AnyDesc(weights_dim), dst = PlainDesc(dst_dim), bias = PlainDesc(bias_dim);
  dnnl_inner_product_desc_t op{};
  ProductForm form{{nullptr, nullptr}, src, StridedDesc(weights_dim, stride), nullptr};
  if (Load()->dnnl_inner_product_forward_desc_init(&op, dnnl_forward_inference, &src, &weights, s.has_bias ? &bias : nullptr, &dst) !=
      dnnl_success) {
    return form;
  }
  form.desc = MakeDesc(&op, MakeAttr(fused));
  if (form.desc != nullptr) form.keeper = KeeperFor(fused, op, form.desc);
  return form;
}

// The rows as points of an image, their elements as its channels.
ProductForm AsConvolution(const ProductShape& s, const Fused& fused) {
  const int64_t src_dim[] = {1, s.k, s.m, 1}, src_stride[] = {s.m * s.k, 1, s.k, s.k};
  const int64_t dst_dim[] = {1, s.n, s.m, 1}, dst_stride[] = {s.m * s.n, 1, s.n, s.n};
  const int64_t weights_dim[] = {s.n, s.k, 1, 1}, bias_dim[] = {s.n};
  const int64_t stride[] = {s.turned ? s.k : 1, s.turned ? 1 : s.n, 1, 1};
  const dnnl_memory_desc_t src = StridedDesc(src_dim, src_stride), dst = StridedDesc(dst_dim, dst_stride), weights = AnyDesc(weights_dim);
  const dnnl_memory_desc_t bias = PlainDesc(bias_dim);
  const dnnl_dims_t one = {1, 1}, none = {0, 0};
  dnnl_convolution_desc_t op{};
  ProductForm form{{nullptr, nullptr}, src, StridedDesc(weights_dim, stride), nullptr};
  if (Load()->dnnl_dilated_convolution_forward_desc_init(&op, dnnl_forward_inference, dnnl_convolution_direct, &src, &weights,
                                                         s.has_bias ? &bias : nullptr, &dst, one, none, none, none) != dnnl_success) {
    return form;
  }
  form.desc = MakeDesc(&op, MakeAttr(fused));
  if (form.desc != nullptr) form.keeper = KeeperFor(fused, op, form.desc);
  return form;
}

// Where the inner product would pack its weights again in each run, those of a convolution of one point, packed once, are up to half
// faster.
ProductForm BestForm(const ProductShape& shape, const Fused& fused) {
  ProductForm product = AsInnerProduct(shape, fused);
  const bool packs_each_time = product.desc == nullptr || ImplName(product.desc).find("gemm:jit") != std::string_view::npos;
  if (!packs_each_time) return product;
  ProductForm convolution = AsConvolution(shape, fused);
  return convolution.desc != nullptr && ImplName(convolution.desc).starts_with("jit_1x1") ? std::move(convolution) : std::move(product);
}

// The only form whose weights can be packed in any format.
Made MakeInnerProduct(const Operation& operation, const MatMul& matmul, const Fused& fused) {
  const TensorInfo &a = operation.in[0], &b = operation.in[1];
  const int64_t k = a.dim.back(), m = a.count() / k, n = operation.out[0].dim.back();
  const bool has_bias = HasInput(operation, 2);
  ProductForm form = BestForm({m, k, n, matmul.turn_b, has_bias}, fused);
  if (form.desc == nullptr) return NotHere();
  auto operand = MakeOperand(DNNL_ARG_WEIGHTS, 1, b, form.given, Query(form.desc, dnnl_query_weights_md, 0));
  if (!operand.ok()) return operand.status();
  std::vector<Operand> operands = {{DNNL_ARG_SRC, 0, form.src, nullptr}, *std::move(operand)};
  const int64_t bias_dim[] = {n};
  if (has_bias) WF_RETURN_IF_ERROR(AddOperand(operation, 2, DNNL_ARG_BIAS, PlainDesc(bias_dim), operands));
  Around around;
  around.keeper = std::move(form.keeper);
  around.row_major = true;
  return MakePrimitive(form.desc, std::move(operands), operation.in.size(), operation.out[0], std::move(around));
}

// [.., r, c], with leading ones up to `rank`, optionally turned.
bool MatrixDesc(const std::vector<int64_t>& dim, size_t rank, bool turn, dnnl_memory_desc_t& desc) {
  std::vector<int64_t> full(rank - dim.size(), 1);
  full.insert(full.end(), dim.begin(), dim.end());
  dnnl_dims_t dims{}, strides{};
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    dims[i] = full[i];
    strides[i] = stride;
    stride *= full[i];
  }
  if (turn) {
    std::swap(dims[rank - 1], dims[rank - 2]);
    std::swap(strides[rank - 1], strides[rank - 2]);
  }
  return Load()->dnnl_memory_desc_init_by_strides(&desc, static_cast<int>(rank), dims, dnnl_f32, strides) == dnnl_success;
}

}  // namespace

Made MakeMatMul(const Operation& operation) {
  const MatMul& matmul = std::get<MatMul>(operation.params);
  Fused fused;
  if (Load() == nullptr || AnyEmpty(operation) || !FusedOf(matmul.then, fused)) return NotHere();
  const TensorInfo &a = operation.in[0], &b = operation.in[1];
  if (a.dim.size() < 2 || b.dim.size() < 2) return NotHere();
  const bool has_c = HasInput(operation, 2);
  // c is a bias when it is one value for each column; other forms, and scales beside a bias, are left to plain code.
  const bool bias_like = !has_c || (operation.in[2].dim.size() >= 1 && operation.in[2].count() == operation.out[0].dim.back() &&
                                    operation.in[2].dim.back() == operation.out[0].dim.back());
  if (!bias_like || (has_c && (matmul.beta != 1 || matmul.alpha != 1))) return NotHere();
  fused.scale = matmul.alpha;
  if (b.constant != nullptr && b.dim.size() == 2 && !matmul.turn_a) return MakeInnerProduct(operation, matmul, fused);
  const size_t rank = operation.out[0].dim.size();
  dnnl_memory_desc_t src{}, weights{}, dst{}, bias{};
  if (!MatrixDesc(a.dim, rank, matmul.turn_a, src) || !MatrixDesc(b.dim, rank, matmul.turn_b, weights) ||
      !MatrixDesc(operation.out[0].dim, rank, false, dst)) {
    return NotHere();
  }
  if (has_c && !MatrixDesc({operation.out[0].dim.back()}, rank, false, bias)) return NotHere();
  dnnl_matmul_desc_t op{};
  if (Load()->dnnl_matmul_desc_init(&op, &src, &weights, has_c ? &bias : nullptr, &dst) != dnnl_success) return NotHere();
  const PrimitiveDesc desc = MakeDesc(&op, MakeAttr(fused));
  if (desc == nullptr) return NotHere();
  std::vector<Operand> operands;
  WF_RETURN_IF_ERROR(AddOperand(operation, 0, DNNL_ARG_SRC, src, operands));
  WF_RETURN_IF_ERROR(AddOperand(operation, 1, DNNL_ARG_WEIGHTS, weights, operands));
  if (has_c) WF_RETURN_IF_ERROR(AddOperand(operation, 2, DNNL_ARG_BIAS, bias, operands));
  Around around;
  around.keeper = KeeperFor(fused, op, desc);
  around.row_major = true;  // which the strides above describe
  return MakePrimitive(desc, std::move(operands), operation.in.size(), operation.out[0], std::move(around));
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
  const dnnl_memory_desc_t dst = x.format != nullptr ? AnyDesc(out, TypeOf(x.dtype)) : PlainDesc(out, TypeOf(x.dtype));
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

// The kernel of one input. row: as many elements of it are lost together where one is NaN; 0: none is.
Made MakeOfOne(const PrimitiveDesc& desc, const dnnl_memory_desc_t& data, const Operation& operation, int64_t row) {
  Around around;
  if (row > 0) around.keeper = std::make_unique<const NanKeeper>(data, row);
  auto kernel = MakePrimitive(desc, {{DNNL_ARG_SRC, 0, data, nullptr}}, 1, operation.out[0], std::move(around));
  if (kernel.ok() && *kernel != nullptr) (*kernel)->in_place = row == 0;
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
  return MakeOfOne(desc, data, operation, LosesNan(fused) ? 1 : 0);
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
  if (AnyEmpty(operation) || x.count() < 64 || Load() == nullptr) return NotHere();
  std::vector<int64_t> dim = {1, 1, 1};  // outer, taken together, inner
  for (size_t i = 0; i < x.dim.size(); ++i) dim[i < softmax.begin ? 0 : i < softmax.end ? 1 : 2] *= x.dim[i];
  if (dim[2] != 1) return NotHere();  // across rows oneDNN falls back to slow code
  dim.pop_back();
  const dnnl_memory_desc_t data = PlainDesc(dim);
  dnnl_softmax_v2_desc_t op{};
  const dnnl_alg_kind_t alg = softmax.log ? dnnl_softmax_log : dnnl_softmax_accurate;
  if (Load()->dnnl_softmax_v2_forward_desc_init(&op, dnnl_forward_inference, alg, &data, &data, 1) != dnnl_success) return NotHere();
  const PrimitiveDesc desc = MakeDesc(&op, MakeAttr({}));
  if (desc == nullptr) return NotHere();
  return MakeOfOne(desc, data, operation, dim.back());
}

}  // namespace wf::kernels::onednn
