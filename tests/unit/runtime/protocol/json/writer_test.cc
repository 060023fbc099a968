#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "runtime/base/error_codes.h"
#include "runtime/base/reserve.h"
#include "runtime/base/sink.h"
#include "runtime/protocol/json/reader.h"
#include "tests/unit/runtime/protocol/fake_job.h"
#include "tests/unit/support/sim_faults.h"

namespace wf::json {
namespace {

using fake::Job;

std::string Text(wf_sink& out) {
  std::string text;
  for (const auto& piece : out.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return text;
}

TEST(JsonWriter, EscapesStrings) {
  Job job;
  wf_sink out;
  const wf_bytes text = fake::Bytes("a\"\\\n\r\t\x01 \xe2\x82\xac");
  ASSERT_EQ(wf_json_put_string(job.ctx(), &out, &text), 0);
  EXPECT_EQ(Text(out), "\"a\\\"\\\\\\n\\r\\t\\u0001 \xe2\x82\xac\"");
  out.Clear();
  ASSERT_TRUE(PutString(&out, "bad \xff\xc0 end"));
  EXPECT_EQ(Text(out), "\"bad \xef\xbf\xbd\xef\xbf\xbd end\"");
}

TEST(JsonWriter, WritesTensorsByTheirStrides) {
  Job job;
  wf_sink out;
  float data[] = {1, 2, 99, 3, 4.5F, 99};
  wf_tensor tensor = {.data = data, .dtype = WF_F32, .rank = 2, .space = 0, .flags = 0, .device = 0, .dim = {2, 2}, .stride = {3, 1}};
  ASSERT_EQ(wf_json_put_tensor(job.ctx(), &out, &tensor), 0);
  EXPECT_EQ(Text(out), "[[1,2],[3,4.5]]");
  out.Clear();
  tensor.dim[0] = 0;
  ASSERT_EQ(wf_json_put_tensor(job.ctx(), &out, &tensor), 0);
  EXPECT_EQ(Text(out), "[]");
  out.Clear();
  tensor.rank = 0;
  ASSERT_EQ(wf_json_put_tensor(job.ctx(), &out, &tensor), 0);
  EXPECT_EQ(Text(out), "1");
}

// Every way to write, in a sink that has no first block.
TEST(JsonWriter, WhatThereIsNoMemoryForIsRefusedForNow) {
  static float data[] = {1, 2};
  static wf_tensor tensor = {.data = data, .dtype = WF_F32, .rank = 1, .space = 0, .flags = 0, .device = 0, .dim = {2}, .stride = {1}};
  static const wf_bytes text = fake::Bytes("text");
  using Write = wf_code (*)(wf_ctx* ctx, wf_sink* out);
  const Write writes[] = {
      [](wf_ctx* ctx, wf_sink* out) { return wf_json_put_scalar(ctx, out, WF_F32, data); },
      [](wf_ctx* ctx, wf_sink* out) { return wf_json_put_string(ctx, out, &text); },
      [](wf_ctx* ctx, wf_sink* out) { return wf_json_put_bytes(ctx, out, &text); },
      [](wf_ctx* ctx, wf_sink* out) { return wf_json_put_tensor(ctx, out, &tensor); },
  };
  const std::function<bool()> always = [] { return true; };
  for (const Write write : writes) {
    Job job;
    wf_sink out;
    wf_sink::DropKept();
    {
      const test::FailingAllocations failing(&always);
      EXPECT_EQ(write(job.ctx(), &out), WF_FAILED);
      EXPECT_EQ(wf_put(&out, text), code::kRefused);
    }
    EXPECT_EQ(job.code, code::kRefused);
    EXPECT_EQ(job.message, "there is no memory for the reply now: other requests have it, or the system has none");
    out.Clear();
    EXPECT_EQ(wf_put(&out, text), 0);
  }
  base::Reserve::Refill();
}

TEST(JsonWriter, RefusesTensorsWhoseBracketsAreTooMany) {
  constexpr int64_t kMany = int64_t{1} << 62;
  const std::vector<std::vector<int64_t>> shapes = {{kMany, 0}, {2, kMany, 0}, {kMany, kMany, 0}, {1, int64_t{1} << 28}};
  for (const std::vector<int64_t>& dims : shapes) {
    Job job;
    wf_sink out;
    float data[16] = {};
    wf_tensor tensor = {};
    tensor.data = data;
    tensor.dtype = WF_F32;
    tensor.rank = static_cast<uint8_t>(dims.size());
    std::copy(dims.begin(), dims.end(), tensor.dim);
    EXPECT_EQ(wf_json_put_tensor(job.ctx(), &out, &tensor), WF_FAILED);
    EXPECT_EQ(job.code, 3012);
    EXPECT_EQ(Text(out), "");
  }
}

TEST(JsonWriter, RefusesNumbersThatJsonDoesNotHave) {
  Job job;
  wf_sink out;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(wf_json_put_scalar(job.ctx(), &out, WF_F32, &nan), WF_FAILED);
  EXPECT_EQ(job.code, 9000);
  EXPECT_EQ(job.message, "a value of type f32 in the reply is NaN or infinite; JSON has no text for it");
  Job second;
  double infinite[] = {1, std::numeric_limits<double>::infinity()};
  const wf_tensor tensor = {.data = infinite, .dtype = WF_F64, .rank = 1, .space = 0, .flags = 0, .device = 0, .dim = {2}, .stride = {1}};
  EXPECT_EQ(wf_json_put_tensor(second.ctx(), &out, &tensor), WF_FAILED);
  EXPECT_EQ(second.code, 9000);
}

TEST(JsonWriter, EncodesBase64OfAnyLength) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{3000}, size_t{3001}, size_t{50000}}) {
    Job job;
    wf_sink out;
    std::string raw(size, 'x');
    for (size_t i = 0; i < size; ++i) raw[i] = static_cast<char>(i * 7);
    const wf_bytes bytes = fake::Bytes(raw);
    ASSERT_EQ(wf_json_put_bytes(job.ctx(), &out, &bytes), 0);
    const fake::Body body(Text(out));
    wf_json in;
    wf_bytes back;
    ASSERT_EQ(wf_json_open(&in, job.ctx(), body.view()), 0);
    ASSERT_EQ(wf_json_bytes(&in, &back), 0) << job.message;
    EXPECT_EQ(View(back), raw);
  }
}

TEST(Text, FillsTheHolesOfAnInterpolation) {
  Job job;
  const wf_type string = {.kind = WF_T_STRING};
  const wf_type i64 = {.kind = WF_T_SCALAR, .dtype = WF_I64};
  const wf_type f32 = {.kind = WF_T_SCALAR, .dtype = WF_F32};
  const wf_bytes name = fake::Bytes("seven {}");
  const int64_t n = -7;
  const float x = std::numeric_limits<float>::infinity();
  const wf_type* types[] = {&string, &i64, &f32};
  const void* args[] = {&name, &n, &x};
  wf_bytes text;
  ASSERT_EQ(wf_text(job.ctx(), fake::Bytes("<{}> is {}, {}!"), types, args, &text), 0);
  EXPECT_EQ(View(text), "<seven {}> is -7, inf!");
}

TEST(Sink, ConsumesInAnyPortions) {
  for (size_t portion : {size_t{1}, size_t{7}, size_t{16'383}, size_t{16'384}, size_t{100'000}}) {
    wf_sink out;
    std::string expected;
    for (int i = 0; i < 3000; ++i) {
      const std::string text = std::to_string(i) + ",";
      expected += text;
      ASSERT_TRUE(out.Put(text.data(), text.size()));
    }
    wf_sink second;
    ASSERT_TRUE(second.Put("first ", 6));
    ASSERT_TRUE(second.Append(out));
    ASSERT_TRUE(second.Put(" last", 5));
    EXPECT_TRUE(out.empty());
    expected = "first " + expected + " last";
    std::string sent;
    while (!second.empty()) {
      const auto piece = second.Pieces()[0];
      const size_t count = std::min(portion, piece.bytes);
      sent.append(reinterpret_cast<const char*>(piece.data), count);
      second.Consume(count);
    }
    EXPECT_EQ(sent, expected);
  }
}

}  // namespace
}  // namespace wf::json
