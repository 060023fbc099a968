#include "runtime/net/connection.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/net/connections.h"
#include "tests/unit/support/sim_wires.h"

namespace wf::net {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// One connection to a peer that the test moves.
class ConnectionTest : public ::testing::Test, protected HandlerFactory, protected Handler {
 protected:
  ConnectionTest() { connections_.Adopt(0); }
  ~ConnectionTest() override {
    connections_.CloseAll();
    if (peer().wire != nullptr) peer().wire->FinishClose();
    EXPECT_EQ(told_, "");
  }
  test::SimPeer& peer() { return peers_[0]; }
  void PassSeconds(int count) {
    for (int i = 0; i < count; ++i) {
      clock_.AdvanceNs(kSecond);
      connections_.OnSecond();
    }
  }

  Handler* NewHandler(Connection& connection) noexcept override {
    connection_ = &connection;
    return this;
  }
  void OnBytes(std::span<const uint8_t> bytes) noexcept override { got_ += bytes.size(); }
  void OnFlushed() noexcept override { ++flushed_; }
  void OnTimeout() noexcept override {}
  void OnClosed(Closed how) noexcept override { closed_ = static_cast<int>(how); }

  test::FakeClock clock_;
  std::deque<test::SimPeer> peers_{1};
  std::string told_;
  test::SimWires wires_{clock_, peers_, [this](const std::string& what) { told_ += what; }};
  Connections connections_{wires_, *this};
  Connection* connection_ = nullptr;
  size_t got_ = 0;
  int flushed_ = 0, closed_ = -1;
};

TEST_F(ConnectionTest, APeerThatIsSlowIsKeptAndOneThatTakesNextToNothingIsNot) {
  const std::string text(1 << 20, 'x');
  connection_->out().Put(text.data(), text.size());
  connection_->FlushLater();
  connections_.FlushDirty();
  for (int i = 0; i < 21; ++i) {
    peer().wire->Take(11'000);
    PassSeconds(10);
    ASSERT_FALSE(peer().closed) << i;
  }
  for (int i = 0; i < 30; ++i) {
    peer().wire->Take(1000);
    PassSeconds(1);
  }
  EXPECT_TRUE(peer().closed);
  EXPECT_TRUE(peer().starved);
  EXPECT_EQ(peer().received.size(), 261'000U);
  EXPECT_EQ(flushed_, 0);
}

TEST_F(ConnectionTest, APeerThatReadsSteadilyIsCutOffWhenWhatWaitsIsDue) {
  const std::string text(1 << 20, 'x');
  connection_->out().Put(text.data(), text.size());
  connection_->FlushLater();
  connections_.FlushDirty();
  for (int i = 0; i < 299; ++i) {
    peer().wire->Take(3000);
    PassSeconds(1);
    ASSERT_FALSE(peer().closed) << i;
  }
  PassSeconds(1);
  EXPECT_TRUE(peer().closed);
}

TEST_F(ConnectionTest, ReadingStopsWhileMuchWaitsToBeSent) {
  const std::string text(ConnectionLimits{}.unsent_bytes, 'x');
  connection_->out().Put(text.data(), text.size());
  connection_->FlushLater();
  connections_.FlushDirty();
  peer().under_way = "more";
  EXPECT_FALSE(peer().wire->Deliver(10));
  peer().wire->Take(text.size());
  EXPECT_EQ(flushed_, 1);
  EXPECT_TRUE(peer().wire->Deliver(10));
  EXPECT_EQ(got_, 4U);
}

TEST_F(ConnectionTest, TheHandlerHearsOfTheEndOnceTheWireHasLetGo) {
  peer().ended = true;
  EXPECT_TRUE(peer().wire->Deliver(1));
  EXPECT_EQ(closed_, -1);
  peer().wire->FinishClose();
  EXPECT_EQ(closed_, static_cast<int>(Closed::kByPeer));
  EXPECT_EQ(connections_.count(), 0U);
}

}  // namespace
}  // namespace wf::net
