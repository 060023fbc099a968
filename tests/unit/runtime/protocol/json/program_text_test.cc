#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/protocol/json/reader.h"
#include "tests/unit/runtime/protocol/fake_job.h"

namespace wf::json {
namespace {

using fake::Job;

// i64, list<i64>, f32
const wf_type kTable[] = {{.kind = WF_T_SCALAR, .dtype = WF_I64, .size = 8, .align = 8},
                          {.kind = WF_T_LIST, .element = 0, .size = 16, .align = 8},
                          {.kind = WF_T_SCALAR, .dtype = WF_F32, .size = 4, .align = 4}};

// The text behind which nothing may be read.
struct Exact {
  explicit Exact(std::string_view text) : bytes(std::make_unique<uint8_t[]>(text.size())), view{bytes.get(), text.size()} {
    std::memcpy(bytes.get(), text.data(), text.size());
  }
  std::unique_ptr<uint8_t[]> bytes;
  wf_bytes view;
};

std::string Again(std::string_view text, uint64_t memory = 1 << 20) {
  Job job;
  job.left_bytes = memory;
  const Exact exact(text);
  wf_list list{};
  wf_bytes built{};
  if (wf_n_json_parse(job.ctx(), &exact.view, kTable, 1, &list) != 0) return job.message;
  if (wf_n_json_build(job.ctx(), &list, kTable, 1, &built) != 0) return job.message;
  return std::string(fake::View(built));
}

TEST(JsonProgramText, IsReadToItsLastByteAndNoFurther) {
  EXPECT_EQ(Again("[1, -2,3]"), "[1,-2,3]");
  EXPECT_EQ(Again(" [ ] "), "[]");
  EXPECT_EQ(Again("[12345678"), "expected `,` or `]`, found the end of the text, at byte 9");
  EXPECT_EQ(Again("[1]]"), "expected nothing after the value, found `]`, at byte 3");
  EXPECT_EQ(Again(""), "expected an array, found the end of the text, at byte 0");
}

TEST(JsonProgramText, ANumberIsAWholeText) {
  Job job;
  const Exact exact("1234567");
  int64_t value = 0;
  ASSERT_EQ(wf_n_json_parse(job.ctx(), &exact.view, kTable, 0, &value), 0) << job.message;
  EXPECT_EQ(value, 1234567);
}

TEST(JsonProgramText, OfAnyLengthIsOnePiece) {
  for (const size_t count : {1, 100, 1000, 5000, 100'000}) {
    std::string text = "[";
    for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::to_string(i * 7919);
    text += "]";
    EXPECT_EQ(Again(text, uint64_t{64} << 20), text) << count;
  }
}

TEST(JsonProgramText, StopsAtTheMemoryOfTheRequest) {
  const std::string text = "[" + std::string(2000, '1') + "]";
  EXPECT_EQ(Again(text, 1000), "the request's memory is spent");
  std::string many = "[1";
  for (int i = 0; i < 1000; ++i) many += ",1000000000000000000";
  for (const uint64_t memory : {uint64_t{20'000}, uint64_t{40'000}, uint64_t{50'000}})
    EXPECT_EQ(Again(many + "]", memory), "the request's memory is spent") << memory;
}

TEST(JsonProgramText, IsNotWrittenOnOnceTheJobIsStopped) {
  Job job;
  std::vector<int64_t> numbers(100'000, 7);
  const wf_list list{numbers.data(), numbers.size()};
  wf_bytes built{};
  job.stop = 1;
  EXPECT_EQ(wf_n_json_build(job.ctx(), &list, kTable, 1, &built), WF_FAILED);
  EXPECT_EQ(job.code, 0);
  job.stop = 0;
  EXPECT_EQ(wf_n_json_build(job.ctx(), &list, kTable, 1, &built), 0);
  EXPECT_EQ(built.len, 200'001U);
}

TEST(JsonProgramText, HasNoTextForNan) {
  Job job;
  const float value = std::nanf("");
  wf_bytes built{};
  EXPECT_EQ(wf_n_json_build(job.ctx(), &value, kTable, 2, &built), WF_FAILED);
  EXPECT_EQ(job.code, 9000);
  EXPECT_EQ(job.message, "a value of type f32 in the text is NaN or infinite; JSON has no text for it");
}

}  // namespace
}  // namespace wf::json
