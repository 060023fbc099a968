#include "runtime/server/http1_session.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "runtime/base/reserve.h"
#include "runtime/net/connections.h"
#include "tests/unit/runtime/server/test_site.h"
#include "tests/unit/support/sim_faults.h"
#include "tests/unit/support/sim_wires.h"

namespace wf::server {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

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

TEST_F(Http1SessionTest, WhoHasJustConnectedHasTimeForItsFirstRequestWhileTheServerDrains) {
  peers_[1].under_way = Requests(1);
  Turn();
  ASSERT_EQ(Answers(peers_[1]), 1);
  for (Http1Session* session : sessions_) session->OnDrainTick();
  Turn();
  EXPECT_TRUE(peers_[1].closed) << "between requests";
  EXPECT_FALSE(peers_[0].closed);
  peers_[0].under_way = Requests(1);
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 1);
}

TEST_F(Http1SessionTest, LimitsOfHeadsHoldForTheNextOneOfAConnection) {
  peers_[0].under_way = Requests(3);  // so that its bytes are known
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 3);
  SessionLimits limits;
  limits.head.head_bytes = 150;
  owner_.set_limits(limits);
  peers_[0].under_way = Requests(1);
  Turn();
  EXPECT_NE(peers_[0].received.find("HTTP/1.1 431 "), std::string::npos) << peers_[0].received;
}

TEST_F(Http1SessionTest, HalfARequestIsAnsweredWhereThePeerSendsNoMore) {
  const std::string whole = Requests(1);
  peers_[0].under_way = whole.substr(0, whole.size() / 2);
  peers_[1].under_way = whole.substr(0, whole.size() - 1);
  for (test::SimPeer& peer : peers_) peer.ended = true;
  Turn();
  Turn();
  for (test::SimPeer& peer : peers_) {
    EXPECT_TRUE(peer.received.starts_with("HTTP/1.1 400 ")) << peer.received;
    EXPECT_TRUE(peer.closed);
  }
  EXPECT_EQ(site_.told, "refused refused ") << "it is the peer that ended them";
}

TEST_F(Http1SessionTest, WhyAConnectionCannotGoOnIsTold) {
  peers_[0].under_way = "GET /a HTTP/1.1\r\nhost : t\r\n\r\n";
  peers_[1].under_way = "GET /" + std::string(10'000, 'a') + " HTTP/1.1\r\nhost: t\r\n\r\n";
  Turn();
  for (test::SimPeer& peer : peers_) EXPECT_NE(peer.received.find("connection: close"), std::string::npos) << peer.received;
  EXPECT_EQ(site_.told, "protocol refused limit refused ");
}

TEST_F(Http1SessionTest, WhatFramesABodyHasLimits) {
  const std::string chunked = "POST /a HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n";
  peers_[0].under_way = chunked + "1;" + std::string(300, 'x');
  peers_[1].under_way = chunked + "0\r\nx: " + std::string(9000, 'x');
  Turn();
  EXPECT_TRUE(peers_[0].received.starts_with("HTTP/1.1 413 ")) << peers_[0].received;
  EXPECT_TRUE(peers_[1].received.starts_with("HTTP/1.1 431 ")) << peers_[1].received;
  EXPECT_EQ(site_.told, "limit refused limit refused ");
}

TEST_F(Http1SessionTest, AHeadThatDoesNotComeInTimeIsTold) {
  peers_[0].under_way = "GET /a HTTP/1.1\r\nho";
  Turn();
  PassSeconds(11);
  EXPECT_TRUE(peers_[0].received.starts_with("HTTP/1.1 408 ")) << peers_[0].received;
  EXPECT_EQ(site_.told, "slow refused ") << "the other connection has begun no request";
}

TEST_F(Http1SessionTest, AllThatCameWholeIsAnsweredWhereThePeerSendsNoMore) {
  constexpr int kRequests = 3 * Http1Session::kTurnRequests;
  peers_[0].under_way = Requests(kRequests) + "POST /a";
  peers_[0].ended = true;
  for (int i = 0; i < 10 && !peers_[0].closed; ++i) Turn();
  EXPECT_EQ(Answers(peers_[0]), kRequests + 1);
  EXPECT_TRUE(peers_[0].closed);
}

TEST_F(Http1SessionTest, AnEmptyLineBehindARequestBeginsNone) {
  peers_[0].under_way = Requests(1) + "\r\n";
  peers_[0].ended = true;
  peers_[1].under_way = Requests(1) + "\r\n";
  Turn();
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 1);
  EXPECT_TRUE(peers_[0].closed);
  PassSeconds(30);  // longer than a head may take
  EXPECT_FALSE(peers_[1].closed);
  peers_[1].under_way = "\r\n" + Requests(1);
  Turn();
  EXPECT_EQ(Answers(peers_[1]), 2);
}

TEST_F(Http1SessionTest, WhoSendsNoMoreWhileItWaitsHasLeft) {
  site_.at_once = false;
  peers_[0].under_way = Requests(1);
  Turn();
  peers_[0].ended = true;
  Turn();
  EXPECT_TRUE(peers_[0].closed);
  EXPECT_EQ(peers_[0].received, "");
}

TEST_F(Http1SessionTest, AnAnswerOnItsWayReachesAPeerThatSendsNoMore) {
  peers_[0].under_way = Requests(1);
  read_by_peers_ = 10;
  Turn();
  peers_[0].ended = true;
  for (int i = 0; i < 100 && !peers_[0].closed; ++i) {
    Turn();
    peers_[0].wire->Take(read_by_peers_);
  }
  EXPECT_TRUE(peers_[0].closed);
  EXPECT_TRUE(peers_[0].received.ends_with("\r\n\r\naa")) << peers_[0].received;
}

TEST_F(Http1SessionTest, PipelinedBytesAreBoundedWhateverTheAnswersTake) {
  constexpr int kRequests = 10'000;
  site_.at_once = false;
  peers_[0].under_way = Requests(kRequests);
  const size_t all = peers_[0].under_way.size();
  for (int i = 0; i < kRequests; ++i) {
    Turn();
    ASSERT_NE(site_.asked, nullptr) << i;
    site_.Answer();
    ASSERT_LE(peers_[0].delivered, static_cast<size_t>(i + 1) * (all / kRequests) + Http1Session::kMaxPending + 64 * 1024);
  }
  Turn();
  EXPECT_EQ(Answers(peers_[0]), kRequests);
  EXPECT_GE(most_pending_, Http1Session::kMaxPending);
  EXPECT_LE(most_pending_, Http1Session::kMaxPending + 64 * 1024);
  EXPECT_EQ(sessions_[0]->pending_bytes(), 0U);
  EXPECT_EQ(site_.finished, kRequests);
}

TEST_F(Http1SessionTest, AConnectionWithMuchToAskLeavesItsTurnToOthers) {
  peers_[0].under_way = Requests(5'000);
  peers_[1].under_way = Requests(1);
  int turns = 0, before = 0;
  while (Answers(peers_[0]) < 5'000) {
    Turn();
    ++turns;
    ASSERT_LE(site_.requests - before, 3 * Http1Session::kTurnRequests) << turns;
    before = site_.requests;
    EXPECT_EQ(Answers(peers_[1]), 1);
    ASSERT_TRUE(owner_.has_waiting() || Answers(peers_[0]) == 5'000) << "the loop would sleep";
    if (turns > 5'000) break;
  }
  EXPECT_EQ(Answers(peers_[0]), 5'000);
  EXPECT_LE(most_pending_, Http1Session::kMaxPending + 64 * 1024);
}

TEST_F(Http1SessionTest, NoMoreIsAnsweredWhileMuchWaitsToBeSent) {
  site_.answer_bytes = 100'000;
  read_by_peers_ = 0;
  peers_[0].under_way = Requests(50);
  for (int i = 0; i < 10; ++i) Turn();
  EXPECT_EQ(site_.requests, 3);
  read_by_peers_ = 1 << 30;
  for (int i = 0; i < 100; ++i) {
    if (peers_[0].wire->Take(1 << 30)) connections_.FlushDirty();
    Turn();
  }
  EXPECT_EQ(Answers(peers_[0]), 50);
}

TEST_F(Http1SessionTest, AnAnswerIsClaimedUntilItHasLeft) {
  site_.answer_bytes = 300'000;
  site_.room = 700'000;
  read_by_peers_ = 0;
  peers_[0].under_way = peers_[1].under_way = Requests(1);
  Turn();
  EXPECT_EQ(site_.finished, 2);  // their exchanges are free, what they came to is not
  EXPECT_GE(site_.claimed, 600'000);
  read_by_peers_ = 1 << 30;
  Turn();
  for (test::SimPeer& peer : peers_) {
    EXPECT_TRUE(peer.wire->Take(1 << 30));
    EXPECT_GE(peer.received.size(), 300'000U);
  }
  EXPECT_EQ(site_.claimed, 0);
  read_by_peers_ = 0;
  peers_[0].under_way = Requests(1);
  Turn();
  EXPECT_GE(site_.claimed, 300'000);
  peers_[0].broken = true;
  EXPECT_TRUE(peers_[0].wire->Take(1));
  EXPECT_TRUE(peers_[0].wire->FinishClose());
  EXPECT_EQ(site_.claimed, 0);
}

TEST_F(Http1SessionTest, ShortAnswersThatPileUpAreClaimedToo) {
  site_.answer_bytes = 1'000;
  site_.room = 0;
  read_by_peers_ = 0;
  peers_[0].under_way = Requests(50);
  for (int i = 0; i < 10; ++i) Turn();
  EXPECT_LT(site_.requests, 30);
  read_by_peers_ = 1 << 30;
  for (int i = 0; i < 50; ++i) {
    if (peers_[0].wire->Take(1 << 30)) connections_.FlushDirty();
    Turn();
  }
  EXPECT_EQ(Answers(peers_[0]), 50);
  EXPECT_EQ(site_.claimed, 0);
}

TEST_F(Http1SessionTest, APeerThatNeverSaysAnythingIsClosed) {
  PassSeconds(9);
  EXPECT_EQ(connections_.count(), 2U);
  PassSeconds(1);
  for (test::SimPeer& peer : peers_) {
    EXPECT_TRUE(peer.closed);
    EXPECT_EQ(peer.received, "");
    peer.wire->FinishClose();
  }
  EXPECT_EQ(connections_.count(), 0U);
}

TEST_F(Http1SessionTest, HeadsThatStillComeShareABoundedMemory) {
  SessionLimits limits;
  limits.waiting_bytes = 40'000;
  owner_.set_limits(limits);
  const std::string half = "POST /a HTTP/1.1\r\nhost: t\r\nx-long: " + std::string(25'000, 'x');
  for (int round = 0; round < 3; ++round) {  // what was counted is given back
    peers_[0].under_way = half;
    Turn();
    EXPECT_EQ(Answers(peers_[0]), round);
    peers_[0].under_way = "\r\ncontent-length: 0\r\n\r\n";
    Turn();
    EXPECT_EQ(Answers(peers_[0]), round + 1);
  }
  peers_[0].under_way = peers_[1].under_way = half;
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 3);
  EXPECT_NE(peers_[1].received.find("HTTP/1.1 429 "), std::string::npos) << peers_[1].received;
  EXPECT_NE(peers_[1].received.find("\r\nretry-after: 1\r\n"), std::string::npos) << peers_[1].received;
  EXPECT_EQ(site_.refused, code::kRefused);
  EXPECT_EQ(site_.refused_for_memory, 1);
  peers_[0].under_way = "\r\ncontent-length: 0\r\n\r\n";
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 4);
}

TEST_F(Http1SessionTest, RequestsBehindOthersShareThatMemory) {
  SessionLimits limits;
  limits.waiting_bytes = 100'000;
  owner_.set_limits(limits);
  site_.at_once = false;
  for (int round = 0; round < 2; ++round) {  // what was counted is given back
    peers_[0].received.clear();
    peers_[0].under_way = Requests(300);
    for (int i = 0; i < 300; ++i) {
      Turn();
      ASSERT_NE(site_.asked, nullptr);
      site_.Answer();
    }
    Turn();
    EXPECT_EQ(Answers(peers_[0]), 300);
  }
  peers_[0].under_way = Requests(300);
  Turn();
  Exchange* const first = site_.asked;
  peers_[1].under_way = Requests(300) + Requests(300);
  Turn();
  Turn();
  EXPECT_EQ(sessions_[1]->pending_bytes(), 0U);
  const size_t read = peers_[1].delivered;
  Turn();
  EXPECT_EQ(peers_[1].delivered, read) << "it goes on to read what it has no room for";
  site_.Answer();  // its first, and a refusal of the rest
  Turn();
  Turn();
  EXPECT_EQ(Answers(peers_[1]), 2);
  EXPECT_NE(peers_[1].received.find("HTTP/1.1 429 "), std::string::npos) << peers_[1].received;
  EXPECT_EQ(site_.refused_for_memory, 1);
  site_.asked = first;
  site_.Answer();
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 301);
}

TEST_F(Http1SessionTest, WhatWaitsBehindARequestIsClaimed) {
  site_.at_once = false;
  peers_[0].under_way = Requests(200);
  Turn();
  const size_t waits = sessions_[0]->pending_bytes();
  ASSERT_GT(waits, 30'000U);
  EXPECT_GE(site_.claimed, static_cast<int64_t>(waits));
  site_.at_once = true;
  site_.Answer();
  for (int i = 0; i < 10; ++i) Turn();
  EXPECT_EQ(Answers(peers_[0]), 200);
  EXPECT_EQ(site_.claimed, 0);
}

TEST_F(Http1SessionTest, WhatWaitsBehindARequestIsRefusedWithoutRoom) {
  site_.at_once = false;
  site_.room = 10'000;
  site_.last = 0;
  peers_[0].under_way = Requests(200);
  peers_[1].under_way = Requests(2);
  Turn();
  EXPECT_EQ(sessions_[0]->pending_bytes(), 0U);
  EXPECT_NE(sessions_[1]->pending_bytes(), 0U) << "so little is not claimed";
  EXPECT_EQ(site_.claimed, 0);
  site_.Answer(*std::exchange(site_.waiting, {})[0]);
  Turn();
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 2);
  EXPECT_NE(peers_[0].received.find("HTTP/1.1 429 "), std::string::npos) << peers_[0].received;
  EXPECT_EQ(site_.refused_for_memory, 1);
}

TEST_F(Http1SessionTest, WhatWaitsBehindARequestIsRefusedWhereThereIsNoMemoryForIt) {
  site_.at_once = false;
  peers_[0].under_way = Requests(1);
  Turn();
  peers_[0].under_way = Requests(1);
  {
    const std::function<bool()> always = [] { return true; };
    const test::FailingAllocations failing(&always);
    while (peers_[0].wire->Deliver(64 * 1024)) {
    }
  }
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 0) << "the answer of the first comes first";
  site_.Answer();
  Turn();
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 2);
  EXPECT_NE(peers_[0].received.find("HTTP/1.1 429 "), std::string::npos) << peers_[0].received;
  PassSeconds(3);
  EXPECT_TRUE(peers_[0].closed);
}

// The third of equal heads is a copy; where there is no memory for one of its two pieces, it is read as if it were the first.
TEST_F(Http1SessionTest, ACopyOfAHeadThatFindsNoMemoryLeavesNothingOfIt) {
  for (int spared = 0; spared < 2; ++spared) {
    http::Head known, copy;
    known.Add("x", std::string(3'000, 'a'));
    int left = spared;  // of calls before the one that fails
    const std::function<bool()> one = [&left] { return left-- == 0; };
    {
      const test::FailingAllocations failing(&one);
      EXPECT_FALSE(copy.CopyOf(known)) << spared;
    }
    EXPECT_LT(left, 0);
    EXPECT_EQ(copy.stored_bytes(), 0U) << spared;
    EXPECT_TRUE(copy.headers().empty()) << spared;
  }
  base::Reserve::Refill();
}

TEST_F(Http1SessionTest, AHeadThatThereIsNoMemoryForIsRefused) {
  const std::string half = "POST /a HTTP/1.1\r\nhost: t\r\nx-long: " + std::string(5'000, 'x');
  peers_[0].under_way = half;
  Turn();
  peers_[0].under_way = half + "\r\n";
  int left = 1;  // of calls that fail: the refusal has its memory
  const std::function<bool()> once = [&left] { return left-- > 0; };
  {
    const test::FailingAllocations failing(&once);
    while (peers_[0].wire->Deliver(64 * 1024)) {
    }
  }
  Turn();
  EXPECT_LE(left, 0);
  EXPECT_TRUE(peers_[0].received.starts_with("HTTP/1.1 429 ")) << peers_[0].received;
  EXPECT_EQ(site_.told, "refused ") << "it is no breach";
  EXPECT_EQ(site_.refused_for_memory, 1);
}

TEST_F(Http1SessionTest, WhatWaitsBehindARequestGivesWayWhenMemoryIsShort) {
  site_.at_once = false;
  peers_[0].under_way = Requests(200);
  peers_[1].under_way = Requests(1);
  Turn();
  ASSERT_NE(sessions_[0]->pending_bytes(), 0U);
  for (Http1Session* session : sessions_) session->OnMemoryShort();
  EXPECT_EQ(sessions_[0]->pending_bytes(), 0U);
  EXPECT_EQ(site_.claimed, 0);
  for (Exchange* const exchange : std::exchange(site_.waiting, {})) site_.Answer(*exchange);
  Turn();
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 2) << "that of the request, and a refusal of those behind it";
  EXPECT_NE(peers_[0].received.find("HTTP/1.1 429 "), std::string::npos) << peers_[0].received;
  PassSeconds(3);
  EXPECT_TRUE(peers_[0].closed);
  EXPECT_EQ(Answers(peers_[1]), 1);
  EXPECT_FALSE(peers_[1].closed);
}

TEST_F(Http1SessionTest, RequestsOfAPeerThatReadsNoAnswersGiveWayWhenMemoryIsShort) {
  site_.answer_bytes = 100'000;
  read_by_peers_ = 0;
  peers_[0].under_way = Requests(50);
  for (int i = 0; i < 10; ++i) Turn();
  ASSERT_NE(sessions_[0]->pending_bytes(), 0U);
  sessions_[0]->OnMemoryShort();
  EXPECT_EQ(sessions_[0]->pending_bytes(), 0U);
  EXPECT_EQ(site_.requests, 3);
  read_by_peers_ = 1 << 30;
  for (int i = 0; i < 10; ++i) {
    if (peers_[0].wire->Take(1 << 30)) connections_.FlushDirty();
    Turn();
  }
  EXPECT_EQ(Answers(peers_[0]), 4);
  EXPECT_EQ(site_.requests, 3);
  PassSeconds(3);
  EXPECT_TRUE(peers_[0].closed);
}

TEST_F(Http1SessionTest, HeadsThatStillComeGiveWayWhenMemoryIsShort) {
  peers_[0].under_way = "POST /a HTTP/1.1\r\nhost: t\r\nx-long: " + std::string(20'000, 'x');
  Turn();
  for (Http1Session* session : sessions_) session->OnMemoryShort();
  Turn();
  EXPECT_TRUE(peers_[0].received.starts_with("HTTP/1.1 429 ")) << peers_[0].received;
  EXPECT_FALSE(peers_[1].closed) << "it has begun none";
}

TEST_F(Http1SessionTest, ABodyThatNobodyReadsIsDropped) {
  site_.takes_body = false;
  const std::string body(60'000, 'x');
  peers_[0].under_way = "GET /a HTTP/1.1\r\nhost: t\r\ncontent-length: 60000\r\n\r\n" + body;
  peers_[1].under_way = "GET /a HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n";
  for (int i = 0; i < 2; ++i) peers_[1].under_way += "ea60\r\n" + body + "\r\n";  // more than is passed over
  Turn();
  EXPECT_EQ(site_.requests, 1);
  EXPECT_EQ(site_.body_bytes, 0U);
  EXPECT_EQ(Answers(peers_[0]), 1);
  EXPECT_NE(peers_[1].received.find("HTTP/1.1 413 "), std::string::npos) << peers_[1].received;
}

// What is told of a request may be in the memory that Cancel frees.
TEST_F(Http1SessionTest, ARequestThatIsGivenUpIsToldBeforeItIsCancelled) {
  site_.at_once = false;
  for (test::SimPeer& peer : peers_) peer.under_way = Requests(1);
  Turn();
  peers_[0].broken = true;
  Turn();
  EXPECT_TRUE(peers_[0].wire->FinishClose());
  EXPECT_EQ(site_.told, "gone cancelled ");
  site_.told.clear();
  sessions_[1]->Abort();
  EXPECT_EQ(site_.told, "refused cancelled ");
  Turn();
  EXPECT_NE(peers_[1].received.find("HTTP/1.1 503 "), std::string::npos) << peers_[1].received;
  EXPECT_EQ(site_.finished, 2);
}

TEST_F(Http1SessionTest, TheDeadlineEndsABodyThatIsStillComing) {
  peers_[0].under_way = "POST /a HTTP/1.1\r\nhost: t\r\ncontent-length: 100000\r\n\r\n";
  Turn();
  peers_[0].under_way = std::string(20'000, ' ');
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 0);
  site_.PassDeadlines();
  Turn();
  EXPECT_NE(peers_[0].received.find("HTTP/1.1 408 "), std::string::npos) << peers_[0].received;
  EXPECT_NE(peers_[0].received.find("\r\nconnection: close"), std::string::npos);
  EXPECT_EQ(site_.refused, code::kTimeout);
  EXPECT_EQ(site_.finished, 1);  // its place is free
  EXPECT_EQ(site_.requests, 0);
}

TEST_F(Http1SessionTest, ADeadlineThatAConfigurationHasMovedIsWaitedForAgain) {
  peers_[0].under_way = "POST /a HTTP/1.1\r\nhost: t\r\ncontent-length: 4\r\n\r\n{ ";
  Turn();
  ASSERT_EQ(site_.armed.size(), 1U);
  Exchange& exchange = *std::exchange(site_.armed, {})[0];
  exchange.session->OnLate(exchange);
  EXPECT_EQ(site_.armed.size(), 1U);
  peers_[0].under_way = " }";
  Turn();
  EXPECT_EQ(site_.requests, 1);
  EXPECT_EQ(site_.armed.size(), 0U);
}

TEST_F(Http1SessionTest, ABodyThatIsWholeTooLateIsNotActedOn) {
  peers_[0].under_way = "POST /a HTTP/1.1\r\nhost: t\r\ncontent-length: 4\r\n\r\n{ ";
  Turn();
  site_.late = true;
  peers_[0].under_way = " }";
  Turn();
  EXPECT_NE(peers_[0].received.find("HTTP/1.1 408 "), std::string::npos) << peers_[0].received;
  EXPECT_EQ(peers_[0].received.find("\r\nconnection: close"), std::string::npos);
  site_.late = false;
  peers_[0].under_way = Requests(1);
  Turn();
  EXPECT_EQ(site_.requests, 1);
  EXPECT_EQ(Answers(peers_[0]), 2);
}

// What runs it knows its deadline, too.
TEST_F(Http1SessionTest, NobodyAsksWhetherABodyIsLateThatCameWithItsHead) {
  site_.late = true;
  peers_[0].under_way = "POST /a HTTP/1.1\r\nhost: t\r\ncontent-length: 4\r\n\r\n{  }";
  Turn();
  EXPECT_EQ(site_.requests, 1);
}

TEST_F(Http1SessionTest, ASlowBodyIsStillRefusedBeforeALongDeadline) {
  peers_[0].under_way = "POST /a HTTP/1.1\r\nhost: t\r\ncontent-length: 100000\r\n\r\nx";
  Turn();
  PassSeconds(5);
  EXPECT_NE(peers_[0].received.find("HTTP/1.1 408 "), std::string::npos) << peers_[0].received;
  EXPECT_EQ(site_.told, "slow refused ");
}

TEST_F(Http1SessionTest, ABodyIsAsSlowWhereWhatHadComeIsFreed) {
  peers_[0].under_way = "POST /a HTTP/1.1\r\nhost: t\r\ncontent-length: 40000\r\n\r\n" + std::string(30'000, 'x');
  Turn();
  PassSeconds(5);
  site_.room = 0;
  peers_[0].under_way = "x";
  Turn();
  EXPECT_EQ(site_.told, "") << "refused for memory, which waits for the rest";
  PassSeconds(5);
  EXPECT_EQ(site_.told, "slow refused ");
}

}  // namespace
}  // namespace wf::server
