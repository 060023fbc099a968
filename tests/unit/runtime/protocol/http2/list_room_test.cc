#include "runtime/protocol/http2/list_room.h"

#include "tests/unit/runtime/protocol/http2/session_fixture.h"

namespace wf::http2 {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

std::string LimitOf(uint32_t bytes) { return Frame(kSettings, 0, 0, Number(6, 2) + Number(bytes, 4)); }

uint64_t BytesOf(std::string_view name, std::string_view value) { return name.size() + value.size() + 32; }
template <typename Fields>
uint64_t BytesOf(const Fields& fields) {
  uint64_t bytes = 0;
  for (const auto& [name, value] : fields) bytes += BytesOf(name, value);
  return bytes;
}

// What goes of them.
Texts Fit(uint32_t most, const Texts& fields) {
  std::vector<http::Header> headers;
  for (const auto& [name, value] : fields) headers.push_back({name, value});
  ListRoom room(most);
  room.Count(headers);
  Texts kept;
  for (http::Header& header : headers)
    if (room.Take(&header)) kept.emplace_back(header.name, header.value);
  return kept;
}

TEST(ListRoom, AllGoesWhereItFitsToTheByte) {
  const Texts fields = {{"a", "1"}, {"wf-b", "22"}, {"wf-c", "333"}};
  const auto all = static_cast<uint32_t>(BytesOf(fields));
  EXPECT_EQ(Fit(UINT32_MAX, fields), fields);
  EXPECT_EQ(Fit(all, fields), fields);
  EXPECT_EQ(Fit(all - 1, fields), (Texts{{"a", "1"}, {"wf-b", "22"}}));
}

TEST(ListRoom, TheFirstThatFindsNoRoomAndThoseBehindItAreLeftOut) {
  const Texts fields = {{"wf-a", "1"}, {"wf-b", std::string(100, 'b')}, {"vary", "origin"}, {"wf-c", "3"}};
  EXPECT_EQ(Fit(150, fields), (Texts{{"wf-a", "1"}, {"vary", "origin"}}));
}

TEST(ListRoom, WhatAnAnswerNeedsGoesInAnyCase) {
  const Texts fields = {
      {"grpc-status", "3"}, {"grpc-message", "no"}, {"wf-code", "5000"}, {"grpc-status-details-bin", "AA"}, {"allow", "GET"}};
  EXPECT_EQ(Fit(0, fields), (Texts{{"grpc-status", "3"}, {"allow", "GET"}}));
  EXPECT_EQ(Fit(10, fields), (Texts{{"grpc-status", "3"}, {"allow", "GET"}}));
}

// A message that has `bytes` bytes of room.
std::string Message(uint32_t bytes, const std::string& text) {
  const Texts kept = Fit(44 + bytes, {{"grpc-message", text}, {"wf-code", "1"}});
  return kept.empty() ? "" : kept[0].second;
}

TEST(ListRoom, AMessageIsCutBetweenItsCharacters) {
  EXPECT_EQ(Message(0, "abc"), "");
  EXPECT_EQ(Message(2, "abc"), "ab");
  EXPECT_EQ(Message(3, "abc"), "abc");
  EXPECT_EQ(Message(3, "a bc"), "a b");
  EXPECT_EQ(Message(2, "a bc"), "a") << "a blank at the end is no part of a field";
  const std::string text = "a%E2%82%ACb%25c";  // a€b%c
  for (uint32_t bytes = 1; bytes < 10; ++bytes) EXPECT_EQ(Message(bytes, text), "a") << bytes;
  EXPECT_EQ(Message(10, text), "a%E2%82%AC");
  EXPECT_EQ(Message(11, text), "a%E2%82%ACb");
  EXPECT_EQ(Message(13, text), "a%E2%82%ACb");
  EXPECT_EQ(Message(14, text), "a%E2%82%ACb%25");
  EXPECT_EQ(Message(5, "%E2%82%AC"), "") << "nothing is left of it";
}

TEST_F(SessionTest, AnAnswerHasNoMoreFieldsThanThePeerTakes) {
  const std::string text(400, 'a');
  const http::Header headers[] = {{"wf-a", text}, {"wf-b", text}, {"wf-c", text}}, more[] = {{"vary", "origin"}};
  const auto answer = [&](uint32_t id) {
    wf_sink body;
    body.Put("body");
    EXPECT_TRUE(Feed(Get(id, "/")));
    EXPECT_TRUE(session_.Answer(*requests_.back()->stream, {200, "text/plain", headers, {}, more}, body));
    Pump();
    EXPECT_EQ(reader_->answers[id].body, "body");
    EXPECT_EQ(reader_->answers[id].head.count("vary"), 1U);
    return reader_->answers[id].head;
  };
  const auto whole = answer(1);
  EXPECT_EQ(whole.count("wf-c"), 1U);
  Feed(LimitOf(static_cast<uint32_t>(BytesOf(whole))));
  EXPECT_EQ(answer(3), whole) << "it fits to the byte";
  Feed(LimitOf(static_cast<uint32_t>(BytesOf(whole)) - 1));
  const auto less = answer(5);
  EXPECT_EQ(less.count("wf-b"), 1U);
  EXPECT_EQ(less.count("wf-c"), 0U);
  Feed(LimitOf(0));
  EXPECT_EQ(answer(7).count("wf-a"), 0U);
  Feed(LimitOf(16384));
  EXPECT_EQ(answer(9), whole) << "later settings hold";
}

TEST_F(SessionTest, NorHaveTrailers) {
  const http::Header trailers[] = {{"grpc-status", "3"}, {"grpc-message", "a long message"}, {"wf-code", "5000"}};
  on_end_ = [&](Stream& stream) { AnswerWith(stream, "body", trailers); };
  Feed(LimitOf(100) + Get(1, "/"));
  EXPECT_EQ(reader_->answers[1].trailers, (std::map<std::string, std::string>{{"grpc-status", "3"}, {"grpc-message", "a long messa"}}));
  EXPECT_TRUE(reader_->answers[1].ended);
}

TEST_F(SessionTest, ANewConnectionKnowsNoneOfThatLimit) {
  const http::Header trailers[] = {{"grpc-status", "3"}, {"wf-code", "5000"}};
  on_end_ = [&](Stream& stream) { AnswerWith(stream, "", trailers); };
  Feed(LimitOf(0) + Get(1, "/"));
  EXPECT_EQ(reader_->answers[1].trailers.size(), 1U);
  Open({});
  Feed(Get(1, "/"));
  EXPECT_EQ(reader_->answers[1].trailers.size(), 2U);
}

}  // namespace
}  // namespace wf::http2
