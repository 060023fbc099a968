#include <algorithm>
#include <charconv>

#include "runtime/base/reserve.h"
#include "tests/unit/support/wire_world_parts.h"

namespace wf::test {

WireWorld::WireWorld(const SimOptions& options) : SimProcess(options) {
  base::Reserve::LetFail(false);  // the thread is one of the server's
  base::Reserve::Refill();        // after a world before this one
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
  if (options.with_faults) {
    fails_ = [this] {
      const bool fails = Below(200) == 0;
      failed_ += fails ? 1 : 0;
      return fails;
    };
  }
  if (Chance(10)) context_ = SimContext(options.seed);
  if (Chance(25)) streams_ = static_cast<uint32_t>(1 + Below(3));
  const std::string text = "limits: {body_bytes: 1MiB, inflight: 1000000, streams: " + std::to_string(streams_) + "}\n";
  const std::string_view config = text;
  settings_ = server::LoadSettings({.config_text = &config}).settings;
  for (size_t i = 0; i < loops; ++i) {
    server::FrontOptions front;
    front.index = static_cast<int>(i);
    front.secure = context_ != nullptr;
    loops_.push_back(std::make_unique<Loop>(*this, front));
    Loop& loop = *loops_.back();
    engine.loop = static_cast<int>(i);
    engine.kept_buses = static_cast<uint32_t>(Below(3));
    if (Chance(30)) engine.inline_turn_ns = static_cast<int64_t>(Below(3'000));
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

// ---- what loops do ----

void WireWorld::Turn(Loop& loop) {
  if (loop.asleep && loop.waker.count == 0 && loop.front.NextTimerAt() > clock_.Now()) return;
  loop.WakeUp();
  const FailingAllocations failing(fails());
  Note(25, loop.mailbox.Drain() ? 1 : 0);
  if (loop.front.NextTimerAt() <= clock_.Now()) loop.front.OnTime();
  loop.front.OnFlush();
  const bool worked = loop.front.OnIdle();
  loop.asleep = !worked && loop.mailbox.PrepareToSleep();
  loop.front.OnPoll();
}

void WireWorld::Second(Loop& loop) {
  base::Reserve::Refill();  // as the server does; what may fail here leaves memory short
  loop.WakeUp();
  const FailingAllocations failing(fails());
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
  const FailingAllocations failing(fails());
  work.RunIfWanted();
  work.home->Post(work);
}

void WireWorld::Step() {
  const uint64_t kind = Below(200);
  if (kind < 3) {
    if (talks_.size() < 8 && to_ask_ > 0 && !shared_->draining.load()) Connect();
  } else if (kind < 15) {
    Say(AnyPeer());
  } else if (kind < 19) {
    Stir(AnyPeer());
  } else if (kind < 59) {
    Deliver(AnyPeer());
  } else if (kind < 75) {
    Peer& peer = AnyPeer();
    Take(peer);
    Move(peer);
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
  if (to_ask_ > 0 && (talks_.size() == 8 || shared_->draining.load()) && std::all_of(talks_.begin(), talks_.end(), [](const auto& peer) {
        return peer->end.ended || peer->end.broken || peer->end.closed || (peer->http2() != nullptr && peer->http2()->over());
      }))
    to_ask_ = 0;
}

bool WireWorld::AtRest() const {
  if (to_ask_ > 0) return false;
  if (std::any_of(ends_.begin(), ends_.end(), [](const SimPeer& end) { return end.wire != nullptr; })) return false;
  return std::all_of(loops_.begin(), loops_.end(),
                     [this](const auto& loop) { return loop->front.at_rest() && (!shared_->draining.load() || loop->front.idle()); });
}

void WireWorld::TearDown() {
  to_ask_ = 0;
  fails_ = nullptr;
  for (const auto& loop : loops_) loop->wires.fails = nullptr;
  for (SimPeer& end : ends_) {
    end.broken = true;
    end.under_way.clear();
  }
}

// ---- what must hold ----

void WireWorld::CheckInvariants() {
  int64_t inflight = 0;
  for (const auto& loop : loops_) {
    if (loop->front.engine().running_buses() > loop->front.engine().live_buses()) Broken("more buses run than live");
    size_t most = 0;  // that clients wait for
    for (const auto& peer : talks_)
      if (&peer->loop == loop.get() && peer->end.wire != nullptr) most += peer->http2() == nullptr ? 1 : streams_;
    if (shared_->codecs == nullptr && loop->front.engine().running_buses() > most) Broken("a request runs on although its client has gone");
  }
  for (const auto& counts : shared_->loops) inflight += static_cast<int64_t>(counts->inflight_all.value());
  const int64_t limit = plan_->workflows->inflight_max;
  if (inflight < 0 || (limit != 0 && inflight > limit)) Broken("more requests in flight than the service takes");
  if (memory_.claimed_bytes < 0) Broken("bytes were given back that nobody had claimed");
}

void WireWorld::CheckAtRest() {
  for (const auto& peer : talks_) {
    Move(*peer);
    ReadReplies(*peer);
    CheckLeft(*peer);
  }
  for (const auto& counts : shared_->loops)
    if (counts->inflight_all.value() != 0 || counts->inflight[0].value() != 0) Broken("something is counted as in flight at rest");
  if (memory_.claimed_bytes != 0) Broken("bytes of bodies or answers are claimed at rest");
}

bool WireWorld::MayGoUnanswered(Peer& peer) const {
  if (peer.end.ended || peer.end.broken || peer.told_to_close || peer.end.starved || aborted_ || failed_ > 0) return true;
  return peer.http2() != nullptr && (peer.http2()->goaway() > 0 || peer.http2()->not_spoken() || peer.spoke_nonsense);
}

// A request that arrived whole is answered unless its peer has gone, or was told before that the connection ends.
void WireWorld::CheckLeft(Peer& peer) {
  if (MayGoUnanswered(peer)) return;
  for (const Asked& asked : peer.open) {
    if (asked.end > std::min(peer.end.delivered, peer.end.delivered_at_end) || asked.kind == Ask::kWatch) continue;
    if (peer.http2() != nullptr && asked.stream > peer.http2()->last_stream()) continue;
    return Broken("request " + asked.log_id + " was never answered" + (shared_->draining.load() ? ", in a drain" : "") +
                  (peer.http2() != nullptr ? ", of HTTP/2" : "") + ", unread: " + std::to_string(peer.talk.text.size()) + " bytes");
  }
}

bool WireWorld::NextReply(Peer& peer, Reply* reply) {
  std::string& text = peer.talk.text;
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
  if (peer.http2() != nullptr) return ReadAnswers(peer);
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

void WireWorld::ReadAnswers(Peer& peer) {
  SimHttp2& http2 = *peer.http2();
  for (const SimHttp2::Answer& answer : http2.TakeAnswers()) {
    const auto at = std::find_if(peer.open.begin(), peer.open.end(), [&](const Asked& one) { return one.stream == answer.stream; });
    if (at == peer.open.end() || peer.spoke_nonsense) continue;  // it has reset it; or has changed what it asks
    const Asked asked = std::move(*at);
    peer.open.erase(at);
    Note(27, static_cast<uint64_t>(answer.status));
    if (answer.ended)
      CheckReply(peer, asked, {answer.status, false, answer.body, answer.of_grpc});
    else
      CheckReset(peer, asked, answer.error);
  }
  if (peer.spoke_nonsense) return;
  if (!http2.broken().empty()) Broken("a client of HTTP/2 was told: " + http2.broken());
  const bool too_slow = http2.goaway() == NGHTTP2_PROTOCOL_ERROR && clock_.Now() >= INT64_C(10'000'000'000);  // with a head
  if (http2.goaway() > 0 && !too_slow && !something_failed())
    Broken("a client of HTTP/2 was sent away with error " + std::to_string(http2.goaway()));
}

// By the server: it has too many, ends, or the peer takes nothing.
void WireWorld::CheckReset(Peer& peer, const Asked& asked, uint32_t error) {
  constexpr int64_t kStallNs = INT64_C(30'000'000'000);
  if (something_failed() || aborted_ || peer.spoke_nonsense) return;
  if (error == NGHTTP2_REFUSED_STREAM && (streams_ < 10 || shared_->draining.load() || peer.http2()->over())) return;
  if (error == NGHTTP2_CANCEL && clock_.Now() - asked.asked_at >= kStallNs) return;
  Broken("request " + asked.log_id + " was reset with error " + std::to_string(error));
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

// What a call by the Open Inference Protocol was answered, as the plain protocol says it.
WireWorld::Reply WireWorld::AsPlain(const Asked& asked, Reply reply) {
  if (asked.kind == Ask::kInferMessage) return OfMessage(asked, std::move(reply));
  if (asked.kind != Ask::kInfer) return reply;
  if (reply.status == 200) {
    const auto value = RestValue(asked.inference, reply.body);
    if (!value) Broken("request " + asked.log_id + " was answered with " + reply.body);
    reply.body = "{\"value\":" + std::to_string(value.value_or(0)) + "}";
    return reply;
  }
  const int64_t code = NumberOf(reply.body, "code");
  if (reply.status == 503) reply.status = code == code::kRefused ? 429 : code == code::kTimeout ? 504 : 503;
  return reply;
}

WireWorld::Reply WireWorld::OfMessage(const Asked& asked, Reply reply) {
  std::map<std::string, std::string>& fields = reply.of_grpc;
  if (reply.status != 200 || fields["grpc-status"].empty()) Broken("a call of gRPC was answered with " + std::to_string(reply.status));
  if (fields["grpc-status"] == "0") {
    const auto value = MessageValue(asked.inference, reply.body);
    if (!value) Broken("request " + asked.log_id + " was answered with a message that is none of its own");
    reply.body = "{\"value\":" + std::to_string(value.value_or(0)) + "}";
    return reply;
  }
  if (!reply.body.empty()) Broken("a call of gRPC failed with a message");
  reply.body = "{\"code\":" + fields["wf-code"] + ",\"path\":\"" + fields["wf-path"] + "\",\"message\":\"" + fields["grpc-message"] +
               "\",\"log_id\":\"" + fields["wf-log-id"] + "\"}";
  const int64_t code = NumberOf(reply.body, "code");
  const bool slow = fields["grpc-message"].find("too slowly") != std::string::npos;
  reply.status = slow ? 408 : fields["grpc-status"] == "14" ? 503 : code == code::kRefused ? 429 : code == code::kTimeout ? 504 : 400;
  return reply;
}

void WireWorld::CheckReply(Peer& peer, const Asked& asked, const Reply& sent) {
  ++answered_;
  const bool unread = sent.status == 429 && (sent.closes || asked.stream != 0) && sent.body.find("no memory") != std::string::npos;
  if (unread && sent.body.find("\"log_id\":\"\"") != std::string::npos) return;  // what asks is not known, nor how
  if (sent.status == 429 && asked.head_only && something_failed()) return;       // as that, without a body
  const Reply reply = AsPlain(asked, sent);
  if (something_failed() && reply.body.find("no memory for the headers") != std::string::npos) return;
  const bool cut_short =  // the server did not wait for the rest; it may not know the name
      (reply.closes || asked.stream != 0) && asked.end > peer.end.delivered_at_send;
  if (asked.kind >= Ask::kHealth) {
    if (reply.status != 200 || !reply.of_grpc.contains("grpc-status"))
      Broken("a call of gRPC was answered with " + std::to_string(reply.status));
    return;
  }
  if (asked.kind != Ask::kNotHttp && asked.kind != Ask::kProbe && reply.status != 200 && !cut_short &&
      reply.body.find("\"log_id\":\"" + asked.log_id + "\"") == std::string::npos)
    return Broken("request " + asked.log_id + " was given the answer of another: " + reply.body);
  const int64_t code = NumberOf(reply.body, "code");
  if (something_failed() && code == code::kRefused) return;
  const bool whole = asked.stream == 0 ? asked.end <= peer.end.delivered : asked.begin_of_end < peer.end.delivered;
  const bool came_in_parts = cut_short || asked.stream != 0;
  if (came_in_parts && reply.status == 408) return;
  const int64_t own_ns = asked.inference.timeout_us * 1000;
  const int64_t limit_ns = own_ns == 0 ? timeout_ns_ : std::min(timeout_ns_, own_ns);
  if (code == code::kTimeout && clock_.Now() < asked.asked_at + limit_ns && reply.body.find("\"path\":\"\"") != std::string::npos)
    return Broken("a deadline passed too early");
  const bool late_body = reply.status == 504 || reply.status == 408;
  if (code == code::kTimeout && late_body && (came_in_parts || asked.kind == Ask::kBadJson)) return;
  if (aborted_ && reply.status == 503 && (reply.closes || asked.stream != 0)) return;
  if (!whole && peer.end.ended && asked.stream == 0 && reply.status == 400 && reply.closes)
    return;  // half a request is told that it is one
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
      return wants(reply.status == 200 || (reply.status == 503 && (shared_->draining.load() || something_failed())));
    case Ask::kNowhere:
      return wants(reply.status == 404);
    case Ask::kBadJson:
      return wants((reply.status == 400 && code == code::kInputParams) || full || late);
    case Ask::kNotHttp:
      return wants(reply.status == 400 && reply.closes);
    default:
      return (full || late) && decisions_.find(asked.log_id) == decisions_.end() ? void() : CheckCall(asked, reply);
  }
}

void WireWorld::CheckCall(const Asked& asked, const Reply& reply) {
  if (reply.status == 200) ++succeeded_;
  if (reply.status == 200 && asked.kind != Ask::kCall) ++inferred_;
  if (something_failed()) return;  // a refusal may have been caught by any fallback
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
