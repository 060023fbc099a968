#include "runtime/protocol/json/size.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/protocol/json/reader.h"

namespace wf::json {
namespace {

constexpr uint64_t kEnough = 1'000'000;

enum TypeIndex : uint16_t { kString, kBytes, kI64, kTensor, kStrings, kNumbers, kOptional, kTypes };

std::vector<wf_type> Types() {
  std::vector<wf_type> types(kTypes);
  types[kString] = {.kind = WF_T_STRING, .size = sizeof(wf_bytes)};
  types[kBytes] = {.kind = WF_T_BYTES, .size = sizeof(wf_bytes)};
  types[kI64] = {.kind = WF_T_SCALAR, .dtype = WF_I64, .size = 8};
  types[kTensor] = {.kind = WF_T_TENSOR, .dtype = WF_F32, .rank = 2, .size = sizeof(wf_tensor)};
  types[kStrings] = {.kind = WF_T_LIST, .element = kString, .size = sizeof(wf_list)};
  types[kNumbers] = {.kind = WF_T_LIST, .element = kI64, .size = sizeof(wf_list)};
  types[kOptional] = {.kind = WF_T_OPTIONAL, .element = kString, .size = 24, .has_offset = 16};
  return types;
}

TEST(JsonSize, FollowsTheValue) {
  const std::vector<wf_type> types = Types();
  const std::string text(3000, 'x');
  const wf_bytes value = Bytes(text);
  EXPECT_EQ(TextBytes(types.data(), kString, &value, kEnough), 3003U);
  EXPECT_EQ(TextBytes(types.data(), kBytes, &value, kEnough), 4003U);
  const wf_tensor tensor = {
      .data = nullptr, .dtype = WF_F32, .rank = 2, .space = 0, .flags = 0, .device = 0, .dim = {20, 30}, .stride = {30, 1}};
  EXPECT_EQ(TextBytes(types.data(), kTensor, &tensor, kEnough), 20U * 30U * 8U + 20U * 3U + 3U);
  std::vector<wf_bytes> texts(5, value);
  const wf_list strings = {texts.data(), texts.size()};
  EXPECT_EQ(TextBytes(types.data(), kStrings, &strings, kEnough), 15'018U);
  EXPECT_EQ(TextBytes(types.data(), kStrings, &strings, 7000), 9012U) << "looks no further than it must";
  const wf_list numbers = {nullptr, 100};
  EXPECT_EQ(TextBytes(types.data(), kNumbers, &numbers, kEnough), 800U);
}

TEST(JsonSize, WhatIsEmptyIsTextAllTheSame) {
  const std::vector<wf_type> types = Types();
  wf_tensor tensor = {
      .data = nullptr, .dtype = WF_F32, .rank = 2, .space = 0, .flags = 0, .device = 0, .dim = {400'000, 0}, .stride = {0, 1}};
  EXPECT_GE(TextBytes(types.data(), kTensor, &tensor, kEnough), kEnough);
  tensor.dim[0] = tensor.dim[1] = int64_t{1} << 40;
  EXPECT_GE(TextBytes(types.data(), kTensor, &tensor, kEnough), kEnough);
  std::vector<wf_bytes> texts(400'000, wf_bytes{});
  const wf_list strings = {texts.data(), texts.size()};
  EXPECT_GE(TextBytes(types.data(), kStrings, &strings, kEnough), kEnough);
}

TEST(JsonSize, AnAbsentValueIsNotLookedAt) {
  const std::vector<wf_type> types = Types();
  struct {
    wf_bytes text{nullptr, UINT64_MAX};
    uint8_t has = 0;
  } value;
  EXPECT_LT(TextBytes(types.data(), kOptional, &value, kEnough), 10U);
  value.text.len = 500;
  value.has = 1;
  EXPECT_EQ(TextBytes(types.data(), kOptional, &value, kEnough), 503U);
}

}  // namespace
}  // namespace wf::json
