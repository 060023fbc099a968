#include "runtime/onnx/wire.h"

#include <fmt/format.h>

#include <algorithm>

namespace wf::onnx {
namespace {

using base::Status;

constexpr uint64_t kWindow = 64 << 10;
constexpr uint64_t kKeptBytes = 1024;  // elements below this size stay in the skeleton, where protobuf decodes them
constexpr uint64_t kGraphField = 7, kNodeField = 1, kInitializerField = 5;
enum WireType : uint8_t { kVarintType = 0, kFixed64Type = 1, kLengthType = 2, kFixed32Type = 5 };

struct Field {
  uint64_t number = 0, begin = 0;  // begin: of the tag
  uint64_t data = 0, length = 0;   // of the value
  uint8_t type = 0;
};

class Walker {
 public:
  Walker(const ByteSource& source, uint64_t max_bytes) : source_(source), left_(max_bytes) {}

  Status Model(Skeleton& out) {
    bool seen = false;
    for (uint64_t at = 0; at < source_.size();) {
      Field field;
      WF_RETURN_IF_ERROR(Next(at, source_.size(), field));
      if (field.number == kGraphField && field.type == kLengthType) {
        if (seen) return Malformed(field.begin, "a second graph");
        seen = true;
        WF_RETURN_IF_ERROR(Graph(field, out));
      } else {
        WF_RETURN_IF_ERROR(Copy(field, out.model));
      }
    }
    return seen ? Status::Ok() : Status(base::kInvalidArgument, fmt::format("`{}`: not an ONNX model: it holds no graph", source_.name()));
  }

 private:
  Status Graph(const Field& graph, Skeleton& out) {
    const uint64_t end = graph.data + graph.length;
    for (uint64_t at = graph.data; at < end;) {
      Field field;
      WF_RETURN_IF_ERROR(Next(at, end, field));
      if (field.number == kInitializerField && field.type == kLengthType) {
        WF_RETURN_IF_ERROR(Tensor(field, out));
      } else if (field.number == kNodeField && field.type == kLengthType) {
        WF_RETURN_IF_ERROR(Copy(field.data, field.length, out.nodes));
        out.node_end.push_back(out.nodes.size());
      } else {
        WF_RETURN_IF_ERROR(Copy(field, out.graph));
      }
    }
    return Status::Ok();
  }

  Status Tensor(const Field& tensor, Skeleton& out) {
    const uint64_t end = tensor.data + tensor.length;
    std::string kept;
    std::vector<Piece> pieces;
    for (uint64_t at = tensor.data; at < end;) {
      Field field;
      WF_RETURN_IF_ERROR(Next(at, end, field));
      const bool elements =
          field.number == 9 || field.number == 4 || field.number == 5 || field.number == 7 || field.number == 10 || field.number == 11;
      if (elements && field.type == kLengthType && field.length > kKeptBytes) {
        pieces.push_back({static_cast<int>(field.number), field.data, field.length});
      } else {
        WF_RETURN_IF_ERROR(Copy(field, kept));
      }
    }
    out.pieces.push_back(std::move(pieces));
    out.graph += static_cast<char>(kInitializerField << 3 | kLengthType);
    for (uint64_t n = kept.size(); true; n >>= 7) {
      out.graph += static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
      if (n <= 0x7f) break;
    }
    out.graph += kept;
    return Status::Ok();
  }

  // The field at `at`, which moves behind it.
  Status Next(uint64_t& at, uint64_t end, Field& field) {
    field.begin = at;
    uint64_t tag = 0;
    WF_RETURN_IF_ERROR(Varint(at, end, tag));
    field.number = tag >> 3;
    field.type = static_cast<uint8_t>(tag & 7);
    if (field.number == 0 || field.number >= (1u << 29)) return Malformed(field.begin, "a field number out of range");
    field.data = at;
    if (field.type == kVarintType) {
      uint64_t value = 0;
      WF_RETURN_IF_ERROR(Varint(at, end, value));
      field.length = at - field.data;
      return Status::Ok();
    }
    if (field.type == kLengthType) {
      WF_RETURN_IF_ERROR(Varint(at, end, field.length));
      field.data = at;
    } else if (field.type == kFixed64Type || field.type == kFixed32Type) {
      field.length = field.type == kFixed64Type ? 8 : 4;
    } else {
      return Malformed(field.begin, "a field of no known kind");
    }
    if (field.length > end - at) {
      if (end == source_.size()) {
        return Status(base::kInvalidArgument,
                      fmt::format("`{}`: not an ONNX model, or cut short: the field at byte {} takes {} bytes, {} are left", source_.name(),
                                  field.begin, field.length, end - at));
      }
      return Malformed(field.begin, "a field that is longer than what holds it");
    }
    at += field.length;
    return Status::Ok();
  }

  Status Varint(uint64_t& at, uint64_t end, uint64_t& value) {
    const uint64_t begin = at;
    value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at >= end) return Malformed(begin, "a number that is cut short");
      uint8_t byte = 0;
      WF_RETURN_IF_ERROR(Byte(at++, byte));
      value |= shift == 63 ? static_cast<uint64_t>(byte & 1) << 63 : static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return Status::Ok();
    }
    return Malformed(begin, "a number of more than ten bytes");
  }

  Status Byte(uint64_t at, uint8_t& byte) {
    if (at < window_at_ || at >= window_at_ + window_.size()) {
      window_.resize(std::min(kWindow, source_.size() - at));
      window_at_ = at;
      WF_RETURN_IF_ERROR(source_.Read(at, window_));
    }
    byte = window_[at - window_at_];
    return Status::Ok();
  }

  Status Copy(const Field& field, std::string& out) { return Copy(field.begin, field.data + field.length - field.begin, out); }

  Status Copy(uint64_t begin, uint64_t bytes, std::string& out) {
    if (bytes > left_) {
      return Status(base::kResourceExhausted,
                    fmt::format("`{}`: its structure (nodes, names, small constants) is above the limit", source_.name()));
    }
    left_ -= bytes;
    const size_t old = out.size();
    out.resize(old + bytes);
    return source_.Read(begin, {reinterpret_cast<uint8_t*>(out.data()) + old, bytes});
  }

  Status Malformed(uint64_t at, const char* what) const {
    return Status(base::kInvalidArgument, fmt::format("`{}`: not an ONNX model: {} at byte {}", source_.name(), what, at));
  }

  const ByteSource& source_;
  uint64_t left_;
  std::vector<uint8_t> window_;
  uint64_t window_at_ = 0;
};

}  // namespace

base::Result<Skeleton> ReadSkeleton(const ByteSource& source, uint64_t max_graph_bytes) {
  Skeleton skeleton;
  WF_RETURN_IF_ERROR(Walker(source, max_graph_bytes).Model(skeleton));
  return skeleton;
}

}  // namespace wf::onnx
