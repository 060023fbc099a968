#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi/values.h"

namespace wf::nodes {

// A job for natives under test: memory that ASan watches to the byte, a budget, the first failure. wf_alloc, wf_claim and wf_fail of this
// program find it through the context that is its first member.
struct FakeJob {
  wf_ctx ctx{&stop};
  uint32_t stop = 0;
  uint64_t budget = uint64_t{256} << 20, claimed = 0;
  int32_t code = 0;
  std::string message;
  std::vector<std::unique_ptr<uint8_t[], void (*)(uint8_t*)>> blocks;
};

inline wf_bytes View(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

template <typename T>
wf_tensor Vector(std::vector<T>& data, uint8_t dtype) {
  wf_tensor x{};
  x.data = data.data();
  x.dtype = dtype;
  x.rank = 1;
  x.dim[0] = static_cast<int64_t>(data.size());
  x.stride[0] = 1;
  return x;
}

template <typename T>
std::vector<T> Elements(const wf_tensor& x) {
  int64_t count = 1;
  for (int axis = 0; axis < x.rank; ++axis) count *= x.dim[axis];
  const T* data = static_cast<const T*>(x.data);
  return {data, data + count};
}

// 3,000 numbers, a quarter of them of those few.
template <typename T>
std::vector<T> ManyAmong(const std::vector<T>& few) {
  std::vector<T> data;
  uint32_t state = 1;
  for (int i = 0; i < 3000; ++i) {
    state = state * 1664525 + 1013904223;
    data.push_back(state >> 30 == 0 ? few[(state >> 20) % few.size()] : static_cast<T>(static_cast<int32_t>(state)));
  }
  return data;
}

// What a native function from a vector to a tensor gives, whose elements are Result of this dtype.
template <typename Result, typename T>
std::vector<Result> ResultOf(wf_code (*native)(wf_ctx*, const wf_tensor*, wf_tensor*), std::vector<T> data, uint8_t dtype, uint8_t result) {
  FakeJob job;
  const wf_tensor x = Vector(data, dtype);
  wf_tensor out;
  EXPECT_EQ(native(&job.ctx, &x, &out), 0) << job.message;
  EXPECT_EQ(out.dtype, result);
  return Elements<Result>(out);
}

// Of a native function from a vector to a tensor that it allocates.
inline void ExpectItFailsWithoutMemoryAndStops(wf_code (*native)(wf_ctx*, const wf_tensor*, wf_tensor*)) {
  std::vector<float> data{1, 2};
  const wf_tensor x = Vector(data, WF_F32);
  wf_tensor result;
  FakeJob poor;
  poor.budget = 8;
  EXPECT_EQ(native(&poor.ctx, &x, &result), WF_FAILED);
  EXPECT_EQ(poor.code, 3012);
  FakeJob abandoned;
  abandoned.stop = 1;
  EXPECT_EQ(native(&abandoned.ctx, &x, &result), WF_FAILED);
  EXPECT_EQ(abandoned.code, 0);
}

}  // namespace wf::nodes
