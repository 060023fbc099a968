#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace wf::driver {

// A server on this machine while it runs: that of a file's tests, where one request is one test, or one to be measured.
// Thread: one.   Owns: the process, which ends with this.
// Errors: kUnavailable: it ended, and the message says how; kDeadlineExceeded: no answer in time.
class LocalServer {
 public:
  LocalServer(std::string binary, std::vector<std::string> arguments) : binary_(std::move(binary)), arguments_(std::move(arguments)) {}
  ~LocalServer();
  LocalServer(const LocalServer&) = delete;
  LocalServer& operator=(const LocalServer&) = delete;

  base::Status Start();  // until it listens
  bool runs() const { return pid_ > 0; }
  const std::string& http() const { return http_; }  // HOST:PORT
  const std::string& admin() const { return admin_; }
  base::Result<std::string> Call(const std::string& path, int64_t within_ns);  // the body of the answer to a POST of {}
  void Stop();                                                                 // at once
  base::Status End(int64_t within_ns);                                         // as SIGTERM does: what was asked is answered first
  std::string TakeErrors();                                                    // what it has written to stderr since

 private:
  base::Status Ended();  // reaps it
  base::Status ReadAddresses(int from);

  const std::string binary_;
  const std::vector<std::string> arguments_;
  pid_t pid_ = -1;
  std::string http_, admin_;
  int errors_ = -1;  // a file in memory
  int64_t errors_read_ = 0;
};

}  // namespace wf::driver
