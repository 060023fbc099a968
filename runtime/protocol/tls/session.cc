#include "runtime/protocol/tls/session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace wf::tls {
namespace {

constexpr std::string_view kForHttp =
    "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 42\r\nconnection: close\r\n\r\n"
    "this port speaks TLS; ask it with https://";

}  // namespace

// What OpenSSL reads from and writes to: the bytes of the call, the output.
struct Session::Bytes {
  static int Read(BIO* bio, char* place, int size) noexcept {
    std::span<const uint8_t>& input = static_cast<Session*>(BIO_get_data(bio))->input_;
    BIO_clear_retry_flags(bio);
    if (input.empty()) {
      BIO_set_retry_read(bio);
      return -1;
    }
    const size_t count = std::min(static_cast<size_t>(size), input.size());
    std::memcpy(place, input.data(), count);
    input = input.subspan(count);
    return static_cast<int>(count);
  }
  static int Write(BIO* bio, const char* bytes, int size) noexcept {
    return static_cast<Session*>(BIO_get_data(bio))->output_.Put(bytes, static_cast<size_t>(size)) ? size : -1;
  }
  static long Control(BIO*, int what, long, void*) noexcept { return what == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* Method() noexcept {
    static const BIO_METHOD* const method = [] {
      BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "bytes");
      if (made == nullptr) return made;
      BIO_meth_set_read(made, Read);
      BIO_meth_set_write(made, Write);
      BIO_meth_set_ctrl(made, Control);
      return made;
    }();
    return method;
  }
};

std::unique_ptr<Session> Session::Create(const Context& context, wf_sink& output) noexcept {
  SSL* const session = SSL_new(context.context_.get());
  BIO* const bytes = Bytes::Method() == nullptr ? nullptr : BIO_new(Bytes::Method());
  std::unique_ptr<Session> made(session == nullptr || bytes == nullptr ? nullptr : new (std::nothrow) Session(session, output));
  if (made == nullptr) {
    BIO_free(bytes);
    SSL_free(session);
    ERR_clear_error();
    return nullptr;
  }
  BIO_set_data(bytes, made.get());
  BIO_set_init(bytes, 1);
  SSL_set_bio(session, bytes, bytes);
  SSL_set_msg_callback(session, [](int is_ours, int, int type, const void* message, size_t count, SSL*, void* user) {
    if (count != 0) static_cast<Session*>(user)->OnMessage(is_ours != 0, type, *static_cast<const uint8_t*>(message));
  });
  SSL_set_msg_callback_arg(session, made.get());
  SSL_set_accept_state(session);
  return made;
}

// OpenSSL bounds neither: it updates keys, and answers an update with one or a renegotiation with a warning, as often as the peer asks.
void Session::OnMessage(bool is_ours, int type, uint8_t first) noexcept {
  const bool is_update = !is_ours && type == SSL3_RT_HANDSHAKE && first == SSL3_MT_KEY_UPDATE;
  const bool is_warning = is_ours && type == SSL3_RT_ALERT && first == SSL3_AL_WARNING;
  if (is_update || is_warning) ++unpaid_;
}

Session::~Session() { SSL_free(session_); }

Session::Step Session::Fail() noexcept {
  const unsigned long error = ERR_peek_error();
  const int code = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  const char* reason = ERR_reason_error_string(error);
  if (code == SSL_R_CERTIFICATE_VERIFY_FAILED) reason = X509_verify_cert_error_string(SSL_get_verify_result(session_));
  if (code == SSL_R_HTTP_REQUEST) output_.Put(kForHttp.data(), kForHttp.size());
  reason_ = reason == nullptr ? "no memory" : reason;
  ERR_clear_error();
  return Step::kBroken;
}

Session::Step Session::Read(std::span<const uint8_t>* bytes, std::span<uint8_t> place, size_t* count) noexcept {
  if (!reason_.empty()) return Step::kBroken;
  ERR_clear_error();
  input_ = *bytes;
  const bool has_data = SSL_read_ex(session_, place.data(), place.size(), count) == 1;
  *bytes = input_;
  if (has_data) return Step::kData;
  switch (SSL_get_error(session_, 0)) {
    case SSL_ERROR_WANT_READ:
      return Step::kNeedInput;
    case SSL_ERROR_ZERO_RETURN:
      return Step::kEnd;
    default:
      return Fail();
  }
}

bool Session::Write(std::span<const uint8_t> bytes) noexcept {
  ERR_clear_error();
  while (!bytes.empty()) {
    size_t written = 0;
    if (SSL_write_ex(session_, bytes.data(), bytes.size(), &written) != 1) {
      Fail();
      return false;
    }
    bytes = bytes.subspan(written);
  }
  return true;
}

void Session::Close() noexcept {
  if (!reason_.empty() || !is_open() || (SSL_get_shutdown(session_) & SSL_SENT_SHUTDOWN) != 0) return;
  ERR_clear_error();
  SSL_shutdown(session_);
  ERR_clear_error();
}

bool Session::is_open() const noexcept { return SSL_is_init_finished(session_) == 1; }

}  // namespace wf::tls
