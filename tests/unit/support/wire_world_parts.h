#pragma once

#include <deque>
#include <memory>
#include <string>

#include "runtime/net/secure_wires.h"
#include "tests/unit/support/wire_world.h"

namespace wf::test {

struct WireWorld::Peer {
  Peer(SimPeer& its_end, Loop& its_loop, const SimTalk::Options& options) : end(its_end), loop(its_loop), talk(end, options) {}
  SimHttp2* http2() { return talk.http2(); }
  SimPeer& end;
  Loop& loop;
  SimTalk talk;
  std::deque<Asked> open;      // not answered yet, oldest first
  bool told_to_close = false;  // by an answer
  bool slow = false;
  bool spoke_nonsense = false;
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
        secure(world.context_ == nullptr ? nullptr : std::make_unique<net::SecureWires>(wires)),
        front(*world.shared_, secure == nullptr ? static_cast<net::Wires&>(wires) : *secure, options),
        begin_drain(front),
        end_drain(front) {
    if (secure != nullptr) secure->set_context(world.context_);
    wires.fails = world.fails_;
  }
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
  std::unique_ptr<net::SecureWires> secure;
  server::Front front;
  BeginDrain begin_drain;
  EndDrain end_drain;
  bool asleep = false;
};

}  // namespace wf::test
