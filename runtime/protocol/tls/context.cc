#include "runtime/protocol/tls/context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <string_view>
#include <utility>

namespace wf::tls {
namespace {

// The protocols that are spoken, the preferred one first, each behind its length.
constexpr std::string_view kProtocols("\x02h2\x08http/1.1", 12);
constexpr std::string_view kSessionContext = "wf";
// Of TLS 1.2: those with a key of each connection's own, and none of those that HTTP/2 may refuse (RFC 9113, appendix A).
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";

template <auto function>
struct Freed {
  template <typename Thing>
  void operator()(Thing* thing) const noexcept {
    function(thing);
  }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

Bio Open(const Pem& pem) { return Bio(BIO_new_mem_buf(pem.text.data(), static_cast<int>(pem.text.size()))); }

// With the reason of the oldest error that OpenSSL keeps, which it then forgets.
base::Status Fail(const Pem& pem, std::string_view what) {
  const char* reason = ERR_reason_error_string(ERR_peek_error());
  ERR_clear_error();
  return {base::kFailedPrecondition, pem.name + ": " + std::string(what) + (reason == nullptr ? "" : " (" + std::string(reason) + ")")};
}

bool IsEndOfPem(unsigned long error) { return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE; }

// Of a key behind a password: there is nobody to ask.
int NoPassword(char*, int, int, void* asked) noexcept {
  if (asked != nullptr) *static_cast<bool*>(asked) = true;
  return -1;
}

// A client that offers protocols of which none is ours is refused, one that offers none speaks HTTP/1.1, or HTTP/2 by its preface.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* bytes, const unsigned char* offered, unsigned int offered_bytes,
                   void*) noexcept {
  const auto* ours = reinterpret_cast<const unsigned char*>(kProtocols.data());
  unsigned char* found = nullptr;
  const int outcome = SSL_select_next_proto(&found, bytes, ours, kProtocols.size(), offered, offered_bytes);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::string DateOf(const ASN1_TIME* time) {
  std::tm parts{};
  char text[32];
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "a date that cannot be read";
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

// All of a text, in its order; what cannot be read, or none at all, is told.
base::Result<std::vector<Certificate>> ReadCertificates(const Pem& pem, std::vector<std::string>* warnings) {
  const Bio bio = Open(pem);
  std::vector<Certificate> found;
  while (X509* const next = PEM_read_bio_X509_AUX(bio.get(), nullptr, NoPassword, nullptr)) {
    found.emplace_back(next);
    const std::string which = pem.name + ": certificate " + std::to_string(found.size());
    const ASN1_TIME *const begin = X509_get0_notBefore(next), *const end = X509_get0_notAfter(next);
    if (X509_cmp_current_time(end) < 0) warnings->push_back(which + " expired on " + DateOf(end));
    if (X509_cmp_current_time(begin) > 0) warnings->push_back(which + " holds only from " + DateOf(begin));
  }
  if (!IsEndOfPem(ERR_peek_last_error())) return Fail(pem, "certificate " + std::to_string(found.size() + 1) + " cannot be read");
  if (found.empty()) return Fail(pem, "holds no certificate in PEM");
  ERR_clear_error();
  return found;
}

}  // namespace

void Context::Free::operator()(ssl_ctx_st* context) const noexcept { SSL_CTX_free(context); }

base::Status Context::TakeCertificates(const Pem& pem) {
  const auto read = ReadCertificates(pem, &warnings_);
  WF_RETURN_IF_ERROR(read.status());
  if (SSL_CTX_use_certificate(context_.get(), read->front().get()) != 1) return Fail(pem, "certificate 1 cannot be used");
  for (size_t i = 1; i < read->size(); ++i) {
    if (SSL_CTX_add1_chain_cert(context_.get(), (*read)[i].get()) != 1)
      return Fail(pem, "certificate " + std::to_string(i + 1) + " cannot be used");
  }
  return {};
}

base::Status Context::TakeKey(const Pem& pem) {
  const Bio bio = Open(pem);
  bool asked = false;
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, &asked));
  if (asked) return Fail(pem, "the key is behind a password, and there is nobody to ask for it");
  if (key == nullptr) return Fail(pem, "holds no private key in PEM");
  // The second look is at keys of another kind than the certificate's, which the first keeps for a certificate to come.
  if (SSL_CTX_use_PrivateKey(context_.get(), key.get()) != 1 || SSL_CTX_check_private_key(context_.get()) != 1)
    return Fail(pem, "the key is not that of the first certificate of `tls.cert`");
  ERR_clear_error();
  return {};
}

base::Status Context::TakeClientCa(const Pem& pem) {
  const auto read = ReadCertificates(pem, &warnings_);
  WF_RETURN_IF_ERROR(read.status());
  for (const Certificate& certificate : *read) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), certificate.get()) != 1 ||
        SSL_CTX_add_client_CA(context_.get(), certificate.get()) != 1)
      return Fail(pem, "a certificate cannot be used");
  }
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

base::Status Context::Take(const ContextOptions& options) {
  SSL_CTX* const context = context_.get();
  SSL_CTX_set_min_proto_version(context, options.only_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, kCiphers);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);  // clients keep their sessions, in tickets
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(kSessionContext.data()), kSessionContext.size());
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
  WF_RETURN_IF_ERROR(TakeCertificates(options.certificates));
  WF_RETURN_IF_ERROR(TakeKey(options.key));
  if (options.client_ca) WF_RETURN_IF_ERROR(TakeClientCa(*options.client_ca));
  for (const Pem* const pem : {&options.certificates, &options.key, options.client_ca ? &*options.client_ca : nullptr})
    hash_ = 31 * hash_ + (pem == nullptr ? 0 : std::hash<std::string>{}(pem->text));
  return {};
}

base::Result<Context> Context::Load(const ContextOptions& options) {
  ERR_clear_error();
  Context made;
  made.context_.reset(SSL_CTX_new(TLS_server_method()));
  if (made.context_ == nullptr) return base::Status(base::kResourceExhausted, "no memory for the keys of TLS");
  WF_RETURN_IF_ERROR(made.Take(options));
  return made;
}

}  // namespace wf::tls
