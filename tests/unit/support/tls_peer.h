#pragma once

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/protocol/tls/context.h"

namespace wf::test {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

inline Key MakeKey() { return {EVP_EC_gen("P-256"), EVP_PKEY_free}; }

struct Validity {
  long begin_s = -60, end_s = 3600;  // from now
};

// Of `name`, signed by `signer`, or by itself.
inline Certificate MakeCertificate(const char* name, EVP_PKEY* key, X509* signer, EVP_PKEY* signing_key, Validity validity = {}) {
  Certificate made(X509_new(), X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), validity.begin_s);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), validity.end_s);
  X509_NAME* const subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(made.get(), signer == nullptr ? subject : X509_get_subject_name(signer));
  X509_set_pubkey(made.get(), key);
  if (signer == nullptr) {
    X509_EXTENSION* const is_ca = X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(made.get(), is_ca, -1);
    X509_EXTENSION_free(is_ca);
  }
  X509_sign(made.get(), signing_key, EVP_sha256());
  return made;
}

inline std::string TextOf(const std::function<void(BIO*)>& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<size_t>(count)};
}
inline std::string PemOf(X509* certificate) {
  return TextOf([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); });
}
inline std::string PemOf(EVP_PKEY* key, const EVP_CIPHER* cipher = nullptr) {
  const auto* password = reinterpret_cast<const unsigned char*>("secret");
  return TextOf([&](BIO* bio) {
    PEM_write_bio_PrivateKey(bio, key, cipher, cipher == nullptr ? nullptr : password, cipher == nullptr ? 0 : 6, nullptr, nullptr);
  });
}

// An authority, and what it has signed.
struct Authority {
  Key ca_key = MakeKey(), server_key = MakeKey(), client_key = MakeKey();
  Certificate ca = MakeCertificate("ca", ca_key.get(), nullptr, ca_key.get());
  Certificate server = MakeCertificate("server", server_key.get(), ca.get(), ca_key.get());
  Certificate client = MakeCertificate("client", client_key.get(), ca.get(), ca_key.get());

  tls::ContextOptions Options() const { return {{"cert", PemOf(server.get())}, {"key", PemOf(server_key.get())}, {}, false}; }
  tls::ContextOptions OptionsForClients() const {
    tls::ContextOptions options = Options();
    options.client_ca = tls::Pem{"client_ca", PemOf(ca.get())};
    return options;
  }
};

// OpenSSL's own client, whose bytes somebody else moves.
class TlsPeer {
 public:
  explicit TlsPeer(X509* ca) : context_(SSL_CTX_new(TLS_client_method())) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_), ca);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  }
  ~TlsPeer() {
    SSL_free(session_);
    SSL_CTX_free(context_);
  }
  TlsPeer(const TlsPeer&) = delete;
  TlsPeer& operator=(const TlsPeer&) = delete;

  // ---- before the first byte ----
  void Offer(std::string_view protocols) {
    SSL_CTX_set_alpn_protos(context_, reinterpret_cast<const unsigned char*>(protocols.data()), static_cast<unsigned>(protocols.size()));
  }
  void Show(X509* certificate, EVP_PKEY* key) {
    SSL_CTX_use_certificate(context_, certificate);
    SSL_CTX_use_PrivateKey(context_, key);
  }
  SSL_CTX* context() { return context_; }

  SSL* session() {
    if (session_ != nullptr) return session_;
    session_ = SSL_new(context_);
    SSL_set_bio(session_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(session_);
    return session_;
  }
  // Takes bytes of the server; what they say is in `read`.
  void Take(std::string_view bytes) {
    size_t count = 0;
    if (!bytes.empty()) BIO_write_ex(SSL_get_rbio(session()), bytes.data(), bytes.size(), &count);
    char place[1 << 14];
    while (SSL_read_ex(session(), place, sizeof place, &count) == 1) read.append(place, count);
  }
  std::string Say() {  // bytes for the server
    std::string text;
    char place[1 << 14];
    for (size_t count = 0; BIO_read_ex(SSL_get_wbio(session()), place, sizeof place, &count) == 1;) text.append(place, count);
    return text;
  }
  void Write(const std::string& text) {
    size_t written = 0;
    EXPECT_EQ(SSL_write_ex(session(), text.data(), text.size(), &written), 1);
  }
  std::string protocol() {
    const unsigned char* name = nullptr;
    unsigned int bytes = 0;
    SSL_get0_alpn_selected(session(), &name, &bytes);
    return {reinterpret_cast<const char*>(name), bytes};
  }
  bool was_told_the_end() { return (SSL_get_shutdown(session()) & SSL_RECEIVED_SHUTDOWN) != 0; }

  std::string read;

 private:
  SSL_CTX* context_;
  SSL* session_ = nullptr;
};

}  // namespace wf::test
