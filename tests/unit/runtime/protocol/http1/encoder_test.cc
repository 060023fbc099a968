#include "runtime/protocol/http1/encoder.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::http1 {
namespace {

// Without the date, which is another second's.
std::string HeadOf(const http::ReplyHead& reply, const Framing& framing) {
  wf_sink out;
  EXPECT_TRUE(PutHead(&out, reply, framing));
  std::string text;
  for (const auto& piece : out.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  const size_t date = text.find("date: "), end = text.find("\r\n", date);
  EXPECT_NE(date, std::string::npos);
  return text.erase(date, end + 2 - date);
}

TEST(PutHead, FramesTheBody) {
  EXPECT_EQ(HeadOf({200, "application/json", {}, {}}, {12, true, false}),
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 12\r\n\r\n");
  EXPECT_EQ(HeadOf({404, {}, {}, {}}, {}), "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
  EXPECT_EQ(HeadOf({200, {}, {}, {}}, {UINT64_MAX, true, false}), "HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551615\r\n\r\n");
}

TEST(PutHead, TellsWhatBecomesOfTheConnectionWhereTheClientCannotKnow) {
  EXPECT_EQ(HeadOf({200, {}, {}, {}}, {0, false, false}), "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  EXPECT_EQ(HeadOf({200, {}, {}, {}}, {0, true, true}), "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n");
}

TEST(PutHead, FieldsOfAnyNumberAndSizeStandBeforeTheEmptyLine) {
  const http::Header fields[] = {{"allow", "POST"}, {"wf-note", "x"}};
  EXPECT_EQ(HeadOf({405, {}, fields, {}}, {}), "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\nallow: POST\r\nwf-note: x\r\n\r\n");
  const std::string large(100'000, 'v');
  const http::Header one[] = {{"wf-note", large}};
  EXPECT_EQ(HeadOf({200, {}, one, {}}, {}), "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nwf-note: " + large + "\r\n\r\n");
}

TEST(ReasonPhrase, IsThereForEveryStatusThatIsGiven) {
  for (const int status : {200, 400, 404, 405, 408, 409, 413, 414, 415, 417, 429, 431, 499, 500, 501, 503, 504, 505})
    EXPECT_NE(ReasonPhrase(status), "Unknown") << status;
  EXPECT_EQ(ReasonPhrase(299), "Unknown");
}

}  // namespace
}  // namespace wf::http1
