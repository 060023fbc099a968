#include "runtime/protocol/plain/plain.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <string>

#include "runtime/base/error_codes.h"
#include "runtime/base/reserve.h"
#include "runtime/bus/instance.h"
#include "runtime/bus/memory.h"
#include "tests/unit/support/sim_faults.h"

namespace wf::plain {
namespace {

wf_bytes Bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
std::string Text(const wf_bytes& bytes) { return {reinterpret_cast<const char*>(bytes.ptr), bytes.len}; }

enum : uint16_t { kBytes, kString, kI64, kMaybe };  // rows of the types

// workflow W(data: bytes, note: string, times: i64 = 3, more: string? = none), whose parameters lie one behind the other in the frame.
struct Frame {
  wf_bytes data, note;
  int64_t times;
  struct {
    wf_bytes value;
    uint8_t has;
  } more;
};
constexpr int64_t kThree = 3;

class PlainTest : public ::testing::Test {
 protected:
  void SetUp() override {
    types_[kBytes] = {.kind = WF_T_BYTES, .size = sizeof(wf_bytes)};
    types_[kString] = {.kind = WF_T_STRING, .size = sizeof(wf_bytes)};
    types_[kI64] = {.kind = WF_T_SCALAR, .dtype = WF_I64, .size = 8};
    types_[kMaybe] = {.kind = WF_T_OPTIONAL, .element = kString, .size = sizeof(Frame::more), .has_offset = sizeof(wf_bytes)};
    const uint32_t offsets[] = {offsetof(Frame, data), offsetof(Frame, note), offsetof(Frame, times), offsetof(Frame, more)};
    const char* const names[] = {"data", "note", "times", "more"};
    for (uint16_t i = 0; i < 4; ++i) {
      slots_[i].offset = offsets[i];
      ports_[i] = {.name = Bytes(names[i]),
                   .dim = nullptr,
                   .if_missing = nullptr,
                   .slot = i,
                   .type = i,
                   .dtype = 0,
                   .rank = 0,
                   .required = i < 2,
                   .reserved = 0};
    }
    ports_[2].if_missing = &kThree;
    plan_.types = types_.data();
    plan_.n_types = 4;
    plan_.slots = slots_.data();
    workflow_.in = ports_.data();
    workflow_.n_in = 4;
    workflow_.read_json = [](wf_ctx* ctx, wf_bytes, void*) { return wf_fail(ctx, 4242, 0, Bytes("read as JSON")); };
    bus_.plan_ = &plan_;
    bus_.workflow_ = &workflow_;
    bus_.main.bus = &bus_;
    bus_.main.arena = &bus_.arena;
    bus_.arena.Open(memory_, bus_.budget, 4096 - 64);
    instance_.frame = reinterpret_cast<std::byte*>(&frame_);
    bus_.roots = roots_;
    bus_.n_samples = 1;
  }
  void TearDown() override { bus_.arena.FreeAll(); }

  // Empty when it is read, else why not.
  std::string Read(std::string_view target, std::string_view type, std::string_view body) {
    frame_ = {};
    http::Head head;
    head.SetPathAndQuery(target);
    if (!type.empty()) head.Add("content-type", type);
    const std::string kept = std::string(body) + std::string(64, '\0');
    const wf_code code = ReadRequest(bus_, head, {reinterpret_cast<const uint8_t*>(kept.data()), body.size()});
    if (code == 0) body_ = Text(frame_.data), note_ = Text(frame_.note);
    return code == 0 ? "" : std::string(bus_.main.TakeFailure(code).message);
  }
  bool IsJson(std::string_view type, std::string_view body) { return IsJsonBody(plan_, workflow_, type, Bytes(body)); }

  std::array<wf_type, 4> types_{};
  std::array<wf_slot, 4> slots_{};
  std::array<wf_port, 4> ports_{};
  wf_plan plan_{};
  wf_workflow workflow_{};
  bus::ChunkMemory memory_;
  Frame frame_{};
  bus::Instance instance_;
  bus::Instance* roots_[1] = {&instance_};
  bus::Bus bus_;
  std::string body_, note_;
};

TEST_F(PlainTest, TheOnlyRequiredBytesMayBeTheBody) {
  EXPECT_EQ(RawBodyOf(plan_, workflow_), &ports_[0]);
  ports_[1].type = kBytes;
  EXPECT_EQ(RawBodyOf(plan_, workflow_), nullptr) << "two";
  ports_[1].required = 0;
  EXPECT_EQ(RawBodyOf(plan_, workflow_), &ports_[0]) << "one of them has a default";
  ports_[0].required = 0;
  EXPECT_EQ(RawBodyOf(plan_, workflow_), nullptr);
  ports_[0] = ports_[2];
  ports_[0].type = WF_NONE;
  ports_[0].required = 1;
  EXPECT_EQ(RawBodyOf(plan_, workflow_), nullptr) << "of a model";
}

TEST_F(PlainTest, TheTypeSaysWhetherABodyIsJsonUnlessClientsPutItInUnasked) {
  for (const std::string_view type :
       {"application/json", "Application/JSON; charset=utf-8", "application/problem+json", "application/json ;x"})
    EXPECT_TRUE(IsJson(type, "\x89PNG")) << type;
  for (const std::string_view type : {"image/png", "application/octet-stream", "text/json", "+json"})
    EXPECT_FALSE(IsJson(type, R"({"data":1})")) << type;
  for (const std::string_view type : {"", "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-8"}) {
    for (const std::string_view body : {R"({"data":1})", " \n{ \t\"times\" : 1}"}) EXPECT_TRUE(IsJson(type, body)) << body;
    for (const std::string_view body : {"", "{", "{}", R"({"other":1})", R"({"da\u0074a":1})", "[1]", "\x89PNG", R"({"data)"})
      EXPECT_FALSE(IsJson(type, body)) << body;
  }
  ports_[0].type = kString;
  EXPECT_TRUE(IsJson("image/png", "\x89PNG")) << "nothing else is taken";
}

TEST_F(PlainTest, ParametersBesideARawBodyStandInTheQuery) {
  ASSERT_EQ(Read("/S/W?note=a+b%21&times=-7&more=x", "image/png", "\x89PNG"), "");
  EXPECT_EQ(body_, "\x89PNG");
  EXPECT_EQ(note_, "a b!");
  EXPECT_EQ(frame_.times, -7);
  EXPECT_EQ(frame_.more.has, 1);
  ASSERT_EQ(Read("/S/W?&note=&", "image/png", ""), "");
  EXPECT_EQ(note_, "");
  EXPECT_EQ(frame_.times, 3) << "its default";
  EXPECT_EQ(frame_.more.has, 0);
}

TEST_F(PlainTest, WhatIsWrongInTheQueryIsNamed) {
  const auto read = [&](std::string_view query) { return Read("/S/W?" + std::string(query), "image/png", "x"); };
  EXPECT_EQ(read("times=1"), "`note` is missing: beside a body that is not JSON, parameters stand in the query");
  EXPECT_EQ(read("note=n&time=1"), "unknown parameter `time` in the query; did you mean `times`");
  EXPECT_EQ(read("note=n&note=m"), "given twice: `note` in the query");
  EXPECT_EQ(read("note=n&data=x"), "the body is the parameter `data`, which the query gives as well");
  EXPECT_EQ(read("note=n&times="), "no value for `times` in the query");
  EXPECT_EQ(read("note=n&times=1.5"), "`times`: `1.5` is not written as an integer, expected i64");
  EXPECT_EQ(read("note=n&times=1+2"), "`times`: expected nothing after the value, found a number");
  EXPECT_EQ(read("note=%ff"), "not UTF-8: `note` in the query");
  EXPECT_EQ(read("note=%f"), "a broken escape in `note=%f` in the query");
}

TEST_F(PlainTest, AQueryBesideJsonIsRefusedByItsFirstName) {
  EXPECT_EQ(Read("/S/W", "application/json", "{}"), "read as JSON");
  EXPECT_EQ(Read("/S/W?&&", "application/json", "{}"), "read as JSON");
  EXPECT_EQ(Read("/S/W?&note=a&x", "application/json", "{}"), "the query holds `note`, but parameters beside a JSON body are its members");
}

// Of one key the textually last counts, of one place the newest; what is no name of a header is left out.
TEST_F(PlainTest, AnnotationsAreHeaders) {
  workflow_.write_json = [](wf_ctx*, const void*, wf_sink*) -> wf_code { return 0; };
  bus::Annotation first{"Note", "old", 4, nullptr}, second{"note-2", "two\nlines, 50%", 1, &first},
      third{"Note", "earlier in the text", 2, &second}, fourth{"no name", "x", 9, &third}, fifth{"Note", "new", 4, &fourth};
  bus_.main.annotations = &fifth;
  wf_sink body;
  std::vector<http::Header> headers;
  EXPECT_EQ(WriteAnswer(bus_, &body, &headers).code, 0);
  ASSERT_EQ(headers.size(), 2U);
  EXPECT_EQ(headers[0].name, "wf-note");
  EXPECT_EQ(headers[0].value, "new");
  EXPECT_EQ(headers[1].name, "wf-note-2");
  EXPECT_EQ(headers[1].value, "two%0Alines, 50%25");
}

// What HTTP/2 takes for no header, and what is beyond that which clients take, is not sent.
TEST_F(PlainTest, AnnotationsAreSoundHeadersWhateverTheyHold) {
  workflow_.write_json = [](wf_ctx*, const void*, wf_sink*) -> wf_code { return 0; };
  const auto sent = [this](std::initializer_list<std::pair<const char*, std::string>> annotations) {
    std::deque<bus::Annotation> all;
    for (const auto& [key, value] : annotations) all.push_back({key, value, 1, all.empty() ? nullptr : &all.back()});
    bus_.main.annotations = &all.back();
    wf_sink body;
    std::vector<http::Header> headers;
    EXPECT_EQ(WriteAnswer(bus_, &body, &headers).code, 0);
    std::vector<std::string> values;
    for (const http::Header& header : headers) values.emplace_back(header.value);
    return values;
  };
  using Values = std::vector<std::string>;
  EXPECT_EQ(sent({{"a", " x  y\t"}}), Values({"%20x  y%09"}));
  EXPECT_EQ(sent({{"a", " "}, {"b", ""}}), Values({"", "%20"}));
  EXPECT_EQ(sent({{"a", std::string(4095, 'x') + "  y"}}), Values({std::string(4095, 'x') + "%20"}));
  EXPECT_EQ(sent({{"a", std::string(4000, '\n')}})[0].size(), 4095U);
  EXPECT_EQ(sent({{"Seen", "1"}, {"seen", "2"}}).size(), 1U);
  const std::string long_one(4000, 'x');
  EXPECT_EQ(sent({{"a", long_one}, {"b", long_one}, {"c", long_one}, {"d", long_one}, {"e", long_one}}).size(), 4U);
}

// Whoever meets it first: what stands between the values, which has no word to say, or a value.
TEST_F(PlainTest, AnAnswerThatFindsNoMemoryIsRefusedForNow) {
  const decltype(workflow_.write_json) writers[] = {
      [](wf_ctx*, const void*, wf_sink* out) { return wf_put(out, Bytes("{}")); },
      [](wf_ctx* ctx, const void* frame, wf_sink* out) { return wf_json_put_scalar(ctx, out, WF_I64, frame); },
  };
  for (const auto writer : writers) {
    workflow_.write_json = writer;
    int left = 1;
    const std::function<bool()> once = [&left] { return left-- > 0; };
    wf_sink body;
    wf_sink::DropKept();
    std::vector<http::Header> headers;
    const test::FailingAllocations failing(&once);
    const protocol::Answer answer = WriteAnswer(bus_, &body, &headers);
    EXPECT_EQ(answer.code, code::kRefused);
    EXPECT_EQ(answer.status, 429);
    EXPECT_TRUE(answer.reason.starts_with("there is no memory for ")) << answer.reason;
    EXPECT_TRUE(body.Whole().starts_with("{\"error\":{\"code\":3010,")) << body.Whole();
    EXPECT_EQ(bus_.main.failure, nullptr);
  }
  base::Reserve::Refill();
}

TEST_F(PlainTest, AnErrorSaysWhatWhereAndWhose) {
  wf_sink body;
  WriteError({5000, "InputParams", "a \"quote\"", "W/node[3]", 12, "id"}, &body);
  std::string text;
  for (const auto& piece : body.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  EXPECT_EQ(text,
            "{\"error\":{\"code\":5000,\"name\":\"InputParams\",\"message\":\"a "
            "\\\"quote\\\"\",\"path\":\"W/node[3]\",\"data_id\":12,\"log_id\":\"id\"}}\n");
}

}  // namespace
}  // namespace wf::plain
