#include "runtime/protocol/http2/session.h"

#include "tests/unit/runtime/protocol/http2/session_fixture.h"

namespace wf::http2 {
namespace {

TEST_F(SessionTest, SaysItsLimitsFirst) {
  EXPECT_EQ(reader_->settings[NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS], 100U);
  EXPECT_EQ(reader_->settings[NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE], 1U << 20);
  EXPECT_EQ(reader_->settings[NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE], 32U * 1024);
  EXPECT_EQ(reader_->windows[0], (4U << 20) - 65535);
}

TEST_F(SessionTest, ReadsARequestWhereverItIsCut) {
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "ok"); };
  const std::string bytes = Post(1, "/a/b?x=1", "{}", {{"x-some", "thing"}, {"content-length", "2"}});
  for (const size_t cut : {size_t{1}, size_t{3}, size_t{17}, SIZE_MAX}) {
    Open({});
    ASSERT_TRUE(Feed(bytes, cut));
    ASSERT_EQ(requests_.size(), 1U);
    const http::Head& head = requests_[0]->head;
    EXPECT_EQ(head.method, http::Method::kPost);
    EXPECT_EQ(head.path, "/a/b");
    EXPECT_EQ(head.query, "x=1");
    EXPECT_EQ(head.Find("x-some"), "thing");
    EXPECT_EQ(head.Find("host"), "t");
    EXPECT_EQ(head.headers().size(), 3U);
    EXPECT_EQ(head.content_length, 2);
    EXPECT_EQ(requests_[0]->body, "{}");
    EXPECT_TRUE(requests_[0]->whole);
    EXPECT_EQ(reader_->answers[1].head[":status"], "200");
    EXPECT_EQ(reader_->answers[1].head["content-length"], "2");
    EXPECT_EQ(reader_->answers[1].head["content-type"], "text/plain");
    EXPECT_EQ(reader_->answers[1].body, "ok");
    EXPECT_TRUE(reader_->answers[1].ended);
    EXPECT_EQ(reader_->answers[1].reset, -1);
  }
}

TEST_F(SessionTest, TellsHowLongABodyIsOnlyWhereItIsKnown) {
  Feed(Get(1, "/") + Frame(kHeaders, kEndHeaders, 3, Block(test::http2::Request("POST", "/"))));
  EXPECT_EQ(requests_[0]->head.content_length, 0);
  EXPECT_EQ(requests_[1]->head.content_length, -1);
}

TEST_F(SessionTest, AnswersInPartsEndInTrailers) {
  Feed(Get(1, "/"));
  Stream& stream = *requests_[0]->stream;
  EXPECT_TRUE(session_.Begin(stream, {200, "application/grpc", {}, {}}));
  Pump();
  EXPECT_EQ(reader_->answers[1].head[":status"], "200");
  EXPECT_EQ(reader_->answers[1].head.count("content-length"), 0U);
  for (const std::string_view text : {"one ", "two"}) {
    wf_sink part;
    part.Put(text.data(), text.size());
    EXPECT_TRUE(session_.Add(stream, part));
    Pump();
  }
  EXPECT_EQ(reader_->answers[1].body, "one two");
  EXPECT_FALSE(reader_->answers[1].ended);
  const http::Header trailers[] = {{"grpc-status", "0"}, {"grpc-message", "fine"}};
  EXPECT_TRUE(session_.End(stream, trailers));
  Pump();
  EXPECT_TRUE(reader_->answers[1].ended);
  EXPECT_EQ(reader_->answers[1].trailers["grpc-status"], "0");
  EXPECT_EQ(reader_->answers[1].trailers["grpc-message"], "fine");
  EXPECT_EQ(closed_, 1);
}

TEST_F(SessionTest, FramesOfStreamsThatTakeTurnsComeToTheirOwn) {
  on_end_ = [this](Stream& stream) { AnswerWith(stream, static_cast<Request*>(stream.user)->body); };
  const auto data = [](uint32_t stream, uint8_t flags, std::string_view text) { return Frame(kData, flags, stream, text); };
  const auto head = [](uint32_t stream) {
    return Frame(kHeaders, kEndHeaders, stream, Block(test::http2::Request("POST", "/" + std::to_string(stream))));
  };
  const std::string trailers = Frame(kHeaders, kEndHeaders | kEndStream, 3, Block({{"x-late", "1"}}));
  for (const size_t cut : {size_t{1}, SIZE_MAX}) {
    Open({});
    ASSERT_TRUE(Feed(head(1) + data(1, 0, "a") + head(3) + data(3, 0, "b") + data(1, 0, "c") + head(5) + trailers + data(5, 0, "d") +
                         data(1, kEndStream, "e") + ResetOf(5) + Get(7, "/7"),
                     cut));
    ASSERT_EQ(requests_.size(), 4U);
    EXPECT_EQ(reader_->answers[1].body, "ace");
    EXPECT_EQ(reader_->answers[3].body, "b");
    EXPECT_EQ(requests_[1]->head.Find("x-late").data(), nullptr);
    EXPECT_EQ(requests_[2]->head.path, "/5");
    EXPECT_EQ(requests_[2]->stream, nullptr);
    EXPECT_EQ(requests_[3]->head.path, "/7");
    EXPECT_EQ(closed_, 4);
  }
}

TEST_F(SessionTest, AWholeAnswerMayHaveTrailersToo) {
  const http::Header trailers[] = {{"grpc-status", "0"}};
  on_end_ = [&](Stream& stream) { AnswerWith(stream, stream.user == requests_[0].get() ? "body" : "", trailers); };
  Feed(Get(1, "/") + Get(3, "/"));
  for (const uint32_t id : {1U, 3U}) {
    EXPECT_EQ(reader_->answers[id].body, id == 1 ? "body" : "");
    EXPECT_EQ(reader_->answers[id].trailers["grpc-status"], "0");
    EXPECT_TRUE(reader_->answers[id].ended);
  }
}

TEST_F(SessionTest, AnAnswerToHeadHasNoBody) {
  Feed(Frame(kHeaders, kEndStream | kEndHeaders, 1, Block(test::http2::Request("HEAD", "/"))));
  wf_sink body;
  body.Put("abc", 3);
  EXPECT_TRUE(session_.Answer(*requests_[0]->stream, {200, "text/plain", {}, {}}, body, true));
  Pump();
  EXPECT_EQ(reader_->answers[1].head["content-length"], "3");
  EXPECT_EQ(reader_->answers[1].body, "");
  EXPECT_TRUE(reader_->answers[1].ended);
}

TEST_F(SessionTest, ContinuesWhenAsked) {
  on_head_ = [this](Stream& stream) {
    if (static_cast<Request*>(stream.user)->head.expects_continue) session_.Continue(stream);
  };
  Feed(Frame(kHeaders, kEndHeaders, 1, Block(test::http2::Request("POST", "/", {{"expect", "100-continue"}}))));
  EXPECT_EQ(reader_->answers[1].head[":status"], "100");
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "ok"); };
  Feed(Frame(kData, kEndStream, 1, "{}"));
  EXPECT_EQ(reader_->answers[1].head[":status"], "200");
  EXPECT_EQ(reader_->answers[1].body, "ok");
}

// RFC 9110 10.1.1: the one expectation there is, in any case of its letters; a server may answer another with 417.
TEST_F(SessionTest, KnowsOneExpectation) {
  Feed(Frame(kHeaders, kEndHeaders, 1, Block(test::http2::Request("POST", "/", {{"expect", "100-Continue"}}))) +
       Frame(kHeaders, kEndHeaders, 3, Block(test::http2::Request("POST", "/", {{"expect", "200-ok"}}))) +
       Frame(kHeaders, kEndHeaders, 5, Block(test::http2::Request("POST", "/", {{"expect", "100-continue"}, {"expect", ""}}))));
  EXPECT_EQ(heads_, 1);
  EXPECT_TRUE(requests_[0]->head.expects_continue);
  EXPECT_EQ(reader_->answers[3].head[":status"], "417");
  EXPECT_EQ(reader_->answers[5].head[":status"], "417");
  EXPECT_TRUE(alive_);
}

// Bodies that are larger than the windows of both sides.
TEST_F(SessionTest, WindowsOpenAsBytesAreTaken) {
  const std::string part(16384, 'p');
  Feed(Frame(kHeaders, kEndHeaders, 1, Block(test::http2::Request("POST", "/"))));
  uint64_t sent = 0;
  for (int i = 0; i < 640; ++i) {  // 10 MiB
    ASSERT_GE(reader_->windows[1] + (1 << 20), sent + part.size()) << i;
    ASSERT_GE(reader_->windows[0] + 65535, sent + part.size()) << i;
    ASSERT_TRUE(Feed(Frame(kData, 0, 1, part)));
    sent += part.size();
  }
  EXPECT_EQ(requests_[0]->body.size(), sent);
}

TEST_F(SessionTest, LargeAnswersWaitForThePeersWindow) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += static_cast<char>('a' + i % 23);
  Feed(Get(1, "/"));
  AnswerWith(*requests_[0]->stream, text);
  Pump();
  EXPECT_EQ(reader_->answers[1].body.size(), 65535U);
  EXPECT_GE(session_.held_bytes(), text.size() - 65535);  // whole blocks
  EXPECT_LE(session_.held_bytes(), text.size() + wf_sink::kSmallBytes);
  Feed(WindowOf(0, 1 << 20));
  Feed(WindowOf(1, 1));
  EXPECT_EQ(reader_->answers[1].body.size(), 65536U);
  Feed(WindowOf(1, 100));
  EXPECT_EQ(reader_->answers[1].body.size(), 65636U);
  Feed(WindowOf(1, 1 << 20));
  EXPECT_EQ(reader_->answers[1].body, text);
  EXPECT_TRUE(reader_->answers[1].ended);
  EXPECT_EQ(session_.held_bytes(), 0U);
}

TEST_F(SessionTest, NoMoreIsMovedThanTheHighMark) {
  Feed(Frame(kSettings, 0, 0, Number(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 2) + Number(64 << 20, 4)) + WindowOf(0, 64 << 20));
  std::string all;
  for (uint32_t id = 1; id <= 9; id += 2) all += Get(id, "/");
  on_end_ = [this](Stream& stream) { AnswerWith(stream, std::string(1 << 20, 'a')); };
  Feed(all);
  for (uint32_t id = 1; id <= 9; id += 2) EXPECT_EQ(reader_->answers[id].body.size(), 1U << 20) << id;
  EXPECT_GE(most_out_, kHighMark);
  EXPECT_LT(most_out_, kHighMark + 32 * 1024);
}

// A client that is still sending may lose the answer over a reset: it is let finish.
TEST_F(SessionTest, AnAnswerThatComesBeforeTheBodyLetsItEnd) {
  on_head_ = [this](Stream& stream) { AnswerWith(stream, "no"); };
  const std::string part(16384, 'x');
  const auto head = [](uint32_t id) { return Frame(kHeaders, kEndHeaders, id, Block(test::http2::Request("POST", "/"))); };
  Feed(Frame(kSettings, kAck, 0, "") + head(1));
  EXPECT_EQ(reader_->answers[1].body, "no");
  EXPECT_TRUE(reader_->answers[1].ended);
  for (int i = 0; i < 63; ++i) ASSERT_TRUE(Feed(Frame(kData, 0, 1, part)));
  EXPECT_TRUE(Feed(Frame(kData, kEndStream, 1, "x")));
  EXPECT_EQ(reader_->answers[1].reset, -1);
  EXPECT_EQ(closed_, 1);
  EXPECT_EQ(requests_[0]->body, "");
  // The connection has room for other streams again, and goes on.
  for (uint32_t id = 3; id < 23; id += 2) {
    ASSERT_TRUE(Feed(head(id)));
    for (int i = 0; i < 63; ++i) ASSERT_TRUE(Feed(Frame(kData, i == 62 ? kEndStream : 0, id, part)));
    EXPECT_EQ(reader_->windows[id], 0U);
    EXPECT_EQ(reader_->answers[id].reset, -1);
  }
  on_head_ = nullptr;
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "ok"); };
  EXPECT_TRUE(Feed(Get(23, "/")));
  EXPECT_EQ(reader_->answers[23].body, "ok");
}

TEST_F(SessionTest, ABodyWithoutEndIsResetBehindItsAnswer) {
  on_head_ = [this](Stream& stream) { AnswerWith(stream, "no"); };
  const std::string part(16384, 'x');
  const auto head = [](uint32_t id) { return Frame(kHeaders, kEndHeaders, id, Block(test::http2::Request("POST", "/"))); };
  Feed(Frame(kSettings, kAck, 0, "") + head(1));
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(Feed(Frame(kData, 0, 1, part)));  // 1 MiB: all that its window lets come
  for (const int reset : {-1, -1, kNoError}) {
    EXPECT_EQ(reader_->answers[1].reset, reset);
    session_.ResetLingering();
    Pump();
  }
  EXPECT_EQ(closed_, 1);
}

TEST_F(SessionTest, AClientMayResetWhatIsAnswered) {
  on_head_ = [this](Stream& stream) { AnswerWith(stream, "no"); };
  for (uint32_t id = 1; id < 4001; id += 2) {
    ASSERT_TRUE(Feed(Frame(kHeaders, kEndHeaders, id, Block(test::http2::Request("POST", "/")))));
    ASSERT_TRUE(Feed(ResetOf(id))) << id;
  }
  EXPECT_EQ(closed_, 2000);
}

TEST_F(SessionTest, WhatHasComeOfAFieldCountsUntilItIsWhole) {
  const std::string field = '\0' + Text("name") + Text(std::string(20'000, 'a'));
  const std::string block = Block(test::http2::Request("GET", "/")) + field;
  const std::string first = Frame(kHeaders, kEndStream, 1, block.substr(0, 12'000));
  const std::string rest = Frame(kContinuation, kEndHeaders, 1, block.substr(12'000));
  Feed(first.substr(0, 5000), 500);
  EXPECT_GT(session_.held_bytes(), 4500U);
  Feed(first.substr(5000));
  EXPECT_GT(session_.held_bytes(), 11'500U);
  Feed(rest.substr(0, 8000));
  EXPECT_GT(session_.held_bytes(), 19'000U);
  Feed(rest.substr(8000));
  EXPECT_EQ(heads_, 1);
  const size_t whole = session_.held_bytes();
  Feed(Frame(kPing, 0, 0, "12345678"));
  EXPECT_EQ(session_.held_bytes(), whole);
  Open({});
  Feed(first);
  Open({});
  EXPECT_EQ(session_.held_bytes(), 0U) << "of a connection that ends in a field";
}

TEST_F(SessionTest, WhatStandsBeforeAFieldInItsReadIsNotCounted) {
  const std::string head = Frame(kHeaders, kEndStream | kEndHeaders, 1, Block(test::http2::Request("GET", "/")));
  std::string pings;
  for (int i = 0; i < 2000; ++i) pings += Frame(kWindow, 0, 0, std::string("\0\0\0\1", 4));
  Feed(head);
  const size_t before = session_.held_bytes();
  Feed(pings + Frame(kHeaders, kEndStream | kEndHeaders, 3, Block(test::http2::Request("GET", "/"))).substr(0, 12));
  EXPECT_LT(session_.held_bytes(), before + 5000) << "three bytes of a head, and what a stream takes";
}

TEST_F(SessionTest, AResetAtEachPlaceClosesTheStream) {
  const std::string request = Post(1, "/", "{}");
  const size_t head = 9 + Block(test::http2::Request("POST", "/")).size();
  for (const size_t upto : {head, request.size()}) {
    for (const bool answered : {false, true}) {
      Open({});
      on_end_ = nullptr;
      Feed(request.substr(0, upto));
      if (answered) AnswerWith(*requests_[0]->stream, std::string(100'000, 'a'));  // more than fits the window
      EXPECT_TRUE(Feed(ResetOf(1)));
      EXPECT_EQ(closed_, 1);
      EXPECT_EQ(session_.open_streams(), 0U);
      EXPECT_EQ(session_.held_bytes(), 0U);
    }
  }
}

TEST_F(SessionTest, ClosingTellsEveryOpenStream) {
  Feed(Get(1, "/") + Frame(kHeaders, kEndHeaders, 3, Block(test::http2::Request("POST", "/"))) +
       Frame(kHeaders, 0, 5, Block(test::http2::Request("POST", "/"))));
  EXPECT_EQ(session_.open_streams(), 3U);
  session_.Close();
  EXPECT_EQ(closed_, 3);
}

// RFC 9113 6.5.3, RFC 7541 4.2: from the acknowledgement on the client unpacks by what it has set.
TEST_F(SessionTest, HeadsLeaveOnTheirSideOfAnAcknowledgement) {
  const auto too_large = [](uint32_t stream) {
    Fields many;
    for (int i = 0; i < 200; ++i) many.push_back({"x-" + std::to_string(i), "v"});
    return Frame(kHeaders, kEndStream | kEndHeaders, stream, Block(test::http2::Request("GET", "/", many)));
  };
  on_end_ = [this](Stream& stream) { AnswerWith(stream, "x"); };
  uint32_t stream = 1;
  for (const std::vector<uint32_t>& tables : {std::vector<uint32_t>{0}, {4096}, {60, 4096}, {4096, 0, 100}, {1 << 20, 0}, {0, 1 << 20}}) {
    for (size_t cut : {SIZE_MAX, size_t{1}}) {
      std::string bytes = too_large(stream);
      for (const uint32_t table : tables) {
        bytes += TableOf(table) + too_large(stream + 2);
        stream += 2;
        reader_->table_bytes.push_back(table);
      }
      EXPECT_TRUE(Feed(bytes + Get(stream + 2, "/"), cut));
      EXPECT_EQ(reader_->answers[stream].head[":status"], "431");
      EXPECT_EQ(reader_->answers[stream + 2].head[":status"], "200");
      EXPECT_TRUE(reader_->table_bytes.empty());
      EXPECT_EQ(reader_->mistakes, 0) << tables.size() << " from " << tables[0];
      stream += 4;
    }
  }
}

// An answer that came between two reads, and was not sent yet.
TEST_F(SessionTest, AnswersThatWaitToBeSentLeaveBeforeAnAcknowledgement) {
  EXPECT_TRUE(Feed(Get(1, "/") + Get(3, "/") + Get(5, "/")));
  AnswerWith(*requests_[0]->stream, "x");
  EXPECT_TRUE(Feed(""));
  AnswerWith(*requests_[1]->stream, "x");
  reader_->table_bytes.push_back(0);
  EXPECT_TRUE(Feed(TableOf(0)));
  AnswerWith(*requests_[2]->stream, "x");
  reader_->table_bytes.push_back(4096);
  EXPECT_TRUE(Feed(TableOf(4096)));
  for (const uint32_t stream : {1U, 3U, 5U}) EXPECT_EQ(reader_->answers[stream].head[":status"], "200") << stream;
}

TEST_F(SessionTest, AHeadThatIsTooLargeIsRefusedAndTheConnectionGoesOn) {
  Feed(Frame(kHeaders, kEndStream | kEndHeaders, 1, Block(test::http2::Request("GET", "/", {{"x-a", std::string(16000, 'a')}}))));
  EXPECT_EQ(heads_, 1);
  const std::string block = Block(test::http2::Request("GET", "/", {{"x-a", std::string(33000, 'a')}}));
  EXPECT_TRUE(Feed(Frame(kHeaders, kEndStream, 3, block.substr(0, 16384)) + Frame(kContinuation, 0, 3, block.substr(16384, 16384)) +
                   Frame(kContinuation, kEndHeaders, 3, block.substr(32768))));
  EXPECT_EQ(bad_heads_, 1);
  EXPECT_EQ(reader_->answers[3].head[":status"], "431");
  EXPECT_EQ(why_bad_, "the headers are too large");
  Fields many;
  for (int i = 0; i < 200; ++i) many.push_back({"x-" + std::to_string(i), "v"});
  EXPECT_TRUE(Feed(Frame(kHeaders, kEndStream | kEndHeaders, 5, Block(test::http2::Request("GET", "/", many)))));
  EXPECT_EQ(bad_heads_, 2);
  EXPECT_EQ(why_bad_, "too many headers");
  EXPECT_TRUE(Feed(Get(7, "/")));
  EXPECT_EQ(heads_, 2);
}

TEST_F(SessionTest, AFieldThatIsTooLargeForHpackEndsTheConnection) {
  constexpr int kCompressionError = 9;
  const std::string block = Block(test::http2::Request("GET", "/", {{"x-a", std::string(100'000, 'a')}}));
  std::string frames = Frame(kHeaders, kEndStream, 1, block.substr(0, 16384));
  for (size_t at = 16384; at < block.size(); at += 16384) frames += Frame(kContinuation, 0, 1, block.substr(at, 16384));
  Feed(frames);
  EXPECT_EQ(reader_->goaway, kCompressionError);
  EXPECT_EQ(heads_, 0);
}

// RFC 7541: one byte brings back a field of 4,000.
TEST_F(SessionTest, ABombOfIndexedFieldsEndsTheConnection) {
  std::string block = Block(test::http2::Request("GET", "/"));
  block += '\x40' + Text("x-bomb") + Text(std::string(3900, 'b')) + std::string(16384 - 4500, '\xbe');
  EXPECT_FALSE(Feed(Frame(kHeaders, kEndStream | kEndHeaders, 1, block)));
  EXPECT_EQ(reader_->goaway, kEnhanceYourCalm);
  EXPECT_EQ(heads_, 0);
  Open({});
  room_ = 0;
  EXPECT_FALSE(Feed(Frame(kHeaders, kEndStream | kEndHeaders, 1, block))) << "of a request that is refused";
  EXPECT_EQ(reader_->goaway, kEnhanceYourCalm);
  Open({});
  room_ = 1;
  const std::string fields = '\x40' + Text("x-bomb") + Text(std::string(3900, 'b')) + std::string(100, '\xbe');
  EXPECT_FALSE(Feed(Frame(kHeaders, kEndHeaders, 1, Block(test::http2::Request("POST", "/"))) +
                    Frame(kHeaders, kEndStream | kEndHeaders, 1, fields)))
      << "in trailers";
  EXPECT_EQ(reader_->goaway, kEnhanceYourCalm);
}

TEST_F(SessionTest, WhatIsNoRequestIsReset) {
  const Fields bad[] = {
      {{":method", "GET"}, {":scheme", "http"}},                                                    // RFC 9113 8.3.1: no :path
      {{":method", "GET"}, {":method", "GET"}, {":scheme", "http"}, {":path", "/"}},                // twice
      {{":scheme", "http"}, {":path", "/"}, {"x-a", "b"}, {":method", "GET"}},                      // 8.3: behind the others
      {{":method", "GET"}, {":scheme", "http"}, {":path", ""}},                                     // empty
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":other", "x"}},                   // unknown
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"X-Upper", "x"}},                  // 8.2.1
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"x-a", "b\r\nc: d"}},              // 8.2.1
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"x-a", std::string("a\0b", 3)}},   // 8.2.1
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"connection", "close"}},           // 8.2.2
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"transfer-encoding", "chunked"}},  // 8.2.2
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {"te", "gzip"}},                    // 8.2.2
      {{":method", "POST"}, {":scheme", "http"}, {":path", "/"}, {"content-length", "5"}},          // 8.1.1: there are none
      {{":method", "POST"}, {":scheme", "http"}, {":path", "/"}, {"content-length", "-1"}},
  };
  uint32_t id = 1;
  for (const Fields& fields : bad) {
    EXPECT_TRUE(Feed(Frame(kHeaders, kEndStream | kEndHeaders, id, Block(fields))));
    EXPECT_EQ(reader_->answers[id].reset, kProtocolError) << id;
    id += 2;
  }
  EXPECT_EQ(heads_, 0);
  EXPECT_EQ(session_.open_streams(), 0U);
}

TEST_F(SessionTest, WhatOthersWouldReadDifferentlyIsAnswered400) {
  const Fields bad[] = {
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "t"}, {"host", "other"}},  // RFC 9113 8.3.1
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "u@t"}},                   // 8.3.1
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/a#b"}, {":authority", "t"}},                  // 8.3.1: path and query alone
      {{":method", "GET"}, {":scheme", "http"}, {":path", "/../a"}, {":authority", "t"}},
  };
  uint32_t id = 1;
  for (const Fields& fields : bad) {
    EXPECT_TRUE(Feed(Frame(kHeaders, kEndHeaders, id, Block(fields)) + Frame(kData, kEndStream, id, "{}")));
    EXPECT_EQ(reader_->answers[id].head[":status"], "400") << id;
    id += 2;
  }
  EXPECT_EQ(heads_, 0);
  EXPECT_EQ(session_.open_streams(), 0U);
  EXPECT_TRUE(Feed(Frame(kHeaders, kEndStream | kEndHeaders, id, Block(test::http2::Request("GET", "/", {{"host", "T"}})))));
  EXPECT_EQ(heads_, 1);
}

TEST_F(SessionTest, MoreStreamsThanThereIsRoomForAreRefused) {
  room_ = 2;
  Feed(Get(1, "/") + Get(3, "/") + Get(5, "/"));
  EXPECT_EQ(requests_.size(), 2U);
  EXPECT_EQ(reader_->answers[5].reset, kRefusedStream);
}

TEST_F(SessionTest, TheNumberOfStreamsIsBounded) {
  std::string all;
  for (uint32_t id = 1; id <= 401; id += 2) all += Get(id, "/");
  Feed(all);
  EXPECT_LE(session_.open_streams(), 100U);
  EXPECT_LE(requests_.size(), 100U);
}

TEST_F(SessionTest, GoingAwayServesWhatHasBegun) {
  Feed(Get(1, "/"));
  session_.Warn();
  Pump();
  EXPECT_EQ(reader_->goaway, kNoError);
  EXPECT_EQ(reader_->last_stream, 0x7fffffffU);
  Feed(Get(3, "/"));
  session_.GoAway();
  Pump();
  EXPECT_EQ(reader_->last_stream, 3U);
  Feed(Get(5, "/"));
  EXPECT_EQ(requests_.size(), 2U);
  AnswerWith(*requests_[0]->stream, "a");
  AnswerWith(*requests_[1]->stream, "b");
  Pump();
  EXPECT_EQ(reader_->answers[1].body + reader_->answers[3].body, "ab");
  EXPECT_TRUE(session_.over());
}

TEST_F(SessionTest, AnswersThatNobodyReadsAreReset) {
  Feed(Get(1, "/") + Get(3, "/") + Get(5, "/"));
  for (int i = 0; i < 2; ++i) AnswerWith(*requests_[static_cast<size_t>(i)]->stream, std::string(200'000, 'a'));
  Pump();
  session_.ResetStalled(1000);
  Pump();
  Feed(WindowOf(0, 1000) + WindowOf(3, 1000));
  session_.ResetStalled(1000);
  Pump();
  EXPECT_EQ(reader_->answers[1].body.size() + reader_->answers[3].body.size(), 65535U + 1000U);
  const bool first = reader_->answers[1].reset == kCancelled;
  EXPECT_NE(first, reader_->answers[3].reset == kCancelled);
  EXPECT_EQ(reader_->answers[5].reset, -1);  // whose answer is not there yet
}

TEST_F(SessionTest, AnswersThatAPeerTakesByTheByteAreReset) {
  Feed(Get(1, "/") + Get(3, "/"));
  AnswerWith(*requests_[0]->stream, std::string(100'000, 'a'));
  AnswerWith(*requests_[1]->stream, "b");
  Pump();
  for (int i = 0; i < 2; ++i) {
    Feed(WindowOf(0, 100) + WindowOf(1, 100));
    session_.ResetStalled(100);
    Pump();
    EXPECT_EQ(reader_->answers[1].reset, -1);  // enough
  }
  Feed(WindowOf(0, 100) + WindowOf(1, 99));
  session_.ResetStalled(100);
  Pump();
  EXPECT_EQ(reader_->answers[1].reset, kCancelled);
}

TEST_F(SessionTest, AnswersOfWhichSomethingWaitsForTooLongAreReset) {
  Feed(WindowOf(0, 1'000'000) + Get(1, "/") + Get(3, "/"));
  for (int i = 0; i < 2; ++i) AnswerWith(*requests_[static_cast<size_t>(i)]->stream, std::string(100'000, 'a'));
  Pump();
  session_.ResetOverdue(0, 1000);
  Feed(WindowOf(1, 100'000) + WindowOf(3, 30'000));
  session_.ResetOverdue(999, 1000);
  Pump();
  EXPECT_EQ(reader_->answers[1].body.size(), 100'000U);
  EXPECT_EQ(reader_->answers[3].reset, -1);
  session_.ResetOverdue(1000, 1000);
  Pump();
  EXPECT_EQ(reader_->answers[1].reset, -1);
  EXPECT_EQ(reader_->answers[3].reset, kCancelled);
}

TEST_F(SessionTest, AStreamThatGoesOnIsGivenTimeForWhatWaits) {
  Feed(WindowOf(0, 1'000'000) + Get(1, "/"));
  ASSERT_TRUE(session_.Begin(*requests_[0]->stream, {200, "text/plain", {}, {}}));
  AddPart(65'535 + 100);
  for (int64_t now_ms = 0; now_ms < 10'000; now_ms += 500) {
    session_.ResetOverdue(now_ms, 1000);
    AddPart(50);
    Feed(WindowOf(1, 50));
    Pump();
  }
  EXPECT_EQ(reader_->answers[1].reset, -1);
  session_.ResetOverdue(10'000, 1000);
  session_.ResetOverdue(11'000, 1000);
  Pump();
  EXPECT_EQ(reader_->answers[1].reset, kCancelled);
}

TEST_F(SessionTest, APartThatComesJustBeforeTheLookIsGivenTime) {
  Feed(WindowOf(0, 1'000'000) + Get(1, "/"));
  ASSERT_TRUE(session_.Begin(*requests_[0]->stream, {200, "text/plain", {}, {}}));
  AddPart(65'535);
  AddPart(10);  // waits for the window
  session_.ResetStalled(100);
  Feed(WindowOf(1, 10));
  AddPart(10);  // the same, but all has left in between
  session_.ResetStalled(100);
  Pump();
  EXPECT_EQ(reader_->answers[1].reset, -1);
  session_.ResetStalled(100);
  Pump();
  EXPECT_EQ(reader_->answers[1].reset, kCancelled);
}

}  // namespace
}  // namespace wf::http2
