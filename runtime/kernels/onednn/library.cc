#include "runtime/kernels/onednn/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "runtime/base/pages.h"
#include "runtime/base/reserve.h"
#include "runtime/kernels/onednn/add_bf16.h"
#include "runtime/kernels/onednn/nan_keeper.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::onednn {
namespace {

std::atomic<void (*)(int)> set_threads{nullptr};  // of the OpenMP library that oneDNN brings

const Library* Open() {
  static Library library;
  void* handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
#define DNNL(name)                                                          \
  library.name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name)); \
  if (library.name == nullptr) return nullptr;
#include "runtime/kernels/onednn/functions.def"
#undef DNNL
  set_threads.store(reinterpret_cast<void (*)(int)>(dlsym(handle, "omp_set_num_threads")));  // searches what it depends on, too
  (void)library.dnnl_set_jit_profiling_flags(DNNL_JIT_PROFILE_NONE);  // or it looks for a profiler's library in every folder
  return library.dnnl_engine_create(&library.engine, dnnl_cpu, 0) == dnnl_success ? &library : nullptr;
}

class DnnlCall final : public Call {
 public:
  DnnlCall(dnnl_primitive_t primitive, size_t operands, const NanKeeper* keeper = nullptr) : primitive_(primitive), keeper_(keeper) {
    memory_.reserve(operands);
  }
  // `count`: elements of the output in its format.
  void AddTail(const Tail& tail, const Buffers& buffers, int64_t count, bool bf16) {
    tail_ = tail;
    tail_count_ = count;
    tail_bf16_ = bf16;
    out_ = buffers.out[0];
    if (tail.addend >= 0) addend_ = buffers.in[static_cast<size_t>(tail.addend)];
  }
  ~DnnlCall() override {
    if (stream_ != nullptr) (void)Load()->dnnl_stream_destroy(stream_);
  }
  bool Open() { return Load()->dnnl_stream_create(&stream_, Load()->engine, dnnl_stream_default_flags) == dnnl_success; }

  bool Add(int arg, int input, const dnnl_memory_desc_t& desc, const void* data) {
    Memory memory;
    if (!memory.Create(desc, data)) return false;
    args_.push_back({arg, memory.get()});
    input_.push_back(input);
    memory_.push_back(std::move(memory));
    return true;
  }

  // Allocates inside oneDNN 2.6, which offers no way around: a hash table of the arguments (one node each, and the buckets), and in some
  // implementations closures and a context.
  const char* Run() override {
    const char* failure = keeper_ == nullptr ? Execute(primitive_, stream_, args_) : keeper_->Run(primitive_, stream_, args_);
    if (failure == nullptr && tail_count_ > 0) RunTail();
    return failure;
  }
  void SetIn(size_t i, const void* data) override {
    if (tail_.addend == static_cast<int>(i)) addend_ = data;
    for (size_t k = 0; k < args_.size(); ++k) {
      if (input_[k] == static_cast<int>(i)) memory_[k].Set(data);
    }
  }

 private:
  void RunTail() {
    if (tail_bf16_) return AddBf16(tail_.then, static_cast<const Brain*>(addend_), static_cast<Brain*>(out_), tail_count_);
    if (tail_.bias != nullptr) AddBias();
    auto* const out = static_cast<float*>(out_);
    const auto* const addend = static_cast<const float*>(addend_);
    for (int64_t i = 0; addend != nullptr && i < tail_count_; ++i) out[i] += addend[i];
    if (tail_.then.op == UnaryOp::kSwish && avx2::Available())
      avx2::Swish(tail_.then.alpha, out, out, tail_count_);
    else
      ref::Apply(tail_.then, out, tail_count_);
  }

  void AddBias() {
    const auto& [outer, blocks, middle, block] = tail_.channels;
    auto* out = static_cast<float*>(out_);
    for (int64_t o = 0; o < outer; ++o) {
      const float* bias = static_cast<const float*>(tail_.bias.get());
      for (int64_t b = 0; b < blocks; ++b, bias += block) {
        for (int64_t i = 0; i < middle; ++i, out += block) {
          for (int64_t k = 0; k < block; ++k) out[k] += bias[k];
        }
      }
    }
  }

  const dnnl_primitive_t primitive_;  // of the kernel, which outlives its calls, as is the next
  const NanKeeper* const keeper_;     // null: it loses none
  dnnl_stream_t stream_ = nullptr;
  std::vector<dnnl_exec_arg_t> args_;
  std::vector<int> input_;  // per argument: the kernel's input, or -1
  std::vector<Memory> memory_;
  Tail tail_;
  int64_t tail_count_ = 0;  // 0: no tail
  bool tail_bf16_ = false;
  void* out_ = nullptr;
  const void* addend_ = nullptr;
};

class DnnlKernel final : public Kernel {
 public:
  DnnlKernel(dnnl_primitive_t primitive, std::vector<Operand> operands, const dnnl_memory_desc_t& dst, const dnnl_memory_desc_t& scratch,
             Around around)
      : primitive_(primitive), operands_(std::move(operands)), dst_(dst), scratch_(scratch), around_(std::move(around)) {}

  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    auto call = std::make_unique<DnnlCall>(primitive_.get, operands_.size() + 2, around_.keeper.get());
    bool done = call->Open();
    for (const Operand& operand : operands_) {
      const void* data = operand.input >= 0 ? buffers.in[static_cast<size_t>(operand.input)] : operand.prepared.get();
      done = done && call->Add(operand.arg, operand.input, operand.desc, data);
    }
    done = done && call->Add(DNNL_ARG_DST, -1, dst_, buffers.out[0]);
    if (scratch_bytes > 0) done = done && call->Add(DNNL_ARG_SCRATCHPAD, -1, scratch_, buffers.scratch);
    if (!done) return base::Status(base::kResourceExhausted, "oneDNN: out of memory");
    if (!around_.tail.none()) call->AddTail(around_.tail, buffers, ElementsIn(dst_), dst_.data_type == dnnl_bf16);
    return std::unique_ptr<Call>(std::move(call));
  }

 private:
  const Primitive primitive_;
  const std::vector<Operand> operands_;
  const dnnl_memory_desc_t dst_, scratch_;
  const Around around_;
};

}  // namespace

const Library* Load() {
  static const Library* const library = Open();
  UseOneThread();
  return library;
}

bool Available() { return Load() != nullptr; }

namespace {
bool Has(dnnl_cpu_isa_t wanted) {
  return Load() != nullptr && (static_cast<unsigned>(Load()->dnnl_get_effective_cpu_isa()) & wanted) == static_cast<unsigned>(wanted);
}
}  // namespace

bool MultipliesBytes() { return Has(dnnl_cpu_isa_avx512_core_vnni) || Has(dnnl_cpu_isa_avx2_vnni); }
bool MultipliesBf16() { return Has(dnnl_cpu_isa_avx512_core_bf16); }

std::string Description() {
  const Library* const library = Load();
  if (library == nullptr) return "no oneDNN";
  const dnnl_version_t& version = *library->dnnl_version();
  const auto isa = static_cast<unsigned>(library->dnnl_get_effective_cpu_isa());
  return fmt::format("oneDNN {}.{}.{} {} isa {:x}", version.major, version.minor, version.patch, version.hash, isa);
}

// The first product of a matrix and a vector writes machine code for two milliseconds, which models mostly need.
void LoadAhead() {
  if (const Library* const library = Load(); library != nullptr) {
    const float one = 1;
    float product = 0;
    (void)library->dnnl_sgemm('N', 'N', 1, 1, 1, 1, &one, 1, &one, 1, 0, &product, 1);
  }
}

bool AddProduct(const Product<float>& p) {
  const Library* const library = Load();
  const bool turned = p.a.row == 1 && p.a.column != 1;
  if (library == nullptr || (!turned && p.a.column != 1)) return false;
  // One row or column has any stride, which the library wants to be as long as a line.
  const int64_t a_line = std::max(turned ? p.a.column : p.a.row, turned ? p.m : p.k);
  const int64_t b_line = std::max(p.b_row, p.n), c_line = std::max(p.c_row, p.n);
  return library->dnnl_sgemm(turned ? 'T' : 'N', 'N', p.m, p.n, p.k, 1, p.a.data, a_line, p.b, b_line, 1, p.c, c_line) == dnnl_success;
}

bool Multiply(const Gemm& g) {
  return Load()->dnnl_sgemm('N', g.turn_b ? 'T' : 'N', g.m, g.n, g.k, g.factor, g.a, g.a_row, g.b, g.b_row, 0, g.c, g.c_row) ==
         dnnl_success;
}

namespace {
// The OpenMP runtime ends the process where malloc has nothing for what it keeps per thread, a few hundred bytes: one block of each small
// size is freed, which malloc keeps for this thread.
void LeaveSomeFree() {
  std::array<void*, 64> blocks{};
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = base::Reserve::Insist([=] { return std::malloc(16 * (i + 1)); });
  for (void* const block : blocks) std::free(block);
}
}  // namespace

void UseOneThread() {
  thread_local bool done = false;
  if (done) return;
  if (auto* const set = set_threads.load(std::memory_order_acquire)) {
    LeaveSomeFree();
    set(1);
    done = true;
  }
}

bool StaysOnOneThread() { return Load() == nullptr || set_threads.load(std::memory_order_acquire) != nullptr; }

int64_t ElementsIn(const dnnl_memory_desc_t& desc) {
  const auto bytes = static_cast<int64_t>(Load()->dnnl_memory_desc_get_size(&desc));
  return bytes / static_cast<int64_t>(desc.data_type == dnnl_bf16 ? sizeof(Brain) : sizeof(float));
}

bool DnnlFormat::Same(const Format& other) const {
  const auto* same_library = dynamic_cast<const DnnlFormat*>(&other);
  return same_library != nullptr && Load()->dnnl_memory_desc_equal(&desc_, &same_library->desc_) != 0;
}

std::string DnnlFormat::ToString() const {
  if (desc_.format_kind != dnnl_blocked) return "packed";
  const char* const stored = is_bf16() ? "bf16 " : "";
  const dnnl_blocking_desc_t& blocking = desc_.format_desc.blocking;
  std::string text = fmt::format("{}{}", stored, fmt::join(blocking.strides, blocking.strides + desc_.ndims, ","));
  for (int i = 0; i < blocking.inner_nblks; ++i)
    text += fmt::format("{}{} of {}", i == 0 ? " by " : ",", blocking.inner_blks[i], blocking.inner_idxs[i]);
  return text;
}

int64_t DnnlFormat::size_bytes() const { return static_cast<int64_t>(Load()->dnnl_memory_desc_get_size(&desc_)); }

dnnl_data_type_t TypeOf(uint8_t dtype) {
  switch (dtype) {
    case WF_F32:
      return dnnl_f32;
    case WF_I32:
      return dnnl_s32;
    case WF_I8:
      return dnnl_s8;
    case WF_U8:
      return dnnl_u8;
    case WF_BF16:
      return dnnl_bf16;
    default:
      return dnnl_data_type_undef;
  }
}

dnnl_memory_desc_t StridedDesc(std::span<const int64_t> dim, std::span<const int64_t> stride, dnnl_data_type_t type) {
  dnnl_dims_t extents{}, strides{};
  std::copy(dim.begin(), dim.end(), extents);
  std::copy(stride.begin(), stride.end(), strides);
  dnnl_memory_desc_t desc{};
  (void)Load()->dnnl_memory_desc_init_by_strides(&desc, static_cast<int>(dim.size()), extents, type, strides);
  return desc;
}

dnnl_memory_desc_t PlainDesc(std::span<const int64_t> dim, dnnl_data_type_t type) { return StridedDesc(dim, StridesOf(dim), type); }

dnnl_memory_desc_t AnyDesc(std::span<const int64_t> dim, dnnl_data_type_t type) {
  dnnl_memory_desc_t desc{};
  desc.ndims = static_cast<int>(dim.size());
  for (size_t i = 0; i < dim.size(); ++i) desc.dims[i] = desc.padded_dims[i] = dim[i];
  desc.data_type = type;
  desc.format_kind = dnnl_format_kind_any;
  return desc;
}

dnnl_memory_desc_t DescOf(const TensorInfo& tensor) {
  const auto* format = dynamic_cast<const DnnlFormat*>(tensor.format.get());
  return format != nullptr ? format->desc() : PlainDesc(tensor.dim, TypeOf(tensor.dtype));
}

FormatRef FormatFor(const TensorInfo& tensor, uint8_t dtype) {
  const auto* format = dynamic_cast<const DnnlFormat*>(tensor.format.get());
  if (format == nullptr) return nullptr;
  dnnl_memory_desc_t desc = format->desc();
  if (!std::equal(desc.dims, desc.dims + desc.ndims, desc.padded_dims)) return nullptr;
  desc.data_type = TypeOf(dtype);
  return FormatOf(desc, tensor.dim);
}

FormatRef FormatOf(const dnnl_memory_desc_t& desc, std::span<const int64_t> dim) {
  const dnnl_memory_desc_t plain = PlainDesc(dim, desc.data_type);
  const bool is_plain = desc.data_type != dnnl_bf16 && Load()->dnnl_memory_desc_equal(&desc, &plain) != 0;
  return is_plain ? nullptr : std::make_shared<DnnlFormat>(desc);
}

// Not Softplus and Mish: the library's have 7.6e-6 for e^-70, and less than 0 for others.
bool FusedOf(const Unary& unary, Fused& fused) {
  fused.alpha = unary.alpha;
  fused.beta = unary.beta;
  switch (unary.op) {
    case UnaryOp::kIdentity:
      fused.alg = dnnl_alg_kind_undef;
      return true;
    case UnaryOp::kRelu:
      fused.alg = dnnl_eltwise_relu;
      fused.alpha = 0;
      return true;
    case UnaryOp::kLeakyRelu:
      fused.alg = dnnl_eltwise_relu;
      return true;
    case UnaryOp::kClip:
      fused.alg = dnnl_eltwise_clip_v2;
      return true;
    case UnaryOp::kSigmoid:
      fused.alg = dnnl_eltwise_logistic;
      return true;
    case UnaryOp::kTanh:
      fused.alg = dnnl_eltwise_tanh;
      return true;
    case UnaryOp::kExp:
      fused.alg = dnnl_eltwise_exp;
      return true;
    case UnaryOp::kSqrt:
      fused.alg = dnnl_eltwise_sqrt;
      return true;
    case UnaryOp::kAbs:
      fused.alg = dnnl_eltwise_abs;
      return true;
    case UnaryOp::kLog:
      fused.alg = dnnl_eltwise_log;
      return true;
    case UnaryOp::kElu:
      fused.alg = dnnl_eltwise_elu;
      return true;
    case UnaryOp::kGelu:
      fused.alg = dnnl_eltwise_gelu_erf;
      return true;
    case UnaryOp::kGeluTanh:
      fused.alg = dnnl_eltwise_gelu_tanh;
      return true;
    case UnaryOp::kHardSwish:
      fused.alg = dnnl_eltwise_hardswish;
      return true;
    case UnaryOp::kSwish:
      fused.alg = dnnl_eltwise_swish;
      return true;
    default:
      return false;
  }
}

Attr MakeAttr(const Fused& fused) {
  const Library& dnnl = *Load();
  const auto destroy = [](dnnl_primitive_attr_t attr) { (void)Load()->dnnl_primitive_attr_destroy(attr); };
  dnnl_primitive_attr_t raw = nullptr;
  if (dnnl.dnnl_primitive_attr_create(&raw) != dnnl_success) return {nullptr, destroy};
  Attr attr(raw, destroy);
  bool done = dnnl.dnnl_primitive_attr_set_scratchpad_mode(raw, dnnl_scratchpad_mode_user) == dnnl_success;
  if (!fused.channel_scales.empty()) {
    const auto count = static_cast<dnnl_dim_t>(fused.channel_scales.size());
    done = done &&
           dnnl.dnnl_primitive_attr_set_output_scales(raw, count, count == 1 ? 0 : 1 << 1, fused.channel_scales.data()) == dnnl_success;
  }
  if (fused.scales_at_run != 0) {
    const float later = DNNL_RUNTIME_F32_VAL;
    done = done && dnnl.dnnl_primitive_attr_set_output_scales(raw, 1, fused.scales_at_run == 1 ? 0 : 1 << 1, &later) == dnnl_success;
  }
  for (const auto& [arg, zero] : {std::pair(DNNL_ARG_SRC, fused.zero_in), std::pair(DNNL_ARG_DST, fused.zero_out)}) {
    if (zero != 0) done = done && dnnl.dnnl_primitive_attr_set_zero_points(raw, arg, 1, 0, &zero) == dnnl_success;
  }
  if (fused.scale != 1) done = done && dnnl.dnnl_primitive_attr_set_output_scales(raw, 1, 0, &fused.scale) == dnnl_success;
  if (fused.alg != dnnl_alg_kind_undef || fused.addend) {
    dnnl_post_ops_t ops = nullptr;
    done = done && dnnl.dnnl_post_ops_create(&ops) == dnnl_success;
    if (fused.addend) done = done && dnnl.dnnl_post_ops_append_binary(ops, dnnl_binary_add, &*fused.addend) == dnnl_success;
    if (fused.alg != dnnl_alg_kind_undef)
      done = done && dnnl.dnnl_post_ops_append_eltwise(ops, 1, fused.alg, fused.alpha, fused.beta) == dnnl_success;
    done = done && dnnl.dnnl_primitive_attr_set_post_ops(raw, ops) == dnnl_success;
    if (ops != nullptr) (void)dnnl.dnnl_post_ops_destroy(ops);
  }
  if (!done) attr.reset();
  return attr;
}

Memory::~Memory() {
  if (memory_ != nullptr) Load()->dnnl_memory_destroy(memory_);
}

bool Memory::Create(const dnnl_memory_desc_t& desc, const void* data) {
  return Load()->dnnl_memory_create(&memory_, &desc, Load()->engine, const_cast<void*>(data)) == dnnl_success;
}

void Memory::Set(const void* data) { (void)Load()->dnnl_memory_set_data_handle(memory_, const_cast<void*>(data)); }

Primitive::~Primitive() {
  if (get != nullptr) (void)Load()->dnnl_primitive_destroy(get);
}

const char* Execute(dnnl_primitive_t primitive, dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args) {
  const auto result = Load()->dnnl_primitive_execute(primitive, stream, static_cast<int>(args.size()), args.data());
  return result == dnnl_success ? nullptr : "oneDNN could not run it";
}

// oneDNN does not look whether the system gives it room for machine code: where there is little it is not asked to make any, and what
// others take meanwhile it has of the reserve.
dnnl_primitive_t CreatePrimitive(const_dnnl_primitive_desc_t desc) {
  constexpr size_t kRoom = size_t{8} << 20;
  void* const room = base::MapPages(kRoom);
  if (room == nullptr) return nullptr;
  munmap(room, kRoom);
  dnnl_primitive_t primitive = nullptr;
  return Load()->dnnl_primitive_create(&primitive, desc) == dnnl_success ? primitive : nullptr;
}

namespace {
base::Status NoMemory() { return {base::kResourceExhausted, "out of memory"}; }
}  // namespace

base::Result<std::unique_ptr<Kernel>> MakePrimitive(const PrimitiveDesc& desc, std::vector<Operand> operands, size_t inputs,
                                                    const TensorInfo& out, Around around) {
  dnnl_primitive_t const primitive = CreatePrimitive(desc.get());
  if (primitive == nullptr) return NoMemory();
  const dnnl_memory_desc_t dst = Query(desc, dnnl_query_dst_md), scratch = Query(desc, dnnl_query_scratchpad_md);
  std::vector<FormatRef> in_format(inputs);
  std::vector<bool> packed_in(inputs, true);
  for (const Operand& operand : operands) {
    if (operand.input < 0) continue;
    packed_in[static_cast<size_t>(operand.input)] = false;
    std::vector<int64_t> dim(operand.desc.dims, operand.desc.dims + operand.desc.ndims);
    if (!around.row_major) in_format[static_cast<size_t>(operand.input)] = FormatOf(operand.desc, dim);
  }
  const std::vector<int64_t> dst_dim(dst.dims, dst.dims + dst.ndims);
  const FormatRef out_format = around.row_major ? nullptr : FormatOf(dst, dst_dim);
  if (around.tail.addend >= 0) {
    packed_in[static_cast<size_t>(around.tail.addend)] = false;
    in_format[static_cast<size_t>(around.tail.addend)] = out_format;
  }
  auto kernel = std::make_unique<DnnlKernel>(primitive, std::move(operands), dst, scratch, std::move(around));
  kernel->in_format = std::move(in_format);
  kernel->packed_in = std::move(packed_in);
  kernel->out_format = out_format;
  if (kernel->out_format != nullptr && dst_dim != out.dim)
    return std::unique_ptr<Kernel>();  // only row-major results may be seen in another shape
  kernel->scratch_bytes = static_cast<int64_t>(Load()->dnnl_memory_desc_get_size(&scratch));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

namespace {

base::Status RunReorder(const dnnl_memory_desc_t& from, const void* in, const dnnl_memory_desc_t& to, void* out) {
  UseOneThread();
  PrimitiveDesc desc;
  const dnnl_status_t found = DescribeReorder(from, to, nullptr, desc);
  if (found == dnnl_out_of_memory) return NoMemory();
  if (found != dnnl_success) return {base::kUnimplemented, "oneDNN cannot pack these weights"};
  dnnl_primitive_t const handle = CreatePrimitive(desc.get());
  if (handle == nullptr) return NoMemory();
  const Primitive primitive(handle);
  DnnlCall call(primitive.get, 2);
  if (!call.Open() || !call.Add(DNNL_ARG_SRC, 0, from, in) || !call.Add(DNNL_ARG_DST, -1, to, out)) return NoMemory();
  return call.Run() == nullptr ? base::Status() : base::Status(base::kInternal, "oneDNN did not pack the weights");
}

}  // namespace

base::Result<std::shared_ptr<const void>> Pack(const Constant& constant, const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
  // Descriptors are plain data that oneDNN fills whole, so their bytes are the key.
  const std::string key =
      std::string(reinterpret_cast<const char*>(&from), sizeof(from)) + std::string(reinterpret_cast<const char*>(&to), sizeof(to));
  std::shared_ptr<const void>& packed = constant.Packed(key);
  if (packed != nullptr) return packed;
  auto elements = constant.Load();
  if (!elements.ok()) return elements.status();
  if (Load()->dnnl_memory_desc_equal(&from, &to) != 0) {
    packed = *elements;
    return packed;
  }
  const auto memory = constant.packed_memory().Take(static_cast<int64_t>(Load()->dnnl_memory_desc_get_size(&to)));
  if (memory == nullptr) return base::Status(base::kResourceExhausted, "out of memory for weights");
  WF_RETURN_IF_ERROR(RunReorder(from, elements->get(), to, memory.get()));
  packed = memory;
  return packed;
}

base::Result<std::unique_ptr<Kernel>> MakeReorder(const TensorInfo& from, const FormatRef& to) {
  if (Load() == nullptr || TypeOf(from.dtype) == dnnl_data_type_undef)
    return base::Status(base::kUnimplemented, "no conversion between these memory formats");
  TensorInfo out = from;
  out.format = to;
  const dnnl_memory_desc_t source = DescOf(from), target = DescOf(out);
  PrimitiveDesc desc;
  const dnnl_status_t found = DescribeReorder(source, target, MakeAttr({}).get(), desc);
  if (found == dnnl_out_of_memory) return NoMemory();
  if (found != dnnl_success) return base::Status(base::kUnimplemented, "no conversion between these memory formats");
  auto kernel = MakePrimitive(desc, {{DNNL_ARG_SRC, 0, source, nullptr}}, 1, out);
  if (kernel.ok()) (*kernel)->impl = "onednn";
  return kernel;
}

}  // namespace wf::kernels::onednn
