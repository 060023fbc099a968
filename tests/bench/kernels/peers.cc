// The eight kernels of kernels.wf by hand. The rules are those of .wf: no -ffast-math, so a sum that is to be fast is written with lanes.

#include "tests/bench/kernels/peers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

namespace wf::bench {
namespace {

using Inputs = std::span<const wf_tensor>;

template <typename T>
T* Data(const wf_tensor& tensor) {
  return static_cast<T*>(tensor.data);
}

// element(k) for k below n, added in 16 lanes.
template <typename Element>
float Sum(int64_t n, const Element& element) {
  constexpr int64_t kLanes = 16;
  std::array<float, kLanes> lanes{};
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += element(k + lane);
  }
  for (int64_t lane = 0; k < n; ++k, ++lane) lanes[lane] += element(k);
  return std::accumulate(lanes.begin(), lanes.end(), 0.0f);
}

void Normalise(Inputs in, Inputs out) {
  constexpr std::array<float, 3> kMean = {0.485f, 0.456f, 0.406f}, kDeviation = {0.229f, 0.224f, 0.225f};
  const auto* px = Data<const uint8_t>(in[0]);
  auto* y = Data<float>(out[0]);
  const int64_t pixels = in[0].dim[0] * in[0].dim[1];
  for (int64_t c = 0; c < 3; ++c) {
    for (int64_t i = 0; i < pixels; ++i) y[c * pixels + i] = (static_cast<float>(px[3 * i + c]) / 255.0f - kMean[c]) / kDeviation[c];
  }
}

void Softmax(Inputs in, Inputs out) {
  const auto* x = Data<const float>(in[0]);
  auto* y = Data<float>(out[0]);
  const int64_t n = in[0].dim[0];
  float top = x[0];
  for (int64_t i = 1; i < n; ++i) top = x[i] > top ? x[i] : top;
  for (int64_t i = 0; i < n; ++i) y[i] = std::exp(x[i] - top);
  const float total = Sum(n, [&](int64_t i) { return y[i]; });
  for (int64_t i = 0; i < n; ++i) y[i] /= total;
}

void LayerNorm(Inputs in, Inputs out) {
  const auto *gain = Data<const float>(in[1]), *bias = Data<const float>(in[2]);
  const int64_t rows = in[0].dim[0], n = in[0].dim[1];
  for (int64_t r = 0; r < rows; ++r) {
    const float* x = Data<const float>(in[0]) + r * n;
    float* y = Data<float>(out[0]) + r * n;
    const float mean = Sum(n, [&](int64_t i) { return x[i]; }) / static_cast<float>(n);
    const float variance = Sum(n, [&](int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / static_cast<float>(n);
    const float scale = 1.0f / std::sqrt(variance + 0.00001f);
    for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * scale * gain[i] + bias[i];
  }
}

void TopK(Inputs in, Inputs out) {
  const auto* x = Data<const float>(in[0]);
  const int64_t n = in[0].dim[0], k = *Data<const int64_t>(in[1]);
  static std::vector<int64_t> order;  // as a program that does this often would keep it
  order.resize(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](int64_t a, int64_t b) { return x[a] > x[b]; });
  for (int64_t i = 0; i < k; ++i) {
    Data<float>(out[0])[i] = x[order[static_cast<size_t>(i)]];
    Data<int64_t>(out[1])[i] = order[static_cast<size_t>(i)];
  }
}

struct Box {
  float left, top, right, bottom;
  float Area() const { return (right - left) * (bottom - top); }
};

// The second operand when one is NaN, as the instruction gives it: what vectorises without -ffast-math.
float Least(float a, float b) { return a < b ? a : b; }
float Greatest(float a, float b) { return a > b ? a : b; }

// Boxes as columns, which compilers read with whole vectors.
struct Columns {
  std::vector<float> left, top, right, bottom, area;
};
void Transpose(const Box* boxes, size_t n, Columns& columns) {
  for (auto* column : {&columns.left, &columns.top, &columns.right, &columns.bottom, &columns.area}) column->resize(n);
  for (size_t j = 0; j < n; ++j) {
    columns.left[j] = boxes[j].left, columns.top[j] = boxes[j].top;
    columns.right[j] = boxes[j].right, columns.bottom[j] = boxes[j].bottom;
    columns.area[j] = boxes[j].Area();
  }
}

void Iou(Inputs in, Inputs out) {
  const auto* boxes = Data<const Box>(in[0]);
  const int64_t n = in[0].dim[0], m = in[1].dim[0];
  static Columns b;  // memory only; the columns are made anew
  Transpose(Data<const Box>(in[1]), static_cast<size_t>(m), b);
  const float *left = b.left.data(), *top = b.top.data(), *right = b.right.data(), *bottom = b.bottom.data(), *area = b.area.data();
  for (int64_t i = 0; i < n; ++i) {
    const Box a = boxes[i];
    const float own = a.Area();
    float* __restrict y = Data<float>(out[0]) + i * m;
    for (int64_t j = 0; j < m; ++j) {
      const float width = Greatest(Least(a.right, right[j]) - Greatest(a.left, left[j]), 0.0f);
      const float height = Greatest(Least(a.bottom, bottom[j]) - Greatest(a.top, top[j]), 0.0f);
      const float common = width * height;
      y[j] = common / (own + area[j] - common);
    }
  }
}

void OneHot(Inputs in, Inputs out) {
  const auto* label = Data<const int64_t>(in[0]);
  auto* y = Data<float>(out[0]);
  const int64_t n = in[0].dim[0], classes = *Data<const int64_t>(in[1]);
  std::fill(y, y + n * classes, 0.0f);
  for (int64_t i = 0; i < n; ++i) {
    if (label[i] >= 0 && label[i] < classes) y[i * classes + label[i]] = 1.0f;
  }
}

void Cosine(Inputs in, Inputs out) {
  const auto* query = Data<const float>(in[0]);
  const int64_t rows = in[1].dim[0], n = in[1].dim[1];
  const float length = std::sqrt(Sum(n, [&](int64_t i) { return query[i] * query[i]; }));
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = Data<const float>(in[1]) + r * n;
    const float dot = Sum(n, [&](int64_t i) { return row[i] * query[i]; });
    const float own = std::sqrt(Sum(n, [&](int64_t i) { return row[i] * row[i]; }));
    Data<float>(out[0])[r] = dot / (own * length);
  }
}

// Where output pixels fall on a line of the input.
struct Places {
  std::vector<int32_t> before, after;
  std::vector<float> share;
};
void Place(int64_t inputs, int64_t outputs, Places& places) {
  const auto n = static_cast<size_t>(outputs);
  places.before.resize(n), places.after.resize(n), places.share.resize(n);
  const float scale = static_cast<float>(inputs) / static_cast<float>(outputs), last = static_cast<float>(inputs - 1);
  for (int32_t i = 0; i < outputs; ++i) {
    const float centre = std::min(std::max((static_cast<float>(i) + 0.5f) * scale - 0.5f, 0.0f), last);
    const auto before = static_cast<int32_t>(centre);
    places.before[static_cast<size_t>(i)] = before;
    places.after[static_cast<size_t>(i)] = std::min(before + 1, static_cast<int32_t>(inputs) - 1);
    places.share[static_cast<size_t>(i)] = centre - static_cast<float>(before);
  }
}

void Resize(Inputs in, Inputs out) {
  const auto* px = Data<const uint8_t>(in[0]);
  auto* y = Data<uint8_t>(out[0]);
  const int64_t h = in[0].dim[0], w = in[0].dim[1], height = out[0].dim[0], width = out[0].dim[1];
  static Places rows, columns;  // memory only; the places are found anew
  Place(h, height, rows);
  Place(w, width, columns);
  const auto mix = [](float a, float b, float t) { return a + (b - a) * t; };
  for (int64_t r = 0; r < height; ++r) {
    const uint8_t *above = px + rows.before[static_cast<size_t>(r)] * w, *below = px + rows.after[static_cast<size_t>(r)] * w;
    const float down = rows.share[static_cast<size_t>(r)];
    const int32_t *before = columns.before.data(), *after = columns.after.data();
    const float* share = columns.share.data();
    uint8_t* line = y + r * width;
    for (int64_t c = 0; c < width; ++c) {
      const float first = mix(above[before[c]], above[after[c]], share[c]), second = mix(below[before[c]], below[after[c]], share[c]);
      line[c] = static_cast<uint8_t>(mix(first, second, down) + 0.5f);
    }
  }
}

struct Row {
  const char* workflow;
  Peer peer;
};
constexpr Row kPeers[] = {{"Normalise", Normalise}, {"Softmax", Softmax}, {"LayerNorm", LayerNorm}, {"TopK", TopK}, {"Iou", Iou},
                          {"OneHot", OneHot},       {"Cosine", Cosine},   {"Resize", Resize}};

}  // namespace

Peer PeerOf(const char* workflow) {
  for (const Row& row : kPeers) {
    if (std::strcmp(row.workflow, workflow) == 0) return row.peer;
  }
  return nullptr;
}

}  // namespace wf::bench
