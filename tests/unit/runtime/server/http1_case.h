#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "runtime/net/connections.h"
#include "runtime/server/http1_session.h"
#include "tests/unit/runtime/server/test_site.h"
#include "tests/unit/support/sim_wires.h"

namespace wf::server {

inline constexpr int64_t kSecond = 1'000'000'000;

// Connections to peers that the test moves, on a loop whose turns it takes.
class Http1SessionTest : public ::testing::Test, protected net::HandlerFactory {
 protected:
  Http1SessionTest() {
    for (int i = 0; i < 2; ++i) connections_.Adopt(i);
  }
  ~Http1SessionTest() override {
    connections_.CloseAll();
    for (test::SimPeer& peer : peers_)
      if (peer.wire != nullptr) peer.wire->FinishClose();
    EXPECT_EQ(told_, "");
  }
  net::Handler* NewHandler(net::Connection& connection) noexcept override {
    sessions_.push_back(static_cast<Http1Session*>(owner_.Open(connection)));
    return sessions_.back();
  }
  // What arrived is read first, in reads of 64 KiB, as a loop does.
  void Turn() {
    for (test::SimPeer& peer : peers_) {
      peer.window = read_by_peers_;
      while (peer.wire != nullptr && peer.wire->Deliver(64 * 1024)) most_pending_ = std::max(most_pending_, sessions_[0]->pending_bytes());
    }
    owner_.ResumeWaiting();
    connections_.FlushDirty();
  }
  void PassSeconds(int count) {
    for (int i = 0; i < count; ++i) {
      clock_.AdvanceNs(kSecond);
      connections_.OnSecond();
      connections_.FlushDirty();
    }
  }
  static int Answers(const test::SimPeer& peer) {
    int count = 0;
    for (size_t at = 0; (at = peer.received.find("HTTP/1.1 ", at)) != std::string::npos; ++at) ++count;
    return count;
  }
  static std::string Requests(int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += "POST /a HTTP/1.1\r\nhost: t\r\nx-some: " + std::string(134, 'x') + "\r\ncontent-length: 2\r\n\r\n{}";
    return text;
  }

  test::FakeClock clock_;
  std::deque<test::SimPeer> peers_{2};
  std::string told_;
  test::SimWires wires_{clock_, peers_, [this](const std::string& what) { told_ += what; }};
  TestSite site_;
  Sessions owner_{site_, {}};
  std::vector<Http1Session*> sessions_;
  net::Connections connections_{wires_, *this};
  size_t most_pending_ = 0, read_by_peers_ = 1 << 30;
};

}  // namespace wf::server
