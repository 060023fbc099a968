#include "runtime/protocol/http2/callbacks.h"

#include <algorithm>
#include <cstring>

namespace wf::http2 {
namespace {

Session& Of(void* user) { return *static_cast<Session*>(user); }
bool IsRequest(const nghttp2_frame& frame) { return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST; }

}  // namespace

void Callbacks::SetAll(nghttp2_session_callbacks* callbacks) {
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
  nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, OnBadHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
  nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, OnBadFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, OnSent);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnStreamClose);
  nghttp2_session_callbacks_set_send_data_callback(callbacks, SendData);
}

int Callbacks::OnBeginHeaders(nghttp2_session* raw, const nghttp2_frame* frame, void* user) noexcept {
  Session& session = Of(user);
  session.block_bytes_ = session.field_bytes_ = 0;
  session.reading_ = nullptr;
  if (!IsRequest(*frame)) return 0;
  Stream* const stream = session.pool_.Take();
  if (stream == nullptr) return NGHTTP2_ERR_CALLBACK_FAILURE;
  stream->id_ = frame->hd.stream_id;
  stream->head_ = session.user_.OnBegin(*stream);
  if (stream->head_ == nullptr) {
    session.pool_.Give(*stream);
    session.Ask([&] { return nghttp2_submit_rst_stream(raw, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_REFUSED_STREAM); });
    return 0;
  }
  nghttp2_session_set_stream_user_data(raw, stream->id_, stream);
  stream->next_ = session.first_;
  if (session.first_ != nullptr) session.first_->previous_ = stream;
  session.first_ = session.latest_ = stream;
  ++session.open_;
  session.reading_ = stream;
  return 0;
}

// A head that is too large is read to its end, as the state of HPACK asks, and dropped; trailers are dropped. One that nobody means, such
// as a few bytes of HPACK unpack to, is not worth its reading.
int Callbacks::OnHeader(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_bytes, const uint8_t* value,
                        size_t value_bytes, uint8_t, void* user) noexcept {
  constexpr size_t kFieldBytes = 32;  // that each is taken to cost beside its texts (RFC 9113 6.5.2)
  constexpr size_t kBomb = 8;         // times what a head may be
  constexpr size_t kOfLine = 3;       // :method, :scheme and :path are no fields in HTTP/1.1; :authority is `host`
  Session& session = Of(user);
  if (session.repeats_one_) return 0;
  session.field_bytes_ = 0;
  const http::Limits& limits = session.limits_.head;
  session.block_bytes_ += name_bytes + value_bytes + kFieldBytes;
  if (session.block_bytes_ > kBomb * limits.head_bytes) {
    session.Terminate(NGHTTP2_ENHANCE_YOUR_CALM, http::Breach::kLimit, "a head of far more than `limits.header_bytes`");
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  Stream* const stream = session.reading_;
  if (stream == nullptr || !stream->head_passes_.empty()) return 0;
  if (stream->head_->headers().size() >= limits.headers + kOfLine) stream->head_passes_ = "too many headers";
  if (session.block_bytes_ > limits.head_bytes) stream->head_passes_ = "the headers are too large";
  if (!stream->head_passes_.empty()) return 0;
  const std::string_view key(reinterpret_cast<const char*>(name), name_bytes), text(reinterpret_cast<const char*>(value), value_bytes);
  if (!stream->head_->TryAdd(key, text)) stream->head_passes_ = http::kNoMemoryForHead;
  return 0;
}

int Callbacks::OnBadHeader(nghttp2_session*, const nghttp2_frame*, const uint8_t*, size_t, const uint8_t*, size_t, uint8_t,
                           void*) noexcept {
  return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

int Callbacks::OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) noexcept {
  Session& session = Of(user);
  if (frame->hd.type == NGHTTP2_SETTINGS && (frame->hd.flags & NGHTTP2_FLAG_ACK) == 0) {
    session.OnSettings();
    for (const nghttp2_settings_entry& entry : std::span(frame->settings.iv, frame->settings.niv)) {
      if (entry.settings_id == NGHTTP2_SETTINGS_HEADER_TABLE_SIZE) session.OnTableBytes(entry.value);
      if (entry.settings_id == NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE) session.list_bytes_ = entry.value;
    }
  }
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  const bool ends = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (frame->hd.type == NGHTTP2_DATA) session.OnDataFrame(frame->hd.length, frame->data.padlen, ends);
  Stream* const stream = session.Find(frame->hd.stream_id);
  if (stream == nullptr) return 0;
  stream->ended_ = ends;
  if (IsRequest(*frame)) session.repeats_one_ ? session.FinishRepeated(*stream) : session.FinishHead(*stream);
  if (stream->ended_ && !stream->refused_) session.user_.OnEnd(*stream);
  return 0;
}

int Callbacks::OnBadFrame(nghttp2_session*, const nghttp2_frame*, int, void* user) noexcept {
  Of(user).Spend();
  return 0;
}

int Callbacks::OnData(nghttp2_session* raw, uint8_t, int32_t id, const uint8_t* data, size_t bytes, void* user) noexcept {
  Session& session = Of(user);
  Stream* const stream = session.Find(id);
  size_t taken = bytes;
  if (stream != nullptr && stream->answer_ended_) {
    session.Drop(bytes);
    return 0;
  }
  if (stream != nullptr && !stream->refused_) {
    taken = session.user_.OnBody(*stream, {data, bytes});
    stream->untaken_ += bytes - taken;
  }
  return nghttp2_session_consume(raw, id, taken) == NGHTTP2_ERR_NOMEM ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

// A reset that a mistake of the peer caused costs us as much as one of its own.
int Callbacks::OnSent(nghttp2_session*, const nghttp2_frame* frame, void* user) noexcept {
  Session& session = Of(user);
  if (frame->hd.type == NGHTTP2_RST_STREAM) {
    if (frame->rst_stream.error_code != NGHTTP2_NO_ERROR) session.Spend();
    return 0;
  }
  if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
  session.sent_since_ping_ = true;
  if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
  Stream* const stream = session.Find(frame->hd.stream_id);
  if (stream != nullptr) stream->lingers_ = !stream->ended_;
  return 0;
}

int Callbacks::OnStreamClose(nghttp2_session*, int32_t id, uint32_t, void* user) noexcept {
  if (Stream* const stream = Of(user).Find(id); stream != nullptr) Of(user).CloseStream(*stream);
  return 0;
}

// Whole pieces as far as they fit; a part of one only where a frame, or the peer's window, holds less than the first.
ssize_t Callbacks::ReadBody(nghttp2_session*, int32_t, uint8_t*, size_t length, uint32_t* flags, nghttp2_data_source* source,
                            void*) noexcept {
  Stream& stream = *static_cast<Stream*>(source->ptr);
  if (stream.body_.empty() && !stream.answer_ended_) return NGHTTP2_ERR_DEFERRED;
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  size_t bytes = 0;
  for (const base::SinkPiece& piece : stream.body_.Pieces()) {
    if (bytes + piece.bytes > length) break;
    bytes += piece.bytes;
  }
  if (bytes == 0) bytes = std::min(length, stream.body_.size());
  if (bytes == stream.body_.size() && stream.answer_ended_) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(bytes);
}

// What ends an answer is its last frame of a body, or the trailers behind it, which nghttp2 knows nothing of.
int Callbacks::SendData(nghttp2_session*, nghttp2_frame*, const uint8_t* head, size_t bytes, nghttp2_data_source* source,
                        void* user) noexcept {
  Session& session = Of(user);
  Stream& stream = *static_cast<Stream*>(source->ptr);
  if (session.out_->size() >= session.high_mark_) return NGHTTP2_ERR_WOULDBLOCK;
  uint8_t data[kFrameHeadBytes];
  std::memcpy(data, head, sizeof data);
  const bool trails = (data[kFlagsAt] & NGHTTP2_FLAG_END_STREAM) != 0 && !stream.trailers_.headers().empty();
  if (trails) data[kFlagsAt] ^= NGHTTP2_FLAG_END_STREAM;
  bool fits = session.MoveHeads();
  session.body_blocks_ -= stream.body_.block_bytes();
  if (bytes != 0 || !trails) fits = fits && session.out_->Put(data, sizeof data) && session.out_->AppendFirst(stream.body_, bytes);
  session.body_blocks_ += stream.body_.block_bytes();
  stream.sent_ += bytes;
  if (trails) fits = fits && session.PutTrailers(stream) && session.writer_.MoveTo(session.out_);
  return fits ? 0 : NGHTTP2_ERR_CALLBACK_FAILURE;
}

}  // namespace wf::http2
