#include "runtime/protocol/tls/session.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/support/tls_peer.h"

namespace wf::tls {
namespace {

using test::Authority;
using test::MakeCertificate;
using test::MakeKey;
using test::PemOf;
using test::TlsPeer;

std::span<const uint8_t> Bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

// A server's side, and what it has read.
struct Served {
  explicit Served(const Context& context) : session(Session::Create(context, output)) {}

  Session::Step Take(std::string_view bytes) {
    std::span<const uint8_t> left = Bytes(bytes);
    uint8_t place[100];
    size_t count = 0;
    Session::Step step;
    while ((step = session->Read(&left, place, &count)) == Session::Step::kData)
      arrived.append(reinterpret_cast<const char*>(place), count);
    EXPECT_TRUE(left.empty() || step != Session::Step::kNeedInput);
    return step;
  }
  std::string Say(size_t most) {
    std::string text;
    for (const base::SinkPiece& piece : output.Pieces())
      text.append(reinterpret_cast<const char*>(piece.data), std::min(piece.bytes, most - text.size()));
    output.Consume(text.size());
    return text;
  }

  wf_sink output;
  std::unique_ptr<Session> session;
  std::string arrived;
};

// Both sides in portions, until neither has more to say; what the server said of it last.
Session::Step Talk(TlsPeer& client, Served& server, size_t portion = 1 << 14) {
  Session::Step step = Session::Step::kNeedInput;
  for (bool moved = true; moved;) {
    client.Take("");
    const std::string said = client.Say();
    moved = !said.empty();
    for (size_t at = 0; at < said.size(); at += portion) step = server.Take(std::string_view(said).substr(at, portion));
    while (!server.output.empty()) {
      moved = true;
      client.Take(server.Say(portion));
    }
  }
  return step;
}

struct TlsSession : testing::Test {
  Authority of;
  base::Result<Context> context = Context::Load(of.Options());
};

TEST_F(TlsSession, CarriesBothWaysInAnyPortions) {
  ASSERT_TRUE(context.ok()) << context.status().message();
  for (const size_t portion : {size_t{1}, size_t{100}, size_t{1} << 14}) {
    TlsPeer client(of.ca.get());
    Served server(*context);
    EXPECT_EQ(Talk(client, server, portion), Session::Step::kNeedInput) << server.session->reason();
    ASSERT_TRUE(server.session->is_open());
    const std::string question(20'000, 'q'), answer(40'000, 'a');
    client.Write(question);
    EXPECT_EQ(Talk(client, server, portion), Session::Step::kNeedInput);
    EXPECT_EQ(server.arrived, question);
    EXPECT_TRUE(server.session->Write(Bytes(answer)));
    Talk(client, server, portion);
    EXPECT_EQ(client.read, answer);
    EXPECT_EQ(client.protocol(), "");
    SSL_shutdown(client.session());
    EXPECT_EQ(Talk(client, server, portion), Session::Step::kEnd);
    EXPECT_FALSE(client.was_told_the_end());
    server.session->Close();
    server.session->Close();
    Talk(client, server, portion);
    EXPECT_TRUE(client.was_told_the_end());
  }
}

TEST_F(TlsSession, ProtocolsByAlpn) {
  const struct {
    std::string offered;
    std::string_view chosen;
  } rows[] = {{"\x08http/1.1", "http/1.1"}, {"\x02h2\x08http/1.1", "h2"}, {"\x08http/1.1\x02h2", "h2"}};
  for (const auto& row : rows) {
    TlsPeer client(of.ca.get());
    client.Offer(row.offered);
    Served server(*context);
    Talk(client, server);
    EXPECT_TRUE(server.session->is_open());
    EXPECT_EQ(client.protocol(), row.chosen);
  }
  TlsPeer client(of.ca.get());
  client.Offer("\x04smtp");
  Served server(*context);
  EXPECT_EQ(Talk(client, server), Session::Step::kBroken);
  EXPECT_EQ(server.session->reason(), "no application protocol");
}

TEST_F(TlsSession, OldVersionsAreRefused) {
  ContextOptions options = of.Options();
  options.only_1_3 = true;
  const auto strict = Context::Load(options);
  const struct {
    int version;
    bool by_default, by_strict;
  } rows[] = {{TLS1_1_VERSION, false, false}, {TLS1_2_VERSION, true, false}, {TLS1_3_VERSION, true, true}};
  for (const auto& row : rows) {
    for (const bool is_strict : {false, true}) {
      TlsPeer client(of.ca.get());
      SSL_CTX_set_cipher_list(client.context(), "ALL:@SECLEVEL=0");
      SSL_CTX_set_min_proto_version(client.context(), TLS1_VERSION);
      SSL_CTX_set_max_proto_version(client.context(), row.version);
      Served server(is_strict ? *strict : *context);
      const Session::Step step = Talk(client, server);
      EXPECT_EQ(step == Session::Step::kNeedInput && server.session->is_open(), is_strict ? row.by_strict : row.by_default) << row.version;
      EXPECT_EQ(server.session->reason(), step == Session::Step::kBroken ? "unsupported protocol" : "");
    }
  }
}

TEST_F(TlsSession, CiphersWithoutAKeyOfTheirOwnAreRefused) {
  for (const auto& [cipher, open] :
       {std::pair{"AES128-GCM-SHA256", false}, {"ECDHE-ECDSA-AES128-SHA", false}, {"ECDHE-ECDSA-AES128-GCM-SHA256", true}}) {
    TlsPeer client(of.ca.get());
    SSL_CTX_set_max_proto_version(client.context(), TLS1_2_VERSION);
    SSL_CTX_set_cipher_list(client.context(), cipher);
    Served server(*context);
    Talk(client, server);
    EXPECT_EQ(server.session->is_open(), open) << cipher;
  }
}

TEST_F(TlsSession, ClientsShowTheirCertificateWhereOneIsAskedFor) {
  const auto asking = Context::Load(of.OptionsForClients());
  ASSERT_TRUE(asking.ok()) << asking.status().message();
  const test::Key other_key = MakeKey();
  const test::Certificate other = MakeCertificate("other", other_key.get(), nullptr, other_key.get());
  const test::Certificate old = MakeCertificate("old", of.client_key.get(), of.ca.get(), of.ca_key.get(), {-3600, -60});
  const struct {
    X509* certificate;
    EVP_PKEY* key;
    std::string_view reason;
  } rows[] = {{of.client.get(), of.client_key.get(), ""},
              {nullptr, nullptr, "peer did not return a certificate"},
              {other.get(), other_key.get(), "self-signed certificate"},
              {old.get(), of.client_key.get(), "certificate has expired"}};
  for (const auto& row : rows) {
    TlsPeer client(of.ca.get());
    if (row.certificate != nullptr) client.Show(row.certificate, row.key);
    Served server(*asking);
    EXPECT_EQ(Talk(client, server), row.reason.empty() ? Session::Step::kNeedInput : Session::Step::kBroken);
    EXPECT_EQ(server.session->is_open(), row.reason.empty());
    EXPECT_EQ(server.session->reason(), row.reason);
  }
}

TEST_F(TlsSession, ATicketSavesTheSecondHandshakeAndDiesWithItsContext) {
  auto asking = Context::Load(of.OptionsForClients());
  SSL_SESSION* ticket = nullptr;
  for (const bool resumed : {false, true, false}) {
    TlsPeer client(of.ca.get());
    client.Show(of.client.get(), of.client_key.get());
    if (ticket != nullptr) SSL_set_session(client.session(), ticket);
    Served server(*asking);
    Talk(client, server);
    EXPECT_TRUE(server.session->is_open());
    EXPECT_EQ(SSL_session_reused(client.session()) == 1, resumed);
    SSL_SESSION_free(ticket);
    ticket = SSL_get1_session(client.session());
    SSL_shutdown(client.session());  // the session of a client that breaks off is not used again
    if (resumed) asking = Context::Load(of.OptionsForClients());
  }
  SSL_SESSION_free(ticket);
}

TEST_F(TlsSession, ASessionOutlivesItsContext) {
  auto own = std::make_unique<base::Result<Context>>(Context::Load(of.Options()));
  Served server(**own);
  own = nullptr;
  TlsPeer client(of.ca.get());
  Talk(client, server);
  EXPECT_TRUE(server.session->is_open());
}

TEST_F(TlsSession, WhatIsNotTlsIsBrokenAndHttpIsAnswered) {
  for (const std::string& text :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), std::string(100, '\0')}) {
    Served server(*context);
    EXPECT_EQ(server.Take(text), Session::Step::kBroken);
    EXPECT_EQ(server.Take(text), Session::Step::kBroken);
    EXPECT_FALSE(server.session->reason().empty());
    const std::string said = server.Say(1000);
    EXPECT_EQ(said.starts_with("HTTP/1.1 400 ") && said.ends_with("\r\n\r\nthis port speaks TLS; ask it with https://"), text[0] == 'G')
        << said;
  }
}

TEST_F(TlsSession, ChangedBytesBreakTheSession) {
  TlsPeer client(of.ca.get());
  Served server(*context);
  Talk(client, server);
  client.Write("a question");
  std::string record = client.Say();
  record.back() ^= 1;
  EXPECT_EQ(server.Take(record), Session::Step::kBroken);
  EXPECT_EQ(server.session->reason(), "decryption failed or bad record mac");
  EXPECT_EQ(server.arrived, "");
}

TEST_F(TlsSession, AChainIsSentAsItIsGiven) {
  const test::Certificate between = MakeCertificate("ca", of.ca_key.get(), nullptr, of.ca_key.get());
  ContextOptions options = of.Options();
  options.certificates.text = "a comment\n" + options.certificates.text + PemOf(between.get());
  const auto chained = Context::Load(options);
  ASSERT_TRUE(chained.ok()) << chained.status().message();
  TlsPeer client(of.ca.get());
  Served server(*chained);
  Talk(client, server);
  EXPECT_EQ(sk_X509_num(SSL_get_peer_cert_chain(client.session())), 2);
}

TEST_F(TlsSession, TextsThatCannotBeUsedAreNamed) {
  const Pem cert{"cert", PemOf(of.server.get())}, key{"key", PemOf(of.server_key.get())};
  const Pem nothing{"it", "what is this"}, none{"it", ""};
  const Pem cut{"it", cert.text.substr(0, cert.text.size() / 2)}, half{"it", cert.text + cut.text};
  const test::Key rsa{EVP_RSA_gen(2048), EVP_PKEY_free};
  const struct {
    ContextOptions options;
    std::string begin;
  } rows[] = {
      {{nothing, key, {}}, "it: holds no certificate in PEM"},
      {{none, key, {}}, "it: holds no certificate in PEM"},
      {{{"it", key.text}, key, {}}, "it: holds no certificate in PEM"},
      {{cut, key, {}}, "it: certificate 1 cannot be read ("},
      {{half, key, {}}, "it: certificate 2 cannot be read ("},
      {{cert, nothing, {}}, "it: holds no private key in PEM"},
      {{cert, {"it", cert.text}, {}}, "it: holds no private key in PEM"},
      {{cert, {"it", PemOf(of.client_key.get())}, {}}, "it: the key is not that of the first certificate of `tls.cert`"},
      {{cert, {"it", PemOf(rsa.get())}, {}}, "it: the key is not that of the first certificate of `tls.cert`"},
      {{cert, {"it", PemOf(of.server_key.get(), EVP_aes_128_cbc())}, {}}, "it: the key is behind a password"},
      {{cert, key, nothing}, "it: holds no certificate in PEM"},
      {{cert, key, none}, "it: holds no certificate in PEM"},
  };
  for (const auto& row : rows) {
    const auto made = Context::Load(row.options);
    ASSERT_FALSE(made.ok()) << row.begin;
    EXPECT_TRUE(made.status().message().starts_with(row.begin)) << made.status().message();
  }
}

TEST_F(TlsSession, CertificatesOutOfTheirTimeAreWarnedOf) {
  EXPECT_TRUE(context->warnings().empty());
  const test::Certificate old = MakeCertificate("old", of.server_key.get(), of.ca.get(), of.ca_key.get(), {-3600, -60});
  const test::Certificate young = MakeCertificate("young", of.ca_key.get(), nullptr, of.ca_key.get(), {600, 3600});
  const auto made =
      Context::Load({{"cert", PemOf(old.get())}, {"key", PemOf(of.server_key.get())}, Pem{"ca", PemOf(of.ca.get()) + PemOf(young.get())}});
  ASSERT_TRUE(made.ok()) << made.status().message();
  ASSERT_EQ(made->warnings().size(), 2U);
  EXPECT_TRUE(made->warnings()[0].starts_with("cert: certificate 1 expired on 20")) << made->warnings()[0];
  EXPECT_TRUE(made->warnings()[1].starts_with("ca: certificate 2 holds only from 20")) << made->warnings()[1];
}

}  // namespace
}  // namespace wf::tls
