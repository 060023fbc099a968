#include "runtime/protocol/http1/repeats.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "runtime/protocol/http1/decoder.h"

namespace wf::http1 {
namespace {

std::span<const uint8_t> BytesOf(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

// One message, as far as the decoder takes it, in two parts.
std::string Told(Decoder& decoder, std::string_view text, size_t first = 0) {
  std::string told;
  http::Head head;
  for (std::span<const uint8_t> part : {BytesOf(text).first(first), BytesOf(text).subspan(first)}) {
    for (;;) {
      const Event event = decoder.Next(&part, &head);
      if (event == Event::kNeedMore) break;
      if (event == Event::kError) return told + "error " + std::string(decoder.reason());
      if (event == Event::kEnd) return told + "end " + std::to_string(part.size()) + " left";
      if (event == Event::kBody) told.append(reinterpret_cast<const char*>(decoder.body().data()), decoder.body().size());
      if (event != Event::kHead) continue;
      told += std::string(head.method_name) + " target " + std::string(head.target) + " path " + std::string(head.path) + " query " +
              std::string(head.query) + " length " + std::to_string(head.content_length) +
              (head.method == http::Method::kPost ? " post" : "") + (head.keep_alive ? " stays" : "") + (head.http_1_0 ? " 1.0" : "") +
              (head.expects_continue ? " expects" : "") + "\n";
      for (const http::Header& header : head.headers()) told += std::string(header.name) + "=" + std::string(header.value) + "\n";
    }
  }
  return told + "cut";
}

bool Fails(const std::string& told) { return told.find("error ") != std::string::npos; }

const std::string kMessages[] = {
    "GET /a/b?c=d HTTP/1.1\r\nHost: some.host:80\r\nAccept: */*\r\n\r\n",
    "POST /a HTTP/1.1\r\nHOST: h\r\nContent-Length: 4\r\nX-One:  with spaces \r\n\r\nbody",
    "POST /a HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "POST /a HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\nok",
    "GET http://other?x HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
    "HEAD / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n",
    "PUT /z HTTP/1.7\r\nhost: h\r\n\r\n",
    "POST /a HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\nx",
    "GET /a HTTP/1.1\r\n\r\n",
    "GET /" + std::string(Repeats::kMostBytes, 'a') + " HTTP/1.1\r\nhost: h\r\n\r\n",
};

TEST(Http1Repeats, AHeadIsKnownOnceItCameTwiceInARow) {
  const std::string text = "GET / HTTP/1.1\r\nhost: h\r\n\r\n", other = "GET / HTTP/1.1\r\nhost: i\r\n\r\n";
  Repeats repeats;
  http::Head head, found;
  head.Add("host", "h");
  EXPECT_FALSE(repeats.Note(BytesOf(text)));
  EXPECT_TRUE(repeats.Note(BytesOf(text)));
  const std::string two = text + other;
  std::span<const uint8_t> input = BytesOf(two);
  EXPECT_FALSE(repeats.Take(&input, &found));  // nobody has said what it comes to
  repeats.Learn(head);
  EXPECT_TRUE(repeats.Take(&input, &found));
  EXPECT_EQ(input.size(), other.size());
  EXPECT_EQ(found.Find("host"), "h");
  EXPECT_FALSE(repeats.Take(&input, &found));
  input = BytesOf(text).first(text.size() - 1);
  EXPECT_FALSE(repeats.Take(&input, &found));
  EXPECT_FALSE(repeats.Note(BytesOf(other)));
  input = BytesOf(text);
  EXPECT_FALSE(repeats.Take(&input, &found));
}

TEST(Http1Repeats, AMessageIsTheSameHoweverOftenItCame) {
  for (const std::string& message : kMessages) {
    Decoder fresh;
    const std::string expected = Told(fresh, message);
    Decoder decoder;
    for (int i = 0; i < 4 && !Fails(expected); ++i) EXPECT_EQ(Told(decoder, message), expected) << message;
    if (Fails(expected)) continue;
    EXPECT_TRUE(Told(decoder, message + message).ends_with(" " + std::to_string(message.size()) + " left")) << message;
  }
}

TEST(Http1Repeats, AnotherOneBetweenThemIsReadAsItIs) {
  for (const std::string& message : kMessages) {
    for (const std::string& other : kMessages) {
      Decoder fresh, decoder;
      const std::string expected = Told(fresh, other);
      for (int i = 0; i < 3; ++i) Told(decoder, message);
      if (decoder.status() != 0) continue;  // it takes nothing any more
      EXPECT_EQ(Told(decoder, other), expected) << message << other;
    }
  }
}

TEST(Http1Repeats, AKnownHeadThatComesInPartsIsTheSame) {
  for (const std::string& message : kMessages) {
    for (size_t first = 0; first <= message.size(); ++first) {
      Decoder fresh, decoder;
      const std::string expected = Told(fresh, message);
      for (int i = 0; i < 3; ++i) Told(decoder, message);
      if (decoder.status() != 0) break;
      EXPECT_EQ(Told(decoder, message, first), expected) << first << message;
    }
  }
}

}  // namespace
}  // namespace wf::http1
