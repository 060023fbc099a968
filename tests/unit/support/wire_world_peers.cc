// What the peers of a WireWorld do.
#include <algorithm>
#include <charconv>

#include "tests/unit/support/wire_world_parts.h"

namespace wf::test {
namespace {

constexpr const char* kJsonBytes = "inference-header-content-length";

}  // namespace

void WireWorld::Connect() {
  Loop& loop = *loops_[Below(loops_.size())];
  ends_.emplace_back();
  SimTalk::Options options;
  options.secure = context_ != nullptr;
  options.alpn = Chance(50);
  const bool slow = Chance(25);
  if (Chance(50)) options.http2 = {.window = static_cast<uint32_t>(Chance(30) ? Below(300) : 65'535), .opens_late = slow};
  talks_.push_back(std::make_unique<Peer>(ends_.back(), loop, options));
  talks_.back()->slow = slow;
  Note(20, talks_.size());
  loop.WakeUp();
  const FailingAllocations failing(fails());
  loop.front.Adopt(static_cast<int>(ends_.size()) - 1);
}

// What there is to say leaves, and what has come is read.
void WireWorld::Move(Peer& peer) {
  const uint64_t before = peer.talk.written();
  peer.talk.Move();
  if (!peer.talk.has_said_all()) return;
  for (Asked& asked : peer.open) {
    if (asked.end != kNotWritten || (peer.http2() != nullptr && !peer.http2()->wrote(asked.stream))) continue;
    asked.end = peer.talk.written();
    asked.begin_of_end = before;
  }
}

// The same body by its length, or in chunks.
std::string WireWorld::WithBody(const std::string& head, const std::string& body, Asked& asked) {
  const std::string more = head + (asked.continues ? "expect: 100-continue\r\n" : "");
  if (Chance(70)) return more + "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  std::string text = more + "transfer-encoding: chunked\r\n\r\n";
  for (size_t at = 0; at < body.size();) {
    const size_t part = std::min<size_t>(1 + Below(body.size()), body.size() - at);
    char size[20];
    *std::to_chars(size, size + sizeof size - 1, part, 16).ptr = 0;
    text += std::string(size) + "\r\n" + body.substr(at, part) + "\r\n";
    at += part;
  }
  return text + "0\r\n\r\n";
}

std::string WireWorld::Bytes(Asked& asked) {
  const std::string rest = " HTTP/1.1\r\nhost: sim\r\nx-request-id: " + asked.log_id + "\r\n" + (Chance(8) ? "connection: close\r\n" : "");
  const std::string call = "POST /W/W" + rest + "content-type: application/json\r\n";
  const std::string infer = "POST /v2/models/W/infer" + rest;
  asked.continues = Chance(5);
  switch (asked.kind) {
    case Ask::kProbe:
      asked.head_only = Chance(30);
      asked.continues = false;
      return (asked.head_only ? "HEAD /readyz" : "GET /readyz") + rest + "\r\n";
    case Ask::kNowhere:
      return WithBody("POST /W/Nowhere" + rest, std::string(Below(300), 'x'), asked);
    case Ask::kBadJson:
      return WithBody(call, "{\"a\":1,\"b\":x}", asked);
    case Ask::kNotHttp:
      return "POST /W/W HTTP/1.1\r\nhost : sim\r\n\r\n";
    case Ask::kInfer: {
      const std::string body = CallBody(asked);
      return WithBody(infer + (asked.json_bytes == 0 ? "" : kJsonBytes + std::string(": ") + std::to_string(asked.json_bytes) + "\r\n"),
                      body, asked);
    }
    default:
      return WithBody(call, CallBody(asked), asked);
  }
}

std::string WireWorld::CallBody(Asked& asked) {
  asked.inputs = {static_cast<int64_t>(Below(1'000'000)), static_cast<int64_t>(Below(1'000'000))};
  asked.large = Chance(5);
  const std::string spaces(asked.large ? 17'000 + Below(20'000) : Below(40), ' ');
  if (asked.kind != Ask::kCall) {
    const int64_t timeout_us = Chance(10) ? static_cast<int64_t>(500 + Below(5'000)) : 0;
    asked.inference = {asked.inputs[0], asked.inputs[1], Chance(50) ? "of " + asked.log_id : "", timeout_us, spaces.size(),
                       Chance(50),      Chance(50)};
    if (asked.kind == Ask::kInferMessage) return MessageBody(asked.inference);
    SimBody body = RestBody(asked.inference);
    asked.json_bytes = body.json_bytes;
    return body.bytes;
  }
  return "{\"a\":" + std::to_string(asked.inputs[0]) + "," + spaces + "\"b\":" + std::to_string(asked.inputs[1]) + "}";
}

// False: the server has said that it takes no more on this connection.
bool WireWorld::AskHttp2(Peer& peer, Asked& asked) {
  const bool probe = asked.kind == Ask::kProbe, health = asked.kind == Ask::kHealth || asked.kind == Ask::kWatch;
  const bool grpc = health || asked.kind == Ask::kInferMessage;
  asked.head_only = probe && Chance(30);
  std::string body;
  if (asked.kind <= Ask::kInferMessage) body = CallBody(asked);
  if (asked.kind == Ask::kNowhere) body = std::string(Below(300), 'x');
  if (asked.kind == Ask::kBadJson) body = "{\"a\":1,\"b\":x}";
  if (health) body = std::string(5, '\0');  // a message that is empty
  http2::Fields more = {{"x-request-id", asked.log_id}};
  if (!probe) more.emplace_back("content-type", grpc ? "application/grpc" : "application/json");
  if (grpc) more.emplace_back("te", "trailers");
  if (asked.json_bytes != 0) more.emplace_back(kJsonBytes, std::to_string(asked.json_bytes));
  if (!body.empty() && Chance(50)) more.emplace_back("content-length", std::to_string(body.size()));
  if (!body.empty() && Chance(5)) more.emplace_back("expect", "100-continue");
  if (Chance(3)) more.emplace_back("x-long", std::string(16'000 + Below(8'000), 'l'));  // more than a frame
  const std::string path = probe                              ? "/readyz"
                           : asked.kind == Ask::kNowhere      ? "/W/Nowhere"
                           : asked.kind == Ask::kHealth       ? "/grpc.health.v1.Health/Check"
                           : asked.kind == Ask::kWatch        ? "/grpc.health.v1.Health/Watch"
                           : asked.kind == Ask::kInfer        ? "/v2/models/W/infer"
                           : asked.kind == Ask::kInferMessage ? "/inference.GRPCInferenceService/ModelInfer"
                                                              : "/W/W";
  const char* const method = asked.head_only ? "HEAD" : probe ? "GET" : "POST";
  const size_t first = Chance(70) ? body.size() : Below(body.size() + 1);
  asked.stream = peer.http2()->Ask(http2::Request(method, path, more), std::move(body), first);
  return asked.stream != 0;
}

WireWorld::Ask WireWorld::AnyCall(const Peer& peer) {
  const uint64_t kind = Below(100);
  if (kind < 50) return Ask::kCall;
  return kind < 75 || peer.talk.http2() == nullptr ? Ask::kInfer : Ask::kInferMessage;
}

void WireWorld::Say(Peer& peer) {
  if (to_ask_ == 0 || peer.end.ended || peer.end.broken || peer.end.closed || peer.open.size() >= 6) return;
  Asked asked;
  const uint64_t kind = Below(100);
  asked.kind = kind < 86 ? AnyCall(peer) : kind < 91 ? Ask::kProbe : kind < 94 ? Ask::kNowhere : kind < 98 ? Ask::kBadJson : Ask::kNotHttp;
  if (peer.http2() != nullptr && kind >= 80 && kind < 86) asked.kind = kind < 83 ? Ask::kHealth : Ask::kWatch;
  asked.log_id = "p" + std::to_string(talks_.size()) + "r" + std::to_string(to_ask_);
  asked.asked_at = clock_.Now();
  asked.version = versions_.size();
  if (peer.http2() != nullptr && asked.kind == Ask::kNotHttp) {
    --to_ask_;
    peer.spoke_nonsense = true;
    Move(peer);  // what it has to say stays in order
    peer.talk.Say(
        http2::Frame(static_cast<uint8_t>(Below(10)), static_cast<uint8_t>(Below(256)), static_cast<uint32_t>(Below(8)), "nonsense"));
    return Move(peer);
  }
  if (peer.http2() == nullptr)
    peer.talk.Say(Bytes(asked));
  else if (!AskHttp2(peer, asked))
    return;
  --to_ask_;
  peer.open.push_back(std::move(asked));
  Move(peer);
  Note(21, peer.talk.written());
}

// The rest of a body, a reset, a ping, windows that open.
void WireWorld::Stir(Peer& peer) {
  if (peer.http2() == nullptr || peer.end.ended || peer.end.broken || peer.end.closed) return;
  const uint64_t kind = Below(100);
  if (kind < 70 && !peer.open.empty()) {
    peer.http2()->GoOn(peer.open[Below(peer.open.size())].stream, Chance(50) ? 100'000 : 1 + Below(20));
  } else if (kind < 80 && !peer.open.empty() && Chance(30)) {
    const auto at = peer.open.begin() + static_cast<ptrdiff_t>(Below(peer.open.size()));
    peer.http2()->Reset(at->stream);
    Note(29, static_cast<uint64_t>(at->stream));
    peer.open.erase(at);
  } else if (kind < 85) {
    peer.http2()->Ping();
  } else {
    peer.http2()->OpenWindows();
  }
  Move(peer);
}

void WireWorld::Deliver(Peer& peer) {
  if (peer.end.wire == nullptr) return;
  peer.loop.WakeUp();
  const size_t most = Chance(50) ? 100'000 : 1 + Below(Chance(50) ? 8 : 400);
  const FailingAllocations failing(fails());
  Note(22, peer.end.wire->Deliver(most) ? most : 0);
}

void WireWorld::Take(Peer& peer) {
  const size_t bytes = peer.slow ? 1 + Below(3000) : 100'000;
  if (peer.end.wire == nullptr) return;
  peer.loop.WakeUp();
  const FailingAllocations failing(fails());
  Note(23, peer.end.wire->Take(bytes) ? 1 : 0);
}

// Stops writing, perhaps in the middle of a request, or breaks.
void WireWorld::Leave(Peer& peer) {
  if (peer.end.ended || peer.end.broken) return;
  const bool done =
      to_ask_ == 0 && std::all_of(peer.open.begin(), peer.open.end(), [](const Asked& one) { return one.kind == Ask::kWatch; });
  if (!done && !Chance(leaves_politely_ ? 2 : 15)) return;
  if (done && shared_->draining.load() && !Chance(20)) return;  // the drain must close what nobody else does
  Note(24, done);
  if (Chance(50)) {
    peer.end.broken = true;
    peer.end.under_way.clear();
  } else {
    peer.end.ended = true;
    if (!peer.end.under_way.empty()) peer.end.under_way.resize(Below(peer.end.under_way.size() + 1));
  }
}

}  // namespace wf::test
