#include "runtime/kernels/tiles.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "runtime/kernels/conv/winograd.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/team.h"

namespace wf::kernels {
namespace {

using Made = base::Result<std::unique_ptr<Kernel>>;

constexpr int64_t kLeastProducts = 4'000'000;  // tens of microseconds: what it takes until helpers are there is little of it
constexpr int64_t kLeastElements = 131'072;    // the same where each is read and written
constexpr int kTilesOfThread = 2;              // so that one that is late is waited for half as long
constexpr int64_t kRowsTogether = 8;           // of images: kernels take some at once

// How an operand is cut: along its axis in front, or the first behind the channels of an image whose channels lie last.
enum class Cut : uint8_t { kNot, kFront, kImageRows };

// Some rows of the result: the operation that computes them, and from which element on its operands lie in the whole ones.
struct Tile {
  Operation operation;
  std::vector<int64_t> in_at;
  std::vector<int64_t> out_at;
};

struct Cutting {
  std::vector<Cut> in;  // of each input
  Cut out = Cut::kFront;
  std::vector<Tile> tiles;
};

int64_t CountOf(const std::vector<int64_t>& dim, size_t from) {
  int64_t count = 1;
  for (size_t i = from; i < dim.size(); ++i) count *= dim[i];
  return count;
}

// [0, rows) in parts of nearly the same size, in multiples of `together`.
std::vector<std::pair<int64_t, int64_t>> Share(int64_t rows, int parts, int64_t together) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  const int64_t groups = (rows + together - 1) / together;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t begin = std::min(rows, groups * i / parts * together), end = std::min(rows, groups * (i + 1) / parts * together);
    if (begin < end) ranges.emplace_back(begin, end);
  }
  return ranges;
}

// What is behind the weights of a product or a convolution is packed, but for an addend.
constexpr size_t kWeights = 1, kBias = 2, kAddend = 3;

std::optional<Cutting> CutFront(const Operation& operation, const std::vector<size_t>& inputs, int parts) {
  Cutting plan{std::vector<Cut>(operation.in.size(), Cut::kNot), Cut::kFront, {}};
  for (const size_t i : inputs) plan.in[i] = Cut::kFront;
  for (const auto& [begin, end] : Share(operation.out[0].dim[0], parts, 1)) {
    Tile tile{operation, std::vector<int64_t>(operation.in.size(), 0), {}};
    for (const size_t i : inputs) {
      tile.operation.in[i].dim[0] = end - begin;
      tile.operation.in[i].format = nullptr;
      tile.in_at[i] = begin * CountOf(operation.in[i].dim, 1);
    }
    for (size_t i = 0; i < operation.out.size(); ++i) {
      tile.out_at.push_back(operation.out[i].dtype == 0 ? 0 : begin * CountOf(operation.out[i].dim, 1));
      if (operation.out[i].dtype != 0) tile.operation.out[i].dim[0] = end - begin;
    }
    plan.tiles.push_back(std::move(tile));
  }
  return plan;
}

// Rows of the result, each with those that its filters reach.
std::optional<Cutting> CutImage(const Operation& operation, int parts) {
  const Conv& conv = std::get<Conv>(operation.params);
  const TensorInfo &x = operation.in[0], &w = operation.in[kWeights], &y = operation.out[0];
  Cutting plan{std::vector<Cut>(operation.in.size(), Cut::kNot), Cut::kImageRows, {}};
  plan.in[0] = Cut::kImageRows;
  if (HasInput(operation, kAddend)) plan.in[kAddend] = Cut::kImageRows;
  const int64_t reach = conv.dilation[0] * (w.dim[2] - 1) + 1, stride = conv.stride[0], pad = conv.pad_begin[0];
  const int64_t x_row = x.dim[1] * CountOf(x.dim, 3), y_row = y.dim[1] * CountOf(y.dim, 3);
  for (const auto& [begin, end] : Share(y.dim[2], parts, kRowsTogether)) {
    const int64_t first = std::max<int64_t>(begin * stride - pad, 0), last = std::min((end - 1) * stride - pad + reach, x.dim[2]);
    if (first >= last) return std::nullopt;
    Tile tile{operation, std::vector<int64_t>(operation.in.size(), 0), {begin * y_row}};
    std::get<Conv>(tile.operation.params).pad_begin[0] = std::max<int64_t>(pad - begin * stride, 0);
    tile.operation.in[0].dim[2] = last - first;
    tile.operation.in[0].format = nullptr;
    tile.in_at[0] = first * x_row;
    tile.operation.out[0].dim[2] = end - begin;
    if (HasInput(operation, kAddend)) {
      tile.operation.in[kAddend].dim[2] = end - begin;
      tile.operation.in[kAddend].format = nullptr;
      tile.in_at[kAddend] = begin * y_row;
    }
    plan.tiles.push_back(std::move(tile));
  }
  return plan;
}

std::optional<Cutting> CutConv(const Operation& operation, int parts) {
  const TensorInfo &x = operation.in[0], &w = operation.in[kWeights], &y = operation.out[0];
  const bool packed = w.constant != nullptr && (!HasInput(operation, kBias) || operation.in[kBias].constant != nullptr);
  const int64_t each = w.count() / std::max<int64_t>(w.dim[0], 1);
  if (!packed || y.count() == 0 || y.count() < (kLeastProducts + each - 1) / std::max<int64_t>(each, 1)) return std::nullopt;
  if (x.dim[0] == 1) return CutImage(operation, parts);
  std::vector<size_t> inputs = {0};
  if (HasInput(operation, kAddend)) inputs.push_back(kAddend);
  return CutFront(operation, inputs, parts);
}

// Axes in front of the last are one.
std::optional<Cutting> CutProduct(const Operation& operation, int parts) {
  const MatMul& product = std::get<MatMul>(operation.params);
  const TensorInfo &a = operation.in[0], &b = operation.in[kWeights], &c = operation.out[0];
  const bool packed = b.constant != nullptr && b.dim.size() == 2 && a.dim.size() >= 2 && !product.turn_a;
  const bool is_bias = !HasInput(operation, kBias) || (operation.in[kBias].constant != nullptr && operation.in[kBias].dim.size() == 1);
  if (!packed || !is_bias || c.count() == 0 || c.count() < kLeastProducts / std::max<int64_t>(a.dim.back(), 1)) return std::nullopt;
  Operation flat = operation;
  flat.in[0].dim = {a.count() / a.dim.back(), a.dim.back()};
  flat.out[0].dim = {c.count() / c.dim.back(), c.dim.back()};
  return CutFront(flat, {0}, parts);
}

std::optional<Cutting> CutAttention(const Operation& operation, int parts) {
  constexpr size_t kAdded = 6;
  const std::vector<int64_t>& q = operation.in[0].dim;
  for (size_t i = 0; i < operation.in.size(); ++i) {
    if ((i < 3) != HasInput(operation, i) && i != kAdded) return std::nullopt;
  }
  const bool plain = operation.in.size() > 2 && q.size() == 3 && operation.in[1].dim.size() == 3 && operation.out.size() == 1;
  if (!plain || q[0] != 1 || (HasInput(operation, kAdded) && operation.in[kAdded].dim[2] != 1)) return std::nullopt;
  if (q[1] * q[2] * operation.in[1].dim[1] * 2 < kLeastProducts) return std::nullopt;
  Cutting plan{std::vector<Cut>(operation.in.size(), Cut::kNot), Cut::kFront, {}};
  plan.in[0] = Cut::kFront;
  for (const auto& [begin, end] : Share(q[1], parts, 1)) {
    Tile tile{operation, std::vector<int64_t>(operation.in.size(), 0), {begin * operation.out[0].dim[2]}};
    tile.in_at[0] = begin * q[2];
    for (TensorInfo& in : tile.operation.in) in.format = nullptr;
    tile.operation.in[0].dim[1] = tile.operation.out[0].dim[1] = end - begin;
    plan.tiles.push_back(std::move(tile));
  }
  return plan;
}

std::optional<Cutting> CutNorm(const Operation& operation, int parts) {
  LayerNorm norm = std::get<LayerNorm>(operation.params);
  const TensorInfo& x = operation.in[0];
  constexpr size_t kSkip = 3;
  const int64_t n = CountOf(x.dim, norm.axis);
  if (norm.axis == 0 || x.count() < kLeastElements || x.format != nullptr || norm.mean != 0 || norm.inverse != 0) return std::nullopt;
  for (const size_t i : {size_t{1}, size_t{2}, size_t{4}}) {
    if (HasInput(operation, i) && operation.in[i].count() != n) return std::nullopt;
  }
  if (HasInput(operation, kSkip) && operation.in[kSkip].dim != x.dim) return std::nullopt;
  Operation flat = operation;
  const std::vector<int64_t> dim = {x.count() / n, n};
  std::get<LayerNorm>(flat.params).axis = 1;
  std::vector<size_t> inputs = {0};
  flat.in[0].dim = dim;
  if (HasInput(operation, kSkip)) {
    inputs.push_back(kSkip);
    flat.in[kSkip].dim = dim;
    if (operation.in[kSkip].format != nullptr) return std::nullopt;
  }
  for (const size_t i : {size_t{1}, size_t{2}, size_t{4}}) {
    if (HasInput(operation, i)) flat.in[i].dim = {n};
  }
  for (TensorInfo& out : flat.out) {
    if (out.dtype != 0) out.dim = dim;
  }
  return CutFront(flat, inputs, parts);
}

std::optional<Cutting> CutUnary(const Operation& operation, int parts) {
  const TensorInfo& x = operation.in[0];
  const bool is_f32 = operation.in.size() == 1 && operation.out[0].dtype == WF_F32;
  if (!is_f32 || x.format != nullptr || x.count() < kLeastElements) return std::nullopt;
  Operation flat = operation;
  flat.in[0].dim = flat.out[0].dim = {x.count()};
  return CutFront(flat, {0}, parts);
}

std::optional<Cutting> CutOf(const Operation& operation, int parts) {
  if (operation.in.empty() || operation.in[0].dtype != WF_F32) return std::nullopt;
  if (std::holds_alternative<Conv>(operation.params)) return CutConv(operation, parts);
  if (std::holds_alternative<MatMul>(operation.params)) return CutProduct(operation, parts);
  if (std::holds_alternative<Attention>(operation.params)) return CutAttention(operation, parts);
  if (std::holds_alternative<LayerNorm>(operation.params)) return CutNorm(operation, parts);
  return std::holds_alternative<Unary>(operation.params) ? CutUnary(operation, parts) : std::nullopt;
}

// The format of a tensor of these extents whose tiles have this one, and the bytes of an element; nothing: it is of another kind.
struct Whole {
  FormatRef format;
  int64_t size = 4;
};
std::optional<Whole> WholeOf(const FormatRef& of_tile, const std::vector<int64_t>& tile, const std::vector<int64_t>& whole, Cut cut) {
  const bool is_bf16 = of_tile != nullptr && of_tile->is_bf16();
  const uint8_t stored = is_bf16 ? WF_BF16 : WF_F32;
  if (cut == Cut::kFront && of_tile == nullptr) return Whole{};
  if (of_tile == nullptr) return std::nullopt;
  const int64_t size = base::DTypeSize(stored);
  if (cut == Cut::kFront && SameFormat(of_tile, onednn::RowMajor(tile, stored))) return Whole{onednn::RowMajor(whole, stored), size};
  const bool is_image = tile.size() > 2 && SameFormat(of_tile, onednn::ChannelsLast(tile, stored));
  return is_image ? std::optional(Whole{onednn::ChannelsLast(whole, stored), size}) : std::nullopt;
}

// In bytes.
struct Place {
  std::vector<int64_t> in, out;
};

class TilesCall final : public Call {
 public:
  TilesCall(std::vector<std::unique_ptr<Call>> calls, const std::vector<Place>& places) : calls_(std::move(calls)), places_(places) {}

  const char* Run() override {
    failure_.store(nullptr, std::memory_order_relaxed);
    if (Team* const team = TeamOfThread(); team != nullptr) {
      team->Run(
          static_cast<int>(calls_.size()), [](void* self, int i) { static_cast<TilesCall*>(self)->RunTile(static_cast<size_t>(i)); }, this);
    } else {
      for (size_t i = 0; i < calls_.size(); ++i) RunTile(i);
    }
    return failure_.load(std::memory_order_relaxed);
  }
  void SetIn(size_t i, const void* data) override {
    for (size_t k = 0; k < calls_.size(); ++k) calls_[k]->SetIn(i, static_cast<const uint8_t*>(data) + places_[k].in[i]);
  }

 private:
  void RunTile(size_t i) {
    if (const char* const failure = calls_[i]->Run()) failure_.store(failure, std::memory_order_relaxed);
  }

  const std::vector<std::unique_ptr<Call>> calls_;
  const std::vector<Place>& places_;  // of the kernel, which outlives its calls
  std::atomic<const char*> failure_{nullptr};
};

class TilesKernel final : public Kernel {
 public:
  TilesKernel(std::vector<std::unique_ptr<Kernel>> kernels, std::vector<Place> places)
      : kernels_(std::move(kernels)), places_(std::move(places)) {
    for (const auto& kernel : kernels_) scratch_bytes += Aligned(kernel->scratch_bytes);
  }
  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    std::vector<std::unique_ptr<Call>> calls;
    auto* scratch = static_cast<uint8_t*>(buffers.scratch);
    for (size_t k = 0; k < kernels_.size(); ++k) {
      Buffers of_tile{buffers.in, buffers.out, scratch};
      for (size_t i = 0; i < of_tile.in.size(); ++i) {
        if (of_tile.in[i] != nullptr) of_tile.in[i] = static_cast<const uint8_t*>(of_tile.in[i]) + places_[k].in[i];
      }
      for (size_t i = 0; i < of_tile.out.size(); ++i) {
        if (of_tile.out[i] != nullptr) of_tile.out[i] = static_cast<uint8_t*>(of_tile.out[i]) + places_[k].out[i];
      }
      auto call = kernels_[k]->Bind(of_tile);
      if (!call.ok()) return call;
      calls.push_back(*std::move(call));
      scratch += Aligned(kernels_[k]->scratch_bytes);
    }
    return std::unique_ptr<Call>(new TilesCall(std::move(calls), places_));
  }

 private:
  const std::vector<std::unique_ptr<Kernel>> kernels_;
  const std::vector<Place> places_;
};

// As one, or null where its tiles want formats that are not cut so.
std::unique_ptr<Kernel> Join(const Operation& operation, const Cutting& plan, std::vector<std::unique_ptr<Kernel>> kernels) {
  const Kernel& first = *kernels[0];
  std::vector<FormatRef> in_format = first.in_format;
  const std::vector<bool> packed_in = first.packed_in;
  std::vector<int64_t> in_size(plan.in.size(), 0);
  FormatRef out_format;
  int64_t out_size = 0;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const Kernel& kernel = *kernels[k];
    const Operation& tile = plan.tiles[k].operation;
    if (kernel.impl != first.impl || kernel.packed_in != packed_in) return nullptr;
    for (size_t i = 0; i < plan.in.size(); ++i) {
      if (tile.in[i].dtype == 0 || packed_in[i]) continue;
      if (plan.in[i] == Cut::kNot) {
        if (!SameFormat(kernel.in_format[i], first.in_format[i])) return nullptr;
        continue;
      }
      const auto whole = WholeOf(kernel.in_format[i], tile.in[i].dim, operation.in[i].dim, plan.in[i]);
      if (!whole || (k > 0 && whole->size != in_size[i])) return nullptr;
      in_format[i] = whole->format;
      in_size[i] = whole->size;
    }
    const auto whole = WholeOf(kernel.out_format, tile.out[0].dim, operation.out[0].dim, plan.out);
    if (!whole || (k > 0 && whole->size != out_size)) return nullptr;
    out_format = whole->format;
    out_size = whole->size;
  }
  std::vector<Place> places;
  for (const Tile& tile : plan.tiles) {
    Place& place = places.emplace_back();
    for (size_t i = 0; i < plan.in.size(); ++i) place.in.push_back(tile.in_at[i] * in_size[i]);
    for (size_t i = 0; i < tile.out_at.size(); ++i) place.out.push_back(tile.out_at[i] * (i == 0 ? out_size : int64_t{sizeof(float)}));
  }
  const std::string impl = first.impl;
  auto joined = std::make_unique<TilesKernel>(std::move(kernels), std::move(places));
  joined->impl = impl;
  joined->in_format = std::move(in_format);
  joined->packed_in = packed_in;
  joined->out_format = out_format;
  return joined;
}

// Channels of an image lie last whatever its rows are in memory before.
Operation InLayoutOf(const Operation& tile, const Cutting& plan) {
  Operation asked = tile;
  for (size_t i = 0; i < plan.in.size(); ++i) {
    if (plan.in[i] == Cut::kImageRows) asked.in[i].format = onednn::ChannelsLast(asked.in[i].dim, WF_F32);
  }
  return asked;
}

}  // namespace

Made MakeTiles(const Operation& operation, int threads, const Maker& make) {
  if (threads < 2 || !onednn::Available()) return Made(nullptr);
  const auto plan = CutOf(operation, threads * kTilesOfThread);
  if (!plan || plan->tiles.size() < 2) return Made(nullptr);
  // What small tiles take by themselves may be another way than what large ones do.
  for (const std::string_view way : {std::string_view(), avx512::kWinograd, kDirect}) {
    std::vector<std::unique_ptr<Kernel>> kernels;
    for (const Tile& tile : plan->tiles) {
      Operation asked = InLayoutOf(tile.operation, *plan);
      asked.way = way;
      auto kernel = make(asked);
      if (!kernel.ok()) return kernel;
      kernels.push_back(*std::move(kernel));
    }
    auto joined = Join(operation, *plan, std::move(kernels));
    if (joined != nullptr || !std::holds_alternative<Conv>(operation.params)) return joined;
  }
  return Made(nullptr);
}

}  // namespace wf::kernels
