#include "runtime/protocol/tls/context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string_view>
#include <utility>

namespace wf::tls {
namespace {

// The protocols that are spoken, the preferred one first, each behind its length.
constexpr std::string_view kProtocols("\x02h2\x08http/1.1", 12);
constexpr std::string_view kSessionContext = "wf";

// The reason of the oldest error that OpenSSL keeps, which it then forgets.
std::string TakeReason() {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  const std::string text = reason == nullptr ? "no reason given" : reason;
  ERR_clear_error();
  return text;
}

base::Status Fail(std::string_view setting, const std::string& file, std::string_view what) {
  return {base::kFailedPrecondition, std::string(setting) + " `" + file + "`: " + std::string(what) + " (" + TakeReason() + ")"};
}

// Of a key behind a password: there is nobody to ask.
int NoPassword(char*, int, int, void*) noexcept { return -1; }

// A client that offers protocols of which none is ours is refused, one that offers none speaks HTTP/1.1.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* bytes, const unsigned char* offered, unsigned int offered_bytes,
                   void*) noexcept {
  const auto* ours = reinterpret_cast<const unsigned char*>(kProtocols.data());
  unsigned char* found = nullptr;
  const int outcome = SSL_select_next_proto(&found, bytes, ours, kProtocols.size(), offered, offered_bytes);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

base::Status ReadFiles(SSL_CTX* context, const Files& files) {
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
    return Fail("tls.cert", files.certificate, "cannot be read as certificates in PEM");
  if (SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return Fail("tls.key", files.key, "cannot be used as the key of `tls.cert`, in PEM and without a password");
  if (files.client_ca.empty()) return base::Status::Ok();
  STACK_OF(X509_NAME)* const names = SSL_load_client_CA_file(files.client_ca.c_str());
  if (names == nullptr || SSL_CTX_load_verify_locations(context, files.client_ca.c_str(), nullptr) != 1)
    return Fail("tls.client_ca", files.client_ca, "cannot be read as certificates in PEM");
  SSL_CTX_set_client_CA_list(context, names);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return base::Status::Ok();
}

}  // namespace

void Context::Free::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }

base::Result<Context> Context::Load(const Files& files) {
  ERR_clear_error();
  Context made;
  made.context_.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* const context = made.context_.get();
  if (context == nullptr) return base::Status(base::kResourceExhausted, "no memory for the keys of TLS");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // clients keep their sessions, in tickets
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(kSessionContext.data()), kSessionContext.size());
  SSL_CTX_set_default_passwd_cb(context, NoPassword);
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  WF_RETURN_IF_ERROR(ReadFiles(context, files));
  return made;
}

}  // namespace wf::tls
