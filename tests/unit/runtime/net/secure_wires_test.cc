#include "runtime/net/secure_wires.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/net/connections.h"
#include "tests/unit/support/sim_wires.h"
#include "tests/unit/support/tls_peer.h"

namespace wf::net {
namespace {

// Connections that answer each byte with `factor` bytes of the same, on wires that a test moves.
class SecureWiresTest : public ::testing::Test, protected HandlerFactory {
 protected:
  struct Echo final : Handler {
    explicit Echo(SecureWiresTest& of, Connection& on) : test(of), connection(on) {}
    void OnBytes(std::span<const uint8_t> bytes) noexcept override {
      got.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      for (const uint8_t byte : bytes) {
        const std::string text(test.factor_, static_cast<char>(byte));
        connection.out().Put(text.data(), text.size());
      }
      if (!got.empty() && got.back() == '!') connection.CloseAfterFlush(test.lingers_);
    }
    void OnFlushed() noexcept override { ++flushed; }
    void OnTimeout() noexcept override {}
    void OnClosed(Closed with) noexcept override { how = static_cast<int>(with); }
    SecureWiresTest& test;
    Connection& connection;
    std::string got;
    int flushed = 0, how = -1;
  };

  SecureWiresTest() {
    auto made = tls::Context::Load(of_.Options());
    secure_.set_context(std::make_shared<const tls::Context>(*std::move(made)));
  }
  ~SecureWiresTest() override {
    connections_.CloseAll();
    for (test::SimPeer& peer : peers_) {
      if (peer.wire != nullptr) peer.wire->FinishClose();
    }
    EXPECT_EQ(connections_.count(), 0U);
    EXPECT_EQ(told_, "");
  }
  Handler* NewHandler(Connection& connection) noexcept override { return &handlers_.emplace_back(*this, connection); }
  void OnHandshakeFailed(std::string_view why) noexcept override { failure_ = why; }
  void OnBreach(std::string_view why) noexcept override { breach_ = why; }

  void Open(size_t count = 1) {
    for (size_t i = 0; i < count; ++i) {
      peers_.emplace_back();
      clients_.emplace_back(of_.ca.get());
      connections_.Adopt(static_cast<int>(peers_.size() - 1));
    }
  }
  void UpdateKeys(size_t i, int times) {
    for (; times > 0; --times) {
      ASSERT_EQ(SSL_key_update(clients_[i].session(), SSL_KEY_UPDATE_REQUESTED), 1);
      ASSERT_EQ(SSL_do_handshake(clients_[i].session()), 1);
    }
  }
  // One step of each kind: what the client says arrives in portions, the loop ends its turn, the client takes what has come.
  bool Step(size_t i, size_t portion, size_t window) {
    test::SimPeer& peer = peers_[i];
    clients_[i].Take(peer.received);
    bool moved = !peer.received.empty();
    peer.received.clear();
    peer.under_way += clients_[i].Say();
    if (peer.wire == nullptr) return moved;
    while (!peer.under_way.empty() && peer.wire->Deliver(portion)) moved = true;
    connections_.FlushDirty();
    if (peer.window < window) moved |= peer.wire->Take(window - peer.window);
    return moved;
  }
  void Talk(size_t i = 0, size_t portion = 1 << 14, size_t window = 1 << 20) {
    while (Step(i, portion, window)) {
    }
  }

  test::Authority of_;
  test::FakeClock clock_;
  std::deque<test::SimPeer> peers_;
  std::deque<test::TlsPeer> clients_;
  std::deque<Echo> handlers_;
  std::string told_, failure_, breach_;
  test::SimWires wires_{clock_, peers_, [this](const std::string& what) { told_ += what; }};
  SecureWires secure_{wires_};
  Connections connections_{secure_, *this};
  size_t factor_ = 1;
  bool lingers_ = false;
};

TEST_F(SecureWiresTest, CarriesBothWaysThroughAnyPortionsAndWindows) {
  factor_ = 5;
  size_t i = 0;
  for (const size_t portion : {size_t{1}, size_t{700}, size_t{60'000}}) {
    for (const size_t window : {size_t{10}, size_t{5'000}, size_t{1} << 20}) {
      Open();
      clients_[i].Take("");
      Talk(i, portion, window);
      std::string question(20'000, '?'), answer;
      for (size_t at = 0; at < question.size(); at += 1000) question[at] = static_cast<char>('a' + at / 1000 % 26);
      for (const char c : question) answer.append(factor_, c);
      clients_[i].Write(question);
      Talk(i, portion, window);
      EXPECT_EQ(handlers_[i].got, question);
      EXPECT_EQ(clients_[i].read, answer) << portion << " " << window;
      EXPECT_GT(handlers_[i].flushed, 0);
      ++i;
    }
  }
}

TEST_F(SecureWiresTest, WhatIsPutTogetherInShortPiecesIsOneRecord) {
  Open();
  Talk();
  handlers_[0].connection.out().Put("a", 1);
  wf_sink more;
  more.Put(std::string(20'000, 'b').data(), 20'000);
  handlers_[0].connection.out().Append(more);
  handlers_[0].connection.out().Put("c", 1);
  handlers_[0].connection.FlushLater();
  connections_.FlushDirty();
  EXPECT_LT(peers_[0].received.size(), 20'002U + 5 * 30);
  Talk();
  EXPECT_EQ(clients_[0].read, "a" + std::string(20'000, 'b') + "c");
}

TEST_F(SecureWiresTest, APeerIsToldTheEndBehindTheLastAnswer) {
  for (const bool lingers : {false, true}) {
    for (const size_t window : {size_t{1} << 20, size_t{100}}) {
      lingers_ = lingers;
      factor_ = 30'000;
      Open();
      const size_t i = peers_.size() - 1;
      Talk(i, 1 << 14, window);
      clients_[i].Write("!");
      Talk(i, 1 << 14, window);
      EXPECT_EQ(clients_[i].read, std::string(factor_, '!'));
      EXPECT_EQ(peers_[i].closed, !lingers);
      peers_[i].ended = true;
      if (lingers) peers_[i].wire->Deliver(1);
      Talk(i);
      EXPECT_TRUE(peers_[i].closed);
      EXPECT_TRUE(clients_[i].was_told_the_end()) << lingers << window;
    }
  }
}

TEST_F(SecureWiresTest, ThePeersOwnEndIsTheEndOfTheConnection) {
  Open();
  Talk();
  clients_[0].Write("last");
  SSL_shutdown(clients_[0].session());
  Talk();
  EXPECT_EQ(handlers_[0].got, "last");
  EXPECT_TRUE(peers_[0].closed);
  peers_[0].wire->FinishClose();
  EXPECT_EQ(handlers_[0].how, static_cast<int>(Closed::kByPeer));
}

TEST_F(SecureWiresTest, WhoIsNotLetInIsToldWhyAndMayGoOnWritingForAWhile) {
  auto made = tls::Context::Load(of_.OptionsForClients());
  secure_.set_context(std::make_shared<const tls::Context>(*std::move(made)));
  Open(2);
  Talk(0);
  EXPECT_EQ(failure_, "peer did not return a certificate");
  peers_[1].under_way = "GET / HTTP/1.1\r\n\r\n";
  peers_[1].window = 1000;
  peers_[1].wire->Deliver(1000);
  connections_.FlushDirty();
  EXPECT_EQ(failure_, "http request");
  EXPECT_TRUE(peers_[1].received.starts_with("HTTP/1.1 400 ")) << peers_[1].received;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    EXPECT_FALSE(peers_[i].closed);
    peers_[i].under_way = std::string(100'000, 'x');
    while (peers_[i].wire->Deliver(50'000)) connections_.FlushDirty();
    EXPECT_TRUE(peers_[i].under_way.empty());
  }
  for (int second = 0; second < 3; ++second) {
    clock_.AdvanceNs(1'000'000'000);
    connections_.OnSecond();
  }
  for (const size_t i : {size_t{0}, size_t{1}}) {
    EXPECT_TRUE(peers_[i].closed);
    EXPECT_EQ(handlers_[i].got, "");
  }
}

TEST_F(SecureWiresTest, ABrokenRecordIsABrokenConnectionThatIsToldSo) {
  Open();
  Talk();
  clients_[0].Write("a question");
  peers_[0].under_way = clients_[0].Say();
  peers_[0].under_way.back() ^= 1;
  handlers_[0].got = "";
  EXPECT_TRUE(peers_[0].wire->Deliver(1000));
  EXPECT_EQ(handlers_[0].got, "");
  EXPECT_FALSE(peers_[0].received.empty()) << "no alert";
}

TEST_F(SecureWiresTest, KeysAreUpdatedSoManyTimesAndAgainAfterAWhile) {
  secure_.set_unpaid_messages(60);
  Open();
  Talk();
  for (const char c : {'a', 'b'}) {
    UpdateKeys(0, 60);
    clients_[0].Write(std::string(1, c));
    Talk();
    EXPECT_EQ(breach_, "");
    EXPECT_EQ(clients_[0].read.back(), c);
    clock_.AdvanceNs(30'000'000'000);
  }
  UpdateKeys(0, 61);
  Talk();
  EXPECT_EQ(breach_, "more updates of TLS keys and their like than `limits.control_frames`");
  EXPECT_TRUE(peers_[0].closed);
  peers_[0].wire->FinishClose();
  EXPECT_EQ(handlers_[0].how, static_cast<int>(Closed::kByError));
}

TEST_F(SecureWiresTest, WhoReadsNoAnswersToUpdatesOfKeysIsNotKept) {
  secure_.set_unpaid_messages(1'000'000);
  Open();
  Talk();
  peers_[0].window = 0;
  size_t updates = 0;
  while (!peers_[0].closed && updates < 100'000) {
    UpdateKeys(0, 100);
    updates += 100;
    Talk(0, 1 << 14, 0);
  }
  EXPECT_GT(updates, 5'000U);
  EXPECT_LT(updates, 15'000U);
  EXPECT_EQ(breach_, "more answers to updates of TLS keys than the client reads");
}

TEST_F(SecureWiresTest, ARenegotiationThatIsRefusedCountsAsOneOfThem) {
  secure_.set_unpaid_messages(1);
  Open();
  SSL_set_max_proto_version(clients_[0].session(), TLS1_2_VERSION);
  Talk();
  clients_[0].Write("x");
  Talk();
  EXPECT_EQ(clients_[0].read, "x");
  SSL_renegotiate(clients_[0].session());
  SSL_do_handshake(clients_[0].session());
  const std::string hello = clients_[0].Say();
  ASSERT_FALSE(hello.empty());
  peers_[0].under_way = hello;
  while (peers_[0].wire->Deliver(1 << 14)) connections_.FlushDirty();
  EXPECT_EQ(breach_, "");
  secure_.set_unpaid_messages(0);
  Open();
  SSL_set_max_proto_version(clients_[1].session(), TLS1_2_VERSION);
  Talk(1);
  SSL_renegotiate(clients_[1].session());
  SSL_do_handshake(clients_[1].session());
  Talk(1);
  EXPECT_EQ(breach_, "more updates of TLS keys and their like than `limits.control_frames`");
  EXPECT_TRUE(peers_[1].closed);
}

TEST_F(SecureWiresTest, OnlySoManyHandshakesGoOnInATurnTheOthersInTheirOrder) {
  Open(40);
  for (size_t i = 0; i < 40; ++i) {
    peers_[i].window = 1 << 20;
    clients_[i].Take("");
    peers_[i].under_way = clients_[i].Say();
    EXPECT_TRUE(peers_[i].wire->Deliver(1 << 14));
  }
  const auto answered = [this] {
    size_t count = 0;
    for (const test::SimPeer& peer : peers_) count += peer.received.empty() ? 0 : 1;
    return count;
  };
  EXPECT_EQ(answered(), 16U);
  EXPECT_FALSE(peers_[0].wire->Deliver(1)) << "there is nothing";
  EXPECT_FALSE(peers_[20].wire->Deliver(1)) << "it waits, and reads no more meanwhile";
  handlers_[20].connection.Close();
  connections_.FlushDirty();
  EXPECT_TRUE(connections_.has_waiting());
  EXPECT_EQ(answered(), 31U) << "one of the sixteen is closed";
  connections_.FlushDirty();
  EXPECT_FALSE(connections_.has_waiting());
  EXPECT_EQ(answered(), 39U);
  for (size_t i = 0; i < 40; ++i) {
    if (i == 20) continue;
    connections_.FlushDirty();
    Talk(i);
    clients_[i].Write("x");
    Talk(i);
    EXPECT_EQ(clients_[i].read, "x") << i;
  }
}

TEST_F(SecureWiresTest, IsOpeningFromTheFirstByteUntilTheHandshakeIsOver) {
  Open();
  EXPECT_FALSE(handlers_[0].connection.opening());
  clients_[0].Take("");
  peers_[0].under_way = clients_[0].Say();
  peers_[0].wire->Deliver(1);
  EXPECT_TRUE(handlers_[0].connection.opening());
  Talk();
  EXPECT_FALSE(handlers_[0].connection.opening());
}

TEST_F(SecureWiresTest, APeerThatIsSlowIsKeptAndOneThatTakesNextToNothingIsNot) {
  Open();
  Talk();
  factor_ = 1 << 20;
  peers_[0].window = 0;
  clients_[0].Write("x");
  peers_[0].under_way = clients_[0].Say();
  peers_[0].wire->Deliver(1000);
  const auto pass = [this](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock_.AdvanceNs(1'000'000'000);
      connections_.OnSecond();
    }
  };
  for (int i = 0; i < 12; ++i) {
    peers_[0].wire->Take(20'000);
    pass(10);
    ASSERT_FALSE(peers_[0].closed) << i;
  }
  for (int i = 0; i < 60 && !peers_[0].closed; ++i) {
    peers_[0].wire->Take(500);
    pass(1);
  }
  EXPECT_TRUE(peers_[0].closed);
  EXPECT_TRUE(peers_[0].starved);
}

}  // namespace
}  // namespace wf::net
