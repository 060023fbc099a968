#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/server/front.h"
#include "tests/unit/support/sim_process.h"
#include "tests/unit/support/sim_wires.h"

namespace wf::test {

// A process whose requests come as bytes: connections, sessions, admission, codecs and engines as production runs them, over wires that the
// seed moves. Peers write whole requests one behind the other, and some nonsense; their bytes arrive in pieces of any size; they read
// slowly, stop writing, or break at any byte; loops sleep until they are woken; the drain may begin, and end by force, at any moment. Each
// answer is matched with the oldest request of its connection and compared with the interpreter.
class WireWorld final : public SimProcess {
 public:
  explicit WireWorld(const SimOptions& options);
  ~WireWorld() override;

 private:
  struct Loop;
  struct Peer;
  struct Recorder;
  enum class Ask : uint8_t { kCall, kProbe, kNowhere, kBadJson, kNotHttp };
  struct Asked {
    Ask kind = Ask::kCall;
    std::string log_id;
    std::vector<int64_t> inputs;
    uint64_t end = 0;  // of its bytes, counted from the connection's first
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
  void Deliver(Peer& peer);
  void Take(Peer& peer);
  void Leave(Peer& peer);
  void Turn(Loop& loop);
  void Second(Loop& loop);
  void Drain();
  void Code();
  Peer& AnyPeer() { return *talks_[Below(talks_.size())]; }

  void ReadReplies(Peer& peer);
  bool NextReply(Peer& peer, Reply* reply);
  void CheckReply(Peer& peer, const Asked& asked, const Reply& reply);
  void CheckCall(const Asked& asked, const Reply& reply);
  bool Matches(const Asked& asked, const Reply& reply, size_t version);
  void CheckLeft(const Peer& peer);

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
  bool may_drain_ = false, may_abort_ = false, aborted_ = false, leaves_politely_ = false;
};

}  // namespace wf::test
