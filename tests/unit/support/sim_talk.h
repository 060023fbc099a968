#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "runtime/protocol/tls/context.h"
#include "tests/unit/support/sim_http2.h"
#include "tests/unit/support/sim_wires.h"

namespace wf::test {

class TlsPeer;

// What a client says on one connection, through TLS or not, and in which version of HTTP.
class SimTalk {
 public:
  struct Options {
    bool secure = false, alpn = false;
    std::optional<SimHttp2::Options> http2;  // none: HTTP/1.1
  };
  SimTalk(SimPeer& end, const Options& options);
  ~SimTalk();

  SimHttp2* http2() const { return http2_.get(); }  // null: HTTP/1.1
  void Say(const std::string& text);                // as it is, whatever the version
  void Move();                                      // reads what has come, sends what there is to say
  std::string text;                                 // that the server has said in HTTP/1.1, and nobody has looked at yet
  uint64_t written() const { return written_; }     // bytes of the connection
  bool has_said_all() const { return held_.empty() && !lost_; }

 private:
  SimPeer& end_;
  std::unique_ptr<TlsPeer> tls_;
  std::unique_ptr<SimHttp2> http2_;
  std::string held_;  // until the handshake is over
  uint64_t written_ = 0;
  bool lost_ = false;  // what it had to say when the connection was over
};

// What servers with TLS show their simulated clients. Random numbers of OpenSSL come from `seed` from now on.
std::shared_ptr<const tls::Context> SimContext(uint64_t seed);

}  // namespace wf::test
