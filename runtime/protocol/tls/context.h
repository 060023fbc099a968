#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/status.h"

struct ssl_ctx_st;

namespace wf::tls {

// A text in PEM, and what messages call it.
struct Pem {
  std::string name, text;
};

struct ContextOptions {
  Pem certificates;              // the server's, then those that signed it
  Pem key;                       // not behind a password
  std::optional<Pem> client_ca;  // who signs clients' certificates; none: clients need no certificate
  bool only_1_3 = false;         // else TLS 1.2 too
};

// What the sessions of a server share: its certificate, versions, ciphers, and the secret of its session tickets.
// Thread: thread-safe.   Owns: keys; a session keeps what it needs when its context goes.
// Errors: Load says which text is wrong and how.
class Context {
 public:
  static base::Result<Context> Load(const ContextOptions& options);
  bool operator==(const Context& other) const { return hash_ == other.hash_; }  // made of the same texts
  const std::vector<std::string>& warnings() const { return warnings_; }  // certificates whose time was over or yet to come, a line each

 private:
  friend class Session;
  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };
  base::Status Take(const ContextOptions& options);
  base::Status TakeCertificates(const Pem& pem);
  base::Status TakeKey(const Pem& pem);
  base::Status TakeClientCa(const Pem& pem);

  std::unique_ptr<ssl_ctx_st, Free> context_;
  std::vector<std::string> warnings_;
  uint64_t hash_ = 0;  // of the texts
};

}  // namespace wf::tls
