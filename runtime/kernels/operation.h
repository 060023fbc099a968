#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/kernels/attention/attention.h"
#include "runtime/kernels/batch_norm/batch_norm.h"
#include "runtime/kernels/binary/binary.h"
#include "runtime/kernels/cast/cast.h"
#include "runtime/kernels/conv/conv.h"
#include "runtime/kernels/conv_transpose/conv_transpose.h"
#include "runtime/kernels/deform_conv/deform_conv.h"
#include "runtime/kernels/det/det.h"
#include "runtime/kernels/einsum/einsum.h"
#include "runtime/kernels/embed_norm/embed_norm.h"
#include "runtime/kernels/fold/fold.h"
#include "runtime/kernels/gather_blocks/gather_blocks.h"
#include "runtime/kernels/gelu/gelu.h"
#include "runtime/kernels/grams/grams.h"
#include "runtime/kernels/grid_sample/grid_sample.h"
#include "runtime/kernels/index/index.h"
#include "runtime/kernels/integer_binary/integer_binary.h"
#include "runtime/kernels/integer_conv/integer_conv.h"
#include "runtime/kernels/integer_matmul/integer_matmul.h"
#include "runtime/kernels/inverse/inverse.h"
#include "runtime/kernels/kernel.h"
#include "runtime/kernels/linear_model/linear_model.h"
#include "runtime/kernels/lookup/lookup.h"
#include "runtime/kernels/loss/loss.h"
#include "runtime/kernels/make/make.h"
#include "runtime/kernels/matmul/matmul.h"
#include "runtime/kernels/matmul_nbits/matmul_nbits.h"
#include "runtime/kernels/move/move.h"
#include "runtime/kernels/normalise/normalise.h"
#include "runtime/kernels/order/order.h"
#include "runtime/kernels/pool/pool.h"
#include "runtime/kernels/quantise/quantise.h"
#include "runtime/kernels/random/random.h"
#include "runtime/kernels/recurrent/recurrent.h"
#include "runtime/kernels/reduce/reduce.h"
#include "runtime/kernels/resize/resize.h"
#include "runtime/kernels/select/select.h"
#include "runtime/kernels/signal/signal.h"
#include "runtime/kernels/softmax/softmax.h"
#include "runtime/kernels/svm/svm.h"
#include "runtime/kernels/tabular/tabular.h"
#include "runtime/kernels/text/text.h"
#include "runtime/kernels/train/train.h"
#include "runtime/kernels/trees/trees.h"
#include "runtime/kernels/unary/unary.h"
#include "runtime/kernels/unpool/unpool.h"
#include "runtime/kernels/variadic/variadic.h"
#include "runtime/kernels/view/view.h"

namespace wf::kernels {

using AnyParams =
    std::variant<Conv, MatMul, Pool, Unary, Binary, Softmax, Reduce, BatchNorm, Cast, Transpose, Concat, Slice, Pad, Gather, Where, Copy,
                 AffineGrid, ArgExtreme, ArgPool, Attention, BiasGelu, Binarize, ClassLoss, Compress, ConvTranspose, CountGrams, CumSum,
                 DeformConv, Dequantise, Det, Dft, DynamicQuantise, Einsum, EmbedNorm, Eye, Fill, Fold, GatherBlocks, GatherElements,
                 GatherND, GridSample, GroupNorm, Hardmax, Impute, IntegerBinary, IntegerConv, IntegerMatMul, Inverse, JoinFeatures,
                 LayerNorm, LinearModel, LocalNorm, Lookup, LpNorm, MatMulBnb4, MatMulNBits, MeanVariance, MelWeights, NonMaxSuppression,
                 NonZero, Normalize, OneHot, OneOfCategories, Quantise, RandomNumbers, Range, Recurrent, Resize, ReverseSequence, RoiAlign,
                 Rotary, Scale, ScatterElements, ScatterND, ShortDft, SignalWindow, Split, Svm, TextOp, TopK, TrainStep, TreeEnsemble,
                 Triangle, Unique, Unpool, Variadic, View>;

// Copied and destroyed in operation.cc: for so many alternatives that takes seconds to compile, in each source where it stands.
struct Params : AnyParams {
  using AnyParams::AnyParams;
  Params(const Params& other);
  Params(Params&& other) noexcept;
  Params& operator=(const Params& other);
  Params& operator=(Params&& other) noexcept;
  ~Params();
};

// One operator with everything that decides its kernel. Shapes are checked by shape inference before they come here.
struct Operation {
  Params params;
  std::vector<TensorInfo> in;   // dtype 0: absent
  std::vector<TensorInfo> out;  // dtype 0: nobody reads it, never the first; the format is the kernel's choice
  std::string way = {};         // of those that Ways gives; empty: what the first row takes by itself
  bool bf16 = false;            // of f32: rows that can, on this machine, multiply numbers rounded to bf16, and sum in f32
  bool bf16_out = false;        // and who reads the result takes it stored so (Format::is_bf16)
};

inline bool HasInput(const Operation& operation, size_t i) { return i < operation.in.size() && operation.in[i].dtype != 0; }

// Makes a kernel, or gives null when this implementation does not fit the case. Errors: a constant cannot be read, memory.
using MakeFn = base::Result<std::unique_ptr<Kernel>> (*)(const Operation&);

using WaysFn = std::vector<std::string> (*)(const Operation&);

// A row of the table in impls.cc: implementations of one contract, fastest first, `ref` last.
struct Impl {
  size_t params;  // index of the contract in Params
  const char* contract;
  uint8_t dtype;       // of input 0; 0: any
  const char* layout;  // of input 0: "row-major" or "any"; with ", bf16" it may be stored so
  const char* name;
  MakeFn make;
  WaysFn ways = nullptr;  // null: there is one alone
};
std::span<const Impl> Impls();

// The first row that fits; with a `way` that one, or as without where it is not there. Errors: kUnimplemented when none does.
base::Result<std::unique_ptr<Kernel>> MakeKernel(const Operation& operation);

// Ways to compute it besides the first row's own, those first that promise most: which is the fastest only measuring tells (choices.h).
std::vector<std::string> Ways(const Operation& operation);
std::string_view ContractOf(const Operation& operation);  // the name in the table: "Conv"

// Converts between memory formats. Errors: kUnimplemented when no library knows both.
base::Result<std::unique_ptr<Kernel>> MakeReorder(const TensorInfo& from, const FormatRef& to);

// Call on every thread before it makes or runs kernels: the libraries below then keep to that thread.   Cost: one thread-local read after
// the first.
void UseOneThread();
bool StayOnOneThread();  // whether the libraries below do as they are told so

bool MultipliesBf16();   // whether this machine has instructions for it. Loads the libraries
bool MultipliesBytes();  // whether products of 8-bit integers have kernels that are quicker than those of f32. Loads the libraries

void LoadLibraries();  // which the first kernels do otherwise; milliseconds
// Generated code is freed that the libraries below keep for whoever makes the same kernel again, as that of ways that were tried and lost.
// Call when no more kernels are expected soon.   Thread: thread-safe.
void FreeUnheld();

}  // namespace wf::kernels
