// HTTP/2 from a peer that means no good. The first byte says where the input is cut in two, the second how requests are answered.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/protocol/http2/session.h"

namespace {

using wf::http2::Session;
using wf::http2::Stream;

void Require(bool holds) {
  if (!holds) std::abort();
}

class Peer final : public wf::http2::User {
 public:
  Peer(wf::http2::Pool& pool, uint8_t way) : session_(pool, *this), way_(way) { Require(session_.Open({})); }

  void Run(std::span<const uint8_t> input, size_t cut) {
    constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    bool reads = session_.Receive({reinterpret_cast<const uint8_t*>(kPreface.data()), kPreface.size()}, 0);
    for (const std::span<const uint8_t> part : {input.first(cut), input.subspan(cut)}) {
      const std::vector<uint8_t> copy(part.begin(), part.end());  // so that reading past the part is seen
      if (reads) reads = session_.Receive(copy, 1);
      Send();
    }
    for (Stream* const stream : waiting_) Answer(*stream);
    Send();
    session_.ResetStalled(30);
    session_.GoAway();
    Send();
    session_.Close();
    Require(session_.open_streams() == 0 && session_.held_bytes() == 0 && waiting_.empty());
  }

 private:
  struct Request {
    wf::http::Head head;
    bool has_head = false, ended = false;
    int64_t bytes = 0;
  };
  static Request& Of(Stream& stream) { return *static_cast<Request*>(stream.user); }

  wf::http::Head* OnBegin(Stream& stream) noexcept override {
    auto* const request = new Request;
    stream.user = request;
    return &request->head;
  }
  void OnHead(Stream& stream) noexcept override {
    Request& request = Of(stream);
    Require(!request.has_head);
    request.has_head = true;
    for (const auto& header : request.head.headers()) Require(wf::http::IsToken(header.name) && header.name[0] != ':');
    Require(request.head.headers().size() <= wf::http::Limits().headers && request.head.stored_bytes() <= wf::http::Limits().head_bytes);
    if (way_ % 5 == 0) Answer(stream);
    if (request.head.expects_continue) session_.Continue(stream);
  }
  void OnBadHead(Stream& stream, int, std::string_view) noexcept override {
    Require(!Of(stream).has_head);
    Answer(stream);
  }
  size_t OnBody(Stream& stream, std::span<const uint8_t> part) noexcept override {
    Request& request = Of(stream);
    Require(request.has_head && !request.ended);
    request.bytes += static_cast<int64_t>(part.size());
    Require(request.head.content_length < 0 || request.bytes <= request.head.content_length);
    return part.size();
  }
  void OnEnd(Stream& stream) noexcept override {
    Request& request = Of(stream);
    Require(request.has_head && !request.ended);
    request.ended = true;
    if (way_ % 5 == 1) Answer(stream);
    if (way_ % 5 == 2) waiting_.push_back(&stream);
    if (way_ % 5 == 3) AnswerInParts(stream);
  }
  void OnClosed(Stream& stream) noexcept override {
    std::erase(waiting_, &stream);
    delete &Of(stream);
  }
  void OnBreach(wf::http::Breach, std::string_view why) noexcept override {
    Require(!breached_ && !why.empty());
    breached_ = true;
  }

  void Answer(Stream& stream) {
    wf_sink body;
    const std::string text(static_cast<size_t>(way_) * 300, 'a');
    body.Put(text.data(), text.size());
    const wf::http::Header trailer = {"x-trailer", "t"};
    Require(session_.Answer(stream, {200, "text/plain", {}, {&trailer, way_ % 2 == 0 ? size_t{1} : size_t{0}}}, body, way_ % 7 == 0));
  }
  void AnswerInParts(Stream& stream) {
    Require(session_.Begin(stream, {200, "text/plain", {}, {}}));
    for (int i = 0; i < 3; ++i) {
      wf_sink part;
      const std::string text(static_cast<size_t>(way_) * 100, 'b');
      part.Put(text.data(), text.size());
      Require(session_.Add(stream, part));
    }
    const wf::http::Header trailer = {"x-trailer", "t"};
    Require(session_.End(stream, {&trailer, 1}));
  }
  void Send() {
    constexpr size_t kHighMark = 4096;
    for (int i = 0; i < 100; ++i) {
      Require(session_.Send(&out_, kHighMark));
      if (out_.empty()) return;
      out_.Clear();
    }
  }

  Session session_;
  const uint8_t way_;
  bool breached_ = false;
  std::vector<Stream*> waiting_;
  wf_sink out_;
};

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::span<const uint8_t> input(data + 2, size - 2);
  wf::http2::Pool pool;
  Peer(pool, data[1]).Run(input, input.empty() ? 0 : data[0] % (input.size() + 1));
  return 0;
}
