#include "runtime/server/http1_session.h"

#include <string>
#include <utility>

#include "tests/unit/runtime/server/http1_case.h"

namespace wf::server {
namespace {

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
