// JSON of a request, read by every kind of type; what could be read must be written and read again to the same text. The first byte chooses
// the type.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/base/sink.h"
#include "runtime/protocol/json/number.h"
#include "runtime/protocol/json/reader.h"
#include "tests/unit/runtime/protocol/fake_job.h"

namespace {

using wf::fake::Body;
using wf::fake::Bytes;
using wf::fake::Job;

// type Node { x: T, tags: list<string>, scores: map<f64>, raw: bytes?, grid: u8[_, 2] }, where T is a scalar of any dtype
struct OptionalBytes {
  wf_bytes value;
  uint8_t has;
};
struct Node {
  uint64_t x;
  wf_list tags, scores;
  OptionalBytes raw;
  wf_tensor grid;
};
struct Entry {
  wf_bytes key;
  double value;
};
enum : uint16_t { kX, kString, kTags, kF64, kScores, kBytes, kOptBytes, kGrid, kNode, kTensor, kTypes };

struct Types {
  int64_t grid_dim[2] = {-1, 2}, tensor_dim[2] = {-1, -1};
  wf_field fields[5] = {{Bytes("x"), Bytes(R"(,"x":)"), offsetof(Node, x), kX, 0},
                        {Bytes("tags"), Bytes(R"(,"tags":)"), offsetof(Node, tags), kTags, 0},
                        {Bytes("scores"), Bytes(R"(,"scores":)"), offsetof(Node, scores), kScores, 0},
                        {Bytes("raw"), Bytes(R"(,"raw":)"), offsetof(Node, raw), kOptBytes, 0},
                        {Bytes("grid"), Bytes(R"(,"grid":)"), offsetof(Node, grid), kGrid, 0}};
  wf_type table[kTypes] = {};

  explicit Types(uint8_t dtype) {
    table[kX] = {.kind = WF_T_SCALAR, .dtype = dtype, .size = 8, .align = 8};
    table[kString] = {.kind = WF_T_STRING, .size = 16, .align = 8};
    table[kTags] = {.kind = WF_T_LIST, .element = kString, .size = 16, .align = 8};
    table[kF64] = {.kind = WF_T_SCALAR, .dtype = WF_F64, .size = 8, .align = 8};
    table[kScores] = {.kind = WF_T_MAP,
                      .element = kF64,
                      .size = 16,
                      .align = 8,
                      .map_value_offset = offsetof(Entry, value),
                      .map_entry_size = sizeof(Entry)};
    table[kBytes] = {.kind = WF_T_BYTES, .size = 16, .align = 8};
    table[kOptBytes] = {
        .kind = WF_T_OPTIONAL, .element = kBytes, .size = sizeof(OptionalBytes), .align = 8, .has_offset = offsetof(OptionalBytes, has)};
    table[kGrid] = {
        .kind = WF_T_TENSOR, .dtype = WF_U8, .rank = 2, .size = sizeof(wf_tensor), .align = 8, .dim = grid_dim, .name = Bytes("u8[_, 2]")};
    table[kNode] = {.kind = WF_T_RECORD, .n_fields = 5, .size = sizeof(Node), .align = 8, .fields = fields};
    table[kTensor] = {
        .kind = WF_T_TENSOR, .dtype = dtype, .rank = 2, .size = sizeof(wf_tensor), .align = 8, .dim = tensor_dim, .name = Bytes("T[_, _]")};
  }
};

// The text of the value again, or empty when it cannot be read.
std::string Echo(const Types& types, uint16_t type, std::string_view text) {
  Job job;
  job.left_bytes = uint64_t{8} << 20;
  const Body body(text);
  alignas(8) unsigned char value[sizeof(Node)] = {};
  wf_json in;
  const bool read =
      wf_json_open(&in, job.ctx(), body.view()) == 0 && wf_json_value(&in, types.table, type, value) == 0 && wf_json_close(&in) == 0;
  if (read != (job.code == 0)) std::abort();
  if (!read) {
    if (job.message.empty() || !wf::base::IsUtf8(job.message)) std::abort();
    return {};
  }
  wf_sink out;
  if (wf_json_put_value(job.ctx(), &out, types.table, type, value) != 0) std::abort();
  std::string written;
  for (const auto& piece : out.Pieces()) written.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return written;
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Types types(static_cast<uint8_t>(1 + data[0] % (WF_DTYPE_COUNT - 1)));
  const uint16_t type = (data[0] & 0x80) != 0 ? kTensor : kNode;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::string once = Echo(types, type, text);
  if (!once.empty() && Echo(types, type, once) != once) std::abort();
  Job job;
  const Body body(text);
  wf_json in;
  if (wf_json_open(&in, job.ctx(), body.view()) == 0) static_cast<void>(wf::json::SkipValue(&in));
  return 0;
}
