// What leaves of a session: heads of answers, bodies as nghttp2 lets them go, and its own frames.
#include <algorithm>
#include <array>
#include <charconv>

#include "runtime/protocol/http2/callbacks.h"
#include "runtime/protocol/http2/list_room.h"
#include "runtime/protocol/http2/session.h"

namespace wf::http2 {
namespace {

std::string_view WhyOf(uint32_t error) {
  if (error == NGHTTP2_FRAME_SIZE_ERROR) return "a frame of a length that its type does not have";
  if (error == NGHTTP2_COMPRESSION_ERROR) return "fields that HPACK does not unpack";
  return nghttp2_http2_strerror(error);
}

}  // namespace

// From the acknowledgement on the peer goes by what it has set (RFC 9113 6.5.3), so that heads packed before leave before. HPACK's table is
// made smaller at once, and larger when the last acknowledgement has left: heads packed in between are fit for either side of it.
void Session::OnSettings() noexcept {
  if (!writer_.MoveTo(&before_ack_)) broken_ = true;
  ++unacknowledged_;
}

void Session::OnTableBytes(uint32_t bytes) noexcept {
  table_bytes_ = bytes;
  writer_.Shrink(bytes);
}

void Session::OnAcknowledged() noexcept {
  if (--unacknowledged_ == 0 && table_bytes_ != UINT32_MAX) writer_.SetTableBytes(table_bytes_);
}

bool Session::MoveHeads() noexcept {
  if (!before_ack_.empty() && !out_->Append(before_ack_)) return false;
  return writer_.MoveTo(out_);
}

// What belongs before a frame of nghttp2's: nothing before the first one of a connection, its SETTINGS.
bool Session::MoveBefore(const uint8_t* frame) noexcept {
  if (frame[kTypeAt] != NGHTTP2_SETTINGS) return MoveHeads();
  return (frame[kFlagsAt] & NGHTTP2_FLAG_ACK) == 0 || before_ack_.empty() || out_->Append(before_ack_);
}

// nghttp2 knows no reason of ours, and of some of its own it tells the error alone.
bool Session::PutGoAway(const uint8_t* frame, size_t bytes) noexcept {
  constexpr size_t kLengthAt = 1, kErrorAt = kFrameHeadBytes + 4, kReasonAt = kErrorAt + 4;
  uint32_t error = 0;
  for (size_t i = kErrorAt; i < kReasonAt; ++i) error = error << 8 | frame[i];
  if (error == NGHTTP2_NO_ERROR || error == NGHTTP2_INTERNAL_ERROR) return out_->Put(frame, bytes);
  const std::string_view own(reinterpret_cast<const char*>(frame) + kReasonAt, bytes - kReasonAt);
  const std::string_view why = !why_.empty() ? why_ : !own.empty() ? own : WhyOf(error);
  TellBreach(http::Breach::kProtocol, why);
  std::array<uint8_t, kReasonAt> head;
  std::copy_n(frame, head.size(), head.begin());
  const size_t length = kReasonAt - kFrameHeadBytes + why.size();
  head[kLengthAt] = static_cast<uint8_t>(length >> 8);
  head[kLengthAt + 1] = static_cast<uint8_t>(length);
  return out_->Put(head.data(), head.size()) && out_->Put(why);
}

bool Session::PutFrame(const uint8_t* frame, size_t bytes) noexcept {
  return frame[kTypeAt] == NGHTTP2_GOAWAY ? PutGoAway(frame, bytes) : out_->Put(frame, bytes);
}

// nghttp2's own heads are empty (Submit).
bool Session::Send(wf_sink* out, size_t high_mark) noexcept {
  out_ = out;
  high_mark_ = high_mark;
  ssize_t bytes = 0;
  while (!broken_ && out->size() < high_mark) {
    const uint8_t* data = nullptr;
    bytes = nghttp2_session_mem_send(session_, &data);
    if (bytes <= 0) break;
    if (data[kTypeAt] == NGHTTP2_HEADERS) continue;
    const bool acknowledges = data[kTypeAt] == NGHTTP2_SETTINGS && (data[kFlagsAt] & NGHTTP2_FLAG_ACK) != 0;
    if (!MoveBefore(data) || !PutFrame(data, static_cast<size_t>(bytes))) bytes = NGHTTP2_ERR_NOMEM;
    if (bytes <= 0) break;
    if (acknowledges) OnAcknowledged();
  }
  if (bytes >= 0 && !MoveHeads()) bytes = NGHTTP2_ERR_NOMEM;
  out_ = nullptr;
  broken_ = broken_ || bytes < 0;
  return !broken_;
}

size_t Session::held_bytes() const noexcept {
  constexpr size_t kStreamBytes = 1024;                                        // with what nghttp2 has of each
  const bool passes = reading_ != nullptr && !reading_->head_passes_.empty();  // nothing more of it is kept
  const size_t head_bytes = reading_ == nullptr ? 0 : passes ? reading_->head_->stored_bytes() : block_bytes_;
  return body_blocks_ + head_bytes + field_bytes_ + open_ * kStreamBytes;
}

bool Session::has_output() const noexcept { return nghttp2_session_want_write(session_) != 0 || !writer_.empty() || !before_ack_.empty(); }
bool Session::over() const noexcept { return nghttp2_session_want_read(session_) == 0 && !has_output(); }

// The head is ours to write, from here on before all that follows of the stream; nghttp2, which sends bodies and knows when, is told of an
// empty one, which Send leaves out. length: of the body, -1 when its end tells.
bool Session::Submit(Stream& stream, const http::ReplyHead& head, int64_t length, bool ends) noexcept {
  const bool whole = ends && stream.body_.empty() && stream.trailers_.headers().empty();
  char digits[24];
  const size_t n_digits = length < 0 ? 0 : static_cast<size_t>(std::to_chars(digits, digits + sizeof digits, length).ptr - digits);
  const http::Header own[] = {{"date", http::DateText()}, {"content-type", head.content_type}, {"content-length", {digits, n_digits}}};
  constexpr http::Header kStatus = {":status", "200"};  // as long as any
  ListRoom room(list_bytes_);
  room.Count({&kStatus, 1});
  writer_.Begin(head.status);
  for (const http::Header& header : own) {
    if (header.value.empty()) continue;
    room.Count({&header, 1});
    writer_.Put(header.name, header.value);
  }
  room.Count(head.headers);
  room.Count(head.more);
  for (const std::span<const http::Header> headers : {head.headers, head.more}) {
    for (http::Header header : headers) {
      if (room.Take(&header)) writer_.Put(header.name, header.value);
    }
  }
  if (!writer_.End(stream.id_, whole)) return false;
  nghttp2_data_provider body;
  body.source.ptr = &stream;
  body.read_callback = Callbacks::ReadBody;
  stream.answer_ended_ = ends;
  return !broken_ && nghttp2_submit_response(session_, stream.id_, nullptr, 0, whole ? nullptr : &body) == 0;
}

bool Session::Answer(Stream& stream, const http::ReplyHead& head, wf_sink& body, bool without_body) noexcept {
  const auto length = static_cast<int64_t>(body.size());
  if (without_body) body.Clear();
  if (!Queue(stream, body)) return false;
  for (const http::Header& trailer : head.trailers) stream.trailers_.Add(trailer.name, trailer.value);
  return Submit(stream, head, head.trailers.empty() ? length : -1, true);
}

bool Session::Begin(Stream& stream, const http::ReplyHead& head) noexcept { return Submit(stream, head, -1, false); }

bool Session::PutTrailers(Stream& stream) noexcept {
  ListRoom room(list_bytes_);
  room.Count(stream.trailers_.headers());
  writer_.Begin(0);
  for (http::Header trailer : stream.trailers_.headers()) {
    if (room.Take(&trailer)) writer_.Put(trailer.name, trailer.value);
  }
  return writer_.End(stream.id_, true);
}

bool Session::Queue(Stream& stream, wf_sink& part) noexcept {
  if (stream.body_.empty()) stream.sent_before_ = UINT64_MAX;
  body_blocks_ -= stream.body_.block_bytes();
  const bool fits = stream.body_.Append(part);
  body_blocks_ += stream.body_.block_bytes();
  return fits;
}

bool Session::Add(Stream& stream, wf_sink& part) noexcept {
  if (!Queue(stream, part)) return false;
  Ask([&] { return nghttp2_session_resume_data(session_, stream.id_); });
  return true;
}

bool Session::End(Stream& stream, std::span<const http::Header> trailers) noexcept {
  for (const http::Header& trailer : trailers) stream.trailers_.Add(trailer.name, trailer.value);
  stream.answer_ended_ = true;
  Ask([&] { return nghttp2_session_resume_data(session_, stream.id_); });
  return true;
}

void Session::Continue(Stream& stream) noexcept {
  constexpr int kContinue = 100;
  writer_.Begin(kContinue);
  broken_ = !writer_.End(stream.id_, false) || broken_;
}

}  // namespace wf::http2
