#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/onednn/operands.h"

namespace wf::kernels::onednn {
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
  dnnl_data_type_t factors = dnnl_f32, product = dnnl_f32;
};

struct Which {
  std::string_view impl = {};                 // empty: oneDNN's first
  std::vector<std::string>* names = nullptr;  // of all that there are
};

ProductForm AsInnerProduct(const ProductShape& s, const Fused& fused, const Which& which = {}) {
  const int64_t src_dim[] = {s.m, s.k}, weights_dim[] = {s.n, s.k}, dst_dim[] = {s.m, s.n}, bias_dim[] = {s.n};
  const int64_t stride[] = {s.turned ? s.k : 1, s.turned ? 1 : s.n};
  const dnnl_memory_desc_t src = PlainDesc(src_dim, s.factors), weights = AnyDesc(weights_dim, s.factors),
                           dst = PlainDesc(dst_dim, s.product), bias = PlainDesc(bias_dim);
  dnnl_inner_product_desc_t op{};
  ProductForm form{nullptr, src, StridedDesc(weights_dim, stride), nullptr};
  if (Load()->dnnl_inner_product_forward_desc_init(&op, dnnl_forward_inference, &src, &weights, s.has_bias ? &bias : nullptr, &dst) !=
      dnnl_success) {
    return form;
  }
  form.desc = MakeDesc(&op, MakeAttr(fused), which.impl);
  if (which.names != nullptr) *which.names = ImplNames(&op, MakeAttr(fused));
  if (form.desc != nullptr) form.keeper = KeeperFor(fused, op, form.desc);
  return form;
}

// The rows as points of an image, their elements as its channels.
ProductForm AsConvolution(const ProductShape& s, const Fused& fused, const Which& which = {}) {
  const int64_t src_dim[] = {1, s.k, s.m, 1}, src_stride[] = {s.m * s.k, 1, s.k, s.k};
  const int64_t dst_dim[] = {1, s.n, s.m, 1}, dst_stride[] = {s.m * s.n, 1, s.n, s.n};
  const int64_t weights_dim[] = {s.n, s.k, 1, 1}, bias_dim[] = {s.n};
  const int64_t stride[] = {s.turned ? s.k : 1, s.turned ? 1 : s.n, 1, 1};
  const dnnl_memory_desc_t src = StridedDesc(src_dim, src_stride, s.factors), dst = StridedDesc(dst_dim, dst_stride, s.product),
                           weights = AnyDesc(weights_dim, s.factors);
  const dnnl_memory_desc_t bias = PlainDesc(bias_dim);
  const dnnl_dims_t one = {1, 1}, none = {0, 0};
  dnnl_convolution_desc_t op{};
  ProductForm form{nullptr, src, StridedDesc(weights_dim, stride), nullptr};
  if (Load()->dnnl_dilated_convolution_forward_desc_init(&op, dnnl_forward_inference, dnnl_convolution_direct, &src, &weights,
                                                         s.has_bias ? &bias : nullptr, &dst, one, none, none, none) != dnnl_success) {
    return form;
  }
  form.desc = MakeDesc(&op, MakeAttr(fused), which.impl);
  if (which.names != nullptr) *which.names = ImplNames(&op, MakeAttr(fused));
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

// Ways of a product are named as those of a convolution are.
constexpr std::string_view kInner = "inner ", kPoints = "points ", kPlain = "plain ";

ProductForm FormOfWay(const ProductShape& shape, const Fused& fused, std::string_view way) {
  const Which which{.impl = way.substr(way.find(' ') + 1)};
  if (way.starts_with(kInner)) return AsInnerProduct(shape, fused, which);
  return way.starts_with(kPoints) ? AsConvolution(shape, fused, which) : ProductForm{};
}

ProductShape ShapeOf(const Operation& operation, bool bf16) {
  const int64_t k = operation.in[0].dim.back();
  const bool turned = std::get<MatMul>(operation.params).turn_b;
  return {operation.in[0].count() / k,
          k,
          operation.out[0].dim.back(),
          turned,
          HasInput(operation, 2),
          bf16 ? dnnl_bf16 : dnnl_f32,
          bf16 && operation.bf16_out ? dnnl_bf16 : dnnl_f32};
}

// The only form whose weights can be packed in any format.
Made MakeInnerProduct(const Operation& operation, const Fused& fused, const ProductShape& shape) {
  const TensorInfo& b = operation.in[1];
  const int64_t n = shape.n;
  const bool has_bias = shape.has_bias;
  ProductForm form = operation.way.empty() ? BestForm(shape, fused) : FormOfWay(shape, fused, operation.way);
  if (form.desc == nullptr) return NotHere();
  auto operand = MakeOperand(DNNL_ARG_WEIGHTS, 1, b, form.given, Query(form.desc, dnnl_query_weights_md, 0));
  if (!operand.ok()) return operand.status();
  std::vector<Operand> operands = {{DNNL_ARG_SRC, 0, form.src, nullptr}, *std::move(operand)};
  const int64_t bias_dim[] = {n};
  if (has_bias) WF_RETURN_IF_ERROR(AddOperand(operation, 2, DNNL_ARG_BIAS, PlainDesc(bias_dim), operands));
  Around around;
  around.keeper = std::move(form.keeper);
  around.row_major = true;
  auto kernel = MakePrimitive(form.desc, std::move(operands), operation.in.size(), operation.out[0], std::move(around));
  if (!kernel.ok() || *kernel == nullptr) return kernel;
  if (shape.factors == dnnl_bf16) (*kernel)->in_format[0] = RowMajor(operation.in[0].dim, WF_BF16);
  if (shape.product == dnnl_bf16) (*kernel)->out_format = RowMajor(operation.out[0].dim, WF_BF16);
  return kernel;
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

namespace {

constexpr int64_t kWorthRounding = 4096;  // weights: products with fewer are done before their inputs are rounded

bool HasPackedWeights(const Operation& operation) {
  const TensorInfo& b = operation.in[1];
  return b.constant != nullptr && b.dim.size() == 2 && !std::get<MatMul>(operation.params).turn_a;
}

// Of an odd number of factors, as in a convolution, one of the next row would be read.
bool TakesBf16(const Operation& operation) {
  return operation.bf16 && MultipliesBf16() && operation.in[0].dim.back() % 2 == 0 && operation.in[1].count() >= kWorthRounding;
}

// Whether oneDNN has such a product, and what it does behind it.
bool FuseProduct(const Operation& operation, Fused& fused) {
  const MatMul& matmul = std::get<MatMul>(operation.params);
  if (Load() == nullptr || AnyEmpty(operation) || !FusedOf(matmul.then, fused)) return false;
  if (operation.in[0].dim.size() < 2 || operation.in[1].dim.size() < 2) return false;
  const bool has_c = HasInput(operation, 2);
  // c is a bias when it is one value for each column; other forms, and scales beside a bias, are left to plain code.
  const bool bias_like = !has_c || (operation.in[2].dim.size() >= 1 && operation.in[2].count() == operation.out[0].dim.back() &&
                                    operation.in[2].dim.back() == operation.out[0].dim.back());
  if (!bias_like || (has_c && (matmul.beta != 1 || matmul.alpha != 1))) return false;
  fused.scale = matmul.alpha;
  return true;
}

bool DescribeProduct(const Operation& operation, dnnl_matmul_desc_t& op) {
  const MatMul& matmul = std::get<MatMul>(operation.params);
  const size_t rank = operation.out[0].dim.size();
  const bool has_c = HasInput(operation, 2);
  dnnl_memory_desc_t src{}, weights{}, dst{}, bias{};
  if (!MatrixDesc(operation.in[0].dim, rank, matmul.turn_a, src) || !MatrixDesc(operation.in[1].dim, rank, matmul.turn_b, weights) ||
      !MatrixDesc(operation.out[0].dim, rank, false, dst)) {
    return false;
  }
  if (has_c && !MatrixDesc({operation.out[0].dim.back()}, rank, false, bias)) return false;
  return Load()->dnnl_matmul_desc_init(&op, &src, &weights, has_c ? &bias : nullptr, &dst) == dnnl_success;
}

}  // namespace

Made MakeMatMul(const Operation& operation) {
  Fused fused;
  if (!FuseProduct(operation, fused)) return NotHere();
  if (HasPackedWeights(operation)) {
    if (TakesBf16(operation) && operation.way != kWide) {
      auto made = MakeInnerProduct(operation, fused, ShapeOf(operation, /*bf16=*/true));
      if (!made.ok() || *made != nullptr || !operation.way.empty()) return made;
    }
    Operation wide = operation;
    if (operation.way == kWide) wide.way.clear();
    return MakeInnerProduct(wide, fused, ShapeOf(wide, /*bf16=*/false));
  }
  dnnl_matmul_desc_t op{};
  if (!DescribeProduct(operation, op)) return NotHere();
  const std::string_view way = operation.way;
  const PrimitiveDesc desc = MakeDesc(&op, MakeAttr(fused), way.empty() ? way : way.substr(way.find(' ') + 1));
  if (desc == nullptr) return NotHere();
  std::vector<Operand> operands;
  WF_RETURN_IF_ERROR(AddOperand(operation, 0, DNNL_ARG_SRC, op.src_desc, operands));
  WF_RETURN_IF_ERROR(AddOperand(operation, 1, DNNL_ARG_WEIGHTS, op.weights_desc, operands));
  if (HasInput(operation, 2)) WF_RETURN_IF_ERROR(AddOperand(operation, 2, DNNL_ARG_BIAS, op.bias_desc, operands));
  Around around;
  around.keeper = KeeperFor(fused, op, desc);
  around.row_major = true;  // which the strides say
  return MakePrimitive(desc, std::move(operands), operation.in.size(), operation.out[0], std::move(around));
}

std::vector<std::string> MatMulWays(const Operation& operation) {
  Fused fused;
  std::vector<std::string> ways;
  if (!FuseProduct(operation, fused)) return ways;
  const auto add = [&ways](std::string_view prefix, const std::vector<std::string>& names) {
    for (const std::string& name : names) ways.push_back(std::string(prefix).append(name));
  };
  std::string own;
  std::vector<std::string> names;
  if (HasPackedWeights(operation)) {
    const ProductShape shape = ShapeOf(operation, TakesBf16(operation));
    const ProductForm inner = AsInnerProduct(shape, fused, {.names = &names});
    add(kInner, names);
    const ProductForm points = AsConvolution(shape, fused, {.names = &names});
    add(kPoints, names);
    const ProductForm best = BestForm(shape, fused);
    if (best.desc == nullptr) return {};
    own = ImplName(best.desc);
    const bool is_inner = inner.desc != nullptr && own == ImplName(inner.desc);
    own.insert(0, is_inner ? kInner : kPoints);
    if (TakesBf16(operation)) ways.emplace_back(kWide);
  } else {
    dnnl_matmul_desc_t op{};
    if (!DescribeProduct(operation, op)) return {};
    add(kPlain, ImplNames(&op, MakeAttr(fused)));
    if (!ways.empty()) own = ways.front();
  }
  std::erase_if(ways, [&own](const std::string& way) { return way == own || (way != kWide && !IsWorthTrying(way, own)); });
  return ways;
}

}  // namespace wf::kernels::onednn
