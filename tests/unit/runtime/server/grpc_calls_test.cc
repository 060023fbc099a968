#include "runtime/server/grpc_calls.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/protocol/grpc/status.h"
#include "runtime/server/grpc_service.h"
#include "tests/unit/runtime/server/test_site.h"

namespace wf::server {
namespace {

constexpr uint64_t kMost = 1000;

std::string Framed(const std::string& message, bool coded = false) {
  const grpc::Prefix prefix(static_cast<uint32_t>(message.size()), coded);
  return std::string(reinterpret_cast<const char*>(prefix.text), sizeof prefix.text) + message;
}

std::string Text(wf_sink& sink) {
  std::string text;
  for (const base::SinkPiece& piece : sink.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return text;
}

// A call whose body comes in portions.
class GrpcCallsTest : public ::testing::Test {
 protected:
  GrpcCallsTest() { exchange_.site = &site_; }
  void Begin(const std::vector<http::Header>& headers = {}) {
    for (const http::Header& header : headers) exchange_.head.Add(header.name, header.value);
    exchange_.head.method = http::Method::kPost;
    TakeGrpcHead(exchange_, kMost);
  }
  void Take(const std::string& bytes, size_t portion = SIZE_MAX) {
    for (size_t at = 0; at < bytes.size(); at += std::min(portion, bytes.size() - at)) {
      const std::string part = bytes.substr(at, portion);
      TakeMessages(exchange_, {reinterpret_cast<const uint8_t*>(part.data()), part.size()});
    }
  }
  std::string Message() {
    const wf_bytes body = exchange_.body.Seal();
    return {reinterpret_cast<const char*>(body.ptr), body.len};
  }

  TestSite site_;
  ExchangePool pool_;
  Exchange exchange_{pool_};
};

TEST_F(GrpcCallsTest, TakesAMessageInAnyPortions) {
  for (size_t portion = 1; portion < 12; ++portion) {
    exchange_.grpc.Clear();
    exchange_.body.Clear();
    Begin();
    Take(Framed("message"), portion);
    TakeLastMessage(exchange_);
    EXPECT_FALSE(exchange_.refused()) << exchange_.refusal;
    EXPECT_EQ(Message(), "message");
    EXPECT_FALSE(exchange_.grpc.coded);
  }
}

TEST_F(GrpcCallsTest, WhatIsLargeInAMessageIsAligned) {
  GrpcService service{};
  service.aligned_at = [](std::span<const uint8_t> begin) { return begin.size() < 7 ? size_t{0} : size_t{7}; };
  const std::string message(100'000, 'm');
  for (const size_t begin : {size_t{16'384}, size_t{5 + 7}, size_t{5 + 3}}) {
    exchange_.grpc.Clear();
    exchange_.body.Clear();
    exchange_.head.method = http::Method::kPost;
    TakeGrpcHead(exchange_, 1 << 20);
    exchange_.grpc.service = &service;
    Take(Framed(message).substr(0, begin), SIZE_MAX);
    Take(Framed(message).substr(begin), 1000);
    TakeLastMessage(exchange_);
    EXPECT_FALSE(exchange_.refused()) << exchange_.refusal;
    EXPECT_EQ(Message(), message);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(exchange_.body.Seal().ptr + (begin < 5 + 7 ? 0 : 7)) % 64, 0U) << begin;
  }
}

TEST_F(GrpcCallsTest, AnEmptyMessageIsOne) {
  Begin();
  Take(Framed(""));
  TakeLastMessage(exchange_);
  EXPECT_FALSE(exchange_.refused());
}

TEST_F(GrpcCallsTest, ReadsTheHead) {
  Begin({{"grpc-timeout", "20m"}, {"grpc-encoding", "gzip"}});
  EXPECT_FALSE(exchange_.refused());
  EXPECT_EQ(exchange_.timeout_ns, 20'000'000);
  EXPECT_EQ(exchange_.grpc.coding, coding::Coding::kGzip);
}

TEST_F(GrpcCallsTest, ATimeoutOfNothingIsStillOne) {
  Begin({{"grpc-timeout", "0n"}});
  EXPECT_EQ(exchange_.timeout_ns, 1);
}

TEST_F(GrpcCallsTest, RefusesHeads) {
  Begin({{"grpc-timeout", "soon"}});
  EXPECT_EQ(exchange_.refusal_status, 400);
}

TEST_F(GrpcCallsTest, RefusesTwoTimeoutsThatDiffer) {
  Begin({{"grpc-timeout", "1S"}, {"grpc-timeout", "2S"}});
  EXPECT_EQ(exchange_.refusal_status, 400);
}

TEST_F(GrpcCallsTest, RefusesTwoCodingsThatDiffer) {
  Begin({{"grpc-encoding", "gzip"}, {"grpc-encoding", "identity"}});
  EXPECT_EQ(exchange_.refusal_status, 400);
}

TEST_F(GrpcCallsTest, TakesATimeoutThatStandsThereTwice) {
  Begin({{"grpc-timeout", "20m"}, {"grpc-timeout", "20m"}});
  EXPECT_FALSE(exchange_.refused());
  EXPECT_EQ(exchange_.timeout_ns, 20'000'000);
}

TEST_F(GrpcCallsTest, RefusesATimeoutThatIsEmpty) {
  Begin({{"grpc-timeout", ""}});
  EXPECT_EQ(exchange_.refusal_status, 400);
}

TEST_F(GrpcCallsTest, TakesTheCodingsThatItTells) {
  for (const std::string_view name : {"identity", "gzip", "deflate"}) {
    exchange_.head.Clear();
    Begin({{"grpc-encoding", name}});
    EXPECT_FALSE(exchange_.refused()) << name;
    EXPECT_EQ(coding::NameOf(exchange_.grpc.coding), name);
    EXPECT_EQ(GrpcHead(exchange_, {}, true).headers[0].value, "identity,gzip,deflate");
  }
  for (const std::string_view name : {"zstd", "snappy", "x-gzip", "gzip,deflate", "GZIP"}) {
    exchange_.head.Clear();
    exchange_.fields.Clear();
    exchange_.refusal_status = 0;
    Begin({{"grpc-encoding", name}});
    EXPECT_EQ(exchange_.refusal_code, code::kNotImplemented) << name;
    EXPECT_EQ(exchange_.fields.Find("grpc-accept-encoding"), "identity,gzip,deflate") << name;
  }
}

TEST_F(GrpcCallsTest, RefusesALongMessageByItsPrefix) {
  Begin();
  Take(Framed(std::string(kMost + 1, 'x')).substr(0, 5));
  EXPECT_EQ(exchange_.refusal_status, 413);
}

TEST_F(GrpcCallsTest, RefusesWhatIsNotOneMessage) {
  Begin();
  Take(Framed("one").substr(0, 7));
  TakeLastMessage(exchange_);
  EXPECT_EQ(exchange_.refusal_code, code::kInputParams);

  exchange_.refusal_status = 0;
  exchange_.grpc.Clear();
  Begin();
  TakeLastMessage(exchange_);
  EXPECT_EQ(exchange_.refusal_code, code::kNotImplemented);

  exchange_.refusal_status = 0;
  Take(Framed("one") + Framed("two"));
  EXPECT_EQ(exchange_.refusal_code, code::kNotImplemented);
}

TEST_F(GrpcCallsTest, ACodedMessageNeedsACoding) {
  Begin();
  Take(Framed("one", true));
  EXPECT_EQ(exchange_.refusal_code, code::kInputParams);
}

TEST_F(GrpcCallsTest, AnswersInTheCodingOfTheRequest) {
  Begin({{"grpc-encoding", "gzip"}});
  const std::string text(100'000, 'a');
  for (const bool coded : {false, true}) {
    wf_sink message, body;
    exchange_.grpc.coded = coded;
    message.Put(text.data(), text.size());
    PutMessage(exchange_, &message, &body);
    const std::string sent = Text(body);
    EXPECT_EQ(sent[0], coded ? 1 : 0);
    EXPECT_EQ(sent.size() < text.size(), coded);
    const http::ReplyHead head = GrpcHead(exchange_, {200, {}, {&grpc::kOk, 1}, {}}, true);
    EXPECT_EQ(head.headers.size(), coded ? 2U : 1U);
    EXPECT_EQ(head.trailers.size(), 1U);
  }
}

TEST_F(GrpcCallsTest, AnswersInNoCodingThatTheClientLeavesOut) {
  const std::string text(100'000, 'a');
  const auto is_coded = [&](const std::vector<http::Header>& accepted) {
    exchange_.grpc.Clear();
    exchange_.head.Clear();
    std::vector<http::Header> headers = {{"grpc-encoding", "gzip"}};
    headers.insert(headers.end(), accepted.begin(), accepted.end());
    Begin(headers);
    exchange_.grpc.coded = true;  // as its message says
    wf_sink message, body;
    message.Put(text.data(), text.size());
    PutMessage(exchange_, &message, &body);
    const bool told = GrpcHead(exchange_, {}, true).headers.size() == 2;
    EXPECT_EQ(Text(body)[0] == 1, told);
    return told;
  };
  EXPECT_TRUE(is_coded({}));
  EXPECT_TRUE(is_coded({{"grpc-accept-encoding", "identity,deflate , gzip"}}));
  EXPECT_TRUE(is_coded({{"grpc-accept-encoding", "identity"}, {"grpc-accept-encoding", "gzip"}}));
  EXPECT_FALSE(is_coded({{"grpc-accept-encoding", "identity"}}));
  EXPECT_FALSE(is_coded({{"grpc-accept-encoding", "identity,deflate,x-gzip"}}));
  EXPECT_FALSE(is_coded({{"grpc-accept-encoding", ""}}));
}

TEST_F(GrpcCallsTest, AShortAnswerIsNotCoded) {
  Begin({{"grpc-encoding", "gzip"}});
  exchange_.grpc.coded = true;
  wf_sink message, body;
  message.Put("aaaaaaaa", 8);
  PutMessage(exchange_, &message, &body);
  EXPECT_EQ(Text(body), Framed("aaaaaaaa"));
}

TEST_F(GrpcCallsTest, AFailureIsAllInTheHead) {
  Begin();
  const http::Header failed = {"grpc-status", "3"};
  const http::ReplyHead head = GrpcHead(exchange_, {400, "application/json", {&failed, 1}, {}}, false);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.content_type, "application/grpc");
  EXPECT_EQ(head.headers.data(), &failed);
  EXPECT_TRUE(head.trailers.empty());
}

}  // namespace
}  // namespace wf::server
