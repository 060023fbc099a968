#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wf::test {

// Frames of HTTP/2 as bytes (RFC 9113 4.1), the fields of heads as literals without names from tables (RFC 7541 6.2.2).
namespace http2 {

enum : uint8_t { kData, kHeaders, kPriority, kReset, kSettings, kPush, kPing, kGoAway, kWindow, kContinuation };
enum : uint8_t { kAck = 1, kEndStream = 1, kEndHeaders = 4, kPadded = 8 };
inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

inline std::string Number(uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
  return text;
}
inline std::string Frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  return Number(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) + Number(stream, 4) + std::string(payload);
}
inline std::string Text(std::string_view text) {
  std::string bytes;
  size_t left = text.size();
  if (left < 127) {
    bytes += static_cast<char>(left);
  } else {
    bytes += 127;
    for (left -= 127; left >= 128; left /= 128) bytes += static_cast<char>(left % 128 + 128);
    bytes += static_cast<char>(left);
  }
  return bytes + std::string(text);
}
using Fields = std::vector<std::pair<std::string, std::string>>;
inline std::string Block(const Fields& fields) {
  std::string bytes;
  for (const auto& [name, value] : fields) bytes += '\0' + Text(name) + Text(value);
  return bytes;
}
inline Fields Request(std::string_view method, std::string_view path, const Fields& more = {}) {
  Fields fields = {{":method", std::string(method)}, {":scheme", "http"}, {":path", std::string(path)}, {":authority", "t"}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}
inline std::string TableOf(uint32_t bytes) { return Frame(kSettings, 0, 0, Number(1, 2) + Number(bytes, 4)); }
inline std::string Start() { return std::string(kPreface) + Frame(kSettings, 0, 0, ""); }
inline std::string Get(uint32_t stream, std::string_view path) {
  return Frame(kHeaders, kEndStream | kEndHeaders, stream, Block(Request("GET", path)));
}
inline std::string Post(uint32_t stream, std::string_view path, std::string_view body, const Fields& more = {}) {
  return Frame(kHeaders, kEndHeaders, stream, Block(Request("POST", path, more))) + Frame(kData, kEndStream, stream, body);
}
inline std::string ResetOf(uint32_t stream) { return Frame(kReset, 0, stream, Number(8, 4)); }
inline std::string WindowOf(uint32_t stream, uint32_t bytes) { return Frame(kWindow, 0, stream, Number(bytes, 4)); }

}  // namespace http2

// What a client makes of a server's bytes.
// Owns: the state of HPACK, so that all bytes of a connection go through one.
class Http2Reader {
 public:
  struct Answer {
    std::map<std::string, std::string> head, trailers;
    std::string body;
    bool ended = false;
    int reset = -1;  // the error of RST_STREAM
  };

  Http2Reader() { nghttp2_hd_inflate_new(&inflater_); }
  ~Http2Reader() { nghttp2_hd_inflate_del(inflater_); }
  Http2Reader(const Http2Reader&) = delete;
  Http2Reader& operator=(const Http2Reader&) = delete;

  void Read(std::string_view bytes) {
    bytes_ += bytes;
    while (bytes_.size() >= 9) {
      const size_t length = Number(0, 3);
      if (bytes_.size() < 9 + length) return;
      const auto type = static_cast<uint8_t>(bytes_[3]), flags = static_cast<uint8_t>(bytes_[4]);
      const auto stream = static_cast<uint32_t>(Number(5, 4));
      const std::string payload = bytes_.substr(9, length);
      bytes_.erase(0, 9 + length);
      Take(type, flags, stream, payload);
    }
  }

  std::map<uint32_t, Answer> answers;
  std::map<int, int> frames;         // by type
  std::deque<uint32_t> table_bytes;  // for HPACK, of each SETTINGS that the client has sent: holds once the server has acknowledged it
  int mistakes = 0;                  // heads that cannot be unpacked
  std::map<int, uint32_t> settings;
  std::map<uint32_t, uint64_t> windows;  // what the updates of a stream add up to
  int goaway = -1;                       // its error, of the last
  uint32_t last_stream = 0;              // of the last GOAWAY
  std::string debug;                     // likewise

 private:
  uint64_t Number(size_t at, size_t bytes) const { return NumberOf(bytes_, at, bytes); }
  static uint64_t NumberOf(std::string_view text, size_t at, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<uint8_t>(text[at + i]);
    return value;
  }
  void Take(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
    ++frames[type];
    Answer* const answer = stream == 0 ? nullptr : &answers[stream];
    if (type == http2::kData) answer->body += payload;
    if (type == http2::kHeaders)
      TakeHead(payload, answer->head.empty() || answer->head[":status"] == "100" ? &answer->head : &answer->trailers);
    if ((type == http2::kData || type == http2::kHeaders) && (flags & http2::kEndStream) != 0) answer->ended = true;
    if (type == http2::kReset) answer->reset = static_cast<int>(NumberOf(payload, 0, 4));
    if (type == http2::kGoAway) {
      last_stream = static_cast<uint32_t>(NumberOf(payload, 0, 4));
      goaway = static_cast<int>(NumberOf(payload, 4, 4));
      debug = payload.substr(8);
    }
    if (type == http2::kWindow) windows[stream] += NumberOf(payload, 0, 4);
    if (type == http2::kSettings && (flags & http2::kAck) != 0 && !table_bytes.empty()) {
      mistakes += nghttp2_hd_inflate_change_table_size(inflater_, table_bytes.front()) == 0 ? 0 : 1;
      table_bytes.pop_front();
    }
    if (type == http2::kSettings)
      for (size_t at = 0; at + 6 <= payload.size(); at += 6)
        settings[static_cast<int>(NumberOf(payload, at, 2))] = static_cast<uint32_t>(NumberOf(payload, at + 2, 4));
  }
  void TakeHead(const std::string& payload, std::map<std::string, std::string>* fields) {
    const auto* at = reinterpret_cast<const uint8_t*>(payload.data());
    size_t left = payload.size();
    fields->clear();
    while (true) {
      nghttp2_nv field;
      int flags = 0;
      const ssize_t used = nghttp2_hd_inflate_hd2(inflater_, &field, &flags, at, left, 1);
      if (used < 0) {
        ++mistakes;
        return;
      }
      at += used;
      left -= static_cast<size_t>(used);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
        (*fields)[{reinterpret_cast<const char*>(field.name), field.namelen}] = {reinterpret_cast<const char*>(field.value),
                                                                                 field.valuelen};
      if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    }
    nghttp2_hd_inflate_end_headers(inflater_);
  }

  nghttp2_hd_inflater* inflater_ = nullptr;
  std::string bytes_;
};

}  // namespace wf::test
