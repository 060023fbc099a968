#include "runtime/kernels/wide.h"

#include <algorithm>
#include <utility>

#include "runtime/kernels/derive.h"
#include "runtime/kernels/half.h"

namespace wf::kernels {
namespace {

bool IsNarrow(uint8_t dtype) { return dtype == WF_F16 || dtype == WF_BF16; }

void Widen(uint8_t dtype, const void* from, float* to, int64_t count) {
  const auto* halves = static_cast<const Half*>(from);
  const auto* brains = static_cast<const Brain*>(from);
  if (dtype == WF_F16) {
    for (int64_t i = 0; i < count; ++i) to[i] = ToFloat(halves[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = ToFloat(brains[i]);
  }
}

void Narrow(uint8_t dtype, const float* from, void* to, int64_t count) {
  auto* halves = static_cast<Half*>(to);
  auto* brains = static_cast<Brain*>(to);
  if (dtype == WF_F16) {
    for (int64_t i = 0; i < count; ++i) halves[i] = ToHalf(from[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) brains[i] = ToBrain(from[i]);
  }
}

std::shared_ptr<const Constant> WideOf(const TensorInfo& tensor) {
  const int64_t count = tensor.count();
  return Derived(tensor, "f32", count * int64_t{sizeof(float)}, [dtype = tensor.dtype, count](const uint8_t* from, uint8_t* to) {
    Widen(dtype, from, reinterpret_cast<float*>(to), count);
  });
}

// What happens to one tensor between the caller's buffer and the kernel's.
struct Passage {
  uint8_t dtype = 0;  // of the caller's; 0: it is handed through
  int64_t count = 0;
  int64_t plain = -1, formatted = -1;     // f32, row-major and in the kernel's format: places in scratch
  std::shared_ptr<const uint8_t> held;    // elements of a constant as the kernel takes them
  std::shared_ptr<const Kernel> reorder;  // between the two places; null: the kernel takes or gives row-major
  bool skipped = false;                   // the kernel has it, or nobody reads it
  int64_t place() const { return formatted >= 0 ? formatted : plain; }
};

// A passage bound to buffers.
struct Move {
  uint8_t dtype;
  int64_t count;
  const void* from;  // null: nothing to do
  void* to;
  std::unique_ptr<Call> reorder;
};

class NarrowCall final : public Call {
 public:
  NarrowCall(std::vector<Move> ins, std::vector<Move> outs, std::unique_ptr<Call> call)
      : ins_(std::move(ins)), outs_(std::move(outs)), call_(std::move(call)) {}

  const char* Run() override {
    const char* failure = nullptr;
    for (Move& move : ins_) {
      if (move.from == nullptr) continue;
      Widen(move.dtype, move.from, static_cast<float*>(move.to), move.count);
      if (move.reorder != nullptr) failure = move.reorder->Run();
      if (failure != nullptr) return failure;
    }
    failure = call_->Run();
    for (Move& move : outs_) {
      if (failure != nullptr) return failure;
      if (move.from == nullptr) continue;
      if (move.reorder != nullptr) failure = move.reorder->Run();
      Narrow(move.dtype, static_cast<const float*>(move.from), move.to, move.count);
    }
    return failure;
  }

  void SetIn(size_t i, const void* data) override {
    if (ins_[i].dtype == 0) return call_->SetIn(i, data);
    ins_[i].from = data;
  }

 private:
  std::vector<Move> ins_, outs_;
  std::unique_ptr<Call> call_;
};

class NarrowKernel final : public Kernel {
 public:
  NarrowKernel(std::vector<Passage> ins, std::vector<Passage> outs, std::unique_ptr<Kernel> kernel)
      : ins_(std::move(ins)), outs_(std::move(outs)), kernel_(std::move(kernel)) {}

  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    auto* scratch = static_cast<uint8_t*>(buffers.scratch);
    std::vector<Move> ins, outs;
    Buffers inner = buffers;
    for (size_t i = 0; i < ins_.size(); ++i) {
      const Passage& passage = ins_[i];
      Move& move = ins.emplace_back(passage.dtype, passage.count, nullptr, nullptr, nullptr);
      if (passage.dtype == 0) continue;
      inner.in[i] = passage.held.get();
      if (passage.skipped || passage.held != nullptr) continue;
      move.from = buffers.in[i];
      move.to = scratch + passage.plain;
      inner.in[i] = scratch + passage.place();
      WF_RETURN_IF_ERROR(BindReorder(passage, {{move.to}, {scratch + passage.place()}, scratch}, move));
    }
    for (size_t i = 0; i < outs_.size(); ++i) {
      const Passage& passage = outs_[i];
      Move& move = outs.emplace_back(passage.dtype, passage.count, nullptr, buffers.out[i], nullptr);
      if (passage.dtype == 0 || passage.skipped) continue;
      move.from = scratch + passage.plain;
      inner.out[i] = scratch + passage.place();
      WF_RETURN_IF_ERROR(BindReorder(passage, {{inner.out[i]}, {scratch + passage.plain}, scratch}, move));
    }
    auto call = kernel_->Bind(inner);
    if (!call.ok()) return call;
    return std::unique_ptr<Call>(new NarrowCall(std::move(ins), std::move(outs), *std::move(call)));
  }

 private:
  static base::Status BindReorder(const Passage& passage, const Buffers& buffers, Move& move) {
    if (passage.reorder == nullptr) return base::Status::Ok();
    auto call = passage.reorder->Bind(buffers);
    if (!call.ok()) return call.status();
    move.reorder = *std::move(call);
    return base::Status::Ok();
  }

  const std::vector<Passage> ins_, outs_;
  const std::unique_ptr<Kernel> kernel_;
};

// Lays out the scratch of a kernel with passages: first what the kernel and reorders need, which run one after the other.
class Layout {
 public:
  explicit Layout(const Operation& operation, const Kernel& kernel) : operation_(operation), kernel_(kernel), own_(kernel.scratch_bytes) {}

  base::Status AddIn(size_t i) {
    const TensorInfo& narrow = operation_.in[i];
    Passage& passage = ins.emplace_back();
    if (!IsNarrow(narrow.dtype)) return base::Status::Ok();
    passage.dtype = narrow.dtype;
    passage.count = narrow.count();
    passage.skipped = kernel_.packed_in[i];
    if (passage.skipped) return base::Status::Ok();
    const TensorInfo plain{WF_F32, narrow.dim, nullptr, nullptr};
    if (kernel_.in_format[i] != nullptr) WF_RETURN_IF_ERROR(Reorder(plain, kernel_.in_format[i], passage));
    if (narrow.constant != nullptr) return Hold(*WideOf(narrow), kernel_.in_format[i], passage);
    Place(kernel_.in_format[i], passage);
    return base::Status::Ok();
  }

  base::Status AddOut(size_t i) {
    const TensorInfo& narrow = operation_.out[i];
    Passage& passage = outs.emplace_back();
    if (!IsNarrow(narrow.dtype)) return base::Status::Ok();
    passage.dtype = narrow.dtype;
    passage.count = narrow.count();
    const FormatRef format = i == 0 ? kernel_.out_format : nullptr;
    if (format != nullptr) WF_RETURN_IF_ERROR(Reorder({WF_F32, narrow.dim, format, nullptr}, nullptr, passage));
    Place(format, passage);
    return base::Status::Ok();
  }

  int64_t bytes() const { return kernels::Aligned(own_) + size_; }

  // Places were counted from behind what comes first.
  void Settle() {
    for (std::vector<Passage>* passages : {&ins, &outs}) {
      for (Passage& each : *passages) {
        each.plain += each.plain < 0 ? 0 : Aligned(own_);
        each.formatted += each.formatted < 0 ? 0 : Aligned(own_);
      }
    }
  }

  std::vector<Passage> ins, outs;

 private:
  int64_t Take(int64_t bytes) { return std::exchange(size_, size_ + Aligned(bytes)); }

  void Place(const FormatRef& format, Passage& passage) {
    passage.plain = Take(passage.count * int64_t{sizeof(float)});
    if (format != nullptr) passage.formatted = Take(format->size_bytes());
  }

  base::Status Reorder(const TensorInfo& from, const FormatRef& to, Passage& passage) {
    auto kernel = MakeReorder(from, to);
    if (!kernel.ok()) return kernel.status();
    own_ = std::max(own_, (*kernel)->scratch_bytes);
    passage.reorder = *std::move(kernel);
    return base::Status::Ok();
  }

  // A constant is brought into the kernel's format now.
  static base::Status Hold(const Constant& wide, const FormatRef& format, Passage& passage) {
    auto elements = wide.Load();
    if (!elements.ok()) return elements.status();
    passage.held = *std::move(elements);
    if (format == nullptr) return base::Status::Ok();
    const auto memory = Allocate(format->size_bytes()), scratch = Allocate(passage.reorder->scratch_bytes);
    if (memory == nullptr || scratch == nullptr) return {base::kResourceExhausted, "out of memory for weights"};
    auto call = passage.reorder->Bind({{passage.held.get()}, {memory.get()}, scratch.get()});
    if (!call.ok()) return call.status();
    if (const char* failure = (*call)->Run()) return {base::kInternal, failure};
    passage.held = memory;
    return base::Status::Ok();
  }

  const Operation& operation_;
  const Kernel& kernel_;
  int64_t own_, size_ = 0;
};

}  // namespace

bool HasNarrow(const Operation& operation) {
  const auto narrow = [](const TensorInfo& tensor) { return IsNarrow(tensor.dtype); };
  return std::any_of(operation.in.begin(), operation.in.end(), narrow) || std::any_of(operation.out.begin(), operation.out.end(), narrow);
}

Operation Widened(const Operation& operation) {
  Operation wide = operation;
  for (std::vector<TensorInfo>* tensors : {&wide.in, &wide.out}) {
    for (TensorInfo& tensor : *tensors) {
      if (!IsNarrow(tensor.dtype)) continue;
      if (tensor.constant != nullptr) tensor.constant = WideOf(tensor);
      tensor.dtype = WF_F32;
    }
  }
  return wide;
}

base::Result<std::unique_ptr<Kernel>> MakeNarrow(const Operation& operation, std::unique_ptr<Kernel> kernel) {
  Layout layout(operation, *kernel);
  for (size_t i = 0; i < operation.in.size(); ++i) WF_RETURN_IF_ERROR(layout.AddIn(i));
  for (size_t i = 0; i < operation.out.size(); ++i) WF_RETURN_IF_ERROR(layout.AddOut(i));
  layout.Settle();
  std::vector<FormatRef> in_format = kernel->in_format;
  std::vector<bool> packed_in = kernel->packed_in;
  for (size_t i = 0; i < operation.in.size(); ++i) {
    if (!IsNarrow(operation.in[i].dtype)) continue;
    in_format[i] = nullptr;
    packed_in[i] = packed_in[i] || operation.in[i].constant != nullptr;
  }
  const std::string impl = kernel->impl + " f32";
  const FormatRef out_format = IsNarrow(operation.out[0].dtype) ? nullptr : kernel->out_format;
  auto narrow = std::make_unique<NarrowKernel>(std::move(layout.ins), std::move(layout.outs), std::move(kernel));
  narrow->impl = impl;
  narrow->in_format = std::move(in_format);
  narrow->packed_in = std::move(packed_in);
  narrow->out_format = out_format;
  narrow->scratch_bytes = layout.bytes();
  return std::unique_ptr<Kernel>(std::move(narrow));
}

}  // namespace wf::kernels
