#include "runtime/kernels/matmul/doubles.h"

#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/kernels/matmul/matrices.h"
#include "runtime/kernels/operation.h"
#include "runtime/kernels/unary/vector.h"

#if defined(__GNUC__) && !defined(__clang__)
// Of what its own intrinsics take for any value, GCC 12 says that it is used uninitialized.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace wf::kernels {
namespace {

constexpr int64_t kDeep = 256;  // factors of a sum that are taken at a time: so many rows of a panel stay in the cache
constexpr int64_t kHigh = 192;  // the same of the first factor's rows, in the next larger cache
constexpr int kPanelVectors = 3;
constexpr int64_t kMostWide = 2;    // rows that are multiplied with two panels at a time: one would leave each sum waiting for its last
constexpr int64_t kRowsOfPack = 9;  // from these on rows of the second factor are laid side by side first, within the run

// Some rows by some columns of the result, whose sums stay in registers.
struct Tile {
  int64_t k;
  Matrix<double> a;
  const double* b;
  int64_t b_row, next;  // next: how far behind the first panel the second lies
  double* c;
  int64_t c_row;
  int64_t columns, last;  // last: of the last vector
  bool adds;
};
using TileFn = void (*)(const Tile&);

#define WF_EACH_ROW _Pragma("GCC unroll 8") for (int y = 0; y < kRows; ++y)
#define WF_EACH_VECTOR _Pragma("GCC unroll 6") for (int x = 0; x < kVectors; ++x)

struct Avx512 {
  static constexpr int kMostRows = 8;
  static constexpr int64_t kLanes = 8, kColumns = kLanes * kPanelVectors;

  template <int kRows, int kVectors>
  __attribute__((target("avx512f"))) static void Add(const Tile& t) {
    const auto last = static_cast<__mmask8>(0xFFU >> (kLanes - t.last));
    __m512d sum[kRows][kVectors];
    WF_EACH_ROW WF_EACH_VECTOR {
      const __mmask8 lanes = x + 1 < kVectors ? static_cast<__mmask8>(0xFF) : last;
      sum[y][x] = t.adds ? _mm512_maskz_loadu_pd(lanes, t.c + y * t.c_row + x * kLanes) : _mm512_setzero_pd();
    }
    const double *a = t.a.data, *b = t.b;
    for (int64_t k = 0; k < t.k; ++k, a += t.a.column, b += t.b_row) {
      __m512d factor[kVectors];
      WF_EACH_VECTOR factor[x] = _mm512_loadu_pd(x < kPanelVectors ? b + x * kLanes : b + t.next + (x - kPanelVectors) * kLanes);
      WF_EACH_ROW {
        const __m512d each = _mm512_set1_pd(a[y * t.a.row]);
        WF_EACH_VECTOR sum[y][x] = _mm512_fmadd_pd(each, factor[x], sum[y][x]);
      }
    }
    WF_EACH_ROW WF_EACH_VECTOR {
      const __mmask8 lanes = x + 1 < kVectors ? static_cast<__mmask8>(0xFF) : last;
      _mm512_mask_storeu_pd(t.c + y * t.c_row + x * kLanes, lanes, sum[y][x]);
    }
  }
};

struct Avx2 {
  static constexpr int kMostRows = 4;
  static constexpr int64_t kLanes = 4, kColumns = kLanes * kPanelVectors;

  template <int kRows, int kVectors>
  __attribute__((target("avx2,fma"))) static void Add(const Tile& t) {
    const __m256i all = _mm256_set1_epi64x(-1);
    const __m256i last = _mm256_cmpgt_epi64(_mm256_set1_epi64x(t.last), _mm256_setr_epi64x(0, 1, 2, 3));
    __m256d sum[kRows][kVectors];
    WF_EACH_ROW WF_EACH_VECTOR {
      const double* const c = t.c + y * t.c_row + x * kLanes;
      sum[y][x] = t.adds ? _mm256_maskload_pd(c, x + 1 < kVectors ? all : last) : _mm256_setzero_pd();
    }
    const double *a = t.a.data, *b = t.b;
    for (int64_t k = 0; k < t.k; ++k, a += t.a.column, b += t.b_row) {
      __m256d factor[kVectors];
      WF_EACH_VECTOR factor[x] = _mm256_loadu_pd(x < kPanelVectors ? b + x * kLanes : b + t.next + (x - kPanelVectors) * kLanes);
      WF_EACH_ROW {
        const __m256d each = _mm256_broadcast_sd(a + y * t.a.row);
        WF_EACH_VECTOR sum[y][x] = _mm256_fmadd_pd(each, factor[x], sum[y][x]);
      }
    }
    WF_EACH_ROW WF_EACH_VECTOR _mm256_maskstore_pd(t.c + y * t.c_row + x * kLanes, x + 1 < kVectors ? all : last, sum[y][x]);
  }
};
#undef WF_EACH_ROW
#undef WF_EACH_VECTOR

// Of so many vectors, by rows.
template <typename Isa, int kVectors, int... kRow>
constexpr std::array<TileFn, sizeof...(kRow)> TilesOf(std::integer_sequence<int, kRow...> /*rows*/) {
  return {Isa::template Add<kRow + 1, kVectors>...};
}
template <typename Isa, int kVectors>
constexpr auto kTiles = TilesOf<Isa, kVectors>(std::make_integer_sequence<int, Isa::kMostRows>());

template <typename Isa>
TileFn TileOf(int64_t rows, int64_t vectors) {
  const auto row = static_cast<size_t>(rows - 1);
  return vectors == 1 ? kTiles<Isa, 1>[row] : vectors == 2 ? kTiles<Isa, 2>[row] : kTiles<Isa, kPanelVectors>[row];
}

template <typename Isa>
TileFn WideTileOf(int64_t rows) {
  return rows == 1 ? Isa::template Add<1, 2 * kPanelVectors> : Isa::template Add<2, 2 * kPanelVectors>;
}

template <typename Isa>
constexpr int64_t Padded(int64_t columns) {
  return (columns + Isa::kLanes - 1) / Isa::kLanes * Isa::kLanes;
}

// Packed, [k, n] is a panel of kColumns columns behind the other, each [k, its columns]; the last has as many as whole vectors, of which
// what is missing is 0.
template <typename Isa>
void PackPanel(const Matrix<double>& b, int64_t k, int64_t columns, double* to) {
  const int64_t padded = Padded<Isa>(columns);
  for (int64_t i = 0; i < k; ++i, to += padded) {
    const double* from = b.data + i * b.row;
    if (b.column == 1) {
      std::memcpy(to, from, static_cast<size_t>(columns) * sizeof(double));
    } else {
      for (int64_t j = 0; j < columns; ++j) to[j] = from[j * b.column];
    }
    std::fill(to + columns, to + padded, 0.0);
  }
}

template <typename Isa>
class Multiplier {
 public:
  explicit Multiplier(const DoubleProduct& p) : p_(p) {}

  void Run() {
    const int64_t blocks = (p_.m + kHigh - 1) / kHigh;
    for (int64_t block = 0, row = 0; block < blocks; ++block) {
      const int64_t left = blocks - block, rows = Together(p_.m - row, left);
      for (int64_t deep = 0; deep < p_.k; deep += kDeep) Block(row, rows, deep, std::min(kDeep, p_.k - deep));
      row += rows;
    }
  }

 private:
  // The first of `parts` of nearly the same size, of whole tiles.
  static int64_t Together(int64_t rows, int64_t parts) {
    const int64_t each = (rows + parts - 1) / parts;
    return std::min(rows, (each + Isa::kMostRows - 1) / Isa::kMostRows * Isa::kMostRows);
  }

  void Block(int64_t row, int64_t rows, int64_t deep, int64_t k) {
    const bool is_wide = p_.m <= kMostWide && (p_.panels != nullptr || p_.b.column == 1);
    const int64_t step = is_wide ? 2 * Isa::kColumns : Isa::kColumns;
    for (int64_t column = 0; column < p_.n;) {
      int64_t columns = std::min(step, p_.n - column);
      if (columns > Isa::kColumns && columns < step) columns = Isa::kColumns;
      Tile tile{k, {}, nullptr, 0, Isa::kColumns, nullptr, p_.c_row, columns, Isa::kLanes, p_.adds || deep > 0};
      PlaceOfPanel(column, deep, tile);
      if (columns < Isa::kColumns && columns % Isa::kLanes != 0) tile.last = columns % Isa::kLanes;
      Rows(row, rows, deep, column, tile);
      column += columns;
    }
  }

  // Where vectors would reach beyond rows that are not packed, and where a panel is read often, it is copied first.
  void PlaceOfPanel(int64_t column, int64_t deep, Tile& tile) {
    const int64_t columns = tile.columns;
    if (p_.panels != nullptr) {
      tile.b_row = Padded<Isa>(std::min(columns, Isa::kColumns));
      tile.next = p_.k * Isa::kColumns;
      tile.b = p_.panels + column * p_.k + deep * tile.b_row;
      return;
    }
    const Matrix<double> from{p_.b.data + deep * p_.b.row + column * p_.b.column, p_.b.row, p_.b.column};
    const bool reaches = columns % Isa::kLanes != 0;
    if (from.column == 1 && !reaches && p_.m < kRowsOfPack) {
      tile.b = from.data;
      tile.b_row = from.row;
      return;
    }
    PackPanel<Isa>(from, tile.k, columns, panel_);
    tile.b = panel_;
    tile.b_row = Padded<Isa>(columns);
  }

  // Shared out, so that no tile has few rows beside others that have many.
  void Rows(int64_t row, int64_t rows, int64_t deep, int64_t column, Tile& tile) {
    const int64_t columns = tile.columns;
    for (int64_t end = row + rows; row < end;) {
      const int64_t tiles = (end - row + Isa::kMostRows - 1) / Isa::kMostRows, each = (end - row + tiles - 1) / tiles;
      tile.a = {p_.a.data + row * p_.a.row + deep * p_.a.column, p_.a.row, p_.a.column};
      tile.c = p_.c + row * p_.c_row + column;
      const TileFn add = columns > Isa::kColumns ? WideTileOf<Isa>(each) : TileOf<Isa>(each, Padded<Isa>(columns) / Isa::kLanes);
      add(tile);
      row += each;
    }
  }

  const DoubleProduct& p_;
  alignas(64) double panel_[kDeep * Isa::kColumns];
};

template <typename Isa>
int64_t PanelsElements(int64_t k, int64_t n) {
  return k * Padded<Isa>(n);
}

template <typename Isa>
void PackPanels(const Matrix<double>& b, int64_t k, int64_t n, double* to) {
  for (int64_t column = 0; column < n; column += Isa::kColumns, to += k * Isa::kColumns) {
    PackPanel<Isa>({b.data + column * b.column, b.row, b.column}, k, std::min(Isa::kColumns, n - column), to);
  }
}

// Null where it is computed in the run.
template <typename Isa>
base::Result<std::shared_ptr<const double>> PackConstant(const ref::Matrices& s, const TensorInfo& b) {
  if (b.constant == nullptr) return std::shared_ptr<const double>();
  std::shared_ptr<const void>& packed =
      b.constant->Packed(fmt::format("f64 [{}, {}] {} {} by {}", s.k, s.n, s.b_row, s.b_col, Isa::kColumns));
  if (packed == nullptr) {
    auto elements = b.constant->Load();
    if (!elements.ok()) return elements.status();
    const int64_t size = PanelsElements<Isa>(s.k, s.n), matrices = b.count() / (s.k * s.n);
    const auto memory = b.constant->packed_memory().Take(Aligned(matrices * size * int64_t{sizeof(double)}));
    if (memory == nullptr) return base::Status(base::kResourceExhausted, "out of memory for weights");
    const auto* from = reinterpret_cast<const double*>(elements->get());
    auto* to = reinterpret_cast<double*>(memory.get());
    for (int64_t i = 0; i < matrices; ++i) PackPanels<Isa>({from + i * s.k * s.n, s.b_row, s.b_col}, s.k, s.n, to + i * size);
    packed = memory;
  }
  return std::static_pointer_cast<const double>(packed);
}

struct Prepared {
  ref::Matrices s;
  MatMul matmul;
  int64_t count;                         // of the result
  int64_t rows;                          // of all matrices of a together, where b is one; 0: it is not
  std::shared_ptr<const double> panels;  // null: b is computed in the run
};

template <typename Isa>
void Run(const Prepared& of, const Buffers& buffers) {
  const ref::Matrices& s = of.s;
  const auto *a = static_cast<const double*>(buffers.in[0]), *b = static_cast<const double*>(buffers.in[1]);
  auto* const y = static_cast<double*>(buffers.out[0]);
  const auto multiply = [&](int64_t m, const double* left, int64_t right, double* to) {
    const double* panels = of.panels == nullptr ? nullptr : of.panels.get() + right * PanelsElements<Isa>(s.k, s.n);
    const double* plain = b == nullptr ? nullptr : b + right * s.k * s.n;
    const DoubleProduct product{m, s.n, s.k, {left, s.a_row, s.a_col}, {plain, s.b_row, s.b_col}, panels, to, s.n};
    Multiplier<Isa>(product).Run();
  };
  if (of.rows > 0) {
    multiply(of.rows, a, 0, y);
  } else {
    s.batch.ForEach([&](int64_t out, const auto& offset, const auto& stride, int64_t matrices) {
      for (int64_t i = 0; i < matrices; ++i) {
        multiply(s.m, a + (offset[0] + i * stride[0]) * s.m * s.k, offset[1] + i * stride[1], y + (out + i) * s.m * s.n);
      }
    });
  }
  ref::Finish<double>(s, of.matmul, of.count, buffers.in.size() > 2 ? static_cast<const double*>(buffers.in[2]) : nullptr, y);
}

template <typename Isa>
base::Result<std::unique_ptr<Kernel>> Make(const Operation& operation) {
  const TensorInfo &a = operation.in[0], &b = operation.in[1];
  const int64_t count = operation.out[0].count();
  if (a.dtype != WF_F64 || a.count() == 0 || b.count() == 0 || count == 0) return std::unique_ptr<Kernel>();
  Prepared prepared{ref::MatricesOf(std::get<MatMul>(operation.params), operation), std::get<MatMul>(operation.params), count, 0, nullptr};
  const ref::Matrices& s = prepared.s;
  if (b.count() == s.k * s.n && s.a_col == 1) prepared.rows = count / s.n;
  auto packed = PackConstant<Isa>(s, b);
  if (!packed.ok()) return packed.status();
  prepared.panels = *std::move(packed);
  const bool is_packed = prepared.panels != nullptr;
  auto kernel = MakeFunction(operation.in.size(), [prepared = std::move(prepared)](const Buffers& buffers) -> const char* {
    Run<Isa>(prepared, buffers);
    return nullptr;
  });
  kernel->packed_in[1] = is_packed;
  return kernel;
}

}  // namespace

namespace avx512 {

bool HasDoubles() {
  static const bool has = __builtin_cpu_supports("avx512f") != 0;
  return has;
}
void MultiplyDoubles(const DoubleProduct& p) { Multiplier<Avx512>(p).Run(); }
base::Result<std::unique_ptr<Kernel>> MakeMatMul(const Operation& operation) {
  return HasDoubles() ? Make<Avx512>(operation) : std::unique_ptr<Kernel>();
}

}  // namespace avx512

namespace avx2 {

void MultiplyDoubles(const DoubleProduct& p) { Multiplier<Avx2>(p).Run(); }
base::Result<std::unique_ptr<Kernel>> MakeMatMul(const Operation& operation) {
  return Available() ? Make<Avx2>(operation) : std::unique_ptr<Kernel>();
}

}  // namespace avx2
}  // namespace wf::kernels
