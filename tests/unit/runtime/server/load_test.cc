// Whole servers under load while all changes in them that may change: where their threads meet, for ThreadSanitizer above all.

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/abi/verify.h"
#include "tests/unit/runtime/server/model_plan.h"
#include "tests/unit/runtime/server/server_case.h"
#include "tests/unit/support/http2_peer.h"
#include "tests/unit/support/tls_peer.h"

namespace wf::server {
namespace {

constexpr int kVersions = 2;
constexpr int kNewest = kVersions + 1;  // what the newest one scales by

// Of queues: what waits for company, for how long, on how many instances; and what the same queues take other settings for.
const std::vector<std::string_view> kConfigs = {
    "",
    "nodes: {Score/scaled: {batch: 4, within: 200us, instances: 1}}\n",
    "nodes: {Score/scaled: {batch: 16, within: 3ms, priority: high}, Scale: {batch: 4, within: 1ms, queue: 4096}}\n",
    "default_timeout: 20s\n",
    "nodes: {Score/scaled: {batch: 1}}\nlimits: {streams: 50}\n",
};

// `rows` rows of four, from `first` on, each number times `times`.
std::string Rows(int first, int rows, int times) {
  std::string text;
  for (int i = 0; i < 4 * rows; ++i) text += (i == 0 ? "" : ",") + std::to_string((first + i) * times);
  return text;
}
std::string RowBody(int first) { return "{\"x\":[" + Rows(first, 1, 1) + "]}"; }
std::string RowAnswer(int first) { return "{\"y\":[" + Rows(first, 1, kNewest) + "]}"; }
std::string InferBody(int first, int rows, const std::string& more = "") {
  return "{" + more + R"("inputs":[{"name":"x","datatype":"FP32","shape":[)" + std::to_string(rows) + R"(,4],"data":[)" +
         Rows(first, rows, 1) + "]}]}";
}
bool IsInferred(const Client::Answer& answer, int first, int rows, int times) {
  return answer.status == 200 && answer.body.find("\"data\":[" + Rows(first, rows, times) + "]") != std::string::npos;
}

// Signals go to the server's thread: they would end the waits of the others.
class SignalsElsewhere {
 public:
  SignalsElsewhere() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~SignalsElsewhere() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsElsewhere(const SignalsElsewhere&) = delete;
  SignalsElsewhere& operator=(const SignalsElsewhere&) = delete;

 private:
  sigset_t before_;
};

class LoadTest : public ServerCase {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "wf_load_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override {
    EndLoad();
    ServerCase::TearDown();
    std::filesystem::remove_all(root_);
  }
  // A client on a thread of its own that has one turn after another until the load ends.
  void Load(const std::function<void(int turn)>& client) {
    clients_.emplace_back([this, client] {
      int turn = 0;
      while (!ended_.load() && !HasFailure()) client(turn++);
      EXPECT_GT(turn, 0);
    });
  }
  void EndLoad() {
    ended_.store(true);
    for (std::thread& client : clients_) client.join();
    clients_.clear();
  }
  // One signal after another, and waits for what comes of each.
  void ReadAgain(int times) {
    for (int i = 1; i <= times && !HasFailure(); ++i) {
      kill(getpid(), SIGHUP);
      for (int wait = 0; wait < 2000 && Metric("wf_config_reloads_total{result=\"ok\"}") < i; ++wait) Pause();
      ASSERT_EQ(Metric("wf_config_reloads_total{result=\"ok\"}"), i);
      ASSERT_EQ(Metric("wf_config_reloads_total{result=\"error\"}"), 0);
      for (int k = 0; k < 10; ++k) Pause();  // for requests to be served by it
    }
  }
  static void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }
  void Write(const std::string& name, const std::string& text) { std::ofstream(root_ + "/" + name) << text; }

  // ---- clients ----
  void PipelineRows();
  void AskForVersions();
  void OpenStreams();
  void GiveUp();
  void LookInside();

  std::string root_;
  std::vector<std::thread> clients_;
  std::atomic<bool> ended_{false};
};

void LoadTest::PipelineRows() {
  auto client = std::make_shared<Client>(port_);
  Load([client](int turn) {
    constexpr int kAtOnce = 4;
    std::string all;
    for (int i = 0; i < kAtOnce; ++i) all += Post("/Rows/Score", RowBody(turn + i));
    client->Send(all);
    for (int i = 0; i < kAtOnce; ++i) EXPECT_EQ(client->Receive().body, RowAnswer(turn + i));
  });
}

// Every few turns with a body that a thread of the codecs reads.
void LoadTest::AskForVersions() {
  auto client = std::make_shared<Client>(port_);
  Load([client](int turn) {
    const int version = 1 + turn % kVersions, rows = turn % 16 == 0 ? 500 : 1 + turn % 5;
    const std::string spaces(turn % 8 == 0 ? 300'000 : 0, ' ');
    client->Send(Post("/v2/models/Scale/versions/" + std::to_string(version) + "/infer", spaces + InferBody(turn, rows)));
    const Client::Answer answer = client->Receive();
    EXPECT_TRUE(IsInferred(answer, turn, rows, version + 1)) << answer.status << answer.body;
    if (turn % 8 != 0) return;
    client->Send(Post("/v2/repository/index", "{}"));
    EXPECT_EQ(client->Receive().status, 200);
  });
}

// Streams of one connection, of which each fourth is reset.
void LoadTest::OpenStreams() {
  Load([this](int turn) {
    Client client(port_);
    test::Http2Reader reader;
    std::string all = test::http2::Start();
    constexpr uint32_t kEnd = 64;
    for (uint32_t stream = 1; stream < kEnd; stream += 2) {
      all += test::http2::Post(stream, "/Rows/Score", RowBody(turn + static_cast<int>(stream)), {{"content-type", "application/json"}});
      if (stream % 8 == 1) all += test::http2::ResetOf(stream);
    }
    client.Send(all);
    for (uint32_t stream = 3; stream < kEnd; stream += stream % 8 == 7 ? 4 : 2) {
      while (!reader.answers[stream].ended) {
        const std::string bytes = client.Take();
        ASSERT_FALSE(bytes.empty()) << stream;
        reader.Read(bytes);
      }
      EXPECT_EQ(reader.answers[stream].body, RowAnswer(turn + static_cast<int>(stream)));
    }
  });
}

// Clients that wait too short a time, and some that leave in the middle.
void LoadTest::GiveUp() {
  Load([this](int turn) {
    const std::string wait = R"("parameters":{"timeout":)" + std::to_string(200 + turn % 10 * 500) + "},";
    const std::string request = Post("/v2/models/Score/infer", InferBody(turn, 3, wait));
    Client waits(port_), leaves(port_);
    waits.Send(request);
    leaves.Send(Post("/v2/models/Scale/infer", InferBody(turn, 20)).substr(0, turn % 4 == 0 ? 100 : std::string::npos));
    if (turn % 2 == 0) leaves.Reset();
    const Client::Answer answer = waits.Receive();
    EXPECT_TRUE(IsInferred(answer, turn, 3, kNewest) || answer.body.find("\"code\":6000") != std::string::npos)
        << answer.status << answer.body;
  });
}

void LoadTest::LookInside() {
  auto admin = std::make_shared<Client>(admin_);
  Load([admin](int turn) {
    for (const char* path : {"/metrics", "/debug/schedule", "/debug/trace?seconds=1"}) {
      if (turn % 20 != 0 && path[1] == 'd') continue;
      admin->Send("GET " + std::string(path) + " HTTP/1.1\r\nhost: t\r\n\r\n");
      EXPECT_EQ(admin->Receive().status, 200) << path;
    }
    Pause();
  });
}

TEST_F(LoadTest, EveryRowIsAnsweredRightWhileConfigurationsAndVersionsChange) {
  ASSERT_TRUE(abi::Verify(ModelPlan()).ok()) << abi::Verify(ModelPlan()).message();
  WriteModel(root_, kVersions);
  const std::string root = "--model-root=" + root_;
  Serve({root.c_str(), "--io-threads=2", "--schedule=pool", "--log-level=info", "--log-access=true", "--log-access-sample=0.05",
         "--trace-otlp=http://127.0.0.1:9", "--trace-sample=0.05"},
        ModelPlan(), kConfigs);
  if (HasFatalFailure()) return;
  const SignalsElsewhere blocked;
  for (int i = 0; i < 3; ++i) PipelineRows();
  AskForVersions();
  OpenStreams();
  GiveUp();
  LookInside();
  ReadAgain(10);
  EndLoad();
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
  EXPECT_EQ(MetricAtRest("wf_abandoned_inflight"), 0);
  const std::string version = "{model=\"Scale\",version=\"" + std::to_string(kVersions) + "\"}";
  EXPECT_GT(Metric("wf_batch_size_sum" + version), Metric("wf_batch_size_count" + version)) << "rows that met in a batch";

  std::vector<std::unique_ptr<Client>> last;
  for (int i = 0; i < 32; ++i) {
    last.push_back(std::make_unique<Client>(port_));
    last.back()->Send(Post("/Rows/Score", RowBody(i)));
  }
  kill(getpid(), SIGTERM);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(last[static_cast<size_t>(i)]->Receive().body, RowAnswer(i));
  thread_.join();
  EXPECT_EQ(status_, 0);
  server_.reset();
}

TEST_F(LoadTest, HandshakesGoOnWhileCertificatesAreReadAgain) {
  const test::Authority authority;
  const test::Key key = test::MakeKey();
  const test::Certificate other = test::MakeCertificate("other", key.get(), authority.ca.get(), authority.ca_key.get());
  Write("1.crt", test::PemOf(authority.server.get()));
  Write("1.key", test::PemOf(authority.server_key.get()));
  Write("2.crt", test::PemOf(other.get()));
  Write("2.key", test::PemOf(key.get()));
  const std::string first = "tls: {cert: " + root_ + "/1.crt, key: " + root_ + "/1.key}\n";
  const std::string second = "tls: {cert: " + root_ + "/2.crt, key: " + root_ + "/2.key}\n";
  Serve({"--io-threads=2", "--schedule=pool"}, wf_plan_main, {first, second});
  if (HasFatalFailure()) return;
  const SignalsElsewhere blocked;
  for (int i = 0; i < 3; ++i) {
    Load([this, &authority](int) {
      Client client(port_);
      test::TlsPeer peer(authority.ca.get());
      const auto talk = [&client, &peer] {
        client.Send(peer.Say());
        const std::string bytes = client.Take();
        ASSERT_FALSE(bytes.empty());
        peer.Take(bytes);
      };
      peer.Take("");
      while (SSL_is_init_finished(peer.session()) == 0 && !HasFailure()) talk();
      if (HasFailure()) return;
      peer.Write(Post("/Test/Greet", R"({"name":"Ada"})"));
      while (peer.read.find(R"({"text":"hello, Ada"})") == std::string::npos && !HasFailure()) talk();
    });
  }
  ReadAgain(6);
  EndLoad();
  EXPECT_EQ(Stop(), 0);
}

}  // namespace
}  // namespace wf::server
