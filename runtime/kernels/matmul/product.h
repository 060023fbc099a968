#pragma once

#include <cstdint>
#include <type_traits>

namespace wf::kernels {

// An operand whose rows and columns may lie in any order: strides in elements.
template <typename T>
struct Matrix {
  const T* data;
  int64_t row, column;
};

// c[m, n] += a[m, k] b[k, n]; columns of b and c lie side by side. Unsigned integers stand for signed ones, so that they wrap.
template <typename T>
struct Product {
  int64_t m, n, k;
  Matrix<T> a;
  const T* b;
  int64_t b_row;
  T* c;
  int64_t c_row;
};

// Rows from i on and columns from j on, as many as the parameters say: their sums stay in registers.
template <int64_t kRows, int64_t kColumns, typename T>
inline void AddTile(const Product<T>& p, int64_t i, int64_t j) {
  using Wide = std::conditional_t<std::is_integral_v<T> && sizeof(T) < 4, uint32_t, T>;  // a product of two u16 is beyond int
  Wide sum[kRows][kColumns] = {};
  const T *a = p.a.data + i * p.a.row, *b = p.b + j;
  for (int64_t k = 0; k < p.k; ++k, b += p.b_row, a += p.a.column) {
    for (int64_t y = 0; y < kRows; ++y) {
      const Wide factor = a[y * p.a.row];
      for (int64_t x = 0; x < kColumns; ++x) sum[y][x] += factor * static_cast<Wide>(b[x]);
    }
  }
  for (int64_t y = 0; y < kRows; ++y) {
    T* c = p.c + (i + y) * p.c_row + j;
    for (int64_t x = 0; x < kColumns; ++x) c[x] = static_cast<T>(c[x] + sum[y][x]);
  }
}

// Adds factor * b to c.
template <typename T>
inline void AddScaled(T factor, const T* __restrict b, int64_t n, T* __restrict c) {
  constexpr int64_t kBlock = 16;  // a count that is known becomes vectors
  int64_t j = 0;
  for (; j + kBlock <= n; j += kBlock) {
    for (int64_t i = 0; i < kBlock; ++i) c[j + i] += factor * b[j + i];
  }
  for (; j < n; ++j) c[j] += factor * b[j];
}

template <typename T>
void AddProduct(const Product<T>& p) {
  constexpr int64_t kRows = 4, kColumns = 8;
  const int64_t tiled = p.m - p.m % kRows, whole = p.n - p.n % kColumns;
  for (int64_t j = 0; j < whole; j += kColumns) {  // these columns of b stay in the cache for all rows
    for (int64_t i = 0; i < tiled; i += kRows) AddTile<kRows, kColumns>(p, i, j);
  }
  for (int64_t i = 0; i < tiled; i += kRows) {
    for (int64_t j = whole; j < p.n; ++j) AddTile<kRows, 1>(p, i, j);
  }
  for (int64_t i = tiled; i < p.m; ++i) {
    if constexpr (std::is_integral_v<T> && sizeof(T) < 4) {
      for (int64_t j = 0; j < p.n; ++j) AddTile<1, 1>(p, i, j);
    } else {  // b is read once, in lines
      for (int64_t k = 0; k < p.k; ++k) AddScaled(p.a.data[i * p.a.row + k * p.a.column], p.b + k * p.b_row, p.n, p.c + i * p.c_row);
    }
  }
}

// The same by the fastest way there is: for kernels that are made of products.
template <typename T>
void FastProduct(const Product<T>& p) {
  AddProduct(p);
}
template <>
void FastProduct<float>(const Product<float>& p);
template <>
void FastProduct<double>(const Product<double>& p);

}  // namespace wf::kernels
