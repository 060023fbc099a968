#include "tests/unit/support/wire_world.h"

#include <algorithm>
#include <charconv>

namespace wf::test {

struct WireWorld::Peer {
  Peer(SimPeer& its_end, Loop& its_loop) : end(its_end), loop(its_loop) {}
  SimPeer& end;
  Loop& loop;
  std::deque<Asked> open;  // not answered yet, oldest first
  uint64_t written = 0;    // bytes
  int asked = 0;
  bool told_to_close = false;  // by an answer
  bool slow = false;
};

// Keeps what timing decided by the name of the request: the bus is gone when its answer is read.
struct WireWorld::Recorder final : sched::Observer {
  explicit Recorder(WireWorld& owner) : world(owner) {}
  void OnTimedOut(const bus::Instance& where, uint16_t task, int attempt) override {
    world.decisions_[std::string(where.bus->log_id())].timeouts[{PathOfInstance(where), task, attempt}] = code::kTimeout;
  }
  void OnModelFailed(const bus::Instance& where, uint16_t task, const bus::Failure& why) override {
    world.decisions_[std::string(where.bus->log_id())].models[{PathOfInstance(where), task}] = why.code;
  }
  WireWorld& world;
};

struct WireWorld::Loop {
  Loop(WireWorld& world, const server::FrontOptions& options)
      : wires(world.clock_, world.ends_, [&world](const std::string& what) { world.Broken(what); }),
        recorder(world),
        front(*world.shared_, wires, options),
        begin_drain(front),
        end_drain(front) {}
  void WakeUp() {
    asleep = false;
    waker.count = 0;
    mailbox.Awake();
  }

  struct BeginDrain : base::Message {
    explicit BeginDrain(server::Front& to) : front(to) {}
    void Deliver() noexcept override { front.BeginDrain(); }
    server::Front& front;
  };
  struct EndDrain : base::Message {
    explicit EndDrain(server::Front& to) : front(to) {}
    void Deliver() noexcept override { front.Abort(); }
    server::Front& front;
  };

  CountingWaker waker;
  base::Mailbox mailbox{waker};
  SimWires wires;
  Recorder recorder;
  server::Front front;
  BeginDrain begin_drain;
  EndDrain end_drain;
  bool asleep = false;
};

WireWorld::WireWorld(const SimOptions& options) : SimProcess(options) {
  to_ask_ = options.requests;
  router_ = std::make_unique<server::Router>(*plan_);
  names_ = std::make_unique<oip::Names>(*plan_);
  shared_.reset(new server::Shared{*plan_, *router_, *names_, clock_});
  memory_.claimable_bytes = Chance(30) ? 50'000 : 1 << 24;
  shared_->ready.store(true);
  if (Chance(50)) shared_->codecs = &codecs_;
  shared_->large_bytes = 8 + Below(40);  // of bodies and answers of some twenty bytes
  const size_t loops = 1 + Below(3);
  for (size_t i = 0; i < loops; ++i) shared_->loops.push_back(std::make_unique<server::LoopCounts>(1, router_->services()));
  timeout_ns_ = Chance(25) ? static_cast<int64_t>(2 + Below(8)) * 1'000'000 : INT64_C(30'000'000'000);
  may_drain_ = Chance(40);
  may_abort_ = Chance(40);
  leaves_politely_ = Chance(60);
  sched::EngineOptions engine;
  engine.schedule = static_cast<sched::Schedule>(Below(3));
  newest().deadlines.default_ns = timeout_ns_;
  constexpr std::string_view kSettings = "limits: {body_bytes: 1MiB, inflight: 1000000}\n";
  settings_ = server::LoadSettings({.config_text = &kSettings}).settings;
  for (size_t i = 0; i < loops; ++i) {
    server::FrontOptions front;
    front.index = static_cast<int>(i);
    loops_.push_back(std::make_unique<Loop>(*this, front));
    Loop& loop = *loops_.back();
    engine.loop = static_cast<int>(i);
    engine.kept_buses = static_cast<uint32_t>(Below(3));
    loop.front.MakeEngine(*index_, {clock_, loop.mailbox, queue_, memory_, &loop.recorder}, engine);
    loop.front.set_settings(settings_);
    Hold(loop.front.engine());
  }
  Connect();
}

WireWorld::~WireWorld() = default;

sched::Engine& WireWorld::engine(size_t loop) { return loops_[loop]->front.engine(); }

base::TimePoint WireWorld::NextTimerAt() {
  base::TimePoint next = INT64_MAX;
  for (const auto& loop : loops_) next = std::min(next, loop->front.NextTimerAt());
  return next;
}

void WireWorld::DropLoops() { loops_.clear(); }

// ---- what peers do ----

void WireWorld::Connect() {
  Loop& loop = *loops_[Below(loops_.size())];
  ends_.emplace_back();
  talks_.push_back(std::make_unique<Peer>(ends_.back(), loop));
  Peer& peer = *talks_.back();
  peer.slow = Chance(25);
  Note(20, talks_.size());
  loop.WakeUp();
  loop.front.Adopt(static_cast<int>(ends_.size()) - 1);
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
    case Ask::kCall:
      break;
  }
  asked.inputs = {static_cast<int64_t>(Below(1'000'000)), static_cast<int64_t>(Below(1'000'000))};
  asked.large = Chance(5);
  const std::string spaces(asked.large ? 17'000 + Below(20'000) : Below(40), ' ');
  return WithBody(call, "{\"a\":" + std::to_string(asked.inputs[0]) + "," + spaces + "\"b\":" + std::to_string(asked.inputs[1]) + "}",
                  asked);
}

void WireWorld::Say(Peer& peer) {
  if (to_ask_ == 0 || peer.end.ended || peer.end.broken || peer.end.closed || peer.open.size() >= 6) return;
  --to_ask_;
  Asked asked;
  const uint64_t kind = Below(100);
  asked.kind = kind < 86 ? Ask::kCall : kind < 91 ? Ask::kProbe : kind < 94 ? Ask::kNowhere : kind < 98 ? Ask::kBadJson : Ask::kNotHttp;
  asked.log_id = "p" + std::to_string(talks_.size()) + "r" + std::to_string(to_ask_);
  asked.asked_at = clock_.Now();
  asked.version = versions_.size();
  const std::string bytes = Bytes(asked);
  peer.end.under_way += bytes;
  peer.written += bytes.size();
  asked.end = peer.written;
  Note(21, bytes.size());
  peer.open.push_back(std::move(asked));
}

void WireWorld::Deliver(Peer& peer) {
  if (peer.end.wire == nullptr) return;
  peer.loop.WakeUp();
  const size_t most = Chance(50) ? 100'000 : 1 + Below(Chance(50) ? 8 : 400);
  Note(22, peer.end.wire->Deliver(most) ? most : 0);
}

void WireWorld::Take(Peer& peer) {
  const size_t bytes = peer.slow ? 1 + Below(3000) : 100'000;
  if (peer.end.wire == nullptr) return;
  peer.loop.WakeUp();
  Note(23, peer.end.wire->Take(bytes) ? 1 : 0);
}

// Stops writing, perhaps in the middle of a request, or breaks.
void WireWorld::Leave(Peer& peer) {
  if (peer.end.ended || peer.end.broken) return;
  const bool done = to_ask_ == 0 && peer.open.empty();
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

// ---- what loops do ----

void WireWorld::Turn(Loop& loop) {
  if (loop.asleep && loop.waker.count == 0 && loop.front.NextTimerAt() > clock_.Now()) return;
  loop.WakeUp();
  Note(25, loop.mailbox.Drain() ? 1 : 0);
  if (loop.front.NextTimerAt() <= clock_.Now()) loop.front.OnTime();
  loop.front.OnFlush();
  loop.asleep = loop.mailbox.PrepareToSleep();
  loop.front.OnPoll();
}

void WireWorld::Second(Loop& loop) {
  loop.WakeUp();
  loop.front.OnSecond();
}

void WireWorld::Drain() {
  if (!shared_->draining.load()) {
    if (!may_drain_ || to_ask_ > options_.requests / 2) return;
    Note(26, 0);
    shared_->draining.store(true);
    for (const auto& loop : loops_) loop->mailbox.Post(loop->begin_drain);
  } else if (may_abort_ && !aborted_ && Chance(20)) {
    Note(26, 1);
    aborted_ = true;
    for (const auto& loop : loops_) loop->mailbox.Post(loop->end_drain);
  }
}

// A thread of the codecs reads a body or writes an answer.
void WireWorld::Code() {
  if (codecs_.work.empty()) return;
  const auto at = codecs_.work.begin() + static_cast<ptrdiff_t>(Below(codecs_.work.size()));
  server::CodecQueue::Work& work = **at;
  codecs_.work.erase(at);
  Note(28, codecs_.work.size());
  work.Run();
  work.home->Post(work);
}

void WireWorld::Step() {
  const uint64_t kind = Below(200);
  if (kind < 3) {
    if (talks_.size() < 8 && to_ask_ > 0 && !shared_->draining.load()) Connect();
  } else if (kind < 19) {
    Say(AnyPeer());
  } else if (kind < 59) {
    Deliver(AnyPeer());
  } else if (kind < 75) {
    Peer& peer = AnyPeer();
    Take(peer);
    ReadReplies(peer);
  } else if (kind < 81) {
    Peer& peer = AnyPeer();
    if (peer.end.wire != nullptr) peer.end.wire->FinishClose();
  } else if (kind < 85) {
    Leave(AnyPeer());
  } else if (kind < 87) {
    Second(*loops_[Below(loops_.size())]);
  } else if (kind < 88) {
    Drain();
  } else if (kind < 96) {
    Code();
  } else if (kind < 124) {
    Turn(*loops_[Below(loops_.size())]);
  } else {
    ProcessStep(Below(100));
  }
  // When nobody is left to be asked, the rest is never written.
  if (to_ask_ > 0 && (talks_.size() == 8 || shared_->draining.load()) &&
      std::all_of(talks_.begin(), talks_.end(), [](const auto& peer) { return peer->end.ended || peer->end.broken || peer->end.closed; }))
    to_ask_ = 0;
}

bool WireWorld::AtRest() const {
  if (to_ask_ > 0) return false;
  if (std::any_of(ends_.begin(), ends_.end(), [](const SimPeer& end) { return end.wire != nullptr; })) return false;
  return std::all_of(loops_.begin(), loops_.end(), [this](const auto& loop) {
    return loop->front.connections() == 0 && loop->front.engine().live_buses() == 0 && loop->front.exchanges_in_use() == 0 &&
           (!shared_->draining.load() || loop->front.idle());
  });
}

void WireWorld::TearDown() {
  to_ask_ = 0;
  for (SimPeer& end : ends_) {
    end.broken = true;
    end.under_way.clear();
  }
}

// ---- what must hold ----

void WireWorld::CheckInvariants() {
  int64_t inflight = 0;
  for (const auto& loop : loops_) {
    const server::Front& front = loop->front;
    if (loop->front.engine().running_buses() > loop->front.engine().live_buses()) Broken("more buses run than live");
    if (shared_->codecs == nullptr && loop->front.engine().running_buses() > front.connections())
      Broken("a request runs on although its client has gone");
    if (front.connections() > talks_.size()) Broken("more connections than peers");
  }
  for (const auto& counts : shared_->loops) inflight += static_cast<int64_t>(counts->inflight_all.value());
  const int64_t limit = plan_->workflows->inflight_max;
  if (inflight < 0 || (limit != 0 && inflight > limit)) Broken("more requests in flight than the service takes");
  if (memory_.claimed_bytes < 0) Broken("bytes were given back that nobody had claimed");
}

void WireWorld::CheckAtRest() {
  for (const auto& peer : talks_) {
    ReadReplies(*peer);
    CheckLeft(*peer);
  }
  for (const auto& counts : shared_->loops)
    if (counts->inflight_all.value() != 0 || counts->inflight[0].value() != 0) Broken("something is counted as in flight at rest");
  if (memory_.claimed_bytes != 0) Broken("bytes of bodies or answers are claimed at rest");
}

// A request that arrived whole is answered unless its peer has gone, or was told before that the connection ends.
void WireWorld::CheckLeft(const Peer& peer) {
  if (peer.open.empty() || peer.end.ended || peer.end.broken || peer.told_to_close || peer.end.starved || aborted_) return;
  if (peer.open.front().end <= peer.end.delivered)
    Broken("request " + peer.open.front().log_id + " was never answered" + (shared_->draining.load() ? ", in a drain" : "") +
           ", unread: " + std::to_string(peer.end.received.size()) + " bytes");
}

bool WireWorld::NextReply(Peer& peer, Reply* reply) {
  std::string& text = peer.end.received;
  const size_t head = text.find("\r\n\r\n");
  if (head == std::string::npos) return false;
  if (text.compare(0, 9, "HTTP/1.1 ") != 0) {
    Broken("an answer does not begin as one: " + text.substr(0, 40));
    return false;
  }
  reply->status = std::atoi(text.c_str() + 9);
  reply->closes = text.substr(0, head).find("\r\nconnection: close") != std::string::npos;
  const size_t length_at = text.find("\r\ncontent-length: ");
  const bool bodiless = reply->status == 100 || (!peer.open.empty() && peer.open.front().head_only);
  const size_t length = bodiless || length_at > head ? 0 : std::strtoull(text.c_str() + length_at + 18, nullptr, 10);
  if (text.size() < head + 4 + length) return false;
  reply->body = text.substr(head + 4, length);
  text.erase(0, head + 4 + length);
  return true;
}

void WireWorld::ReadReplies(Peer& peer) {
  Reply reply;
  while (broken_.empty() && NextReply(peer, &reply)) {
    if (peer.open.empty()) return Broken("an answer that nobody asked for");
    if (peer.told_to_close) return Broken("an answer behind one that said it is the last");
    if (reply.status == 100) {
      if (!peer.open.front().continues) Broken("a request was told to go on without asking");
      continue;
    }
    const Asked asked = std::move(peer.open.front());
    peer.open.pop_front();
    peer.told_to_close = reply.closes;
    Note(27, static_cast<uint64_t>(reply.status));
    CheckReply(peer, asked, reply);
  }
}

namespace {

// The number behind `"name":`, or -1.
int64_t NumberOf(std::string_view body, std::string_view name) {
  const size_t at = body.find("\"" + std::string(name) + "\":");
  if (at == std::string_view::npos) return -1;
  const size_t digits = body.find_first_not_of(' ', at + name.size() + 3);
  int64_t number = -1;
  std::from_chars(body.data() + std::min(digits, body.size()), body.data() + body.size(), number);
  return number;
}

}  // namespace

void WireWorld::CheckReply(Peer& peer, const Asked& asked, const Reply& reply) {
  ++answered_;
  const bool cut_short =
      reply.closes && asked.end > peer.end.delivered_at_send;  // the server did not wait for the rest; it may not know the name
  if (asked.kind != Ask::kNotHttp && asked.kind != Ask::kProbe && reply.status != 200 && !cut_short &&
      reply.body.find("\"log_id\":\"" + asked.log_id + "\"") == std::string::npos)
    return Broken("request " + asked.log_id + " was given the answer of another: " + reply.body);
  const int64_t code = NumberOf(reply.body, "code");
  if (memory_.refused > 0 && code == code::kRefused) return;
  const bool whole = asked.end <= peer.end.delivered;
  if (cut_short && reply.status == 408) return;
  if (code == code::kTimeout && clock_.Now() < asked.asked_at + timeout_ns_ && reply.body.find("\"path\":\"\"") != std::string::npos)
    return Broken("a deadline passed too early");
  if (code == code::kTimeout && reply.status == 504 && (cut_short || asked.kind == Ask::kBadJson)) return;  // while the body came
  if (aborted_ && reply.status == 503 && reply.closes) return;
  if (!whole && reply.status < 400) return Broken("request " + asked.log_id + " was answered before it had come");
  const auto wants = [&](bool holds) {
    if (!holds) Broken("request " + asked.log_id + " was answered with " + std::to_string(reply.status) + " " + reply.body);
  };
  const bool full =
      reply.status == 429 && code == code::kRefused && (plan_->workflows->inflight_max != 0 || memory_.claimable_bytes < 1 << 20);
  if (full && reply.body.find("the answer has no room") != std::string::npos) return;
  const bool late = reply.status == 429 && code == code::kRefused && reply.body.find(sched::kWouldBeLate) != std::string::npos;
  if (late && plan_->n_models == 0) return Broken("a request was refused for those that wait for a model, and there is none");
  switch (asked.kind) {
    case Ask::kProbe:
      return wants(reply.status == 200 || (reply.status == 503 && shared_->draining.load()));
    case Ask::kNowhere:
      return wants(reply.status == 404);
    case Ask::kBadJson:
      return wants((reply.status == 400 && code == code::kInputParams) || full || late);
    case Ask::kNotHttp:
      return wants(reply.status == 400 && reply.closes);
    case Ask::kCall:
      return (full || late) && decisions_.find(asked.log_id) == decisions_.end() ? void() : CheckCall(asked, reply);
  }
}

void WireWorld::CheckCall(const Asked& asked, const Reply& reply) {
  if (reply.status == 200) ++succeeded_;
  if (memory_.refused > 0) return;  // a refusal may have been caught by any fallback
  if (NumberOf(reply.body, "code") == code::kTimeout && reply.body.find("\"path\":\"\"") != std::string::npos) return;
  // One version answers alone; which of those that were current meanwhile is the loop's business.
  for (size_t version = asked.version; version <= versions_.size(); ++version)
    if (Matches(asked, reply, version)) return;
  Broken("request " + asked.log_id + " was answered with " + reply.body + ", the interpreter differs in every version");
}

bool WireWorld::Matches(const Asked& asked, const Reply& reply, size_t version) {
  std::vector<int64_t> expected;
  const abi::Outcome outcome = oracle_->Run(asked.inputs, 0, decisions_[asked.log_id], static_cast<int64_t>(version), &expected);
  if (reply.status == 200) return outcome.failure.code == 0 && NumberOf(reply.body, "value") == expected[0];
  const auto code = static_cast<wf_code>(NumberOf(reply.body, "code"));
  return outcome.failure.code != 0 && outcome.MayReport(code);
}

}  // namespace wf::test
