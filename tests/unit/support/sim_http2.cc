#include "tests/unit/support/sim_http2.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace wf::test {

struct SimHttp2::Stream {
  std::string body;
  size_t at = 0, allowed = 0;         // of the body: read; may be read
  size_t untaken = 0;                 // of the answer, while its window is shut
  bool begun = false, wrote = false;  // its head, all of it has been written
  Answer answer;
};

struct SimHttp2::Callbacks {
  static SimHttp2& Of(void* user) { return *static_cast<SimHttp2*>(user); }
  static Stream* Find(void* user, int32_t id) {
    const auto at = Of(user).streams_.find(id);
    return at == Of(user).streams_.end() ? nullptr : at->second.get();
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_bytes, const uint8_t* value,
                      size_t value_bytes, uint8_t, void* user) {
    Stream* const stream = Find(user, frame->hd.stream_id);
    if (stream == nullptr) return 0;
    const std::string_view field(reinterpret_cast<const char*>(name), name_bytes);
    const std::string text(reinterpret_cast<const char*>(value), value_bytes);
    if (field == ":status") stream->answer.status = std::atoi(text.c_str());
    if (field.starts_with("grpc-") || field.starts_with("wf-")) stream->answer.of_grpc[std::string(field)] = text;
    return 0;
  }
  static int OnData(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data, size_t bytes, void* user) {
    Stream* const stream = Find(user, id);
    if (stream == nullptr || !Of(user).opens_late_) nghttp2_session_consume(session, id, bytes);
    if (stream == nullptr) return 0;
    if (Of(user).opens_late_) stream->untaken += bytes;
    stream->answer.body.append(reinterpret_cast<const char*>(data), bytes);
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      Of(user).goaway_ = static_cast<int>(frame->goaway.error_code);
      Of(user).last_stream_ = frame->goaway.last_stream_id;
    }
    const bool ends =
        (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (Stream* const stream = Find(user, frame->hd.stream_id); ends && stream != nullptr) stream->answer.ended = true;
    return 0;
  }
  static int OnSent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY)  // nobody asked for it
      Of(user).broken_ = "frames that end the connection with error " + std::to_string(frame->goaway.error_code);
    const bool ends =
        (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (Stream* const stream = Find(user, frame->hd.stream_id); stream != nullptr) {
      stream->begun = stream->begun || frame->hd.type == NGHTTP2_HEADERS;
      stream->wrote = stream->wrote || ends;
    }
    return 0;
  }
  static int OnClosed(nghttp2_session* session, int32_t id, uint32_t error, void* user) {
    Stream* const stream = Find(user, id);
    if (stream == nullptr) return 0;
    if (stream->untaken != 0) nghttp2_session_consume_connection(session, stream->untaken);
    stream->answer.stream = id;
    stream->answer.error = error;
    Of(user).answers_.push_back(std::move(stream->answer));
    Of(user).streams_.erase(id);
    return 0;
  }
  static ssize_t ReadBody(nghttp2_session*, int32_t, uint8_t* place, size_t room, uint32_t* flags, nghttp2_data_source* source, void*) {
    Stream& stream = *static_cast<Stream*>(source->ptr);
    const size_t part = std::min({room, stream.allowed - stream.at, stream.body.size() - stream.at});
    std::copy_n(stream.body.begin() + static_cast<ptrdiff_t>(stream.at), part, reinterpret_cast<char*>(place));
    stream.at += part;
    if (stream.at == stream.body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (part == 0 && stream.at != stream.body.size()) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(part);
  }
};

SimHttp2::SimHttp2(const Options& options) : opens_late_(options.opens_late) {
  nghttp2_session_callbacks* calls = nullptr;
  nghttp2_option* option = nullptr;
  nghttp2_session_callbacks_new(&calls);
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_session_callbacks_set_on_header_callback(calls, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(calls, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_frame_send_callback(calls, Callbacks::OnSent);
  nghttp2_session_callbacks_set_on_stream_close_callback(calls, Callbacks::OnClosed);
  nghttp2_session_client_new2(&session_, calls, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(calls);
  const nghttp2_settings_entry settings = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.window};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &settings, 1);
}

SimHttp2::~SimHttp2() { nghttp2_session_del(session_); }

int32_t SimHttp2::Ask(const http2::Fields& fields, std::string body, size_t first) {
  if (over()) return 0;
  auto stream = std::make_unique<Stream>();
  stream->body = std::move(body);
  stream->allowed = first;
  std::vector<nghttp2_nv> list;
  for (const auto& [name, value] : fields) {
    const auto bytes = [](const std::string& text) { return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data())); };
    list.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider provider;
  provider.source.ptr = stream.get();
  provider.read_callback = Callbacks::ReadBody;
  const bool with_body = !stream->body.empty();
  const int32_t id = nghttp2_submit_request(session_, nullptr, list.data(), list.size(), with_body ? &provider : nullptr, nullptr);
  if (id <= 0) return 0;
  streams_[id] = std::move(stream);
  return id;
}

void SimHttp2::GoOn(int32_t id, size_t bytes) {
  const auto at = streams_.find(id);
  if (at == streams_.end()) return;
  Stream& stream = *at->second;
  stream.allowed = std::min(stream.body.size(), stream.allowed + bytes);
  nghttp2_session_resume_data(session_, id);
}

void SimHttp2::Reset(int32_t id) {
  const auto at = streams_.find(id);
  if (at == streams_.end()) return;
  at->second->answer.left = true;
  if (at->second->begun) nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

void SimHttp2::Ping() { nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr); }

void SimHttp2::OpenWindows() {
  for (const auto& [id, stream] : streams_)
    if (const size_t bytes = std::exchange(stream->untaken, 0); bytes != 0) nghttp2_session_consume(session_, id, bytes);
}

std::string SimHttp2::Say() {
  std::string text;
  const uint8_t* data = nullptr;
  while (!not_spoken_) {
    const ssize_t bytes = nghttp2_session_mem_send(session_, &data);
    if (bytes <= 0) break;
    text.append(reinterpret_cast<const char*>(data), static_cast<size_t>(bytes));
  }
  return text;
}

void SimHttp2::Take(std::string_view bytes) {
  constexpr std::string_view kOther = "HTTP/1.1 ";
  if (not_spoken_ || !broken_.empty()) return;
  first_ += bytes;
  if (!spoken_ && first_.size() < kOther.size()) return;
  not_spoken_ = !spoken_ && first_.starts_with(kOther);
  spoken_ = true;
  const std::string text = std::exchange(first_, {});
  if (not_spoken_ || text.empty()) return;
  const ssize_t read = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(text.data()), text.size());
  if (read < 0) broken_ = nghttp2_strerror(static_cast<int>(read));
}

bool SimHttp2::wrote(int32_t id) const {
  const auto at = streams_.find(id);
  return at == streams_.end() || at->second->wrote;
}

std::vector<SimHttp2::Answer> SimHttp2::TakeAnswers() { return std::exchange(answers_, {}); }

}  // namespace wf::test
