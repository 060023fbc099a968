#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "runtime/base/sink.h"
#include "runtime/protocol/json/reader.h"
#include "tests/unit/runtime/protocol/fake_job.h"

namespace wf::json {
namespace {

using fake::Body;
using fake::Job;

// type Box { x: i32, y: i32? }   type Line { text: string, box: Box, tags: list<string>, scores: map<f32>, raw: bytes? }
struct OptionalInt {
  int32_t value;
  uint8_t has;
};
struct Box {
  int32_t x;
  OptionalInt y;
};
struct OptionalBytes {
  wf_bytes value;
  uint8_t has;
};
struct Line {
  wf_bytes text;
  Box box;
  wf_list tags, scores;
  OptionalBytes raw;
};
struct ScoreEntry {
  wf_bytes key;
  float value;
};

enum TypeIndex : uint16_t { kI32, kOptInt, kBox, kString, kTags, kF32, kScores, kBytes, kOptBytes, kLine };

wf_bytes Name(const char* text) { return fake::Bytes(text); }

struct Types {
  wf_field box_fields[2] = {{Name("x"), Name(R"(,"x":)"), offsetof(Box, x), kI32, 0},
                            {Name("y"), Name(R"(,"y":)"), offsetof(Box, y), kOptInt, 0}};
  wf_field line_fields[5] = {{Name("text"), Name(R"(,"text":)"), offsetof(Line, text), kString, 0},
                             {Name("box"), Name(R"(,"box":)"), offsetof(Line, box), kBox, 0},
                             {Name("tags"), Name(R"(,"tags":)"), offsetof(Line, tags), kTags, 0},
                             {Name("scores"), Name(R"(,"scores":)"), offsetof(Line, scores), kScores, 0},
                             {Name("raw"), Name(R"(,"raw":)"), offsetof(Line, raw), kOptBytes, 0}};
  wf_type table[10] = {};

  Types() {
    table[kI32] = {.kind = WF_T_SCALAR, .dtype = WF_I32, .size = 4, .align = 4};
    table[kOptInt] = {
        .kind = WF_T_OPTIONAL, .element = kI32, .size = sizeof(OptionalInt), .align = 4, .has_offset = offsetof(OptionalInt, has)};
    table[kBox] = {.kind = WF_T_RECORD, .n_fields = 2, .size = sizeof(Box), .align = 4, .fields = box_fields};
    table[kString] = {.kind = WF_T_STRING, .size = 16, .align = 8};
    table[kTags] = {.kind = WF_T_LIST, .element = kString, .size = 16, .align = 8};
    table[kF32] = {.kind = WF_T_SCALAR, .dtype = WF_F32, .size = 4, .align = 4};
    table[kScores] = {.kind = WF_T_MAP,
                      .element = kF32,
                      .size = 16,
                      .align = 8,
                      .map_value_offset = offsetof(ScoreEntry, value),
                      .map_entry_size = sizeof(ScoreEntry)};
    table[kBytes] = {.kind = WF_T_BYTES, .size = 16, .align = 8};
    table[kOptBytes] = {
        .kind = WF_T_OPTIONAL, .element = kBytes, .size = sizeof(OptionalBytes), .align = 8, .has_offset = offsetof(OptionalBytes, has)};
    table[kLine] = {.kind = WF_T_RECORD, .n_fields = 5, .size = sizeof(Line), .align = 8, .fields = line_fields};
  }
};

// Reads a Line and writes it again; the message when it cannot be read.
std::string Echo(std::string_view text, uint64_t memory = 1 << 20) {
  const Types types;
  Job job;
  job.left_bytes = memory;
  const Body body(text);
  wf_json in;
  Line line;
  std::memset(&line, 0x5a, sizeof line);
  if (wf_json_open(&in, job.ctx(), body.view()) != 0 || wf_json_value(&in, types.table, kLine, &line) != 0 || wf_json_close(&in) != 0)
    return job.message;
  wf_sink out;
  if (wf_json_put_value(job.ctx(), &out, types.table, kLine, &line) != 0) return job.message;
  std::string written;
  for (const auto& piece : out.Pieces()) written.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return written;
}

TEST(JsonValue, ReadsEveryKindOfType) {
  EXPECT_EQ(Echo(R"({"text":"a\"b","box":{"x":1,"y":2},"tags":["p","q"],"scores":{"z":1.5,"a":2},"raw":{"b64":"AAEC"}})"),
            R"({"text":"a\"b","box":{"x":1,"y":2},"tags":["p","q"],"scores":{"a":2,"z":1.5},"raw":{"b64":"AAEC"}})");
  EXPECT_EQ(Echo(R"({"text":"","box":{"x":1},"tags":[],"scores":{},"raw":null})"),
            R"({"text":"","box":{"x":1,"y":null},"tags":[],"scores":{},"raw":null})");
}

TEST(JsonValue, NamesThePathOfWhatIsWrong) {
  EXPECT_EQ(Echo(R"({"text":"","box":{"x":1,"y":"2"},"tags":[],"scores":{}})"), "`box.y`: expected a number, found a string, at byte 28");
  EXPECT_EQ(Echo(R"({"text":"","box":{"x":1},"tags":["a",3],"scores":{}})"), "`tags[1]`: expected a string, found a number, at byte 37");
  EXPECT_EQ(Echo(R"({"text":"","box":{},"tags":[],"scores":{}})"), "`box`: missing member `x`");
  EXPECT_EQ(Echo(R"({"text":"","box":{"x":1,"z":1},"tags":[],"scores":{}})"), "`box`: unknown member `z`; there is `x`, `y`, at byte 24");
  EXPECT_EQ(Echo(R"({"text":"","text":"","box":{"x":1},"tags":[],"scores":{}})"), "member `text` is given twice, at byte 11");
  EXPECT_EQ(Echo(R"({"text":"","box":{"x":1},"tags":[],"scores":{"a":1,"a":2}})"), "`scores`: member `a` is given twice, at byte 51");
  EXPECT_EQ(Echo(R"({"text":"","box":{"x":1},"tags":[],"scores":{"a":1}])"), "expected `,` or `}`, found `]`, at byte 51");
  EXPECT_EQ(Echo(R"({"text":"","box":{"x":1},"tags":["a",],"scores":{}})"),
            "`tags`: expected a value after the comma, found `]`, at byte 37");
}

TEST(JsonValue, StopsAtTheMemoryOfTheRequest) {
  std::string text = R"({"text":"","box":{"x":1},"scores":{},"tags":[)";
  for (int i = 0; i < 1000; ++i) text += i == 0 ? "\"t\"" : ",\"t\"";
  text += "]}";
  EXPECT_EQ(Echo(text, 4096), "the request's memory is spent");
  EXPECT_NE(Echo(text), "the request's memory is spent");
}

TEST(JsonValue, EveryPrefixOfATextIsAnAnswer) {
  const std::string text = R"({"text":"aé\ud83d\ude00","box":{"x":1,"y":2},"tags":["p"],"scores":{"z":1.5},"raw":{"b64":"AAEC"}})";
  for (size_t size = 0; size < text.size(); ++size) {
    const std::string answer = Echo(std::string_view(text).substr(0, size));
    EXPECT_NE(answer.substr(0, 2), "{\"") << size;
    EXPECT_FALSE(answer.empty());
  }
}

}  // namespace
}  // namespace wf::json
