#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/status.h"

namespace wf::driver {

// The executable of a file's tests while it runs: one request is one test.
// Thread: one.   Owns: the process, which ends with this.
// Errors: kUnavailable: it ended, and the message says how; kDeadlineExceeded: no answer in time.
class TestServer {
 public:
  TestServer(std::string binary, std::vector<std::string> arguments) : binary_(std::move(binary)), arguments_(std::move(arguments)) {}
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  base::Status Start();  // until it listens
  bool runs() const { return pid_ > 0; }
  base::Result<std::string> Call(const std::string& path, int64_t within_ns);  // the body of the answer to a POST of {}
  void Stop();                                                                 // at once
  std::string TakeErrors();                                                    // what it has written to stderr since

 private:
  base::Status Ended();  // reaps it
  base::Result<uint16_t> ReadPort(int from);

  const std::string binary_;
  const std::vector<std::string> arguments_;
  pid_t pid_ = -1;
  uint16_t port_ = 0;
  int errors_ = -1;  // a file in memory
  int64_t errors_read_ = 0;
};

}  // namespace wf::driver
