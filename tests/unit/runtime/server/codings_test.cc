#include "runtime/server/codings.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/protocol/coding/expander.h"
#include "tests/unit/runtime/server/test_site.h"

namespace wf::server {
namespace {

using coding::Coding;

constexpr uint64_t kFrom = 1024;

std::string Text(wf_sink& sink) {
  std::string text;
  for (const base::SinkPiece& piece : sink.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return text;
}

std::string Expanded(Coding coding, const std::string& text) {
  coding::Expander expander;
  expander.Begin(coding);
  std::string whole(1 << 20, '\0');
  std::span<const uint8_t> input(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  std::span<uint8_t> room(reinterpret_cast<uint8_t*>(whole.data()), whole.size());
  EXPECT_EQ(expander.Next(&input, &room), coding::Step::kEnd);
  whole.resize(whole.size() - room.size());
  return whole;
}

class CodingsTest : public ::testing::Test {
 protected:
  CodingsTest() { exchange_.site = &site_; }
  std::string Answer(const std::string& text) {
    wf_sink body;
    body.Put(text.data(), text.size());
    headers_.clear();
    CodeAnswer(exchange_, kFrom, &body, &headers_);
    return Text(body);
  }

  TestSite site_;
  ExchangePool pool_;
  Exchange exchange_{pool_};
  std::vector<http::Header> headers_;
};

TEST_F(CodingsTest, TakesOneCodingOfABody) {
  struct Case {
    std::vector<http::Header> fields;
    Coding coding;
    int status;
  };
  const Case cases[] = {{{}, Coding::kIdentity, 0},
                        {{{"content-encoding", ""}}, Coding::kIdentity, 0},
                        {{{"content-encoding", "Identity"}}, Coding::kIdentity, 0},
                        {{{"content-encoding", "GZIP"}}, Coding::kGzip, 0},
                        {{{"content-encoding", "x-gzip"}}, Coding::kGzip, 0},
                        {{{"content-encoding", " deflate "}}, Coding::kDeflate, 0},
                        {{{"content-encoding", "zstd"}}, Coding::kZstd, 0},
                        {{{"content-encoding", "br"}}, Coding::kIdentity, 415},
                        {{{"content-encoding", "gzip, zstd"}}, Coding::kIdentity, 415},
                        {{{"content-encoding", "gzip"}, {"host", "t"}, {"content-encoding", "gzip"}}, Coding::kIdentity, 415}};
  for (const Case& row : cases) {
    exchange_.head.Clear();
    exchange_.fields.Clear();
    exchange_.refusal_status = 0;
    exchange_.coding = Coding::kIdentity;
    for (const http::Header& field : row.fields) exchange_.head.Add(field.name, field.value);
    TakeCoding(exchange_);
    EXPECT_EQ(exchange_.coding, row.coding);
    EXPECT_EQ(exchange_.refusal_status, row.status);
    EXPECT_EQ(exchange_.fields.Find("accept-encoding").empty(), row.status == 0);
  }
}

TEST_F(CodingsTest, CodesAnAnswerAsItsClientAsks) {
  const std::string text(10'000, 'a');
  for (const Coding coding : {Coding::kGzip, Coding::kDeflate, Coding::kZstd}) {
    exchange_.head.Clear();
    exchange_.head.Add("accept-encoding", coding::NameOf(coding));
    const std::string sent = Answer(text);
    EXPECT_LT(sent.size(), 200U);
    EXPECT_EQ(Expanded(coding, sent), text);
    ASSERT_EQ(headers_.size(), 2U);
    EXPECT_EQ(headers_[0].value, "accept-encoding");
    EXPECT_EQ(headers_[1].value, coding::NameOf(coding));
    EXPECT_TRUE(WantsCoding(exchange_, text.size(), kFrom));
  }
}

TEST_F(CodingsTest, ListsInSeveralFieldsAreOne) {
  exchange_.head.Add("accept-encoding", "br");
  exchange_.head.Add("accept-encoding", "gzip;q=0.5");
  exchange_.head.Add("accept-encoding", "deflate");
  Answer(std::string(10'000, 'a'));
  ASSERT_EQ(headers_.size(), 2U);
  EXPECT_EQ(headers_[1].value, "deflate");
}

TEST_F(CodingsTest, LeavesShortAnswersAndThoseOfGrpcAlone) {
  exchange_.head.Add("accept-encoding", "gzip");
  const std::string text(kFrom - 1, 'a');
  EXPECT_EQ(Answer(text), text);
  EXPECT_TRUE(headers_.empty());
  EXPECT_FALSE(WantsCoding(exchange_, text.size(), kFrom));
  EXPECT_FALSE(WantsCoding(exchange_, 1 << 20, 0));
  exchange_.grpc.on = true;
  EXPECT_EQ(Answer(text + text), text + text);
  EXPECT_TRUE(headers_.empty());
}

TEST_F(CodingsTest, WhatGainsNothingIsSentAsItIs) {
  exchange_.head.Add("accept-encoding", "gzip");
  std::string text(5000, '\0');
  uint32_t state = 1;
  for (char& c : text) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  EXPECT_EQ(Answer(text), text);
  ASSERT_EQ(headers_.size(), 1U);
  EXPECT_EQ(headers_[0].name, "vary");
}

}  // namespace
}  // namespace wf::server
