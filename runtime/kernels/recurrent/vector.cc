#include "runtime/kernels/avx2.h"

#include <fmt/format.h>

#include "runtime/kernels/derive.h"
#include "runtime/kernels/matmul/brain.h"
#include "runtime/kernels/matmul/panels.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/recurrent/activation.h"
#include "runtime/kernels/recurrent/runner.h"
#include "runtime/kernels/unary/vector.h"

namespace wf::kernels::avx2 {
namespace {

using Made = base::Result<std::unique_ptr<Kernel>>;

// Where the parts of the scratch memory lie, in bytes; the product's own is in front.
struct Layout {
  int64_t projected = 0, gates = 0, extra = 0, h = 0, c = 0, rounded = 0, x = 0, end = 0;
};

// What all runs share.
struct Prepared {
  Recurrent layer;
  RecurrentShape shape;
  Layout layout;
  std::shared_ptr<const float> panels;  // per direction: of the joined columns of R, of those behind them
  std::shared_ptr<const Brain> brains;  // the same for products of bf16, and `panels` is null; or null
  std::unique_ptr<Kernel> project;      // of all directions: W x and the biases
};

int64_t PanelsOfDirection(const RecurrentShape& s, RecurrentCell cell) {
  const int64_t joined = s.joined(cell);
  return PanelsElements(s.hidden, joined) + PanelsElements(s.hidden, s.width - joined);
}

int64_t BrainsOfDirection(const RecurrentShape& s, RecurrentCell cell) {
  const int64_t joined = s.joined(cell);
  return avx512::PanelElements(s.hidden, joined) + avx512::PanelElements(s.hidden, s.width - joined);
}

struct PackedWays {
  const Prepared& of;
  const float* projected;
  Brain* rounded;  // room for a state
  bool backward = false;

  const float* Projected(int64_t direction, int64_t row) const {
    return projected + (row * of.shape.directions + direction) * of.shape.width;
  }
  void AddState(int64_t direction, bool last, const float* a, float* c, int64_t c_row) {
    const RecurrentShape& s = of.shape;
    const int64_t joined = s.joined(of.layer.cell);
    if (of.brains != nullptr) {
      const Brain* const brains =
          of.brains.get() + direction * BrainsOfDirection(s, of.layer.cell) + (last ? avx512::PanelElements(s.hidden, joined) : 0);
      for (int64_t i = 0; i < s.batch * s.hidden; ++i) rounded[i] = ToBrain(a[i]);
      return avx512::Multiply({s.batch, s.hidden, last ? s.width - joined : joined, rounded, s.hidden, brains, c, c_row, /*adds=*/true});
    }
    const float* panels = of.panels.get() + direction * PanelsOfDirection(s, of.layer.cell) + (last ? PanelsElements(s.hidden, joined) : 0);
    AddPanels({s.batch, last ? s.width - joined : joined, s.hidden, a, s.hidden, panels, c, c_row, backward});
    if (!last) backward = !backward;
  }
  static void Function(const Activation& activation, float* x, int64_t n) {
    if (activation.op == ActivationOp::kSigmoid) return Sigmoid(x, x, n);
    activation.op == ActivationOp::kTanh ? Tanh(x, x, n) : Activate(activation, x, n);
  }
};

class RecurrentCall final : public Call {
 public:
  RecurrentCall(const Prepared& of, Buffers buffers, std::unique_ptr<Call> project)
      : of_(of), buffers_(std::move(buffers)), project_(std::move(project)) {}

  const char* Run() override {
    if (const char* failure = CheckRecurrentLengths(of_.shape, buffers_)) return failure;
    const auto at = [&](int64_t offset) { return reinterpret_cast<float*>(static_cast<uint8_t*>(buffers_.scratch) + offset); };
    const Layout& layout = of_.layout;
    if (of_.layer.in_bytes) XThroughBytes(of_.shape, buffers_, at(layout.x));
    if (const char* failure = project_->Run()) return failure;
    const RecurrentMemory<float> memory{at(layout.gates), at(layout.extra), at(layout.h), at(layout.c)};
    PackedWays ways{of_, at(layout.projected), reinterpret_cast<Brain*>(at(layout.rounded))};
    for (int64_t direction = 0; direction < of_.shape.directions; ++direction)
      RecurrentRunner<float, PackedWays>({of_.layer, of_.shape, buffers_}, memory, ways, direction).Run();
    return nullptr;
  }
  void SetIn(size_t i, const void* data) override {
    buffers_.in[i] = data;
    if (i == kRecurrentX && !of_.layer.in_bytes) project_->SetIn(0, data);
  }

 private:
  const Prepared& of_;  // of the kernel, which outlives its calls
  Buffers buffers_;
  const std::unique_ptr<Call> project_;
};

class RecurrentKernel final : public Kernel {
 public:
  explicit RecurrentKernel(Prepared prepared) : prepared_(std::move(prepared)) {}

  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    uint8_t* const scratch = static_cast<uint8_t*>(buffers.scratch);
    const void* const x = prepared_.layer.in_bytes ? scratch + prepared_.layout.x : buffers.in[kRecurrentX];
    Buffers inner{{x, nullptr, nullptr}, {scratch + prepared_.layout.projected}, buffers.scratch};
    auto project = prepared_.project->Bind(inner);
    if (!project.ok()) return project;
    return std::unique_ptr<Call>(new RecurrentCall(prepared_, buffers, *std::move(project)));
  }

 private:
  const Prepared prepared_;
};

// Both biases of all directions as one, but for that of R which a GRU has inside its reset.
TensorInfo JoinedBias(const Recurrent& layer, const RecurrentShape& s, const TensorInfo& bias) {
  const int64_t both = layer.linear_before_reset ? s.joined(layer.cell) : s.width, columns = s.directions * s.width;
  const auto join = [s, both](const uint8_t* elements, uint8_t* joined) {
    const auto* from = reinterpret_cast<const float*>(elements);
    auto* to = reinterpret_cast<float*>(joined);
    for (int64_t direction = 0; direction < s.directions; ++direction, from += 2 * s.width, to += s.width) {
      for (int64_t i = 0; i < s.width; ++i) to[i] = from[i] + (i < both ? from[s.width + i] : 0);
    }
  };
  return {WF_F32, {columns}, nullptr, Derived(bias, fmt::format("biases joined {}", both), columns * int64_t{sizeof(float)}, join)};
}

// The product that gives W x and the biases: W of all directions is one matrix. Null: it would not be packed.
Made MakeProjection(const Recurrent& layer, const RecurrentShape& s, const Operation& operation) {
  const int64_t rows = s.steps * s.batch, columns = s.directions * s.width;
  MatMul product;
  product.turn_b = true;
  Operation project{product, {{WF_F32, {rows, s.in}}, {WF_F32, {columns, s.in}}}, {{WF_F32, {rows, columns}}}};
  project.in[1].constant = operation.in[kRecurrentW].constant;
  project.bf16 = operation.bf16 && !layer.in_bytes;
  const bool has_bias = operation.in.size() > kRecurrentBias && operation.in[kRecurrentBias].dtype != 0;
  if (has_bias) project.in.push_back(JoinedBias(layer, s, operation.in[kRecurrentBias]));
  auto kernel = onednn::MakeMatMul(project);
  const bool packed = kernel.ok() && *kernel != nullptr && (*kernel)->packed_in[1] && (!has_bias || (*kernel)->packed_in[2]);
  return packed || !kernel.ok() ? std::move(kernel) : Made(nullptr);
}

base::Status PackStates(RecurrentCell cell, const RecurrentShape& s, const Constant& r, std::shared_ptr<const float>& panels) {
  std::shared_ptr<const void>& packed = r.Packed(fmt::format("panels of cell {}", static_cast<int>(cell)));
  if (packed == nullptr) {
    auto elements = r.Load();
    if (!elements.ok()) return elements.status();
    const int64_t size = PanelsOfDirection(s, cell), joined = s.joined(cell);
    const auto memory = r.packed_memory().Take(s.directions * size * int64_t{sizeof(float)});
    if (memory == nullptr) return {base::kResourceExhausted, "out of memory for weights"};
    const auto* from = reinterpret_cast<const float*>(elements->get());
    auto* to = reinterpret_cast<float*>(memory.get());
    for (int64_t direction = 0; direction < s.directions; ++direction, from += s.width * s.hidden, to += size) {
      PackPanels(from, s.hidden, joined, to);
      PackPanels(from + joined * s.hidden, s.hidden, s.width - joined, to + PanelsElements(s.hidden, joined));
    }
    packed = memory;
  }
  panels = std::static_pointer_cast<const float>(packed);
  return base::Status::Ok();
}

base::Status PackBrainStates(RecurrentCell cell, const RecurrentShape& s, const Constant& r, std::shared_ptr<const Brain>& brains) {
  std::shared_ptr<const void>& packed = r.Packed(fmt::format("bf16 panels of cell {}", static_cast<int>(cell)));
  if (packed == nullptr) {
    auto elements = r.Load();
    if (!elements.ok()) return elements.status();
    const int64_t size = BrainsOfDirection(s, cell), joined = s.joined(cell);
    const auto memory = r.packed_memory().Take(s.directions * size * int64_t{sizeof(Brain)});
    if (memory == nullptr) return {base::kResourceExhausted, "out of memory for weights"};
    const auto* from = reinterpret_cast<const float*>(elements->get());
    auto* to = reinterpret_cast<Brain*>(memory.get());
    for (int64_t direction = 0; direction < s.directions; ++direction, from += s.width * s.hidden, to += size) {
      const auto element = [&](int64_t k, int64_t column) { return from[column * s.hidden + k]; };
      avx512::PackBrains(s.hidden, joined, to, element);
      avx512::PackBrains(s.hidden, s.width - joined, to + avx512::PanelElements(s.hidden, joined),
                         [&](int64_t k, int64_t column) { return element(k, joined + column); });
    }
    packed = memory;
  }
  brains = std::static_pointer_cast<const Brain>(packed);
  return base::Status::Ok();
}

// False: more than any buffer may have.
bool LayOut(const Recurrent& layer, const RecurrentShape& s, Layout& layout) {
  constexpr int64_t kMost = int64_t{4} << 30;
  const auto place = [&](int64_t& at, int64_t rows, int64_t columns) {
    int64_t bytes = 0;
    at = layout.end;
    const bool fits = !__builtin_mul_overflow(rows, columns * int64_t{sizeof(float)}, &bytes) && bytes <= kMost;
    layout.end += fits ? Aligned(bytes) : 0;
    return fits;
  };
  return place(layout.projected, s.steps * s.batch, s.directions * s.width) && place(layout.gates, s.batch, s.width) &&
         place(layout.extra, s.batch, s.hidden) && place(layout.h, s.batch, s.hidden) && place(layout.c, s.batch, s.hidden) &&
         place(layout.rounded, s.batch, s.hidden) && place(layout.x, layer.in_bytes ? s.steps * s.batch : 0, s.in);
}

bool Fits(const Operation& operation) {
  const auto is_float = [&](size_t i) { return operation.in[i].dtype == WF_F32; };
  for (size_t i = kRecurrentX; i < operation.in.size(); ++i) {
    if (i != kRecurrentLengths && operation.in[i].dtype != 0 && !is_float(i)) return false;
    const bool is_weight = i == kRecurrentW || i == kRecurrentR || i == kRecurrentBias;
    if (is_weight && operation.in[i].dtype != 0 && operation.in[i].constant == nullptr) return false;
  }
  return is_float(kRecurrentX) && Available();
}

}  // namespace

Made MakeRecurrent(const Operation& operation) {
  if (!Fits(operation)) return Made(nullptr);
  Prepared prepared{std::get<Recurrent>(operation.params), {}, {}, nullptr, nullptr, nullptr};
  const Recurrent& layer = prepared.layer;
  prepared.shape = RecurrentShapeOf(layer, operation);
  auto project = MakeProjection(layer, prepared.shape, operation);
  if (!project.ok() || *project == nullptr) return project;
  prepared.project = *std::move(project);
  prepared.layout.end = Aligned(prepared.project->scratch_bytes);
  if (!LayOut(layer, prepared.shape, prepared.layout)) return Made(nullptr);
  const Constant& r = *operation.in[kRecurrentR].constant;
  if (operation.bf16 && !layer.in_bytes && MultipliesBf16() && prepared.shape.hidden % 2 == 0) {
    WF_RETURN_IF_ERROR(PackBrainStates(layer.cell, prepared.shape, r, prepared.brains));
  } else {
    WF_RETURN_IF_ERROR(PackStates(layer.cell, prepared.shape, r, prepared.panels));
  }
  const FormatRef x_format = prepared.project->in_format[0] == nullptr ? nullptr : onednn::RowMajor(operation.in[kRecurrentX].dim, WF_BF16);
  const int64_t scratch_bytes = prepared.layout.end;
  std::unique_ptr<Kernel> kernel(new RecurrentKernel(std::move(prepared)));
  kernel->in_format.resize(operation.in.size());
  kernel->in_format[kRecurrentX] = x_format;
  kernel->packed_in.assign(operation.in.size(), false);
  kernel->packed_in[kRecurrentW] = kernel->packed_in[kRecurrentR] = true;
  kernel->scratch_bytes = scratch_bytes;
  return kernel;
}

}  // namespace wf::kernels::avx2
