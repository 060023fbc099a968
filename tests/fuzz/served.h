#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/server/front.h"
#include "tests/unit/support/http2_peer.h"
#include "tests/unit/support/rig.h"
#include "tests/unit/support/sim_wires.h"

namespace wf::test {

// One loop of a server of TypesPlan, without sockets: connections, sessions, protocols and the engine as production runs them.
class Served final {
 public:
  Served();

  void Connect();
  void Say(std::string_view bytes);  // arrives; all that follows from it happens
  void PassSeconds(int count);
  // What the server has said on this connection; its frames must be whole and of types that there are.
  Http2Reader& reader() { return *reader_; }
  bool closed() const { return peers_[0].closed; }
  void Leave();  // and nothing of the connection may be left

 private:
  void Turn();

  std::vector<wf_workflow> workflows_;
  const wf_plan plan_;
  FakeClock clock_;
  CountingWaker waker_;
  base::Mailbox mailbox_{waker_};
  ListQueue queue_;
  TestMemory memory_;
  bus::PlanIndex index_;
  server::Router router_;
  oip::Names names_;
  std::unique_ptr<server::Shared> shared_;
  std::deque<SimPeer> peers_;
  SimWires wires_;
  sched::Catalogue catalogue_;
  server::Settings settings_;
  std::unique_ptr<server::Front> front_;
  std::unique_ptr<Http2Reader> reader_;
};

}  // namespace wf::test
