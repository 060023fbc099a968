#pragma once

#include <memory>
#include <string>

#include "runtime/base/status.h"

struct ssl_ctx_st;

namespace wf::tls {

// PEM files, as the settings tls.cert, tls.key and tls.client_ca name them.
struct Files {
  std::string certificate;  // the server's, then those that signed it
  std::string key;          // not behind a password
  std::string client_ca;    // who signs clients' certificates; empty: clients need none
};

// What the sessions of a server share: its certificate, versions, ciphers, and the secret of its session tickets.
// Thread: thread-safe.   Owns: keys; a session keeps what it needs when its context goes.
// Errors: Load says which file is wrong and how.
class Context {
 public:
  static base::Result<Context> Load(const Files& files);

 private:
  friend class Session;
  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

}  // namespace wf::tls
