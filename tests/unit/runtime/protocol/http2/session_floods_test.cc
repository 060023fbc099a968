#include "tests/unit/runtime/protocol/http2/session_fixture.h"

namespace wf::http2 {
namespace {

TEST_F(SessionTest, BreakingTheFramesEndsTheConnection) {
  const std::string broken[] = {
      Frame(kData, 0, 1, "x"),                                                                          // RFC 9113 5.1: an idle stream
      Frame(kHeaders, kEndStream | kEndHeaders, 2, Block(test::http2::Request("GET", "/"))),            // 5.1.1: even
      Frame(kSettings, 0, 1, ""),                                                                       // 6.5
      Frame(kSettings, 0, 0, "12345"),                                                                  // 6.5: not a multiple of 6
      Frame(kPing, 0, 0, "1234"),                                                                       // 6.7
      Frame(kWindow, 0, 0, Number(0, 4)),                                                               // 6.9
      Frame(kContinuation, kEndHeaders, 1, ""),                                                         // 6.10
      Frame(kHeaders, 0, 1, Block(test::http2::Request("GET", "/"))) + Frame(kPing, 0, 0, "12345678"),  // 6.2
      Frame(kHeaders, kEndStream | kEndHeaders, 1, "\xff\xff\xff\xff\xff\xff"),                         // HPACK
      Frame(kPush, kEndHeaders, 1, Number(2, 4)),                                                       // 8.4
      Frame(kData, 0, 0, "x"),                                                                          // 6.1
      ResetOf(1) + Get(1, "/"),                                                                         // 6.4: an idle stream
      Get(1, "/") + ResetOf(3),                                                                         // 6.4
      ResetOf(2),                                                                                       // 6.4: idle, the server's own
      Frame(kReset, 0, 1, "12345"),                                                                     // 6.4
      std::string("\xff\xff\xff", 3) + std::string("\0\0\0\0\0\1", 6),                                  // 4.2: larger than a frame may be
      Frame(kSettings, 0, 0, Number(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 2) + Number(0x80000000, 4)),  // 6.5.2
      Frame(kSettings, 0, 0, Number(NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 2) + Number(1, 4)),                // 6.5.2
      Frame(kSettings, 0, 0, Number(NGHTTP2_SETTINGS_ENABLE_PUSH, 2) + Number(2, 4)),                   // 6.5.2
      Frame(kPriority, 0, 0, Number(0, 4) + "x"),                                                       // 6.3
      Frame(kHeaders, kEndStream, 1, Block(test::http2::Request("GET", "/"))) +
          Frame(kContinuation, kEndHeaders, 1, Block({{"x-a", std::string(16'384, 'a')}})),  // 4.2
      Get(1, "/") + ResetOf(1) + Frame(kData, kEndStream, 1, ""),                            // 5.1: ended
      Get(1, "/") + Get(1, "/"),                                                             // 5.1: half closed
      Post(1, "/", "{}") + Frame(kData, 0, 1, "x"),                                          // 5.1: half closed
      Get(5, "/") + Get(3, "/"),                                                             // 5.1.1
  };
  int i = 0;
  for (const std::string& bytes : broken) {
    Open({});
    EXPECT_FALSE(Feed(bytes)) << i;
    EXPECT_GT(reader_->goaway, 0) << i;
    EXPECT_TRUE(session_.over()) << i;
    EXPECT_NE(why_broken_, "") << i;
    EXPECT_EQ(why_broken_, reader_->debug) << i;
    EXPECT_NE(why_broken_.find(' '), std::string::npos) << i << ": the name of an error alone: " << why_broken_;
    EXPECT_EQ(breach_, http::Breach::kProtocol) << i;
    ++i;
  }
}

TEST_F(SessionTest, APrefaceThatGoesOnAsSomethingElseEndsTheConnection) {
  session_.Close();
  ASSERT_TRUE(session_.Open({}));
  alive_ = true;
  EXPECT_FALSE(Feed("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n"));
  EXPECT_EQ(why_broken_, "the connection does not begin with the preface of HTTP/2");
  EXPECT_EQ(reader_->debug, why_broken_);
}

// ---- calls of gRPC that are reset before their heads are written ----

std::string Call(uint32_t stream) { return Post(stream, "/a.B/C", "12345", {{"content-type", "application/grpc"}}); }

TEST_F(SessionTest, OfGrpcResetsOfIdleStreamsArePassedOver) {
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "ok"); };
  const std::string bytes = ResetOf(1) + ResetOf(7) + Call(3) + ResetOf(5) + Call(9) + ResetOf(7) + Get(11, "/") + ResetOf(13) +
                            ResetOf(0x7fff'ffff) + Frame(kPing, 0, 0, "12345678") + Call(13) + ResetOf(15);
  for (size_t cut = 1; cut <= bytes.size(); ++cut) {
    Open({});
    ASSERT_TRUE(Feed(bytes, cut)) << cut;
    EXPECT_EQ(reader_->goaway, -1) << cut;
    EXPECT_EQ(reader_->frames[kPing], 1) << cut;
    ASSERT_EQ(requests_.size(), 4U) << cut;
    for (const uint32_t stream : {3U, 9U, 11U, 13U}) EXPECT_EQ(reader_->answers[stream].body, "ok") << cut << ": " << stream;
  }
}

TEST_F(SessionTest, AllOfWhatIsNotGrpcGoesByTheRuleWhereverItIsCut) {
  for (const std::string& bytes : {ResetOf(5) + Get(1, "/"), Get(1, "/") + ResetOf(5)}) {
    for (size_t cut = 1; cut <= bytes.size(); ++cut) {
      Open({});
      EXPECT_FALSE(Feed(bytes, cut)) << cut;
      EXPECT_EQ(reader_->goaway, kProtocolError) << cut;
      EXPECT_EQ(heads_, bytes.starts_with(Get(1, "/")) ? 1 : 0) << cut << ": one behind the mistake is not begun";
    }
  }
}

TEST_F(SessionTest, OfGrpcOtherFramesOfIdleStreamsEndTheConnection) {
  for (const std::string& bytes : {Frame(kData, 0, 3, "x"), WindowOf(3, 1), Frame(kReset, 0, 3, "123"), ResetOf(2), ResetOf(0)}) {
    for (size_t cut = 1; cut <= bytes.size(); ++cut) {
      Open({});
      EXPECT_TRUE(Feed(Call(1)));
      EXPECT_FALSE(Feed(bytes, cut)) << cut;
      EXPECT_GT(reader_->goaway, 0) << cut;
    }
  }
}

// ---- what a peer may do for nothing ----

TEST_F(SessionTest, FloodsEndTheConnection) {
  const std::function<std::string(uint32_t)> floods[] = {
      [](uint32_t i) { return Get(2 * i + 1, "/") + ResetOf(2 * i + 1); },               // CVE-2023-44487
      [](uint32_t i) { return (i == 0 ? Call(1) : "") + ResetOf(2 * i + 3); },           // idle ones
      [](uint32_t i) { return ResetOf(2 * i + 1); },                                     // before any request
      [](uint32_t i) { return Get(2 * i + 1, "/") + WindowOf(2 * i + 1, 0x7fffffff); },  // CVE-2025-8671: the server resets
      [](uint32_t) { return Frame(kPing, 0, 0, "12345678"); },                           // CVE-2019-9512
      [](uint32_t) { return Frame(kSettings, 0, 0, ""); },                               // CVE-2019-9515
      [](uint32_t i) {
        return (i == 0 ? Frame(kHeaders, kEndHeaders, 1, Block(test::http2::Request("POST", "/"))) : "") + Frame(kData, 0, 1, "");
      },                                                                              // CVE-2019-9518
      [](uint32_t i) { return Frame(kPriority, 0, 2 * i + 1, Number(0, 4) + "x"); },  // CVE-2019-9513
      [](uint32_t i) {                                                                // CVE-2024-28182
        return i == 0 ? Frame(kHeaders, kEndStream, 1, Block(test::http2::Request("GET", "/"))) : Frame(kContinuation, 0, 1, "");
      },
      [](uint32_t i) {  // RFC 7541: one byte brings back a field of 4,000
        const std::string first = i == 0 ? '\x40' + Text("x-bomb") + Text(std::string(3900, 'b')) : "";
        return Frame(kHeaders, kEndStream | kEndHeaders, 2 * i + 1,
                     Block(test::http2::Request("GET", "/")) + first + std::string(50, '\xbe'));
      },
      [](uint32_t) { return Frame(0xbe, 0, 0, "of no type that is known"); },
      [](uint32_t) { return Frame(0x10, 0, 0, Number(1, 4) + "u=1"); },  // PRIORITY_UPDATE
      [](uint32_t) { return Frame(kPing, kAck, 0, "12345678"); },        // of no ping
      [](uint32_t i) {                                                   // once is enough
        return (i == 0 ? Frame(kHeaders, kEndHeaders, 1, Block(test::http2::Request("POST", "/"))) : "") +
               Frame(kGoAway, 0, 0, std::string(8, '\0'));
      },
      [](uint32_t i) {  // padding alone
        return (i == 0 ? Frame(kHeaders, kEndHeaders, 1, Block(test::http2::Request("POST", "/"))) : "") +
               Frame(kData, kPadded, 1, "\x03" + std::string(3, '\0'));
      },
  };
  int which = 0;
  for (const auto& flood : floods) {
    Open({});
    uint32_t i = 0;
    while (i < 3000 && Feed(flood(i))) {
      ++i;
      now_ms_ += 1;
    }
    EXPECT_LT(i, 1200U) << which;
    EXPECT_EQ(reader_->goaway, kEnhanceYourCalm) << which;
    EXPECT_NE(why_broken_, "") << which;
    EXPECT_EQ(why_broken_, reader_->debug) << which;
    EXPECT_EQ(breach_, http::Breach::kLimit) << which;
    ++which;
  }
}

// What tells the peer why may never leave.
TEST_F(SessionTest, AFloodOfAPeerThatReadsNothingIsTold) {
  const std::string ping = Frame(kPing, 0, 0, "12345678");
  int sent = 0;
  while (sent < 3000 && why_broken_.empty()) {
    session_.Receive({reinterpret_cast<const uint8_t*>(ping.data()), ping.size()}, now_ms_);
    ++sent;
  }
  EXPECT_LT(sent, 1200);
  EXPECT_EQ(breach_, http::Breach::kLimit);
  EXPECT_EQ(why_broken_, "more resets, pings and their like than `limits.control_frames`");
}

TEST_F(SessionTest, APeerThatTakesTooLongIsToldAsThat) {
  Feed(Frame(kHeaders, 0, 1, Block(test::http2::Request("GET", "/")).substr(0, 1)));
  session_.Fail();
  Pump();
  EXPECT_EQ(reader_->goaway, kProtocolError);
  EXPECT_EQ(breach_, http::Breach::kSlow);
  EXPECT_EQ(reader_->debug, "the head of a request did not arrive in time");
}

TEST_F(SessionTest, WhatEndsInPeaceIsNoBreach) {
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "ok"); };
  Feed(Get(1, "/"));
  session_.GoAway();
  Pump();
  EXPECT_TRUE(session_.over());
  EXPECT_EQ(why_broken_, "");
}

TEST_F(SessionTest, WhoHasSpentMostIsAskedToGoOnElsewhere) {
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "ok"); };
  constexpr uint32_t kMost = 749;  // with SETTINGS three quarters
  ASSERT_TRUE(Feed(Call(1)));
  ASSERT_TRUE(Feed(Frame(kPing, 0, 0, "12345678"))) << "for the answer";
  for (uint32_t i = 0; i < kMost; ++i) ASSERT_TRUE(Feed(Frame(kPing, 0, 0, "12345678"))) << i;
  EXPECT_EQ(reader_->goaway, -1);
  ASSERT_TRUE(Feed(Frame(kPing, 0, 0, "12345678")));
  EXPECT_EQ(reader_->goaway, 0);
  EXPECT_EQ(reader_->last_stream, 0x7fff'ffffU);
  EXPECT_FALSE(session_.over());
  for (uint32_t i = 1; i < 100; ++i) ASSERT_TRUE(Feed(Call(2 * i + 1) + Frame(kPing, 0, 0, "12345678"))) << i << ": what is on its way";
  EXPECT_EQ(reader_->answers[199].body, "ok");
  EXPECT_EQ(reader_->frames[kGoAway], 1) << "once";
  EXPECT_EQ(why_broken_, "");
}

TEST_F(SessionTest, WhoSpeaksNoGrpcMaySpendAllInPeace) {
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "ok"); };
  ASSERT_TRUE(Feed(Get(1, "/")));
  for (uint32_t i = 0; i < 990; ++i) ASSERT_TRUE(Feed(Frame(kPing, 0, 0, "12345678"))) << i;
  EXPECT_EQ(reader_->goaway, -1);
}

TEST_F(SessionTest, WhatIsSpreadOverTimeIsNoFlood) {
  for (uint32_t i = 0; i < 3000; ++i) {
    ASSERT_TRUE(Feed(Frame(kPing, 0, 0, "12345678"))) << i;
    now_ms_ += 31;
  }
  EXPECT_EQ(reader_->frames[kPing], 3000);
}

TEST_F(SessionTest, TheEndOfEachBodyIsFree) {
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "ok"); };
  for (uint32_t i = 0; i < 3000; ++i) {
    const std::string head = Frame(kHeaders, kEndHeaders, 2 * i + 1, Block(test::http2::Request("POST", "/")));
    ASSERT_TRUE(Feed(head + Frame(kData, kEndStream, 2 * i + 1, ""))) << i;
  }
}

TEST_F(SessionTest, APingForEachAnswerIsFree) {
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "ok"); };
  for (uint32_t i = 0; i < 3000; ++i) ASSERT_TRUE(Feed(Get(2 * i + 1, "/")) && Feed(Frame(kPing, 0, 0, "12345678"))) << i;
}

}  // namespace
}  // namespace wf::http2
