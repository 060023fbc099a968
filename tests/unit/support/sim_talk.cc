#define OPENSSL_SUPPRESS_DEPRECATED  // of what replaces its random numbers: the same seed gives the same bytes
#include "tests/unit/support/sim_talk.h"

#include <openssl/rand.h>

#include <random>
#include <utility>

#include "runtime/base/check.h"
#include "tests/unit/support/tls_peer.h"

namespace wf::test {
namespace {

std::mt19937_64 tls_random;

int RandomBytes(unsigned char* bytes, int count) {
  for (int i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(tls_random() >> 24);
  return 1;
}
int RandomState() { return 1; }
constexpr RAND_METHOD kSeeded = {nullptr, RandomBytes, nullptr, nullptr, RandomBytes, RandomState};

const Authority& SimAuthority() {
  static const Authority authority;
  return authority;
}

}  // namespace

std::shared_ptr<const tls::Context> SimContext(uint64_t seed) {
  static const std::shared_ptr<const tls::Context> context = [] {
    RAND_set_rand_method(&kSeeded);
    tls_random.seed(1);
    base::Result<tls::Context> made = tls::Context::Load(SimAuthority().Options());
    WF_CHECK(made.ok());
    return std::make_shared<const tls::Context>(std::move(*made));
  }();
  tls_random.seed(seed);
  return context;
}

SimTalk::SimTalk(SimPeer& end, const Options& options) : end_(end) {
  if (options.http2) http2_ = std::make_unique<SimHttp2>(*options.http2);
  if (!options.secure) return;
  tls_ = std::make_unique<TlsPeer>(SimAuthority().ca.get());
  if (options.alpn) tls_->Offer(http2_ == nullptr ? "\x08http/1.1" : "\x02h2\x08http/1.1");
}

SimTalk::~SimTalk() = default;

void SimTalk::Say(const std::string& said) { held_ += said; }

void SimTalk::Move() {
  std::string come = std::exchange(end_.received, {});
  if (tls_ != nullptr) {
    tls_->Take(come);
    come = std::exchange(tls_->read, {});
  }
  if (http2_ != nullptr)
    http2_->Take(come);
  else
    text += come;
  if (http2_ != nullptr) held_ += http2_->Say();
  std::string gone;
  if (tls_ == nullptr) {
    gone = std::exchange(held_, {});
  } else {
    if (!held_.empty() && SSL_is_init_finished(tls_->session()) == 1) tls_->Write(std::exchange(held_, {}));
    gone = tls_->Say();
  }
  if (end_.ended || end_.broken || end_.closed) {
    lost_ = lost_ || !gone.empty();
    return;
  }
  end_.under_way += gone;
  written_ += gone.size();
}

}  // namespace wf::test
