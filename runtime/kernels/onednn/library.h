#pragma once

#include <oneapi/dnnl/dnnl.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/kernel.h"
#include "runtime/kernels/onednn/layout.h"
#include "runtime/kernels/unary/unary.h"

#if DNNL_VERSION_MAJOR != 2
#error "written for the 2.x API of oneDNN: op descriptors, dnnl_memory_desc_t by value"
#endif

// The wall around oneDNN's C API. The shared library is opened when the first kernel is made, so a server without models never maps it.
namespace wf::kernels::onednn {

struct Library {
#define DNNL(name) decltype(&::name) name = nullptr;
#include "runtime/kernels/onednn/functions.def"
#undef DNNL
  dnnl_engine_t engine = nullptr;
};

// Null when it is not installed.   Thread: thread-safe; the first call costs milliseconds.
const Library* Load();

class DnnlFormat final : public Format {
 public:
  explicit DnnlFormat(const dnnl_memory_desc_t& desc) : desc_(desc) {}
  bool Same(const Format& other) const override;
  int64_t size_bytes() const override;
  bool is_bf16() const override { return desc_.data_type == dnnl_bf16; }
  std::string ToString() const override;
  const dnnl_memory_desc_t& desc() const { return desc_; }

 private:
  const dnnl_memory_desc_t desc_;
};

dnnl_data_type_t TypeOf(uint8_t dtype);                                                        // undef: none
dnnl_memory_desc_t PlainDesc(std::span<const int64_t> dim, dnnl_data_type_t type = dnnl_f32);  // row-major
dnnl_memory_desc_t StridedDesc(std::span<const int64_t> dim, std::span<const int64_t> stride, dnnl_data_type_t type = dnnl_f32);
dnnl_memory_desc_t AnyDesc(std::span<const int64_t> dim, dnnl_data_type_t type = dnnl_f32);  // format for oneDNN to choose
dnnl_memory_desc_t DescOf(const TensorInfo& tensor);                                         // in the format it has
int64_t ElementsIn(const dnnl_memory_desc_t& desc);                                          // elements of f32 or bf16, padding among them
// Null when it is row-major, unless stored as bf16.
FormatRef FormatOf(const dnnl_memory_desc_t& desc, std::span<const int64_t> dim);

// A tensor as oneDNN sees it, whose elements others own.
class Memory {
 public:
  Memory() = default;
  ~Memory();
  Memory(Memory&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
  Memory& operator=(Memory&&) = delete;
  bool Create(const dnnl_memory_desc_t& desc, const void* data);
  dnnl_memory_t get() const { return memory_; }
  void Set(const void* data);  // cannot fail for host memory

 private:
  dnnl_memory_t memory_ = nullptr;
};

struct Primitive {
  explicit Primitive(dnnl_primitive_t handle) : get(handle) {}
  ~Primitive();
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;
  const dnnl_primitive_t get;  // null: none
};

dnnl_primitive_t CreatePrimitive(const_dnnl_primitive_desc_t desc);  // null when there is no memory
// Null, or why it did not run.
const char* Execute(dnnl_primitive_t primitive, dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args);

struct DestroyDesc {
  void operator()(dnnl_primitive_desc_t desc) const;
};
// While one is there oneDNN keeps its primitives in its cache.
using PrimitiveDesc = std::unique_ptr<dnnl_primitive_desc, DestroyDesc>;
using Attr = std::unique_ptr<dnnl_primitive_attr, void (*)(dnnl_primitive_attr_t)>;

// What runs behind an operation: its result times `scale`, plus a tensor like it, then an elementwise function. Of integers each channel
// may have a scale of its own, what is read is less a zero point, and one is added at last.
struct Fused {
  dnnl_alg_kind_t alg = dnnl_alg_kind_undef;  // of the function; undef: none
  float alpha = 0, beta = 0, scale = 1;
  std::vector<float> channel_scales = {};    // of axis 1; empty: `scale`
  int64_t scales_at_run = 0;                 // as many are an argument of the run; 0: they are not
  int32_t zero_in = 0, zero_out = 0;         // DNNL_RUNTIME_S32_VAL: an argument of the run
  std::optional<dnnl_memory_desc_t> addend;  // its argument is kAddendArg
};
inline constexpr int kAddendArg = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1;
bool FusedOf(const Unary& unary, Fused& fused);  // false when oneDNN does not have the function
Attr MakeAttr(const Fused& fused);               // with the user's scratchpad; null when oneDNN refuses

// By the implementation of this name, or by oneDNN's first; null when it has none.
PrimitiveDesc MakeDesc(const void* op_desc, const Attr& attr, std::string_view impl = {});
dnnl_status_t DescribeReorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to, const_dnnl_primitive_attr_t attr,
                              PrimitiveDesc& desc);
std::vector<std::string> ImplNames(const void* op_desc, const Attr& attr);  // oneDNN's first in front; what is slow everywhere is left out
dnnl_memory_desc_t Query(const PrimitiveDesc& desc, dnnl_query_t what, int index = 0);
std::string_view ImplName(const PrimitiveDesc& desc);  // "jit_1x1:avx2"

// An operand of a primitive: an input of the kernel, or something prepared that lives with it.
struct Operand {
  int arg = 0;     // DNNL_ARG_*
  int input = -1;  // index of the kernel's input, or -1
  dnnl_memory_desc_t desc{};
  std::shared_ptr<const void> prepared;  // input -1: the packed data
};

class NanKeeper;

// What own code does to all that the primitive wrote, where oneDNN cannot or is slow: a bias or an input of the kernel, in the format of
// the output, is added, then a function applied.
struct Tail {
  int addend = -1;  // none
  Unary then = {UnaryOp::kIdentity};
  std::shared_ptr<const void> bias = nullptr;  // none; of the channels
  Channels channels = {};                      // of the output, where there is a bias
  // Whether it is done to results stored as bf16, too.
  bool TakesBf16() const {
    return bias == nullptr && (then.op == UnaryOp::kIdentity || then.op == UnaryOp::kRelu || then.op == UnaryOp::kClip);
  }
  bool none() const { return addend < 0 && then.op == UnaryOp::kIdentity && bias == nullptr; }
};

// What surrounds a primitive.
struct Around {
  std::unique_ptr<const NanKeeper> keeper;  // null where no NaN is lost
  Tail tail;
  bool row_major = false;  // what it reads and writes is row-major data, seen in another shape
};

// The kernel that runs the primitive. Formats of inputs and output are those of `desc`.
base::Result<std::unique_ptr<Kernel>> MakePrimitive(const PrimitiveDesc& desc, std::vector<Operand> operands, size_t inputs,
                                                    const TensorInfo& out, Around around = {});

// The elements of a constant, reordered to `to`; shared through the constant. `from`: how to read its row-major elements.
base::Result<std::shared_ptr<const void>> Pack(const Constant& constant, const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to);

}  // namespace wf::kernels::onednn
