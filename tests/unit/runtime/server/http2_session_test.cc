#include "runtime/server/http2_session.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/base/reserve.h"
#include "runtime/net/connections.h"
#include "tests/unit/runtime/server/test_site.h"
#include "tests/unit/support/http2_peer.h"
#include "tests/unit/support/sim_wires.h"

namespace wf::server {
namespace {

using namespace test::http2;
constexpr int64_t kSecond = 1'000'000'000;
constexpr int kRefusedStream = 7, kCancelled = 8, kEnhanceYourCalm = 11;

// One connection to a peer that the test moves, on a loop whose turns it takes.
class Http2SessionTest : public ::testing::Test, protected net::HandlerFactory {
 protected:
  Http2SessionTest() { connections_.Adopt(0); }
  ~Http2SessionTest() override {
    Leave();
    for (Exchange* const exchange : kept_) ReturnOne(*exchange);
    EXPECT_EQ(told_, "");
    EXPECT_EQ(site_.claimed, 0);
    EXPECT_EQ(owner_.exchanges().in_use(), 0U);
  }
  net::Handler* NewHandler(net::Connection& connection) noexcept override {
    connection_ = &connection;
    return owner_.Open(connection);
  }
  void Leave() {
    connections_.CloseAll();
    if (peer().wire != nullptr) peer().wire->FinishClose();
  }
  void Send(std::string_view bytes) {
    peer().under_way += bytes;
    Turn();
  }
  // What arrived is read first, in reads of 64 KiB, as a loop does; then one more turn for those that asked for it.
  void Turn() {
    while (peer().wire != nullptr && peer().wire->Deliver(64 * 1024)) {
    }
    for (int i = 0; i < 8; ++i) {
      peer().window = read_by_peer_;
      if (peer().wire != nullptr) peer().wire->Take(read_by_peer_);
      owner_.ResumeWaiting();
      connections_.FlushDirty();
    }
    reader_.Read(peer().received);
    peer().received.clear();
  }
  void PassSeconds(int count) {
    for (int i = 0; i < count; ++i) {
      clock_.AdvanceNs(kSecond);
      connections_.OnSecond();
      Turn();
    }
  }
  // A request that is under way elsewhere when its client goes.
  struct Elsewhere final : CodecQueue::Work {
    void Run() noexcept override {}
    void Deliver() noexcept override {}
  };
  void KeepOne(Exchange& exchange) {
    exchange.elsewhere = &elsewhere_;
    kept_.push_back(&exchange);
  }
  static void ReturnOne(Exchange& exchange) {
    exchange.elsewhere = nullptr;
    exchange.pool.GiveBackIfDone(exchange);
  }
  test::SimPeer& peer() { return peers_[0]; }
  Session& session() { return *static_cast<Session*>(connection_->handler()); }

  Elsewhere elsewhere_;
  test::FakeClock clock_;
  std::deque<test::SimPeer> peers_{1};
  std::string told_;
  test::SimWires wires_{clock_, peers_, [this](const std::string& what) { told_ += what; }};
  TestSite site_;
  Sessions owner_{site_, {}};
  net::Connection* connection_ = nullptr;
  net::Connections connections_{wires_, *this};
  test::Http2Reader reader_;
  size_t read_by_peer_ = 1 << 30;
  std::vector<Exchange*> kept_;
};

TEST_F(Http2SessionTest, BeginsWithThePrefaceWhereverItIsCut) {
  const std::string bytes = Start() + Post(1, "/a", "{}");
  for (const char byte : bytes) Send({&byte, 1});
  EXPECT_EQ(reader_.answers[1].head[":status"], "200");
  EXPECT_EQ(reader_.answers[1].body, "aa");
  EXPECT_EQ(site_.requests, 1);
  EXPECT_EQ(site_.body_bytes, 2U);
  EXPECT_EQ(site_.told, "");
}

TEST_F(Http2SessionTest, HasManyRequestsUnderWay) {
  site_.at_once = false;
  std::string all = Start();
  for (uint32_t i = 0; i < 100; ++i) all += Post(2 * i + 1, "/a", "{}");
  Send(all);
  ASSERT_EQ(site_.waiting.size(), 100U);
  while (!site_.waiting.empty()) {  // the last first
    site_.Answer(*site_.waiting.back());
    Turn();
  }
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(reader_.answers[2 * i + 1].body, "aa");
  EXPECT_EQ(site_.finished, 101);  // and what was taken for a head of HTTP/1.1
}

TEST_F(Http2SessionTest, AResetIsALeavingClient) {
  site_.at_once = false;
  Send(Start() + Post(1, "/a", "{}") + Frame(kHeaders, kEndHeaders, 3, Block(Request("POST", "/a"))));
  EXPECT_EQ(site_.requests, 1);
  Send(ResetOf(1));
  EXPECT_EQ(site_.told, "gone cancelled ");
  Send(ResetOf(3));
  EXPECT_EQ(site_.told, "gone cancelled gone ");
  EXPECT_EQ(owner_.exchanges().in_use(), 0U);
  Send(Get(5, "/") + ResetOf(5));  // in the same read
  EXPECT_EQ(site_.requests, 1);
}

TEST_F(Http2SessionTest, AResetRequestKeepsItsPlaceWhileItIsUnderWay) {
  site_.at_once = false;
  Send(Start());
  for (uint32_t i = 0; i < 100; ++i) {
    Send(Post(2 * i + 1, "/a", "{}"));
    KeepOne(*site_.waiting.back());
    Send(ResetOf(2 * i + 1));
  }
  EXPECT_EQ(site_.requests, 100);
  Send(Post(301, "/a", "{}"));
  EXPECT_EQ(site_.requests, 100);
  EXPECT_EQ(reader_.answers[301].reset, kRefusedStream);
  ReturnOne(*kept_.back());
  kept_.pop_back();
  Send(Post(303, "/a", "{}"));
  EXPECT_EQ(site_.requests, 101);
}

TEST_F(Http2SessionTest, RequestsThatOutliveTheirConnectionMayComeBackLater) {
  site_.at_once = false;
  Send(Start() + Post(1, "/a", "{}") + Post(3, "/a", "{}"));
  for (Exchange* const exchange : site_.waiting) KeepOne(*exchange);
  Leave();
  EXPECT_EQ(site_.told, "gone cancelled gone cancelled ");
  EXPECT_EQ(owner_.exchanges().in_use(), 2U);
}

TEST_F(Http2SessionTest, ARefusalIsAnsweredBeforeTheBodyAndTheConnectionGoesOn) {
  Send(Start() + Frame(kHeaders, kEndHeaders, 1, Block(Request("POST", "/a", {{"content-length", "2000000"}}))));
  EXPECT_EQ(reader_.answers[1].head[":status"], "413");
  EXPECT_EQ(reader_.answers[1].reset, -1);
  Send(Frame(kData, 0, 1, std::string(16384, 'x')));
  PassSeconds(3);
  EXPECT_EQ(reader_.answers[1].reset, 0);
  Send(Frame(kData, 0, 1, std::string(16384, 'x')));
  Send(Frame(kHeaders, kEndHeaders, 3, Block(Request("POST", "/a"))));
  for (int i = 0; i < 65; ++i) Send(Frame(kData, 0, 3, std::string(16384, 'x')));
  EXPECT_EQ(reader_.answers[3].head[":status"], "413");
  EXPECT_EQ(site_.requests, 0);
  Send(Post(5, "/a", "{}"));
  EXPECT_EQ(reader_.answers[5].head[":status"], "200");
}

TEST_F(Http2SessionTest, ALargeHeadIsRefused) {
  const std::string block = Block(Request("GET", "/", {{"x-a", std::string(40'000, 'a')}}));
  Send(Start() + Frame(kHeaders, kEndStream, 1, block.substr(0, 16384)) + Frame(kContinuation, 0, 1, block.substr(16384, 16384)) +
       Frame(kContinuation, kEndHeaders, 1, block.substr(32768)));
  EXPECT_EQ(reader_.answers[1].head[":status"], "431");
  EXPECT_NE(reader_.answers[1].body.find("the headers are too large"), std::string::npos);
  EXPECT_EQ(site_.heads, 0);
  EXPECT_EQ(owner_.exchanges().in_use(), 0U);
}

TEST_F(Http2SessionTest, AnswersAreClaimedUntilTheyHaveLeft) {
  site_.answer_bytes = 1 << 20;
  Send(Start() + Frame(kSettings, 0, 0, Number(4, 2) + Number(1 << 30, 4)) + WindowOf(0, 1 << 30));
  peer().window = read_by_peer_ = 0;
  Send(Get(1, "/") + Get(3, "/"));
  EXPECT_GE(site_.claimed, 2 << 20);
  EXPECT_LT(connection_->out().size(), net::ConnectionLimits{}.unsent_bytes + 64 * 1024);
  read_by_peer_ = 1 << 30;
  Turn();
  Turn();
  EXPECT_EQ(site_.claimed, 0);
  EXPECT_EQ(reader_.answers[1].body.size() + reader_.answers[3].body.size(), 2U << 20);
}

TEST_F(Http2SessionTest, WithoutRoomTheAnswerIsShort) {
  site_.room = 100'000;
  site_.answer_bytes = 80'000;
  Send(Start() + Get(1, "/") + Get(3, "/"));
  EXPECT_EQ(reader_.answers[1].body.size() + reader_.answers[3].body.size(), 65535U);  // the windows of a new connection
  Send(WindowOf(0, 1 << 20) + WindowOf(1, 1 << 20) + WindowOf(3, 1 << 20));
  EXPECT_EQ(reader_.answers[1].body.size(), 80'000U);
  EXPECT_EQ(reader_.answers[3].body.size(), 1U);
}

TEST_F(Http2SessionTest, OwnAnswersAreRefusedWithoutRoom) {
  site_.room = 100'000;
  site_.answer_bytes = 80'000;
  site_.asks_for_room = false;
  Send(Start() + Get(1, "/") + Get(3, "/"));
  EXPECT_EQ(site_.refused_for_memory, 1);
  EXPECT_EQ(reader_.answers[3].head[":status"], "429");
}

TEST_F(Http2SessionTest, WhoHoldsWhatThereIsNoRoomForIsClosed) {
  site_.room = 0;
  site_.answer_bytes = 1'000;
  site_.asks_for_room = false;
  Send(Start() + Frame(kSettings, 0, 0, Number(4, 2) + Number(0, 4)));
  std::string requests;
  for (uint32_t i = 0; i < 50; ++i) requests += Get(1 + 2 * i, "/");  // each answer keeps a block
  Send(requests);
  EXPECT_EQ(site_.claimed, 0);
  EXPECT_TRUE(connection_->closing());
  EXPECT_EQ(site_.broken_for_memory, 1);
}

TEST_F(Http2SessionTest, HeadsWhoseBodiesComeAreClaimed) {
  site_.room = 200'000;
  Send(Start());
  const std::string block = Block(Request("POST", "/a", {{"x", std::string(8'000, 'x')}}));
  for (uint32_t i = 0; i < 40; ++i) Send(Frame(kHeaders, kEndHeaders, 1 + 2 * i, block));
  EXPECT_GE(site_.claimed, 100'000);
  EXPECT_GE(site_.refused_for_memory, 10);
  for (uint32_t i = 0; i < 40; ++i) Send(ResetOf(1 + 2 * i));
  EXPECT_EQ(site_.claimed, 0);
}

TEST_F(Http2SessionTest, SmallBodiesThatComeAreClaimed) {
  site_.room = 200'000;
  Send(Start());
  for (uint32_t i = 0; i < 40; ++i)
    Send(Frame(kHeaders, kEndHeaders, 1 + 2 * i, Block(Request("POST", "/a"))) + Frame(kData, 0, 1 + 2 * i, std::string(8'000, 'x')));
  EXPECT_GE(site_.claimed, 100'000);
  EXPECT_GE(site_.refused_for_memory, 10);
  Leave();
  EXPECT_EQ(site_.claimed, 0);
}

TEST_F(Http2SessionTest, AConnectionKeepsTheStreamsThatItWasTold) {
  site_.at_once = false;
  Send(Start());
  SessionLimits fewer;
  fewer.of_http2.streams = 2;
  owner_.set_limits(fewer);
  for (uint32_t i = 0; i < 10; ++i) Send(Get(1 + 2 * i, "/"));
  EXPECT_EQ(site_.waiting.size(), 10U);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(reader_.answers[1 + 2 * i].reset, -1);
  while (!site_.waiting.empty()) {
    site_.Answer(*site_.waiting.back());
    Turn();
  }
}

TEST_F(Http2SessionTest, LimitsOfHeadsHoldForTheNextOneOfAConnection) {
  const Fields more = {{"x-some", std::string(134, 'x')}};
  Send(Start());
  for (uint32_t stream = 1; stream < 7; stream += 2) Send(Post(stream, "/a", "{}", more));  // so that its bytes are known
  SessionLimits limits;
  limits.head.head_bytes = 150;
  const std::string begun = Frame(kHeaders, kEndHeaders | kEndStream, 7, Block(Request("GET", "/a", more)));
  Send(begun.substr(0, 100));
  owner_.set_limits(limits);
  Send(begun.substr(100));
  Send(Post(9, "/a", "{}", more));
  for (uint32_t stream = 1; stream < 9; stream += 2) EXPECT_EQ(reader_.answers[stream].head[":status"], "200") << stream;
  EXPECT_EQ(reader_.answers[9].head[":status"], "431");
}

TEST_F(Http2SessionTest, RequestsThatDoNotGoOnAreCountedAndRefusedWithoutRoom) {
  site_.room = 100'000;
  site_.last = 300'000;
  std::string all = Start();
  for (uint32_t i = 0; i < 100; ++i) all += Frame(kHeaders, kEndHeaders, 2 * i + 1, Block(Request("POST", "/a")));
  Send(all);
  EXPECT_GT(site_.claimed, 100'000);
  EXPECT_GT(site_.refused_for_memory, 50);
  EXPECT_LT(site_.refused_for_memory, 80);
  EXPECT_EQ(reader_.answers[1].head.size(), 0U);
  EXPECT_EQ(reader_.answers[199].head[":status"], "429");
  PassSeconds(3);  // the refused ones are reset
  EXPECT_LE(site_.claimed, 100'000);
  Send(Frame(kData, kEndStream, 1, "x"));
  EXPECT_EQ(reader_.answers[1].head[":status"], "200");
}

TEST_F(Http2SessionTest, AFloodIsToldAndEndsTheConnection) {
  Send(Start());
  for (uint32_t i = 0; i < 40 && !peer().closed; ++i) {
    std::string flood;
    for (uint32_t k = 0; k < 50; ++k) flood += Get(2 * (50 * i + k) + 1, "/") + ResetOf(2 * (50 * i + k) + 1);
    Send(flood);
  }
  EXPECT_EQ(reader_.goaway, kEnhanceYourCalm);
  EXPECT_NE(site_.told.find("limit "), std::string::npos) << site_.told;
  PassSeconds(3);
  EXPECT_TRUE(peer().closed);
  EXPECT_LT(peer().delivered, 300'000U);
}

// The connection lingers; whatever its requests come to, nobody will be told.
TEST_F(Http2SessionTest, WhatIsUnderWayIsGivenUpWithTheConnection) {
  site_.at_once = false;
  const std::string coming = Frame(kHeaders, kEndHeaders, 3, Block(Request("POST", "/a")));
  Send(Start() + Post(1, "/a", "{}") + coming);
  ASSERT_EQ(site_.requests, 1);
  Send(WindowOf(9, 1) + Frame(kData, kEndStream, 3, "{}"));  // of an idle stream, which nghttp2 sees
  EXPECT_FALSE(peer().closed);
  EXPECT_GT(reader_.goaway, 0);
  EXPECT_EQ(site_.told, "protocol gone gone cancelled ");
  EXPECT_EQ(site_.requests, 1);
  EXPECT_EQ(owner_.exchanges().in_use(), 0U);
  PassSeconds(3);
  EXPECT_TRUE(peer().closed);
}

TEST_F(Http2SessionTest, AFloodOfAPeerThatReadsNothingGivesUpWhatIsUnderWay) {
  site_.at_once = false;
  Send(Start() + Get(1, "/"));
  read_by_peer_ = 0;
  for (int i = 0; i < 1100; ++i) Send(Frame(kPing, 0, 0, "12345678"));
  EXPECT_EQ(reader_.goaway, -1);
  EXPECT_EQ(site_.told, "limit gone cancelled ");
  EXPECT_EQ(owner_.exchanges().in_use(), 0U);
}

TEST_F(Http2SessionTest, AnIdleConnectionIsToldAndClosed) {
  Send(Start() + Get(1, "/"));
  PassSeconds(74);
  EXPECT_EQ(reader_.goaway, -1);
  PassSeconds(1);
  EXPECT_EQ(reader_.goaway, 0);
  EXPECT_EQ(reader_.last_stream, 1U);
  PassSeconds(3);
  EXPECT_TRUE(peer().closed);
}

TEST_F(Http2SessionTest, RequestsKeepAConnectionAndPingsDoNot) {
  Send(Start());
  for (uint32_t i = 0; i < 10; ++i) {
    Send(Get(2 * i + 1, "/"));
    PassSeconds(40);
  }
  EXPECT_EQ(reader_.goaway, -1);
  for (int i = 0; i < 34; ++i) {
    Send(Frame(kPing, 0, 0, "12345678"));
    PassSeconds(1);
  }
  EXPECT_EQ(reader_.goaway, -1);
  Send(std::string(4, '\0'));  // of a frame
  PassSeconds(1);
  EXPECT_EQ(reader_.goaway, 0);
  PassSeconds(3);
  EXPECT_TRUE(peer().closed);
}

TEST_F(Http2SessionTest, TheFirstFrameHasTheTimeOfAHead) {
  Send(std::string(kPreface));
  PassSeconds(9);
  EXPECT_FALSE(peer().closed);
  PassSeconds(4);
  EXPECT_TRUE(peer().closed);
  EXPECT_EQ(site_.told, "slow ");
}

TEST_F(Http2SessionTest, ARequestUnderWayKeepsTheConnection) {
  site_.at_once = false;
  Send(Start() + Get(1, "/"));
  PassSeconds(200);
  site_.Answer();
  Turn();
  EXPECT_EQ(reader_.answers[1].body, "aa");
  EXPECT_FALSE(peer().closed);
}

TEST_F(Http2SessionTest, AHeadThatDoesNotGoOnEndsTheConnection) {
  Send(Start() + Frame(kHeaders, 0, 1, Block(Request("GET", "/"))));
  PassSeconds(9);
  EXPECT_EQ(reader_.goaway, -1);
  PassSeconds(4);
  EXPECT_GT(reader_.goaway, 0);
  EXPECT_TRUE(peer().closed);
  EXPECT_EQ(site_.told, "slow ");
}

TEST_F(Http2SessionTest, AHeadThatWasDroppedAndDoesNotGoOnEndsTheConnection) {
  Send(Start() + Frame(kHeaders, 0, 1, Block(Request("GET", "/"))));
  session().OnMemoryShort();
  ASSERT_TRUE(base::Reserve::Keep());
  base::Reserve::NoteFailed(1);  // what is given back is freed: nobody may look at it any more
  PassSeconds(13);
  EXPECT_TRUE(peer().closed);
  EXPECT_EQ(site_.told, "slow ");
  EXPECT_TRUE(base::Reserve::Refill());
}

TEST_F(Http2SessionTest, ASlowBodyIsRefusedWhateverTheOthersDo) {
  Send(Start() + Frame(kHeaders, kEndHeaders, 1, Block(Request("POST", "/a"))) +
       Frame(kHeaders, kEndHeaders, 3, Block(Request("POST", "/a"))));
  for (int i = 0; i < 6; ++i) {
    Send(Frame(kData, 0, 1, "x") + Frame(kData, 0, 3, std::string(2000, 'x')) + Get(static_cast<uint32_t>(5 + 2 * i), "/"));
    PassSeconds(1);
  }
  EXPECT_EQ(reader_.answers[1].head[":status"], "408");
  EXPECT_EQ(reader_.answers[3].head.size(), 0U);
  Send(Frame(kData, kEndStream, 3, "x"));
  EXPECT_EQ(reader_.answers[3].head[":status"], "200");
}

TEST_F(Http2SessionTest, TheDeadlineEndsABodyThatIsStillComing) {
  Send(Start() + Frame(kHeaders, kEndHeaders, 1, Block(Request("POST", "/a"))));
  site_.PassDeadlines();
  Turn();
  EXPECT_EQ(reader_.answers[1].head[":status"], "408");
}

TEST_F(Http2SessionTest, ABodyThatIsWholeTooLateIsNotActedOnUnlessItCameWithItsHead) {
  site_.late = true;
  Send(Start() + Frame(kHeaders, kEndHeaders, 1, Block(Request("POST", "/a"))) + Frame(kData, kEndStream, 1, "x"));
  EXPECT_EQ(reader_.answers[1].head[":status"], "200");
  Send(Frame(kHeaders, kEndHeaders, 3, Block(Request("POST", "/a"))));
  Send(Frame(kData, kEndStream, 3, "x"));
  EXPECT_EQ(reader_.answers[3].head[":status"], "408");
}

TEST_F(Http2SessionTest, BodiesThatAreStillComingGiveWayWhereMemoryIsShort) {
  site_.at_once = false;
  Send(Start() + Frame(kHeaders, kEndHeaders, 1, Block(Request("POST", "/a"))) + Frame(kData, 0, 1, "half") + Post(3, "/a", "{}"));
  ASSERT_EQ(site_.waiting.size(), 1U);
  session().OnMemoryShort();
  Turn();
  EXPECT_EQ(reader_.answers[1].head[":status"], "429");
  EXPECT_TRUE(reader_.answers[1].ended);
  EXPECT_FALSE(reader_.answers[3].ended);
  site_.Answer(*site_.waiting.back());
  Turn();
  EXPECT_EQ(reader_.answers[3].head[":status"], "200");
}

TEST_F(Http2SessionTest, AHeadThatStillComesIsDroppedWhenMemoryIsShort) {
  const std::string block = Block(Request("GET", "/a", {{"x-long", std::string(9'000, 'x')}, {"last", "y"}}));
  const size_t half = block.size() - 1;
  Send(Start() + Frame(kHeaders, kEndStream, 1, block.substr(0, half)));
  const int64_t before = site_.claimed;
  EXPECT_GT(before, 0);
  session().OnMemoryShort();
  Turn();
  EXPECT_LT(site_.claimed, before);
  Send(Frame(kContinuation, kEndHeaders, 1, block.substr(half)) + Get(3, "/"));
  EXPECT_EQ(reader_.answers[1].head[":status"], "429");
  EXPECT_EQ(reader_.answers[3].head[":status"], "200");
  EXPECT_EQ(site_.requests, 1);
}

TEST_F(Http2SessionTest, TheRefusalOfADroppedHeadOfGrpcIsOneOfGrpc) {
  const std::string block = Block(Request("POST", "/a.B/C", {{"content-type", "application/grpc"}, {"last", "y"}}));
  Send(Start() + Frame(kHeaders, 0, 1, block.substr(0, block.size() - 1)));
  session().OnMemoryShort();
  Send(Frame(kContinuation, kEndHeaders, 1, block.substr(block.size() - 1)));
  EXPECT_EQ(reader_.answers[1].head[":status"], "200");
  EXPECT_EQ(reader_.answers[1].head["grpc-status"], "8");
}

TEST_F(Http2SessionTest, AnswersThatNobodyReadsAreReset) {
  site_.answer_bytes = 200'000;
  Send(Start() + Get(1, "/"));
  PassSeconds(59);
  EXPECT_EQ(reader_.answers[1].reset, -1);
  PassSeconds(31);
  EXPECT_EQ(reader_.answers[1].reset, kCancelled);
  EXPECT_EQ(site_.claimed, 0);
}

TEST_F(Http2SessionTest, ADrainServesWhatHasBegun) {
  site_.at_once = false;
  Send(Start() + Get(1, "/"));
  session().OnDrainTick();
  Turn();
  EXPECT_EQ(reader_.goaway, 0);
  EXPECT_EQ(reader_.last_stream, 0x7fffffffU);
  Send(Get(3, "/"));  // was on its way
  session().OnDrainTick();
  Turn();
  EXPECT_EQ(reader_.last_stream, 3U);
  Send(Get(5, "/"));
  EXPECT_EQ(site_.requests, 2);
  while (!site_.waiting.empty()) {
    site_.Answer(*site_.waiting.back());
    Turn();
  }
  EXPECT_EQ(reader_.answers[1].body + reader_.answers[3].body, "aaaa");
  PassSeconds(3);
  EXPECT_TRUE(peer().closed);
}

TEST_F(Http2SessionTest, TheLimitOfADrainAnswersAll) {
  site_.at_once = false;
  Send(Start() + Get(1, "/") + Frame(kHeaders, kEndHeaders, 3, Block(Request("POST", "/a"))) +
       Frame(kHeaders, 0, 5, Block(Request("GET", "/"))));
  session().Abort();
  Turn();
  EXPECT_EQ(reader_.answers[1].head[":status"], "503");
  EXPECT_EQ(reader_.answers[3].head[":status"], "503");
  EXPECT_EQ(site_.told, "refused refused cancelled ");  // the newest first
  EXPECT_TRUE(peer().closed);
}

}  // namespace
}  // namespace wf::server
