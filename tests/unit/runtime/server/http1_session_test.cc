#include "runtime/server/http1_session.h"

#include <functional>
#include <string>
#include <utility>

#include "runtime/base/reserve.h"
#include "tests/unit/runtime/server/http1_case.h"
#include "tests/unit/support/sim_faults.h"

namespace wf::server {
namespace {

// Whether it has sent one before or not: what is on its way when the drain begins is answered, and that this is the last answer is told.
TEST_F(Http1SessionTest, WhoIsConnectedHasTimeForARequestWhileTheServerDrains) {
  peers_[1].under_way = Requests(1);
  Turn();
  ASSERT_EQ(Answers(peers_[1]), 1);
  site_.drains = true;
  const auto tick = [this] {
    for (Http1Session* session : sessions_) session->OnDrainTick();
  };
  for (int i = 1; i < Http1Session::kIdleTicks; ++i) {
    tick();
    Turn();
  }
  for (test::SimPeer& peer : peers_) peer.under_way = Requests(1);
  tick();  // what has come is seen, though it is not read
  Turn();
  EXPECT_EQ(Answers(peers_[0]), 1);
  EXPECT_EQ(Answers(peers_[1]), 2);
  for (test::SimPeer& peer : peers_) {
    EXPECT_NE(peer.received.find("connection: close"), std::string::npos);
    EXPECT_FALSE(peer.closed) << "it lingers";
    peer.under_way = Requests(1);
    peer.ended = true;
  }
  Turn();
  for (test::SimPeer& peer : peers_) EXPECT_TRUE(peer.closed);
  EXPECT_EQ(site_.requests, 3) << "what comes behind the last answer is dropped";
}

TEST_F(Http1SessionTest, WhoHasNothingToSayWhileTheServerDrainsIsClosed) {
  site_.drains = true;
  for (int i = 0; i < Http1Session::kIdleTicks + Http1Session::kLingerTicks; ++i) {
    for (test::SimPeer& peer : peers_) EXPECT_FALSE(peer.closed);
    for (Http1Session* session : sessions_) session->OnDrainTick();
    if (i > Http1Session::kIdleTicks) peers_[0].under_way = Requests(1);  // crosses the end
    Turn();
  }
  for (test::SimPeer& peer : peers_) EXPECT_TRUE(peer.closed);
  EXPECT_EQ(site_.requests, 0);
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

TEST_F(Http1SessionTest, WhoLeavesWhileItWaitsIsMissedBehindAllThatItHasSent) {
  constexpr int kRequests = 4 * Http1Session::kMaxPending / 200;
  for (const bool broken : {false, true}) {
    site_.at_once = false;
    test::SimPeer& peer = peers_[broken ? 1 : 0];
    peer.under_way = Requests(kRequests);
    for (int i = 0; i < 3; ++i) Turn();
    ASSERT_NE(peer.under_way, "") << "it is no longer read";
    PassSeconds(2);
    EXPECT_FALSE(peer.closed);
    (broken ? peer.broken : peer.ended) = true;
    PassSeconds(1);
    EXPECT_TRUE(peer.closed) << broken;
    EXPECT_EQ(peer.received, "");
    peer.wire->FinishClose();
  }
  EXPECT_EQ(site_.told, "gone cancelled gone cancelled ") << "what they waited for is taken back";
}

TEST_F(Http1SessionTest, WhatCameBeforeTheEndIsAnsweredWhereNothingWaits) {
  constexpr int kRequests = 4 * Http1Session::kMaxPending / 200;
  peers_[0].under_way = Requests(kRequests);
  peers_[0].ended = true;
  for (int i = 0; i < 1000 && !peers_[0].closed; ++i) {
    Turn();
    PassSeconds(1);
  }
  EXPECT_EQ(Answers(peers_[0]), kRequests);
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

TEST_F(Http1SessionTest, WhatWaitsBehindTheLastRequestIsNotKept) {
  site_.at_once = false;
  read_by_peers_ = 0;
  peers_[0].under_way = Requests(1) + "GET /a HTTP/1.1\r\nhost: t\r\nconnection: close\r\n\r\n" + Requests(200);
  Turn();
  ASSERT_GT(sessions_[0]->pending_bytes(), 30'000U);
  site_.at_once = true;
  site_.Answer();
  Turn();
  EXPECT_EQ(site_.requests, 2);
  EXPECT_EQ(sessions_[0]->pending_bytes(), 0U) << "though its answer is not read";
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

}  // namespace
}  // namespace wf::server
