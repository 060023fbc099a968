#include "runtime/protocol/http2/repeats.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "runtime/protocol/http2/session.h"
#include "tests/unit/support/http2_peer.h"

namespace wf::http2 {
namespace {

using namespace test::http2;

std::span<const uint8_t> Span(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

http::Head HeadOf(std::string_view path, http::Method method = http::Method::kPost) {
  http::Head head;
  head.method = method;
  head.Add(":path", path);
  head.SetPathAndQuery(head.headers()[0].value);
  return head;
}

TEST(Repeats, KnowsWhatCameTwice) {
  Repeats repeats;
  EXPECT_FALSE(repeats.Take(Span("\x83\x86\x84"), 1));
  EXPECT_FALSE(repeats.wants(1));
  EXPECT_FALSE(repeats.Take(Span("\x83\x86\x84"), 3));
  ASSERT_TRUE(repeats.wants(3));
  EXPECT_FALSE(repeats.Take(Span("\x83\x86\x84"), 5)) << "nobody told what it comes to";
  ASSERT_TRUE(repeats.wants(5));
  repeats.Learn(HeadOf("/a"), "http");
  EXPECT_TRUE(repeats.Take(Span("\x83\x86\x84"), 7));
  EXPECT_EQ(repeats.head().path, "/a");
  EXPECT_FALSE(repeats.Take(Span("\x83\x86\x84"), 7)) << "trailers";
  EXPECT_FALSE(repeats.Take(Span("\x82\x86\x84"), 9));
  EXPECT_TRUE(repeats.Take(Span("\x83\x86\x84"), 11)) << "the other left the table as it was";
}

TEST(Repeats, ForgetsWhenTheTableMayChange) {
  using std::string_literals::operator""s;
  const std::string changes[] = {"\x83\x41\1b"s,
                                 "\x83\x40\1a\1b"s,
                                 "\x20\x83"s,
                                 "\x3f\x21\x83"s,
                                 "\x83\x0f"s,
                                 "\x04\x05"
                                 "ab"s,
                                 "\xff\x80\x01"s,
                                 std::string(1, '\0')};
  for (const std::string& change : changes) {
    for (const bool in_parts : {false, true}) {
      Repeats repeats;
      for (const uint32_t stream : {1U, 3U}) repeats.Take(Span("\x83\x86\x84"), stream);
      repeats.Learn(HeadOf("/a"), "http");
      ASSERT_TRUE(repeats.Take(Span("\x83\x86\x84"), 5));
      if (in_parts)
        repeats.Pass(7);
      else
        EXPECT_FALSE(repeats.Take(Span(change), 7));
      EXPECT_FALSE(repeats.Take(Span("\x83\x86\x84"), 9)) << change.size();
    }
  }
  const std::string keeps[] = {"\xbe\xff\x10"s,
                               "\x04\2/a"s,
                               "\x14\2/a"s,
                               "\x0f\x0d\1"
                               "2"s,
                               "\0\1a\1b"s,
                               "\x10\1a\1b"s,
                               "\0\1a\0"s};
  for (const std::string& keep : keeps) {
    Repeats repeats;
    for (const uint32_t stream : {1U, 3U}) repeats.Take(Span("\x83\x86\x84"), stream);
    repeats.Learn(HeadOf("/a"), "http");
    EXPECT_FALSE(repeats.Take(Span(keep), 5));
    EXPECT_TRUE(repeats.Take(Span("\x83\x86\x84"), 7)) << keep.size();
  }
}

TEST(Repeats, LearnsOnlyWhatItsStandInIsGoodFor) {
  const auto learns = [](const http::Head& head, std::string_view scheme) {
    Repeats repeats;
    for (const uint32_t stream : {1U, 3U}) repeats.Take(Span("\x83\x86\x84"), stream);
    repeats.Learn(head, scheme);
    return repeats.Take(Span("\x83\x86\x84"), 5);
  };
  EXPECT_TRUE(learns(HeadOf("/a"), "http"));
  EXPECT_TRUE(learns(HeadOf("/a", http::Method::kGet), "https"));
  EXPECT_FALSE(learns(HeadOf("/a", http::Method::kHead), "http"));
  EXPECT_FALSE(learns(HeadOf("/a", http::Method::kOther), "http"));
  EXPECT_FALSE(learns(HeadOf("*"), "http"));
  EXPECT_FALSE(learns(HeadOf("/a"), "ftp"));
  http::Head urgent = HeadOf("/a");
  urgent.AddLast({"priority", "u=1"});
  EXPECT_FALSE(learns(urgent, "http"));
}

// What a session makes of requests, as texts.
class Listener final : public User {
 public:
  explicit Listener(Pool& pool) : session_(pool, *this) {
    EXPECT_TRUE(session_.Open({}));
    Feed(Start(), SIZE_MAX);
  }
  ~Listener() { session_.Close(); }
  bool Feed(std::string_view bytes, size_t cut) {
    bool alive = true;
    for (; alive && !bytes.empty(); bytes.remove_prefix(std::min(cut, bytes.size()))) {
      const std::string part(bytes.substr(0, cut));
      alive = session_.Receive(Span(part), 1'000);
    }
    wf_sink out;
    EXPECT_TRUE(session_.Send(&out, 1 << 20));
    std::string text;
    for (const base::SinkPiece& piece : out.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
    reader_.Read(text);
    return alive;
  }
  http::Head* OnBegin(Stream& stream) noexcept override {
    heads_.push_back(std::make_unique<http::Head>());
    stream.user = heads_.back().get();
    return heads_.back().get();
  }
  void OnHead(Stream& stream) noexcept override {
    const auto& head = *static_cast<http::Head*>(stream.user);
    for (const std::string_view text : {head.method_name, head.target, head.path, head.query}) told += std::string(text) + "|";
    for (const http::Header& header : head.headers()) told += std::string(header.name) + "=" + std::string(header.value) + "|";
    told += std::to_string(head.content_length) + (head.keep_alive ? "k" : "") + (head.expects_continue ? "e" : "") +
            std::to_string(static_cast<int>(head.method)) + "\n";
  }
  void OnBadHead(Stream& stream, int status, std::string_view reason) noexcept override {
    told += std::to_string(status) + std::string(reason) + "\n";
    wf_sink none;
    EXPECT_TRUE(session_.Answer(stream, {status, {}, {}, {}}, none));
  }
  size_t OnBody(Stream&, std::span<const uint8_t> part) noexcept override {
    told.append(part.begin(), part.end());
    return part.size();
  }
  void OnBreach(http::Breach breach, std::string_view) noexcept override {
    told += std::string(http::kBreaches[static_cast<size_t>(breach)]) + "\n";
  }
  void OnEnd(Stream& stream) noexcept override {
    told += "end\n";
    wf_sink none;
    EXPECT_TRUE(session_.Answer(stream, {200, {}, {}, {}}, none));
  }
  void OnClosed(Stream& stream) noexcept override { told += "closed" + std::to_string(stream.ended()) + "\n"; }

  std::string told;
  test::Http2Reader reader_;

 private:
  std::vector<std::unique_ptr<http::Head>> heads_;
  Session session_;
};

TEST(Repeats, ALengthThatIsNotThatOfTheBodyIsSeenEachTime) {
  Pool pool;
  Listener listener(pool);
  for (uint32_t id = 1; id < 13; id += 2)
    ASSERT_TRUE(listener.Feed(Post(id, "/a", id == 11 ? "abc" : "ab", {{"content-length", "2"}}), SIZE_MAX));
  EXPECT_EQ(listener.reader_.answers[9].head[":status"], "200");
  EXPECT_EQ(listener.reader_.answers[11].reset, 1);
  EXPECT_EQ(listener.told.find("abc"), std::string::npos);
}

// Heads as nghttp2's client packs them, some again and again: read whole, where repeats are known, and a byte at a time, where none are.
TEST(Repeats, NothingElseComesOfThem) {
  std::mt19937 random(3);
  const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
  for (int round = 0; round < 40; ++round) {
    Pool pool;
    Listener whole(pool), by_byte(pool);
    nghttp2_hd_deflater* deflater = nullptr;
    ASSERT_EQ(nghttp2_hd_deflate_new(&deflater, 4096), 0);
    const std::vector<Fields> common = {Request("POST", "/a/b?c", {{"content-type", "application/grpc"}, {"te", "trailers"}}),
                                        Request("POST", "/long/path", {{"content-length", "2"}, {"x-request-id", "7"}}),
                                        Request("GET", "/"),
                                        Request("HEAD", "/"),
                                        Request("POST", "/x", {{"expect", "100-continue"}}),
                                        Request("POST", "/%zz")};
    bool alive = true;
    for (uint32_t id = 1; alive && id < 200; id += 2) {
      Fields fields = common[below(3) == 0 ? below(static_cast<uint32_t>(common.size())) : 0];
      if (below(12) == 0) fields.emplace_back("x-new-" + std::to_string(below(4)), std::to_string(below(1000)));
      if (below(60) == 0) fields.emplace_back(":late", "x");
      if (below(40) == 0) nghttp2_hd_deflate_change_table_size(deflater, below(2) == 0 ? 256 : 4096);
      std::vector<nghttp2_nv> values;
      for (auto& [name, value] : fields)
        values.push_back({reinterpret_cast<uint8_t*>(name.data()), reinterpret_cast<uint8_t*>(value.data()), name.size(), value.size(),
                          NGHTTP2_NV_FLAG_NONE});
      uint8_t block[2048];
      const ssize_t size = nghttp2_hd_deflate_hd(deflater, block, sizeof block, values.data(), values.size());
      ASSERT_GT(size, 0);
      const std::string_view packed(reinterpret_cast<const char*>(block), static_cast<size_t>(size));
      const bool has_body = below(3) != 0;
      std::string bytes = Frame(kHeaders, has_body ? kEndHeaders : kEndHeaders | kEndStream, id, packed);
      if (has_body) bytes += Frame(kData, below(4) == 0 ? 0 : kEndStream, id, "{}");
      if (below(20) == 0) bytes += ResetOf(id);
      alive = whole.Feed(bytes, below(6) == 0 ? 20 : SIZE_MAX);
      ASSERT_EQ(by_byte.Feed(bytes, 1), alive);
      ASSERT_EQ(whole.told, by_byte.told) << round << " " << id;
      ASSERT_EQ(whole.reader_.answers[id].reset, by_byte.reader_.answers[id].reset);
    }
    nghttp2_hd_deflate_del(deflater);
  }
}

}  // namespace
}  // namespace wf::http2
