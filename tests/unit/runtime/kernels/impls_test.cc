// Every row of the table against `ref`, over shapes that each contract's implementations treat apart.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "runtime/kernels/avx2.h"
#include "runtime/kernels/onednn/layout.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Constant;
using testing::Floats;
using testing::Formatted;
using testing::Random;
using testing::RunKernel;
using testing::Tensor;

struct ShapeCase {
  std::string name;
  Params params;
  std::vector<Tensor> in;
  std::vector<int64_t> out;
};

std::vector<int64_t> WindowOut(const std::vector<int64_t>& in, const std::vector<int64_t>& kernel, const Conv& conv,
                               const std::vector<int64_t>& end) {
  std::vector<int64_t> out;
  for (size_t i = 0; i < kernel.size(); ++i) {
    out.push_back((in[2 + i] + conv.pad_begin[i] + end[i] - conv.dilation[i] * (kernel[i] - 1) - 1) / conv.stride[i] + 1);
  }
  return out;
}

struct ConvCase {
  std::string name;
  std::vector<int64_t> x, w;
  Conv conv;
  std::vector<int64_t> end;
};

void AddConv(std::vector<ShapeCase>& cases, ConvCase added) {
  auto& [name, x, w, conv, end] = added;
  const size_t spatial = x.size() - 2;
  if (conv.stride.empty()) conv.stride.assign(spatial, 1);
  if (conv.dilation.empty()) conv.dilation.assign(spatial, 1);
  if (conv.pad_begin.empty()) conv.pad_begin.assign(spatial, 0);
  if (end.empty()) end.assign(spatial, 0);
  std::vector<int64_t> out = {x[0], w[0]};
  for (const int64_t extent : WindowOut(x, std::vector<int64_t>(w.begin() + 2, w.end()), conv, end)) out.push_back(extent);
  cases.push_back({"conv " + name, conv, {Random(x, 1), Constant(Random(w, 2)), Constant(Random({w[0]}, 3))}, out});
  cases.push_back({"conv without bias " + name, conv, {Random(x, 1), Constant(Random(w, 2))}, out});
}

std::vector<ShapeCase> ConvCases() {
  std::vector<ShapeCase> cases;
  AddConv(cases, {"first layer", {2, 1, 28, 28}, {8, 1, 3, 3}, {{}, {}, {1, 1}, 1, {UnaryOp::kRelu}}, {1, 1}});
  AddConv(cases, {"deep", {1, 32, 9, 9}, {16, 32, 3, 3}, {{}, {}, {1, 1}, 1, {UnaryOp::kClip, 0, 0.5f}}, {1, 1}});
  AddConv(cases, {"odd channels", {3, 7, 8, 6}, {5, 7, 3, 2}, {{2, 1}, {}, {}, 1, {UnaryOp::kTanh}}, {}});
  AddConv(cases, {"grown", {1, 4, 5, 5}, {8, 4, 3, 3}, {{}, {}, {}, 1, {UnaryOp::kExp}}, {}});
  AddConv(cases, {"1x1", {1, 16, 5, 5}, {24, 16, 1, 1}, {{}, {}, {}, 1, {UnaryOp::kLeakyRelu, 0.1f}}, {}});
  AddConv(cases, {"uneven pads", {1, 3, 7, 7}, {4, 3, 3, 3}, {{}, {}, {0, 2}, 1, {UnaryOp::kSigmoid}}, {2, 0}});
  AddConv(cases, {"dilated", {1, 3, 11, 11}, {4, 3, 3, 3}, {{}, {2, 3}, {}, 1, {UnaryOp::kIdentity}}, {}});
  AddConv(cases, {"grouped", {2, 8, 6, 6}, {12, 2, 3, 3}, {{}, {}, {1, 1}, 4, {UnaryOp::kIdentity}}, {1, 1}});
  AddConv(cases, {"depthwise", {1, 16, 9, 9}, {16, 1, 3, 3}, {{2, 2}, {}, {1, 1}, 16, {UnaryOp::kRelu}}, {1, 1}});
  AddConv(cases, {"1d", {2, 4, 17}, {6, 4, 5}, {{2}, {}, {2}, 1, {UnaryOp::kIdentity}}, {2}});
  AddConv(cases, {"of each channel along lines", {2, 24, 70}, {24, 1, 9}, {{2}, {}, {4}, 24, {UnaryOp::kRelu}}, {4}});
  AddConv(cases, {"3d", {1, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, {{}, {}, {}, 1, {UnaryOp::kIdentity}}, {}});
  AddConv(cases, {"swish", {1, 16, 5, 5}, {24, 16, 1, 1}, {{}, {}, {}, 1, {UnaryOp::kSwish, 1}}, {}});
  const size_t apart = cases.size();
  for (size_t i = 0; i < apart; ++i) {  // with a tensor that is added; some have no bias
    ShapeCase added = cases[i];
    added.name += " and an addend";
    added.in.resize(std::max<size_t>(added.in.size(), 3), Tensor{});
    added.in.push_back(Random(added.out, 4));
    cases.push_back(std::move(added));
  }
  ShapeCase changing = cases[2];
  changing.name = "conv weights as input";
  for (Tensor& each : changing.in) each.info.constant = nullptr;
  cases.push_back(changing);
  return cases;
}

std::vector<ShapeCase> ConvTransposeCases() {
  std::vector<ShapeCase> cases;
  const auto add = [&](const std::string& name, const std::vector<int64_t>& x, const std::vector<int64_t>& w, ConvTranspose conv,
                       const std::vector<int64_t>& out) {
    if (conv.stride.empty()) conv.stride.assign(x.size() - 2, 1);
    if (conv.dilation.empty()) conv.dilation.assign(x.size() - 2, 1);
    if (conv.pad_begin.empty()) conv.pad_begin.assign(x.size() - 2, 0);
    cases.push_back({"transposed conv " + name, conv, {Random(x, 1), Constant(Random(w, 2)), Constant(Random({out[1]}, 3))}, out});
    cases.push_back({"transposed conv without bias " + name, conv, {Random(x, 1), Constant(Random(w, 2))}, out});
  };
  add("of blocks", {2, 24, 5, 6}, {24, 16, 2, 2}, {{2, 2}, {}, {}, 1, {UnaryOp::kRelu}}, {2, 16, 10, 12});
  add("of uneven blocks", {1, 5, 3, 4}, {5, 7, 3, 2}, {{3, 2}, {}, {}, 1, {UnaryOp::kTanh}}, {1, 7, 9, 8});
  add("of lines", {2, 4, 9}, {4, 6, 2}, {{2}}, {2, 6, 18});
  add("of cubes", {1, 16, 2, 3, 4}, {16, 8, 2, 2, 2}, {{2, 2, 2}}, {1, 8, 4, 6, 8});
  add("overlapping", {1, 16, 7, 7}, {16, 32, 4, 4}, {{2, 2}, {}, {1, 1}, 1, {UnaryOp::kLeakyRelu, 0.2f}}, {1, 32, 14, 14});
  add("longer than is reached", {1, 16, 7, 7}, {16, 8, 3, 3}, {{2, 2}, {}, {1, 1}}, {1, 8, 14, 14});
  add("dilated", {1, 8, 6, 6}, {8, 8, 3, 3}, {{1, 1}, {2, 2}, {}}, {1, 8, 10, 10});
  add("grouped", {1, 32, 6, 6}, {32, 8, 3, 3}, {{2, 2}, {}, {1, 1}, 2}, {1, 16, 11, 11});
  add("odd channels", {2, 3, 5, 5}, {3, 5, 3, 3}, {{2, 2}, {}, {}, 1, {UnaryOp::kSigmoid}}, {2, 5, 11, 11});
  ShapeCase changing = cases[0];
  changing.name = "transposed conv weights as input";
  for (Tensor& each : changing.in) each.info.constant = nullptr;
  cases.push_back(changing);
  return cases;
}

std::vector<ShapeCase> MatMulCases() {
  std::vector<ShapeCase> cases;
  const auto add = [&](const std::string& name, const MatMul& params, std::vector<int64_t> a, std::vector<int64_t> b,
                       std::vector<int64_t> c, std::vector<int64_t> out) {
    for (const bool constant : {false, true}) {
      ShapeCase each{"matmul " + name + (constant ? " weights" : ""), params, {Random(a, 1), Random(b, 2)}, out};
      if (!c.empty()) each.in.push_back(Random(c, 3));
      for (size_t i = 1; constant && i < each.in.size(); ++i) each.in[i] = Constant(each.in[i]);
      cases.push_back(std::move(each));
    }
  };
  add("plain", {}, {3, 64}, {64, 10}, {}, {3, 10});
  add("turned", {false, true, 1, 1, {UnaryOp::kRelu}}, {5, 33}, {7, 33}, {7}, {5, 7});
  add("both turned", {true, true}, {9, 4}, {5, 9}, {5}, {4, 5});
  add("one row", {false, true}, {1, 784}, {64, 784}, {64}, {1, 64});
  add("scaled", {false, false, 0.5f, 2.0f}, {3, 4}, {4, 5}, {3, 1}, {3, 5});
  add("matrix to add", {}, {3, 4}, {4, 5}, {3, 5}, {3, 5});
  add("row to add", {false, false, 1, 1, {UnaryOp::kTanh}}, {3, 4}, {4, 5}, {1, 5}, {3, 5});
  add("batched", {}, {2, 3, 6, 8}, {2, 3, 8, 5}, {}, {2, 3, 6, 5});
  add("broadcast", {}, {4, 1, 6, 8}, {3, 8, 5}, {}, {4, 3, 6, 5});
  add("3d by 2d", {}, {2, 6, 8}, {8, 12}, {12}, {2, 6, 12});
  add("vector", {}, {8}, {8, 12}, {}, {12});
  add("of whole vectors", {false, false, 1, 1, {UnaryOp::kGelu}}, {9, 16}, {16, 24}, {24}, {9, 24});
  add("turned whole vectors", {false, true, 1, 1, {UnaryOp::kRelu}}, {1, 40}, {16, 40}, {16}, {1, 16});
  add("scaled alone", {false, false, 0.125f}, {2, 6, 8}, {2, 8, 5}, {}, {2, 6, 5});
  return cases;
}

std::vector<ShapeCase> PoolCases() {
  std::vector<ShapeCase> cases;
  const auto add = [&](const std::string& name, Pool pool, std::vector<int64_t> x, std::vector<int64_t> out) {
    if (pool.dilation.empty()) pool.dilation.assign(x.size() - 2, 1);
    if (pool.pad_begin.empty()) pool.pad_begin.assign(x.size() - 2, 0);
    if (pool.pad_end.empty()) pool.pad_end.assign(x.size() - 2, 0);
    for (const bool mean : {false, true}) {
      pool.mean = mean;
      cases.push_back({(mean ? "mean pool " : "max pool ") + name, pool, {Random(x, 1)}, out});
    }
  };
  add("2x2", {false, false, {2, 2}, {2, 2}, {}, {}, {}}, {2, 16, 8, 8}, {2, 16, 4, 4});
  add("padded", {false, false, {3, 3}, {1, 1}, {}, {1, 1}, {1, 1}}, {1, 3, 5, 6}, {1, 3, 5, 6});
  add("padding counted", {false, true, {3, 3}, {2, 2}, {}, {1, 1}, {1, 1}}, {1, 3, 5, 5}, {1, 3, 3, 3});
  add("ceil", {false, true, {3, 3}, {2, 2}, {}, {}, {}}, {1, 3, 6, 6}, {1, 3, 3, 3});
  add("dilated", {false, false, {2, 2}, {1, 1}, {2, 2}, {}, {}}, {1, 3, 6, 6}, {1, 3, 4, 4});
  add("global", {false, false, {7, 7}, {1, 1}, {}, {}, {}}, {2, 5, 7, 7}, {2, 5, 1, 1});
  add("1d", {false, false, {3}, {2}, {}, {}, {}}, {2, 3, 9}, {2, 3, 4});
  add("of long lines", {false, false, {3}, {2}, {}, {1}, {1}}, {2, 3, 37}, {2, 3, 19});
  add("of each place of long lines", {false, false, {4}, {1}, {3}, {2}, {5}}, {1, 2, 21}, {1, 2, 19});
  add("of rare places", {false, false, {2}, {5}, {}, {}, {}}, {1, 2, 85}, {1, 2, 17});
  add("of less than a vector behind", {false, false, {2, 3}, {1, 2}, {}, {1, 1}, {1, 1}}, {2, 3, 4, 65}, {2, 3, 5, 33});
  add("of wide images", {false, false, {3, 3}, {2, 1}, {2, 2}, {2, 2}, {2, 2}}, {1, 2, 9, 50}, {1, 2, 5, 50});
  add("3d", {false, false, {2, 2, 2}, {2, 2, 2}, {}, {}, {1, 1, 1}}, {1, 2, 3, 5, 49}, {1, 2, 2, 3, 25});
  add("beside the image", {false, false, {1, 2}, {1, 1}, {}, {1, 3}, {2, 3}}, {1, 2, 2, 48}, {1, 2, 5, 53});
  add("of no sample", {false, false, {3}, {2}, {}, {}, {}}, {0, 3, 37}, {0, 3, 18});
  return cases;
}

std::vector<ShapeCase> ElementwiseCases() {
  std::vector<ShapeCase> cases;
  for (const std::vector<int64_t>& dim : {std::vector<int64_t>{3, 5}, std::vector<int64_t>{4, 8, 64}}) {
    for (const Unary& unary :
         {Unary{UnaryOp::kRelu}, Unary{UnaryOp::kSigmoid}, Unary{UnaryOp::kTanh}, Unary{UnaryOp::kExp}, Unary{UnaryOp::kAbs},
          Unary{UnaryOp::kErf}, Unary{UnaryOp::kClip, -0.25f, 0.5f}, Unary{UnaryOp::kLeakyRelu, 0.2f}, Unary{UnaryOp::kNeg},
          Unary{UnaryOp::kElu, 0.7f}, Unary{UnaryOp::kGelu}, Unary{UnaryOp::kGeluTanh}, Unary{UnaryOp::kHardSwish}, Unary{UnaryOp::kMish},
          Unary{UnaryOp::kSoftplus}, Unary{UnaryOp::kSwish, 1.5f}}) {
      cases.push_back({"unary " + std::to_string(static_cast<int>(unary.op)), unary, {Random(dim, 1)}, dim});
    }
    for (const BinaryOp op : {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv}) {
      cases.push_back({"binary", Binary{op}, {Random(dim, 1), Random(dim, 2)}, dim});
    }
    cases.push_back({"softmax", Softmax{dim.size() - 1, dim.size(), false}, {Random(dim, 1)}, dim});
    cases.push_back({"log softmax", Softmax{0, dim.size(), true}, {Random(dim, 1)}, dim});
    cases.push_back({"softmax across", Softmax{0, 1, false}, {Random(dim, 1)}, dim});
  }
  return cases;
}

std::vector<ShapeCase> AttentionCases() {
  std::vector<ShapeCase> cases;
  const auto add = [&](const std::string& name, int64_t batch, int64_t s, int64_t l, const std::vector<int64_t>& added, bool plain) {
    Attention attention;
    attention.heads = attention.kv_heads = 3;
    attention.size = 5;
    attention.v_size = 4;
    attention.scale = 0.3f;
    attention.plain = plain;
    attention.total = l;
    ShapeCase each{
        "attention " + name, attention, {Random({batch, s, 15}, 1), Random({batch, l, 15}, 2), Random({batch, l, 12}, 3)}, {batch, s, 12}};
    if (!added.empty()) {
      each.in.resize(6, Tensor{});
      each.in.push_back(Random(added, 4));
      auto* const mask = reinterpret_cast<float*>(each.in.back().data.get());
      std::fill_n(mask, l, -std::numeric_limits<float>::infinity());  // of the first row, or all where it repeats
      if (added[2] == 1 && l > 1) mask[1] = 0;
    }
    cases.push_back(std::move(each));
  };
  add("alone", 2, 4, 4, {}, true);
  add("of one", 1, 1, 1, {}, false);
  add("of blocks of rows", 1, 300, 17, {}, true);
  add("across", 2, 3, 9, {}, false);
  add("with a mask of keys", 2, 6, 6, {2, 1, 1, 6}, true);
  add("with a mask of pairs", 2, 6, 10, {1, 3, 6, 10}, true);
  add("where nothing counts", 2, 6, 10, {2, 3, 6, 10}, false);
  return cases;
}

std::vector<ShapeCase> NormCases() {
  std::vector<ShapeCase> cases;
  for (const int64_t n : {1, 7, 16, 37, 64}) {
    const std::vector<int64_t> dim = {2, 3, n};
    LayerNorm norm;
    norm.axis = 2;
    const Tensor x = Random(dim, 1), scale = Random({n}, 2), shift = Random({n}, 3), skip = Random({3, n}, 4);
    cases.push_back({"layer norm", norm, {x, scale, shift}, dim});
    cases.push_back({"layer norm of a sum", norm, {x, scale, Tensor{}, skip, shift}, dim});
    norm.centre = false;
    cases.push_back({"layer norm by the root of squares", norm, {x, scale}, dim});
    const std::vector<int64_t> image = {2, 6, 3, n};
    const Tensor of_channels = Random({6}, 5), of_groups = Random({3}, 6);
    cases.push_back({"norm of each channel", GroupNorm{6}, {Random(image, 1), of_channels, of_channels}, image});
    cases.push_back({"norm of groups", GroupNorm{3}, {Random(image, 1), of_channels, of_channels}, image});
    cases.push_back({"norm of groups with one scale each", GroupNorm{3}, {Random(image, 1), of_groups, of_groups}, image});
  }
  cases.push_back({"norm of no sample", GroupNorm{2}, {Random({0, 2, 9}, 1), Random({2}, 2), Random({2}, 3)}, {0, 2, 9}});
  return cases;
}

// Weights of 4 bits, also where the last block has room behind them, with zero points of each kind.
std::vector<ShapeCase> NBitsCases() {
  std::vector<ShapeCase> cases;
  for (const auto& [rows, n, k, block] : std::vector<std::array<int64_t, 4>>{{1, 5, 64, 32},
                                                                             {3, 7, 80, 16},
                                                                             {2, 4, 45, 16},
                                                                             {7, 3, 31, 64},
                                                                             {9, 33, 96, 32},
                                                                             {64, 19, 71, 16},
                                                                             {0, 4, 32, 32},
                                                                             {4, 0, 32, 32}}) {
    const int64_t blocks = (k + block - 1) / block;
    std::vector<uint8_t> weights(static_cast<size_t>(n * blocks * block / 2)), packed(static_cast<size_t>(n * ((blocks + 1) / 2)));
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<uint8_t>(i * 37 + i / 7);
    for (size_t i = 0; i < packed.size(); ++i) packed[i] = static_cast<uint8_t>(i * 71 + 5);
    const Tensor x = Random({rows, k}, 1), w = testing::Of(WF_U8, {n, blocks, block / 2}, weights), scales = Random({n * blocks}, 2);
    const Tensor zeros = testing::Of(WF_U8, {n * ((blocks + 1) / 2)}, packed), floats = Random({n * blocks}, 3), bias = Random({n}, 4);
    const MatMulNBits format{k, n, 4, block};
    cases.push_back({"product of 4 bits", format, {x, w, scales}, {rows, n}});
    cases.push_back({"product of 4 bits with zeros", format, {x, w, scales, zeros}, {rows, n}});
    cases.push_back({"product of 4 bits with zeros of floats and a bias", format, {x, w, scales, floats, bias}, {rows, n}});
    cases.push_back({"product of 4 bits with a bias", format, {x, w, scales, Tensor{}, bias}, {rows, n}});
  }
  return cases;
}

std::vector<ShapeCase> TransposeCases() {
  std::vector<ShapeCase> cases;
  for (const auto& [dim, perm] : std::vector<std::pair<std::vector<int64_t>, std::vector<size_t>>>{{{9, 8}, {1, 0}},
                                                                                                   {{33, 70}, {1, 0}},
                                                                                                   {{8, 7}, {1, 0}},
                                                                                                   {{2, 19, 5, 7}, {0, 2, 3, 1}},
                                                                                                   {{2, 5, 7, 19}, {0, 3, 1, 2}},
                                                                                                   {{9, 3, 17}, {2, 1, 0}},
                                                                                                   {{3, 16, 24}, {0, 2, 1}},
                                                                                                   {{8, 2, 3, 16}, {3, 2, 1, 0}},
                                                                                                   {{3, 10, 2, 9}, {2, 0, 3, 1}},
                                                                                                   {{4, 5, 8}, {1, 0, 2}},
                                                                                                   {{0, 9, 8}, {0, 2, 1}}}) {
    std::vector<int64_t> out;
    for (const size_t from : perm) out.push_back(dim[from]);
    cases.push_back({"transposed", Transpose{perm}, {Random(dim, 1)}, out});
  }
  return cases;
}

// Places of extremes, with equal elements, NaN and infinities among them, against `ref`.
TEST(Impls, PlacesOfExtremesByVectors) {
  if (!avx2::Available()) return;
  for (const auto& [dim, out] : std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{
           {{2, 5, 8}, {2, 8}}, {{1, 21, 37}, {1, 37}}, {{3, 1, 9}, {3, 9}}, {{1, 7, 1100}, {1, 1100}}, {{0, 7, 16}, {0, 16}}}) {
    const Tensor x = Random(dim, 1);
    auto* const values = reinterpret_cast<float*>(x.data.get());
    for (int64_t i = 0; i < x.info.count(); ++i) {
      values[i] = std::round(values[i] * 3);
      if (i % 11 == 5) values[i] = std::numeric_limits<float>::quiet_NaN();
      if (i % 13 == 7) values[i] = (i % 2 == 0 ? 1.0f : -1.0f) * std::numeric_limits<float>::infinity();
    }
    for (const bool largest : {true, false}) {
      for (const bool last : {true, false}) {
        const ArgExtreme arg{1, largest, last};
        const auto got = RunKernel(avx2::MakeArgExtreme, arg, {x}, WF_I64, out),
                   want = RunKernel(ref::MakeArgExtreme, arg, {x}, WF_I64, out);
        ASSERT_TRUE(got.made);
        EXPECT_EQ(got.out.As<int64_t>(), want.out.As<int64_t>()) << dim[2] << largest << last;
      }
    }
  }
  EXPECT_FALSE(RunKernel(avx2::MakeArgExtreme, ArgExtreme{1}, {Random({2, 30}, 1)}, WF_I64, {2}).made) << "along the last axis";
}

// Some elements of the first input become NaN, or none.
void ExpectRowsAgree(bool with_nan) {
  std::map<std::string, int> taken;  // cases by row
  std::vector<ShapeCase> cases = ConvCases();
  for (auto more : {ConvTransposeCases(), MatMulCases(), PoolCases(), ElementwiseCases(), AttentionCases(), NormCases(), NBitsCases(),
                    TransposeCases()})
    cases.insert(cases.end(), more.begin(), more.end());
  for (const ShapeCase& each : cases) {
    SCOPED_TRACE(each.name);
    auto* const input = reinterpret_cast<float*>(each.in[0].data.get());
    const int64_t count = each.in[0].info.count();
    for (int64_t i = 1; with_nan && i < count; i += 1 + count / 3) input[i] = std::numeric_limits<float>::quiet_NaN();
    MakeFn ref = nullptr;
    for (const Impl& impl : Impls()) {
      if (impl.params == each.params.index()) ref = impl.make;  // the last row
    }
    const auto wanted = RunKernel(ref, each.params, each.in, WF_F32, each.out);
    ASSERT_TRUE(wanted.made);
    for (const Impl& impl : Impls()) {
      if (impl.params != each.params.index() || impl.make == ref) continue;
      const auto got = RunKernel(impl.make, each.params, each.in, WF_F32, each.out);
      if (!got.made) continue;
      ++taken[std::string(impl.contract) + " " + impl.name];
      ASSERT_EQ(got.failure, nullptr);
      const auto is = got.out.As<float>(), want = wanted.out.As<float>();
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_EQ(std::isnan(is[i]), std::isnan(want[i])) << impl.name << " element " << i;
        if (std::isnan(want[i]) || is[i] == want[i]) continue;  // infinities, too
        ASSERT_NEAR(is[i], want[i], 2e-5 * (1 + std::abs(want[i]))) << impl.name << " element " << i;
      }
    }
  }
  EXPECT_GE(taken["LayerNorm avx2"], avx2::Available() ? 15 : 0);
  EXPECT_EQ(taken["Transpose avx2"], avx2::Available() ? 8 : 0);
  EXPECT_GE(taken["Pool avx2"], avx2::Available() ? 8 : 0);
  EXPECT_GE(taken["GroupNorm avx2"], avx2::Available() ? 16 : 0);
  EXPECT_GE(taken["MatMulNBits avx2"], avx2::Available() ? 32 : 0);
  if (onednn::Available()) {
    EXPECT_GE(taken["Attention avx2"], avx2::Available() ? 7 : 0);
    EXPECT_GE(taken["Conv avx2"], avx2::Available() ? 4 : 0);
    EXPECT_GE(taken["Conv onednn"], 40);
    EXPECT_GE(taken["ConvTranspose onednn"], 12);
    EXPECT_GE(taken["MatMul onednn"], 14);
    EXPECT_GE(taken["Pool onednn"], 11);
    EXPECT_GE(taken["Unary onednn"], 3);
    EXPECT_GE(taken["Softmax onednn"], 1);
  }
}

TEST(Impls, EachRowAgreesWithRefOnEachShape) { ExpectRowsAgree(false); }
TEST(Impls, EachRowKeepsTheNanThatRefKeeps) { ExpectRowsAgree(true); }

// What oneDNN loses is put back by looking for it, which takes nothing else for lost.
TEST(Impls, FunctionsKeepWhatStandsBesideNan) {
  ASSERT_TRUE(onednn::Available()) << "scripts/setup installs it";
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> x(2048, 0.5f);
  x[1] = -kInfinity;
  x[2] = kInfinity;
  x[5] = x[2047] = std::numeric_limits<float>::quiet_NaN();
  const Tensor in = Floats({2048}, x);
  for (const UnaryOp op : {UnaryOp::kExp, UnaryOp::kElu, UnaryOp::kGelu, UnaryOp::kGeluTanh, UnaryOp::kHardSwish, UnaryOp::kSigmoid,
                           UnaryOp::kTanh, UnaryOp::kSwish}) {
    const auto got = RunKernel(onednn::MakeUnary, Unary{op, 1, 1}, {in}, WF_F32, {2048});
    if (!got.made) continue;
    const auto is = got.out.As<float>(), wanted = RunKernel(ref::MakeUnary, Unary{op, 1, 1}, {in}, WF_F32, {2048}).out.As<float>();
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::isnan(is[i]), std::isnan(wanted[i])) << static_cast<int>(op) << " of " << x[i];
      if (std::isnan(wanted[i]) || is[i] == wanted[i]) continue;
      ASSERT_NEAR(is[i], wanted[i], 2e-6) << static_cast<int>(op) << " of " << x[i];
    }
  }
}

// The rows for blocked data need an operand in that format: a convolution's result.
TEST(Impls, ElementwiseRowsKeepABlockedFormat) {
  ASSERT_TRUE(onednn::Available()) << "scripts/setup installs it";
  const Conv conv{{1, 1}, {1, 1}, {1, 1}, 1, {UnaryOp::kIdentity}};
  Operation operation{
      conv, {Random({1, 16, 8, 8}, 1).info, Constant(Random({16, 16, 3, 3}, 2)).info}, {{WF_F32, {1, 16, 8, 8}, nullptr, nullptr}}};
  const auto made = onednn::MakeConv(operation);
  ASSERT_TRUE(made.ok() && *made != nullptr);
  const FormatRef blocked = (*made)->out_format;
  ASSERT_NE(blocked, nullptr) << "a deep convolution is expected to choose a format of its own";
  TensorInfo info{WF_F32, {1, 16, 8, 8}, blocked, nullptr};
  const Tensor a = Random({1, 16, 8, 8}, 3), b = Random({1, 16, 8, 8}, 4);
  std::vector<std::shared_ptr<uint8_t>> memory;
  const void *a_blocked = testing::InFormat(a, blocked, memory), *b_blocked = testing::InFormat(b, blocked, memory);
  const Operation sum{Binary{BinaryOp::kAdd}, {info, info}, {{WF_F32, {1, 16, 8, 8}, nullptr, nullptr}}};
  auto kernel = MakeKernel(sum);
  ASSERT_TRUE(kernel.ok());
  EXPECT_EQ((*kernel)->impl, "onednn");
  EXPECT_TRUE(SameFormat((*kernel)->out_format, blocked));
  Tensor result{info, Allocate(info.size_bytes())};
  const auto scratch = Allocate((*kernel)->scratch_bytes);
  ASSERT_EQ((*(*kernel)->Bind({{a_blocked, b_blocked}, {result.data.get()}, scratch.get()}))->Run(), nullptr);
  auto back = MakeReorder(info, nullptr);
  ASSERT_TRUE(back.ok());
  const Tensor plain = Floats({1, 16, 8, 8}, std::vector<float>(1024));
  const auto more = Allocate((*back)->scratch_bytes);
  ASSERT_EQ((*(*back)->Bind({{result.data.get()}, {plain.data.get()}, more.get()}))->Run(), nullptr);
  const auto is = plain.As<float>(), x = a.As<float>(), y = b.As<float>();
  for (size_t i = 0; i < is.size(); ++i) ASSERT_EQ(is[i], x[i] + y[i]);
}

// Row-major, then as kernels of each order leave it.
void ExpectSameInLayouts(MakeFn make, MakeFn ref, const Params& params, const std::vector<Tensor>& in, const std::vector<int64_t>& out) {
  const auto wanted = RunKernel(ref, params, in, WF_F32, out);
  ASSERT_TRUE(wanted.made);
  for (const onednn::Layout& layout : {onednn::Layout{onednn::Order::kChannelsLast}, onednn::Layout{onednn::Order::kBlocked, 8}}) {
    std::vector<Tensor> formatted;
    for (const Tensor& each : in) formatted.push_back(Formatted(each, layout.Format(each.info.dim)));
    const auto got = RunKernel(make, params, formatted, WF_F32, out);
    ASSERT_TRUE(got.made) << static_cast<int>(layout.order);
    EXPECT_EQ(got.out.As<float>(), wanted.out.As<float>()) << static_cast<int>(layout.order);
  }
  EXPECT_FALSE(RunKernel(make, params, in, WF_F32, out).made) << "row-major is left to `ref`";
}

TEST(Impls, ImagesAreJoinedAndResizedInTheOrderTheyHave) {
  ASSERT_TRUE(onednn::Available()) << "scripts/setup installs it";
  const std::vector<Tensor> parts = {Random({2, 16, 3, 5}, 1), Random({2, 8, 3, 5}, 2)};
  ExpectSameInLayouts(onednn::MakeConcat, ref::MakeConcat, Concat{1}, parts, {2, 24, 3, 5});
  ExpectSameInLayouts(onednn::MakeConcat, ref::MakeConcat, Concat{3}, {Random({2, 8, 3, 5}, 1), Random({2, 8, 3, 2}, 2)}, {2, 8, 3, 7});
  Resize resize;
  resize.from = Resize::From::kAsymmetric;
  resize.rounding = Resize::Rounding::kFloor;
  resize.scale = {1, 1, 2, 3};
  resize.region_begin.assign(4, 0);
  resize.region_end.assign(4, 1);
  ExpectSameInLayouts(onednn::MakeResize, ref::MakeResize, resize, {parts[0]}, {2, 16, 6, 15});
  resize.mode = Resize::Mode::kLinear;
  resize.from = Resize::From::kHalfPixel;
  ExpectSameInLayouts(onednn::MakeResize, ref::MakeResize, resize, {parts[0]}, {2, 16, 6, 15});
  resize.scale = {1, 1, 1, 0.4};
  ExpectSameInLayouts(onednn::MakeResize, ref::MakeResize, resize, {parts[0]}, {2, 16, 3, 2});
  resize.scale = {1, 2, 1, 1};
  const Tensor last = Formatted(parts[0], onednn::Layout{onednn::Order::kChannelsLast}.Format(parts[0].info.dim));
  EXPECT_FALSE(RunKernel(onednn::MakeResize, resize, {last}, WF_F32, {2, 32, 3, 5}).made) << "across channels";
}

TEST(Impls, JoinedPartsFollowTheLargerShare) {
  ASSERT_TRUE(onednn::Available()) << "scripts/setup installs it";
  const onednn::Layout layout{onednn::Order::kBlocked, 8};
  const Tensor large = Random({1, 16, 4, 4}, 1), small = Random({1, 8, 4, 4}, 2), odd = Random({1, 3, 4, 4}, 3);
  const Tensor blocked = Formatted(large, layout.Format(large.info.dim));
  const auto got = RunKernel(onednn::MakeConcat, Concat{1}, {small, blocked}, WF_F32, {1, 24, 4, 4});
  ASSERT_TRUE(got.made);
  EXPECT_EQ(got.out.As<float>(), RunKernel(ref::MakeConcat, Concat{1}, {small, large}, WF_F32, {1, 24, 4, 4}).out.As<float>());
  EXPECT_FALSE(RunKernel(onednn::MakeConcat, Concat{1}, {blocked, odd}, WF_F32, {1, 19, 4, 4}).made) << "channels of no whole block";
  EXPECT_FALSE(
      RunKernel(onednn::MakeConcat, Concat{1}, {large, Formatted(small, layout.Format(small.info.dim))}, WF_F32, {1, 24, 4, 4}).made);
}

TEST(Impls, EveryContractEndsWithRef) {
  size_t previous = SIZE_MAX;
  std::map<size_t, std::string> last;
  for (const Impl& impl : Impls()) {
    EXPECT_TRUE(impl.params == previous || last.count(impl.params) == 0) << "rows of " << impl.contract << " stand together";
    last[impl.params] = impl.name;
    previous = impl.params;
  }
  EXPECT_EQ(last.size(), std::variant_size_v<AnyParams>);
  for (const auto& [params, name] : last) EXPECT_EQ(name, "ref");
}

TEST(Impls, PackedWeightsAreSharedBetweenBatchSizes) {
  ASSERT_TRUE(onednn::Available()) << "scripts/setup installs it";
  const Tensor weights = Constant(Random({16, 16, 3, 3}, 1));
  const Conv conv{{1, 1}, {1, 1}, {1, 1}, 1, {UnaryOp::kIdentity}};
  for (const int64_t batch : {1, 2, 4}) {
    const Operation operation{conv, {Random({batch, 16, 8, 8}, 2).info, weights.info}, {{WF_F32, {batch, 16, 8, 8}, nullptr, nullptr}}};
    ASSERT_TRUE(onednn::MakeConv(operation).ok());
  }
  EXPECT_LE(weights.data.use_count(), 3);  // ours and the constant's: no kernel kept the row-major elements
}

}  // namespace
}  // namespace wf::kernels
