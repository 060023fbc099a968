#include "runtime/protocol/tls/session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <new>

namespace wf::tls {

std::unique_ptr<Session> Session::Create(const Context& context) noexcept {
  SSL* const session = SSL_new(context.context_.get());
  BIO* const input = BIO_new(BIO_s_mem());
  BIO* const output = BIO_new(BIO_s_mem());
  std::unique_ptr<Session> made(session == nullptr || input == nullptr || output == nullptr ? nullptr
                                                                                            : new (std::nothrow) Session(session));
  if (made == nullptr) {
    BIO_free(input);
    BIO_free(output);
    SSL_free(session);
    return nullptr;
  }
  BIO_set_mem_eof_return(input, -1);  // nothing there: more will come
  SSL_set_bio(session, input, output);
  SSL_set_accept_state(session);
  return made;
}

Session::~Session() { SSL_free(session_); }

bool Session::Feed(std::span<const uint8_t> bytes) noexcept {
  size_t written = 0;
  return bytes.empty() || (BIO_write_ex(SSL_get_rbio(session_), bytes.data(), bytes.size(), &written) == 1 && written == bytes.size());
}

Session::Step Session::Fail() noexcept {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  reason_ = reason == nullptr ? "the peer broke off" : reason;
  ERR_clear_error();
  return Step::kBroken;
}

Session::Step Session::Read(std::span<uint8_t> place, size_t* count) noexcept {
  if (!reason_.empty()) return Step::kBroken;
  ERR_clear_error();
  if (SSL_read_ex(session_, place.data(), place.size(), count) == 1) return Step::kData;
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
  if (!reason_.empty() || !is_open()) return;
  ERR_clear_error();
  SSL_shutdown(session_);
  ERR_clear_error();
}

std::span<const uint8_t> Session::output() const noexcept {
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(SSL_get_wbio(session_), &bytes);
  return {reinterpret_cast<const uint8_t*>(bytes), static_cast<size_t>(std::max(count, 0L))};
}

void Session::Consume(size_t count) noexcept {
  BIO* const output = SSL_get_wbio(session_);
  if (count == this->output().size()) {
    BIO_reset(output);
    return;
  }
  uint8_t dropped[4096];
  for (size_t read = 0; count != 0 && BIO_read_ex(output, dropped, std::min(count, sizeof dropped), &read) == 1;) count -= read;
}

bool Session::is_open() const noexcept { return SSL_is_init_finished(session_) == 1; }

std::string_view Session::protocol() const noexcept {
  const unsigned char* name = nullptr;
  unsigned int bytes = 0;
  SSL_get0_alpn_selected(session_, &name, &bytes);
  return {reinterpret_cast<const char*>(name), bytes};
}

}  // namespace wf::tls
