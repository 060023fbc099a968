#pragma once

#include <nghttp2/nghttp2.h>

#include "runtime/protocol/http2/session.h"

namespace wf::http2 {

// What nghttp2 calls; its user data is the Session, that of a stream the Stream, or null when nobody wants to know of it.
struct Callbacks {
  static void SetAll(nghttp2_session_callbacks* callbacks);
  // A part of an answer's body for one frame: SendData moves it.
  static ssize_t ReadBody(nghttp2_session* session, int32_t id, uint8_t* buffer, size_t length, uint32_t* flags,
                          nghttp2_data_source* source, void* user) noexcept;

 private:
  static int OnBeginHeaders(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept;
  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name, size_t name_bytes, const uint8_t* value,
                      size_t value_bytes, uint8_t flags, void* user) noexcept;
  static int OnBadHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name, size_t name_bytes, const uint8_t* value,
                         size_t value_bytes, uint8_t flags, void* user) noexcept;
  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept;
  static int OnBadFrame(nghttp2_session* session, const nghttp2_frame* frame, int error, void* user) noexcept;
  static int OnData(nghttp2_session* session, uint8_t flags, int32_t id, const uint8_t* data, size_t bytes, void* user) noexcept;
  static int OnSent(nghttp2_session* session, const nghttp2_frame* frame, void* user) noexcept;
  static int OnStreamClose(nghttp2_session* session, int32_t id, uint32_t error, void* user) noexcept;
  static int SendData(nghttp2_session* session, nghttp2_frame* frame, const uint8_t* head, size_t bytes, nghttp2_data_source* source,
                      void* user) noexcept;
};

}  // namespace wf::http2
