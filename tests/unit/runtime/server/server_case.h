#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/observe/log.h"
#include "runtime/server/server.h"
#include "tests/unit/runtime/server/client.h"

extern "C" const wf_plan wf_plan_main;

namespace wf::server {

inline std::string Post(const std::string& path, const std::string& body,
                        const std::string& headers = "content-type: application/json\r\n") {
  return "POST " + path + " HTTP/1.1\r\nhost: t\r\n" + headers + "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// A whole server in this process, on free ports.
// Thread: the test's own, but for what it does at a SIGHUP, on the server's.
class ServerCase : public testing::Test {
 protected:
  // The file of settings holds the first of `configs`, and with each SIGHUP the next one.
  void Serve(std::vector<const char*> flags = {}, const wf_plan& plan = wf_plan_main, std::vector<std::string_view> configs = {""}) {
    flags.insert(flags.begin(), {"--http-port=0", "--admin-port=0", "--host=127.0.0.1", "--compute-threads=2"});
    const auto load = [flags, &plan, configs](size_t at) {
      static constexpr const char* kEnvironment[] = {"WF_LOG_LEVEL=error", nullptr};
      const std::string_view text = configs[at % configs.size()];
      return LoadSettings({.arguments = flags, .environment = kEnvironment, .plan = &plan, .again = at > 0, .config_text = &text});
    };
    loaded_ = load(0);
    ASSERT_TRUE(loaded_.errors.empty()) << loaded_.errors[0];
    observe::SetLogLevel(static_cast<observe::Level>(loaded_.settings.log_level));
    server_ = std::make_unique<Server>(plan, loaded_.settings);
    server_->set_reload([load, at = size_t{0}]() mutable { return load(++at); });
    const base::Status status = server_->Start();
    ASSERT_TRUE(status.ok()) << status.message();
    const std::string line = server_->ListeningLine();
    port_ = static_cast<uint16_t>(std::stoi(line.substr(line.find("http=127.0.0.1:") + 15)));
    admin_ = static_cast<uint16_t>(std::stoi(line.substr(line.find("admin=127.0.0.1:") + 16)));
    thread_ = std::thread([this] { status_ = server_->Run(); });
  }
  void TearDown() override { Stop(); }
  int Stop() {
    if (!thread_.joinable()) return status_;
    kill(getpid(), SIGTERM);
    thread_.join();
    server_.reset();
    return status_;
  }
  Client::Answer Call(const std::string& request) {
    Client client(port_);
    client.Send(request);
    return client.Receive();
  }
  double Metric(const std::string& name) {
    Client client(admin_);
    client.Send("GET /metrics HTTP/1.1\r\nhost: t\r\n\r\n");
    const std::string text = "\n" + client.Receive().body;
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
  }
  // Cancelled work ends on other threads: what must come to rest is waited for.
  double MetricAtRest(const std::string& name) {
    double value = Metric(name);
    for (int i = 0; i < 500 && value != 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      value = Metric(name);
    }
    return value;
  }

  Loaded loaded_;
  std::unique_ptr<Server> server_;
  uint16_t port_ = 0, admin_ = 0;
  std::thread thread_;
  int status_ = -1;
};

}  // namespace wf::server
