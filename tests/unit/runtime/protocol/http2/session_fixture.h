#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/protocol/http2/session.h"
#include "tests/unit/support/http2_peer.h"

namespace wf::http2 {

using namespace test::http2;
inline constexpr size_t kHighMark = 256 * 1024;
inline constexpr int kNoError = 0, kProtocolError = 1, kCancelled = 8, kRefusedStream = 7, kEnhanceYourCalm = 11;

// A user that answers each request with what the test says, or keeps it.
class SessionTest : public testing::Test, protected User {
 protected:
  struct Request {
    http::Head head;
    std::string body;
    bool whole = false;
    Stream* stream = nullptr;
  };
  void SetUp() override { Open({}); }
  void TearDown() override {
    session_.Close();
    EXPECT_EQ(session_.open_streams(), 0U);
    EXPECT_EQ(session_.held_bytes(), 0U);
    EXPECT_EQ(reader_ == nullptr ? 0 : reader_->mistakes, 0);
  }
  void Open(const Limits& limits) {
    session_.Close();
    requests_.clear();
    heads_ = closed_ = 0;
    why_broken_.clear();
    alive_ = true;
    ASSERT_TRUE(session_.Open(limits));
    reader_ = std::make_unique<test::Http2Reader>();
    out_.Clear();
    alive_ = Feed(Start());
  }
  // Byte by byte when `cut` is 1.
  bool Feed(std::string_view bytes, size_t cut = SIZE_MAX) {
    for (; alive_ && !bytes.empty(); bytes.remove_prefix(std::min(cut, bytes.size()))) {
      const std::string part(bytes.substr(0, cut));  // so that reading past it is seen
      alive_ = session_.Receive({reinterpret_cast<const uint8_t*>(part.data()), part.size()}, now_ms_);
    }
    Pump();
    alive_ = alive_ && !session_.over();
    return alive_;
  }
  void Pump() {
    while (true) {
      ASSERT_TRUE(session_.Send(&out_, kHighMark));
      if (out_.empty()) return;
      most_out_ = std::max(most_out_, out_.size());
      std::string text;
      for (const base::SinkPiece& piece : out_.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
      out_.Consume(out_.size());
      reader_->Read(text);
    }
  }
  // To the answer of the first request, which has begun.
  void AddPart(size_t bytes) {
    wf_sink part;
    const std::string text(bytes, 'a');
    part.Put(text.data(), text.size());
    ASSERT_TRUE(session_.Add(*requests_[0]->stream, part));
    Pump();
  }
  void AnswerWith(Stream& stream, std::string_view text, std::span<const http::Header> trailers = {}) {
    wf_sink body;
    body.Put(text.data(), text.size());
    EXPECT_TRUE(session_.Answer(stream, {200, "text/plain", {}, trailers}, body));
  }

  http::Head* OnBegin(Stream& stream) noexcept override {
    if (requests_.size() >= room_) return nullptr;
    auto& request = requests_.emplace_back(std::make_unique<Request>());
    request->stream = &stream;
    stream.user = request.get();
    return &request->head;
  }
  void OnHead(Stream& stream) noexcept override {
    ++heads_;
    if (on_head_) on_head_(stream);
  }
  void OnBadHead(Stream& stream, int status, std::string_view reason) noexcept override {
    ++bad_heads_;
    why_bad_ = reason;
    EXPECT_FALSE(reason.empty());
    wf_sink body;
    EXPECT_TRUE(session_.Answer(stream, {status, {}, {}, {}}, body));
  }
  size_t OnBody(Stream& stream, std::span<const uint8_t> part) noexcept override {
    static_cast<Request*>(stream.user)->body.append(part.begin(), part.end());
    return part.size();
  }
  void OnEnd(Stream& stream) noexcept override {
    static_cast<Request*>(stream.user)->whole = true;
    if (on_end_) on_end_(stream);
  }
  void OnClosed(Stream& stream) noexcept override {
    ++closed_;
    static_cast<Request*>(stream.user)->stream = nullptr;
  }
  void OnBreach(http::Breach breach, std::string_view why) noexcept override {
    EXPECT_EQ(std::exchange(why_broken_, why), "") << "told twice";
    EXPECT_NE(why, "");
    breach_ = breach;
  }

  Pool pool_;
  std::vector<std::unique_ptr<Request>> requests_;
  size_t room_ = SIZE_MAX, most_out_ = 0;
  int heads_ = 0, bad_heads_ = 0, closed_ = 0;
  std::string why_bad_, why_broken_;  // empty: it was not
  http::Breach breach_ = http::Breach::kProtocol;
  std::function<void(Stream&)> on_head_, on_end_;
  Session session_{pool_, *this};
  std::unique_ptr<test::Http2Reader> reader_;
  wf_sink out_;
  int64_t now_ms_ = 1'000'000;
  bool alive_ = true;
};

}  // namespace wf::http2
