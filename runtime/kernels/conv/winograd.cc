#include "runtime/kernels/conv/winograd.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/kernels/chain.h"
#include "runtime/kernels/matmul/brain.h"
#include "runtime/kernels/onednn/onednn.h"

namespace wf::kernels::avx512 {
namespace {

using Made = base::Result<std::unique_ptr<Kernel>>;
Made NotHere() { return std::unique_ptr<Kernel>(); }

constexpr int64_t kSide = 2, kPatch = 4, kParts = kPatch * kPatch;  // results of a tile, what they read of the input, products of it
constexpr int64_t kMostFilterBytes = int64_t{9} << 20;
constexpr int64_t kLeastTiles = 36;     // of an image; with fewer, the filters are not read often enough
constexpr int64_t kLeastChannels = 48;  // with fewer, or fewer filters, the sums take what multiplying less gains
constexpr int64_t kCacheBytes = int64_t{640} << 10, kMostTiles = 96;
constexpr int64_t kTogether = 12;       // tiles whose products are in the first cache until results are made of them
constexpr int64_t kTwice = 2 * kLanes;  // channels that are mixed at once: those of even numbers, then those of odd
constexpr float kMostMixed = 0x1p40F;

struct Shape {
  int64_t images, height, width, channels, filters;  // height, width: of the result
  int64_t in_height, above;                          // above: rows of padding
  bool has_bias, has_addend, bf16_out;

  int64_t rows() const { return (height + 1) / kSide; }
  int64_t columns() const { return (width + 1) / kSide; }
  int64_t tiles() const { return images * rows() * columns(); }
  int64_t mixed_channels() const { return (channels + kTwice - 1) / kTwice * kTwice; }
  // That go through all steps while they are in the cache.
  int64_t block() const {
    const int64_t most = kCacheBytes / (kParts * int64_t{sizeof(Brain)} * mixed_channels()) / kTogether * kTogether;
    return std::min(tiles(), std::clamp<int64_t>(most, kTogether, kMostTiles));
  }
  int64_t mixed_bytes() const { return Aligned(kParts * block() * mixed_channels() * int64_t{sizeof(Brain)}); }
  static int64_t product_bytes() { return kParts * kTogether * kColumns * int64_t{sizeof(float)}; }
  int64_t zero_bytes() const { return Aligned(channels * int64_t{sizeof(Brain)}); }
  int64_t scratch_bytes() const { return zero_bytes() + mixed_bytes() + product_bytes(); }
  int64_t part_elements() const { return PanelElements(mixed_channels(), filters); }
};

struct Prepared {
  Shape shape;
  Behind behind;
  std::shared_ptr<const Brain> filters;  // of each part the panels
  std::shared_ptr<const float> bias;     // as many as columns in all panels; null: none
};

struct Tile {
  int64_t image, row, column;
};
Tile TileOf(const Shape& s, int64_t index) {
  const int64_t in_image = s.rows() * s.columns();
  return {index / in_image, index % in_image / s.columns() * kSide, index % s.columns() * kSide};
}

template <bool kClips>
class Run {
 public:
  Run(const Prepared& of, const void* x, const void* addend, void* out, void* scratch)
      : of_(of),
        s_(of.shape),
        x_(static_cast<const Brain*>(x)),
        addend_(addend),
        out_(out),
        zero_(static_cast<Brain*>(scratch)),
        mixed_(reinterpret_cast<Brain*>(static_cast<uint8_t*>(scratch) + s_.zero_bytes())),
        products_(reinterpret_cast<float*>(reinterpret_cast<uint8_t*>(mixed_) + s_.mixed_bytes())) {}

  // False: an element is not small enough; the result is not whole.
  bool All() {
    std::memset(zero_, 0, static_cast<size_t>(s_.zero_bytes()));
    for (int64_t first = 0; first < s_.tiles(); first += s_.block()) {
      const int64_t count = std::min(s_.block(), s_.tiles() - first);
      for (int64_t i = 0; i < count; ++i) {
        if (!Mix(TileOf(s_, first + i), mixed_ + i * s_.mixed_channels())) return false;
      }
      const int64_t turns = (count + kTogether - 1) / kTogether, together = (count + turns - 1) / turns;  // none of them is short
      for (int64_t column = 0; column < s_.filters; column += kColumns) {
        for (int64_t i = 0; i < count; i += together) MakeResults(first, i, std::min(together, count - i), column);
      }
    }
    return true;
  }

 private:
  // Of some tiles of the block that begins at `first`, for a panel of filters.
  void MakeResults(int64_t first, int64_t tile, int64_t count, int64_t column) const {
    const int64_t k = s_.mixed_channels(), columns = std::min(kColumns, s_.filters - column);
    for (int64_t part = 0; part < kParts; ++part) {
      Multiply({count, k, columns, mixed_ + (part * s_.block() + tile) * k, k, of_.filters.get() + part * s_.part_elements() + column * k,
                products_ + part * kTogether * kColumns, kColumns});
    }
    for (int64_t i = 0; i < count; ++i) {
      const Tile at = TileOf(s_, first + tile + i);
      for (int64_t from = 0; from < columns; from += kLanes) Unmix(at, products_ + i * kColumns + from, column + from);
    }
  }

  // Of a tile what is multiplied: B' d B, for each channel. False: an element is not small enough. All are in a middle column of a patch.
  WF_BRAINS bool Mix(const Tile& tile, Brain* to) const {
    const Brain* from[kPatch][kPatch];
    for (int64_t i = 0; i < kPatch; ++i) {
      for (int64_t k = 0; k < kPatch; ++k) {
        const int64_t row = tile.row + i - s_.above, column = tile.column + k - 1;
        const bool inside = row >= 0 && row < s_.in_height && column >= 0 && column < s_.width;
        from[i][k] = inside ? x_ + ((tile.image * s_.in_height + row) * s_.width + column) * s_.channels : zero_;
      }
    }
    const int64_t part = s_.block() * s_.mixed_channels();
    __m512i largest = _mm512_setzero_si512();
    for (int64_t c = 0; c < s_.channels; c += kTwice) {
      const __mmask32 lanes = s_.channels - c >= kTwice ? 0xFFFF'FFFFU : (1U << (s_.channels - c)) - 1;
      __m512 d[kPatch][kPatch][2];
      for (int k = 0; k < kPatch; ++k) {
        __m512i x[kPatch];
        for (int i = 0; i < kPatch; ++i) x[i] = _mm512_maskz_loadu_epi16(lanes, from[i][k] + c);
        if (k == 1 || k == 2) largest = _mm512_max_epu16(largest, _mm512_max_epu16(LargerOf(x[0], x[3]), LargerOf(x[1], x[2])));
        for (int odd = 0; odd < 2; ++odd) {
          const __m512 x0 = Half(x[0], odd), x1 = Half(x[1], odd), x2 = Half(x[2], odd), x3 = Half(x[3], odd);
          d[0][k][odd] = _mm512_sub_ps(x0, x2);
          d[1][k][odd] = _mm512_add_ps(x1, x2);
          d[2][k][odd] = _mm512_sub_ps(x2, x1);
          d[3][k][odd] = _mm512_sub_ps(x1, x3);
        }
      }
      Brain* at = to + c;
      for (int i = 0; i < kPatch; ++i) {
        const auto& e = d[i];
        PutMixed(at, _mm512_sub_ps(e[0][0], e[2][0]), _mm512_sub_ps(e[0][1], e[2][1]));
        PutMixed(at + part, _mm512_add_ps(e[1][0], e[2][0]), _mm512_add_ps(e[1][1], e[2][1]));
        PutMixed(at + 2 * part, _mm512_sub_ps(e[2][0], e[1][0]), _mm512_sub_ps(e[2][1], e[1][1]));
        PutMixed(at + 3 * part, _mm512_sub_ps(e[1][0], e[3][0]), _mm512_sub_ps(e[1][1], e[3][1]));
        at += kPatch * part;
      }
    }
    return _mm512_cmpge_epu16_mask(largest, _mm512_set1_epi16(static_cast<int16_t>(ToBrain(kMostMixed).bits))) == 0;
  }
  WF_BRAINS static __m512i LargerOf(__m512i a, __m512i b) {
    const __m512i size = _mm512_set1_epi16(0x7FFF);
    return _mm512_max_epu16(_mm512_and_si512(a, size), _mm512_and_si512(b, size));
  }
  // The elements of even numbers, or of odd, as f32.
  WF_BRAINS static __m512 Half(__m512i x, int odd) {
    const __m512i half = odd == 0 ? _mm512_slli_epi32(x, 16) : _mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xFFFF'0000U)));
    return _mm512_castsi512_ps(half);
  }
  WF_BRAINS static void PutMixed(Brain* to, __m512 even, __m512 odd) {
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even)));
  }

  // From the products of a tile its results: A' m A, for 16 filters.
  WF_BRAINS void Unmix(const Tile& tile, const float* products, int64_t filter) const {
    const int64_t part = kTogether * kColumns;
    __m512 half[kSide][kPatch];
    for (int k = 0; k < kPatch; ++k) {
      const float* at = products + k * part;
      const __m512 m0 = _mm512_loadu_ps(at), m1 = _mm512_loadu_ps(at + 4 * part), m2 = _mm512_loadu_ps(at + 8 * part),
                   m3 = _mm512_loadu_ps(at + 12 * part);
      half[0][k] = _mm512_add_ps(_mm512_add_ps(m0, m1), m2);
      half[1][k] = _mm512_sub_ps(_mm512_sub_ps(m1, m2), m3);
    }
    const __m512 bias = of_.bias == nullptr ? _mm512_setzero_ps() : _mm512_loadu_ps(of_.bias.get() + filter);
    for (int i = 0; i < kSide; ++i) {
      Put(tile, i, 0, filter, _mm512_add_ps(bias, _mm512_add_ps(_mm512_add_ps(half[i][0], half[i][1]), half[i][2])));
      Put(tile, i, 1, filter, _mm512_add_ps(bias, _mm512_sub_ps(_mm512_sub_ps(half[i][1], half[i][2]), half[i][3])));
    }
  }

  WF_BRAINS void Put(const Tile& tile, int64_t i, int64_t k, int64_t filter, __m512 x) const {
    const int64_t row = tile.row + i, column = tile.column + k;
    if (row >= s_.height || column >= s_.width) return;
    const int64_t at = ((tile.image * s_.height + row) * s_.width + column) * s_.filters + filter;
    const __mmask16 lanes = FirstLanes(s_.filters - filter);
    if (s_.bf16_out) {
      if (addend_ != nullptr) x = _mm512_add_ps(x, LoadWide(static_cast<const Brain*>(addend_) + at, lanes));
      StoreNarrow(static_cast<Brain*>(out_) + at, lanes, of_.behind.template Apply<kClips>(x));
    } else {
      if (addend_ != nullptr) x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(lanes, static_cast<const float*>(addend_) + at));
      _mm512_mask_storeu_ps(static_cast<float*>(out_) + at, lanes, of_.behind.template Apply<kClips>(x));
    }
  }

  const Prepared& of_;
  const Shape& s_;
  const Brain* const x_;
  const void* const addend_;
  void* const out_;
  Brain *const zero_, *const mixed_;
  float* const products_;
};

constexpr size_t kAddend = 3;

class WinogradCall final : public Call {
 public:
  WinogradCall(const Prepared& of, Buffers buffers, std::unique_ptr<Call> plain)
      : of_(of), buffers_(std::move(buffers)), plain_(std::move(plain)) {}
  const char* Run() override {
    const void* const addend = of_.shape.has_addend ? buffers_.in[kAddend] : nullptr;
    const auto run = [&]<bool kClips>() {
      return avx512::Run<kClips>(of_, buffers_.in[0], addend, buffers_.out[0], buffers_.scratch).All();
    };
    const bool done = of_.behind.clips() ? run.template operator()<true>() : run.template operator()<false>();
    return done ? nullptr : plain_->Run();
  }
  void SetIn(size_t i, const void* data) override {
    buffers_.in[i] = data;
    plain_->SetIn(i, data);
  }

 private:
  const Prepared& of_;  // of the kernel, which outlives its calls
  Buffers buffers_;
  const std::unique_ptr<Call> plain_;
};

class WinogradKernel final : public Kernel {
 public:
  WinogradKernel(Prepared prepared, std::unique_ptr<Kernel> plain) : prepared_(std::move(prepared)), plain_(std::move(plain)) {
    in_format = plain_->in_format;
    packed_in = plain_->packed_in;
    out_format = plain_->out_format;
    scratch_bytes = std::max(plain_->scratch_bytes, prepared_.shape.scratch_bytes());
  }
  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    auto plain = plain_->Bind(buffers);
    if (!plain.ok()) return plain;
    return std::unique_ptr<Call>(new WinogradCall(prepared_, buffers, *std::move(plain)));
  }

 private:
  const Prepared prepared_;
  const std::unique_ptr<Kernel> plain_;
};

bool Fits(const Operation& operation) {
  const Conv& conv = std::get<Conv>(operation.params);
  const TensorInfo &x = operation.in[0], &w = operation.in[1];
  const auto all = [](const std::vector<int64_t>& list, int64_t value) { return list == std::vector<int64_t>{value, value}; };
  const bool is_square = x.dim.size() == 4 && all({w.dim[2], w.dim[3]}, 3) && all(conv.stride, 1) && all(conv.dilation, 1) &&
                         conv.pad_begin[0] <= 1 && conv.pad_begin[1] == 1 && conv.group == 1 && operation.out[0].dim[3] == x.dim[3];
  if (!operation.bf16 || !is_square || x.dtype != WF_F32 || x.count() == 0 || w.dim[0] < kLanes || w.dim[1] < kLanes || w.dim[1] % 2 != 0)
    return false;
  const int64_t filter_bytes = kParts * PanelElements((w.dim[1] + kTwice - 1) / kTwice * kTwice, w.dim[0]) * int64_t{sizeof(Brain)};
  return w.constant != nullptr && (!HasInput(operation, 2) || operation.in[2].constant != nullptr) && filter_bytes <= kMostFilterBytes &&
         Behind::Fits(conv.then.op) && MultipliesBf16();
}

Shape ShapeOf(const Operation& operation) {
  const std::vector<int64_t>& x = operation.in[0].dim;
  const std::vector<int64_t>& y = operation.out[0].dim;
  return {x[0],
          y[2],
          y[3],
          x[1],
          y[1],
          x[2],
          std::get<Conv>(operation.params).pad_begin[0],
          HasInput(operation, 2),
          HasInput(operation, kAddend),
          operation.bf16_out};
}

// G g G' of each filter, [filters, channels, 3, 3], into the panels of each part.
void MixFilters(const Shape& s, const float* g, Brain* to) {
  const auto rows = [](float a, float b, float c) { return std::array<float, kPatch>{a, (a + b + c) / 2, (a - b + c) / 2, c}; };
  std::vector<float> mixed(static_cast<size_t>(kParts * s.filters * s.channels));
  for (int64_t each = 0; each < s.filters * s.channels; ++each, g += 9) {
    std::array<std::array<float, kPatch>, 3> half;
    for (size_t k = 0; k < 3; ++k) half[k] = rows(g[k], g[3 + k], g[6 + k]);
    for (size_t i = 0; i < kPatch; ++i) {
      const std::array<float, kPatch> whole = rows(half[0][i], half[1][i], half[2][i]);
      for (size_t k = 0; k < kPatch; ++k)
        mixed[(i * kPatch + k) * static_cast<size_t>(s.filters * s.channels) + static_cast<size_t>(each)] = whole[k];
    }
  }
  for (int64_t part = 0; part < kParts; ++part) {
    const float* of_part = mixed.data() + part * s.filters * s.channels;
    PackBrains(s.mixed_channels(), s.filters, to + part * s.part_elements(), [&](int64_t k, int64_t filter) {
      const int64_t channel = k / kTwice * kTwice + k % kLanes * 2 + k % kTwice / kLanes;  // as the input is mixed
      return channel < s.channels ? of_part[filter * s.channels + channel] : 0;
    });
  }
}

// Weights and bias as they are taken; both null: one is so large that results might not be finite.
base::Status Pack(const Operation& operation, Prepared& to) {
  const TensorInfo& w = operation.in[1];
  auto elements = w.constant->Load();
  if (!elements.ok()) return elements.status();
  const auto* g = reinterpret_cast<const float*>(elements->get());
  if (!AllBelow(kMostMixed, g, w.count())) return base::Status::Ok();
  if (to.shape.has_bias) {
    const TensorInfo& b = operation.in[2];
    auto bias = b.constant->Load();
    if (!bias.ok()) return bias.status();
    if (!AllBelow(kMostMixed, reinterpret_cast<const float*>(bias->get()), b.count())) return base::Status::Ok();
    std::shared_ptr<const void>& packed = b.constant->Packed("winograd bias");
    if (packed == nullptr) {
      const auto memory = b.constant->packed_memory().Take(Aligned(b.count() * int64_t{sizeof(float)}));
      if (memory == nullptr) return {base::kResourceExhausted, "out of memory for weights"};
      std::memcpy(memory.get(), bias->get(), static_cast<size_t>(b.count()) * sizeof(float));
      packed = memory;
    }
    to.bias = std::static_pointer_cast<const float>(packed);
  }
  std::shared_ptr<const void>& packed = w.constant->Packed("winograd filters");
  if (packed == nullptr) {
    const auto memory = w.constant->packed_memory().Take(kParts * to.shape.part_elements() * int64_t{sizeof(Brain)});
    if (memory == nullptr) return {base::kResourceExhausted, "out of memory for weights"};
    MixFilters(to.shape, g, reinterpret_cast<Brain*>(memory.get()));
    packed = memory;
  }
  to.filters = std::static_pointer_cast<const Brain>(packed);
  return base::Status::Ok();
}

bool TakesByItself(const Operation& operation) {
  const std::vector<int64_t>& w = operation.in[1].dim;
  if (!Fits(operation) || std::min(w[0], w[1]) < kLeastChannels) return false;
  const Shape shape = ShapeOf(operation);
  return shape.rows() * shape.columns() >= kLeastTiles;  // whatever the batch, so that its size changes no sums
}

}  // namespace

Made MakeConv(const Operation& operation) {
  if (operation.way.empty() ? !TakesByItself(operation) : operation.way != kWinograd || !Fits(operation)) return NotHere();
  Operation alone = operation;
  alone.way.clear();
  auto plain = onednn::MakeConv(alone);
  if (!plain.ok() || *plain == nullptr) return plain;
  const FormatRef in = onednn::ChannelsLast(operation.in[0].dim, WF_BF16),
                  out = onednn::ChannelsLast(operation.out[0].dim, operation.bf16_out ? WF_BF16 : WF_F32);
  bool is_alike = SameFormat((*plain)->in_format[0], in) && SameFormat((*plain)->out_format, out);
  if (HasInput(operation, kAddend)) is_alike = is_alike && SameFormat((*plain)->in_format[kAddend], out);
  if (!is_alike) return NotHere();
  Prepared prepared{ShapeOf(operation), Behind(std::get<Conv>(operation.params).then), nullptr, nullptr};
  WF_RETURN_IF_ERROR(Pack(operation, prepared));
  if (prepared.filters == nullptr) return NotHere();
  return std::unique_ptr<Kernel>(new WinogradKernel(std::move(prepared), *std::move(plain)));
}

std::vector<std::string> ConvWays(const Operation& operation) {
  if (!Fits(operation)) return {};
  return {std::string(TakesByItself(operation) ? kDirect : kWinograd)};
}

}  // namespace wf::kernels::avx512
