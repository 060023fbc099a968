#include "runtime/protocol/tls/session.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace wf::tls {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

Key MakeKey() { return {EVP_EC_gen("P-256"), EVP_PKEY_free}; }

// Of `name` for an hour, signed by `signer`, or by itself.
Certificate MakeCertificate(const char* name, EVP_PKEY* key, X509* signer, EVP_PKEY* signing_key) {
  Certificate made(X509_new(), X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
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

// A folder with the PEM files of a test, gone with it.
struct TlsSession : testing::Test {
  TlsSession() {
    char name[] = "/tmp/wf_tls_test_XXXXXX";
    folder = mkdtemp(name);
    WriteKey("server.key", server_key.get());
    WriteCertificate("server.pem", server_certificate.get());
    WriteCertificate("ca.pem", ca.get());
  }
  ~TlsSession() override { std::filesystem::remove_all(folder); }

  std::string Path(const std::string& name) const { return folder + "/" + name; }
  void WriteKey(const std::string& name, EVP_PKEY* key, const EVP_CIPHER* cipher = nullptr) {
    std::FILE* const file = std::fopen(Path(name).c_str(), "w");
    const auto* password = reinterpret_cast<const unsigned char*>("secret");
    PEM_write_PrivateKey(file, key, cipher, cipher == nullptr ? nullptr : password, cipher == nullptr ? 0 : 6, nullptr, nullptr);
    std::fclose(file);
  }
  void WriteCertificate(const std::string& name, X509* certificate) {
    std::FILE* const file = std::fopen(Path(name).c_str(), "w");
    PEM_write_X509(file, certificate);
    std::fclose(file);
  }
  Files FilesOf(const std::string& key = "server.key", const std::string& client_ca = "") const {
    return {Path("server.pem"), Path(key), client_ca.empty() ? "" : Path(client_ca)};
  }

  std::string folder;
  Key ca_key = MakeKey(), server_key = MakeKey(), client_key = MakeKey();
  Certificate ca = MakeCertificate("ca", ca_key.get(), nullptr, ca_key.get());
  Certificate server_certificate = MakeCertificate("server", server_key.get(), ca.get(), ca_key.get());
  Certificate client_certificate = MakeCertificate("client", client_key.get(), ca.get(), ca_key.get());
};

// OpenSSL's own client, whose bytes go to and fro in portions.
struct Client {
  explicit Client(X509* ca) : context(SSL_CTX_new(TLS_client_method())) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  ~Client() {
    SSL_free(session);
    SSL_CTX_free(context);
  }
  void Offer(std::string_view protocols) {
    SSL_CTX_set_alpn_protos(context, reinterpret_cast<const unsigned char*>(protocols.data()), static_cast<unsigned>(protocols.size()));
  }
  void Show(X509* certificate, EVP_PKEY* key) {
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
  }

  // Both sides until neither has more to say; what the server read, and what it said of it last.
  Session::Step Run(Session& server, size_t portion = 1 << 14) {
    if (session == nullptr) {
      session = SSL_new(context);
      SSL_set_bio(session, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
      SSL_set_connect_state(session);
    }
    Session::Step step = Session::Step::kNeedInput;
    for (bool moved = true; moved;) {
      moved = false;
      char place[1 << 14];
      size_t count = 0;
      while (SSL_read_ex(session, place, sizeof place, &count) == 1) read.append(place, count);
      std::string sent(portion, '\0');
      while (BIO_read_ex(SSL_get_wbio(session), sent.data(), portion, &count) == 1) {
        moved = true;
        EXPECT_TRUE(server.Feed({reinterpret_cast<const uint8_t*>(sent.data()), count}));
        step = ReadAll(server);
      }
      while (!server.output().empty()) {
        moved = true;
        const auto bytes = server.output().first(std::min(portion, server.output().size()));
        BIO_write_ex(SSL_get_rbio(session), bytes.data(), bytes.size(), &count);
        server.Consume(bytes.size());
      }
    }
    return step;
  }
  Session::Step ReadAll(Session& server) {
    uint8_t place[100];
    size_t count = 0;
    Session::Step step;
    while ((step = server.Read(place, &count)) == Session::Step::kData) arrived.append(reinterpret_cast<const char*>(place), count);
    return step;
  }
  void Write(const std::string& text) {
    size_t written = 0;
    EXPECT_EQ(SSL_write_ex(session, text.data(), text.size(), &written), 1);
  }

  SSL_CTX* context;
  SSL* session = nullptr;
  std::string read, arrived;  // by the client; by the server
};

std::span<const uint8_t> Bytes(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

TEST_F(TlsSession, CarriesBothWaysInAnyPortions) {
  const auto context = Context::Load(FilesOf());
  ASSERT_TRUE(context.ok()) << context.status().message();
  for (const size_t portion : {size_t{1}, size_t{100}, size_t{1} << 14}) {
    Client client(ca.get());
    const auto session = Session::Create(*context);
    EXPECT_EQ(client.Run(*session, portion), Session::Step::kNeedInput) << session->reason();
    ASSERT_TRUE(session->is_open());
    const std::string question(50'000, 'q'), answer(70'000, 'a');
    client.Write(question);
    EXPECT_EQ(client.Run(*session, portion), Session::Step::kNeedInput);
    EXPECT_EQ(client.arrived, question);
    EXPECT_TRUE(session->Write(Bytes(answer)));
    client.Run(*session, portion);
    EXPECT_EQ(client.read, answer);
    EXPECT_EQ(session->protocol(), "");
    SSL_shutdown(client.session);
    EXPECT_EQ(client.Run(*session, portion), Session::Step::kEnd);
    session->Close();
    client.Run(*session, portion);
    EXPECT_NE(SSL_get_shutdown(client.session) & SSL_RECEIVED_SHUTDOWN, 0);
  }
}

TEST_F(TlsSession, ProtocolsByAlpn) {
  const struct {
    std::string offered;
    std::string_view chosen;
  } rows[] = {{"\x08http/1.1", "http/1.1"}, {"\x02h2\x08http/1.1", "h2"}, {"\x08http/1.1\x02h2", "h2"}};
  const auto context = Context::Load(FilesOf());
  ASSERT_TRUE(context.ok());
  for (const auto& row : rows) {
    Client client(ca.get());
    client.Offer(row.offered);
    const auto session = Session::Create(*context);
    client.Run(*session);
    EXPECT_TRUE(session->is_open());
    EXPECT_EQ(session->protocol(), row.chosen);
  }
  Client client(ca.get());
  client.Offer("\x04smtp");
  const auto session = Session::Create(*context);
  EXPECT_EQ(client.Run(*session), Session::Step::kBroken);
  EXPECT_EQ(session->reason(), "no application protocol");
}

TEST_F(TlsSession, OldVersionsAreRefused) {
  const auto context = Context::Load(FilesOf());
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Client client(ca.get());
    SSL_CTX_set_max_proto_version(client.context, version);
    const auto session = Session::Create(*context);
    client.Run(*session);
    EXPECT_TRUE(session->is_open()) << version;
  }
  Client client(ca.get());
  SSL_CTX_set_cipher_list(client.context, "ALL:@SECLEVEL=0");
  SSL_CTX_set_min_proto_version(client.context, TLS1_VERSION);
  SSL_CTX_set_max_proto_version(client.context, TLS1_1_VERSION);
  const auto session = Session::Create(*context);
  EXPECT_EQ(client.Run(*session), Session::Step::kBroken);
  EXPECT_EQ(session->reason(), "unsupported protocol");
}

TEST_F(TlsSession, ClientsShowTheirCertificateWhereOneIsAskedFor) {
  const auto context = Context::Load(FilesOf("server.key", "ca.pem"));
  ASSERT_TRUE(context.ok()) << context.status().message();
  {
    Client client(ca.get());
    client.Show(client_certificate.get(), client_key.get());
    const auto session = Session::Create(*context);
    EXPECT_EQ(client.Run(*session), Session::Step::kNeedInput) << session->reason();
    EXPECT_TRUE(session->is_open());
  }
  {
    Client client(ca.get());
    const auto session = Session::Create(*context);
    EXPECT_EQ(client.Run(*session), Session::Step::kBroken);
    EXPECT_EQ(session->reason(), "peer did not return a certificate");
  }
  const Key other_key = MakeKey();
  const Certificate other = MakeCertificate("other", other_key.get(), nullptr, other_key.get());
  Client client(ca.get());
  client.Show(other.get(), other_key.get());
  const auto session = Session::Create(*context);
  EXPECT_EQ(client.Run(*session), Session::Step::kBroken);
  EXPECT_EQ(session->reason(), "certificate verify failed");
}

TEST_F(TlsSession, ATicketSavesTheSecondHandshakeAndDiesWithItsContext) {
  auto context = Context::Load(FilesOf("server.key", "ca.pem"));
  SSL_SESSION* ticket = nullptr;
  for (const bool resumed : {false, true}) {
    Client client(ca.get());
    client.Show(client_certificate.get(), client_key.get());
    client.session = SSL_new(client.context);
    SSL_set_bio(client.session, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(client.session);
    if (ticket != nullptr) SSL_set_session(client.session, ticket);
    const auto session = Session::Create(*context);
    client.Run(*session);
    EXPECT_EQ(SSL_session_reused(client.session) == 1, resumed);
    SSL_SESSION_free(ticket);
    ticket = SSL_get1_session(client.session);
    SSL_shutdown(client.session);  // the session of a client that breaks off is not used again
  }
  context = Context::Load(FilesOf("server.key", "ca.pem"));
  Client client(ca.get());
  client.Show(client_certificate.get(), client_key.get());
  client.session = SSL_new(client.context);
  SSL_set_bio(client.session, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  SSL_set_connect_state(client.session);
  SSL_set_session(client.session, ticket);
  const auto session = Session::Create(*context);
  client.Run(*session);
  EXPECT_TRUE(session->is_open());
  EXPECT_EQ(SSL_session_reused(client.session), 0);
  SSL_SESSION_free(ticket);
}

TEST_F(TlsSession, ASessionOutlivesItsContext) {
  auto context = std::make_unique<base::Result<Context>>(Context::Load(FilesOf()));
  const auto session = Session::Create(**context);
  context = nullptr;
  Client client(ca.get());
  client.Run(*session);
  EXPECT_TRUE(session->is_open());
}

TEST_F(TlsSession, WhatIsNotTlsIsBroken) {
  const auto context = Context::Load(FilesOf());
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string(100, '\0')}) {
    const auto session = Session::Create(*context);
    EXPECT_TRUE(session->Feed(Bytes(text)));
    uint8_t place[100];
    size_t count = 0;
    EXPECT_EQ(session->Read(place, &count), Session::Step::kBroken);
    EXPECT_EQ(session->Read(place, &count), Session::Step::kBroken);
    EXPECT_FALSE(session->reason().empty());
  }
}

TEST_F(TlsSession, ChangedBytesBreakTheSession) {
  const auto context = Context::Load(FilesOf());
  Client client(ca.get());
  const auto session = Session::Create(*context);
  client.Run(*session);
  client.Write("a question");
  std::string record(1000, '\0');
  size_t count = 0;
  ASSERT_EQ(BIO_read_ex(SSL_get_wbio(client.session), record.data(), record.size(), &count), 1);
  record.resize(count);
  record.back() ^= 1;
  EXPECT_TRUE(session->Feed(Bytes(record)));
  EXPECT_EQ(client.ReadAll(*session), Session::Step::kBroken);
  EXPECT_EQ(session->reason(), "decryption failed or bad record mac");
  EXPECT_EQ(client.arrived, "");
}

TEST_F(TlsSession, FilesThatCannotBeUsedAreNamed) {
  WriteKey("other.key", client_key.get());
  WriteKey("behind.key", server_key.get(), EVP_aes_128_cbc());
  std::ofstream(Path("text")) << "what is this";
  const struct {
    Files files;
    std::string setting, file;
  } rows[] = {
      {{Path("none"), Path("server.key"), ""}, "tls.cert", "none"},
      {{Path("text"), Path("server.key"), ""}, "tls.cert", "text"},
      {{Path("server.pem"), Path("none"), ""}, "tls.key", "none"},
      {{Path("server.pem"), Path("text"), ""}, "tls.key", "text"},
      {{Path("server.pem"), Path("other.key"), ""}, "tls.key", "other.key"},
      {{Path("server.pem"), Path("behind.key"), ""}, "tls.key", "behind.key"},
      {{Path("server.pem"), Path("server.key"), Path("text")}, "tls.client_ca", "text"},
  };
  for (const auto& row : rows) {
    const auto context = Context::Load(row.files);
    ASSERT_FALSE(context.ok()) << row.file;
    EXPECT_TRUE(context.status().message().starts_with(row.setting + " `" + Path(row.file) + "`: ")) << context.status().message();
  }
}

}  // namespace
}  // namespace wf::tls
