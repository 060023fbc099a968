#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/server/front.h"
#include "tests/unit/support/sim_faults.h"
#include "tests/unit/support/sim_oip.h"
#include "tests/unit/support/sim_process.h"
#include "tests/unit/support/sim_talk.h"

namespace wf::test {

// A process whose requests come as bytes: connections, sessions, admission, codecs and engines as production runs them, over wires that the
// seed moves, with TLS between in some. Peers of HTTP/1.1 write whole requests one behind the other, those of HTTP/2 several at a time,
// with bodies that come in parts, and reset some; both some nonsense. Their bytes arrive in pieces of any size; they read slowly, stop
// writing, or break at any byte; loops sleep until they are woken; the drain may begin, and end by force, at any moment. Each answer is
// matched with its request and compared with the interpreter. With faults allocations and calls of wires fail now and then, too.
class WireWorld final : public SimProcess {
 public:
  explicit WireWorld(const SimOptions& options);
  ~WireWorld() override;

 private:
  struct Loop;
  struct Peer;
  struct Recorder;
  // kInferMessage and the last two are of gRPC.
  enum class Ask : uint8_t { kCall, kInfer, kInferMessage, kProbe, kNowhere, kBadJson, kNotHttp, kHealth, kWatch };
  static constexpr uint64_t kNotWritten = UINT64_MAX;
  struct Asked {
    Ask kind = Ask::kCall;
    std::string log_id;
    std::vector<int64_t> inputs;
    SimInference inference;               // of kInfer and kInferMessage
    size_t json_bytes = 0;                // of its body, before raw tensors
    uint64_t end = kNotWritten;           // of its bytes, counted from the connection's first
    uint64_t begin_of_end = kNotWritten;  // of the bytes that its last ones were written with
    int32_t stream = 0;                   // of HTTP/2
    base::TimePoint asked_at = 0;
    size_t version = 0;  // the newest when it was written
    bool head_only = false, large = false, continues = false;
  };
  // Large bodies and answers wait here until the seed picks them.
  struct CodecList final : server::CodecQueue {
    void Push(Work& one) noexcept override { work.push_back(&one); }
    std::vector<Work*> work;
  };
  struct Reply {
    int status = 0;
    bool closes = false;
    std::string body;
    std::map<std::string, std::string> of_grpc = {};
  };

  void Step() override;
  bool AtRest() const override;
  void TearDown() override;
  void CheckInvariants() override;
  void CheckAtRest() override;
  void DropLoops() override;
  size_t loops() const override { return loops_.size(); }
  sched::Engine& engine(size_t loop) override;
  base::TimePoint NextTimerAt() override;

  void Connect();
  void Say(Peer& peer);
  std::string Bytes(Asked& asked);
  std::string WithBody(const std::string& head, const std::string& body, Asked& asked);
  std::string CallBody(Asked& asked);
  Ask AnyCall(const Peer& peer);
  bool AskHttp2(Peer& peer, Asked& asked);
  void Move(Peer& peer);
  void Stir(Peer& peer);
  void Deliver(Peer& peer);
  void Take(Peer& peer);
  void Leave(Peer& peer);
  void Turn(Loop& loop);
  void Second(Loop& loop);
  void Drain();
  void Code();
  Peer& AnyPeer() { return *talks_[Below(talks_.size())]; }

  void ReadReplies(Peer& peer);
  void ReadAnswers(Peer& peer);
  void CheckReset(Peer& peer, const Asked& asked, uint32_t error);
  bool MayGoUnanswered(Peer& peer) const;
  bool NextReply(Peer& peer, Reply* reply);
  void CheckReply(Peer& peer, const Asked& asked, const Reply& reply);
  Reply AsPlain(const Asked& asked, Reply reply);
  Reply OfMessage(const Asked& asked, Reply reply);
  void CheckCall(const Asked& asked, const Reply& reply);
  bool Matches(const Asked& asked, const Reply& reply, size_t version);
  void CheckLeft(Peer& peer);
  // What may fail in calls into the process; with TLS only wires do: OpenSSL's allocations are its own business.
  const std::function<bool()>* fails() const { return fails_ && context_ == nullptr ? &fails_ : nullptr; }
  bool something_failed() const { return memory_.refused > 0 || failed_ > 0; }

  std::deque<SimPeer> ends_;  // index: the descriptor
  std::vector<std::unique_ptr<Peer>> talks_;
  std::unique_ptr<server::Router> router_;
  std::unique_ptr<oip::Names> names_;
  std::unique_ptr<server::Shared> shared_;
  server::Settings settings_;
  CodecList codecs_;
  std::map<std::string, test::Recorder::Decisions, std::less<>> decisions_;  // by log id
  std::vector<std::unique_ptr<Loop>> loops_;
  int to_ask_ = 0;
  int64_t timeout_ns_ = 0;
  uint64_t failed_ = 0;  // allocations, calls of wires
  std::function<bool()> fails_;
  std::shared_ptr<const tls::Context> context_;  // null: no TLS
  uint32_t streams_ = 100;                       // limits.streams
  bool may_drain_ = false, may_abort_ = false, aborted_ = false, leaves_politely_ = false;
};

}  // namespace wf::test
