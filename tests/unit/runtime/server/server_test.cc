#include "runtime/server/server.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/reserve.h"
#include "runtime/observe/log.h"
#include "tests/unit/runtime/server/server_case.h"

extern "C" const wf_plan wf_plan_main;

namespace wf::server {
namespace {

bool HasThread(const std::string& name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string found;
    if (std::getline(std::ifstream(task.path() / "comm"), found) && found == name) return true;
  }
  return false;
}

class ServerTest : public ServerCase {};

TEST_F(ServerTest, AnswersJsonWithAnnotationsAndIds) {
  Serve();
  const Client::Answer answer = Call(Post("/Test/Greet", R"({"name":"Ada"})"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"text":"hello, Ada"})");
  EXPECT_NE(answer.head.find("content-type: application/json\r\n"), std::string::npos);
  EXPECT_NE(answer.head.find("wf-greeted: Ada\r\n"), std::string::npos) << answer.head;
  const Client::Answer failed = Call(Post("/Test/Greet", R"({"name":"nobody"})", "X-Request-Id: q7\r\n"));
  EXPECT_EQ(failed.status, 404) << "the declared status, not_found";
  EXPECT_NE(failed.body.find(R"({"error":{"code":100001,"name":"Nobody","message":"nobody is there","path":"Greet","data_id":)"),
            std::string::npos)
      << failed.body;
  EXPECT_NE(failed.body.find(R"("log_id":"q7"}})"), std::string::npos) << failed.body;
  EXPECT_EQ(Call(Post("/Test/Greet", "{}")).status, 400);
  EXPECT_EQ(Call(Post("/%54est/Greet", R"({"name":"Ada"})")).status, 200);
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ServerTest, AnAnnotationMakesNoHeaderOfItsOwn) {
  Serve();
  const Client::Answer answer = Call(Post("/Test/Greet", R"({"name":"a\r\nset-cookie: x"})"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.head.find("wf-greeted: a%0D%0Aset-cookie: x\r\n"), std::string::npos) << answer.head;
  EXPECT_EQ(answer.head.find("\nset-cookie"), std::string::npos) << answer.head;
}

TEST_F(ServerTest, TakesARawBodyWithTheQuery) {
  Serve();
  EXPECT_EQ(Call(Post("/Test/Size", "12345", "")).body, R"({"size":10,"note":null})");
  EXPECT_EQ(Call(Post("/Test/Size?times=3&note=a%20b+c", "12345", "content-type: image/png\r\n")).body, R"({"size":15,"note":"a b c"})");
  EXPECT_EQ(Call(Post("/Test/Size?times=x", "1", "")).status, 400);
  EXPECT_NE(Call(Post("/Test/Size?tims=1", "1", "")).body.find("unknown parameter `tims` in the query; did you mean `times`"),
            std::string::npos);
  EXPECT_EQ(Call(Post("/Test/Size?times=1&times=2", "1", "")).status, 400);
  EXPECT_EQ(Call(Post("/Test/Size?data=1", "1", "")).status, 400);
  EXPECT_EQ(Call(Post("/Test/Size?note=%zz", "1", "")).status, 400);
  EXPECT_EQ(Call(Post("/Test/Size?note=%ff", "1", "")).status, 400);
  EXPECT_EQ(Call(Post("/Test/Size", R"({"data":{"b64":"AAAA"},"times":5})")).body, R"({"size":15,"note":null})");
}

TEST_F(ServerTest, KeepsAConnectionAndTakesPipelinedRequests) {
  Serve();
  Client client(port_);
  std::string all;
  for (int i = 0; i < 200; ++i)
    all += Post(i % 3 == 0 ? "/Slow/Sleep" : "/Test/Greet", i % 3 == 0 ? R"({"ms":1})" : R"({"name":")" + std::to_string(i) + R"("})");
  client.Send(all);
  for (int i = 0; i < 200; ++i) {
    const Client::Answer answer = client.Receive();
    ASSERT_EQ(answer.status, 200) << i << answer.body;
    ASSERT_EQ(answer.body, i % 3 == 0 ? R"({"ms":1})" : R"({"text":"hello, )" + std::to_string(i) + R"("})");
  }
}

TEST_F(ServerTest, TakesARequestCutAnywhere) {
  Serve();
  const std::string request =
      "POST /Test/Greet HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"nam\r\n9\r\ne\":\"Ada\"}\r\n0\r\n\r\n";
  Client client(port_);
  for (size_t cut = 1; cut < request.size(); ++cut) {
    client.Send(request.substr(0, cut));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    client.Send(request.substr(cut));
    ASSERT_EQ(client.Receive().body, R"({"text":"hello, Ada"})") << cut;
  }
}

TEST_F(ServerTest, AClientThatLeavesAtAnyByteCostsNothing) {
  Serve();
  const std::string request = Post("/Slow/Sleep", R"({"ms":200})");
  for (size_t cut = 0; cut <= request.size(); ++cut) {
    for (const bool reset : {false, true}) {
      Client client(port_);
      client.Send(request.substr(0, cut));
      if (reset) client.Reset();
    }
  }
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
  EXPECT_EQ(MetricAtRest("wf_abandoned_inflight"), 0);
  EXPECT_EQ(Call(Post("/Test/Greet", R"({"name":"Ada"})")).status, 200);
}

TEST_F(ServerTest, RefusesWithTheReason) {
  Serve({"--limits-body-bytes=1KiB"});
  struct Case {
    std::string request;
    int status;
    const char* says;
  };
  const Case cases[] = {
      {"GET /Test/Greet HTTP/1.1\r\nhost: t\r\n\r\n", 405, "a workflow is called with POST"},
      {Post("/readyz", ""), 405, "the probes take GET"},
      {Post("/Test/Gret", "{}"), 404, "nothing is served at `/Test/Gret`; did you mean `/Test/Greet`"},
      {Post("/", ""), 404, "nothing is served at `/`"},
      {"GET / HTTP/1.1\r\n\r\n", 400, "the header Host is missing"},
      {"nonsense\r\n\r\n", 400, ""},
      {"POST /Test/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 2000000\r\n\r\n", 413,
       "the body is larger than the 1048576 bytes that the service takes"},
      {Post("/v2/models/Nope/infer", "{}"), 404, "no model is called `Nope`"},
      {Post("/v2/nope", "{}"), 404, "the Open Inference Protocol has no such path"},
  };
  for (const Case& c : cases) {
    const Client::Answer answer = Call(c.request);
    EXPECT_EQ(answer.status, c.status) << c.request;
    EXPECT_NE(answer.body.find(c.says), std::string::npos) << answer.body;
  }
}

TEST_F(ServerTest, AChunkedBodyOverTheLimitIsCutOff) {
  Serve();
  Client client(port_);
  client.Send("POST /Test/Greet HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n");
  const std::string chunk = "10000\r\n" + std::string(65536, 'x') + "\r\n";
  for (int i = 0; i < 40; ++i) client.Send(chunk);
  EXPECT_EQ(client.Receive().status, 413);
  EXPECT_TRUE(client.closed());
}

TEST_F(ServerTest, ReadsLargeBodiesBesideTheLoop) {
  Serve();
  const std::string name(500'000, 'n');
  Client::Answer answer = Call(Post("/Test/Greet", R"({"name":")" + name + R"("})"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.size(), name.size() + 18);
  answer = Call(Post("/Test/Greet", R"({"name":")" + name + R"("]})"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_NE(answer.body.find("at byte 500010"), std::string::npos) << answer.body;
  const std::string infer = R"({"inputs":[{"name":"name","shape":[2],"datatype":"BYTES","data":[")" + name + R"(","b"]}]})";
  answer = Call(Post("/v2/models/Test/infer", infer));
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"("shape":[2])"), std::string::npos);
  EXPECT_EQ(Call(Post("/v2/models/Test/infer", infer + "]")).status, 400);
  for (int i = 0; i < 20; ++i) {
    Client leaves(port_);
    leaves.Send(Post(i % 2 == 0 ? "/v2/models/Test/infer" : "/Test/Size", infer, i % 2 == 0 ? "" : "content-type: application/json\r\n"));
    if (i % 3 == 0) leaves.Reset();
  }
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
}

TEST_F(ServerTest, WritesLargeAnswersBesideTheLoop) {
  Serve();
  EXPECT_EQ(Call(Post("/Test/Grow", R"({"count":1000})")).body.size(), 1000U + 12U);
  EXPECT_FALSE(HasThread("wf-codec"));
  EXPECT_EQ(Call(Post("/Test/Grow", R"({"count":500000})")).body.size(), 500'000U + 12U);
  EXPECT_TRUE(HasThread("wf-codec"));
  const Client::Answer infer =
      Call(Post("/v2/models/Test.Grow/infer", R"({"inputs":[{"name":"count","shape":[],"datatype":"INT64","data":[300000]}]})"));
  EXPECT_EQ(infer.status, 200);
  EXPECT_GT(infer.body.size(), 400'000U);
  for (int i = 0; i < 20; ++i) {
    Client leaves(port_);
    leaves.Send(Post("/Test/Grow", R"({"count":5000000})"));
    if (i % 2 == 0) leaves.Reset();
  }
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
}

TEST_F(ServerTest, AnAnswerThatIsNotWrittenInTimeIsGivenUp) {
  Serve({"--default-timeout=300ms"});
  Client client(port_);
  const auto begun = std::chrono::steady_clock::now();
  client.Send(Post("/Test/Grow", R"({"count":1000001})"));
  const Client::Answer answer = client.Receive();
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(300));
  EXPECT_EQ(answer.status, 504);
  EXPECT_NE(answer.body.find("\"code\":6000,"), std::string::npos) << answer.body.substr(0, 200);
  client.Send(Post("/Test/Greet", R"({"name":"Ada"})"));
  EXPECT_EQ(client.Receive().status, 200);
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);  // nor is it written on, which takes longer than that looks
  EXPECT_EQ(Metric("wf_requests_total{service=\"Test\",workflow=\"Grow\",protocol=\"plain\",code=\"6000\"}"), 1);
}

TEST_F(ServerTest, AnAnswerIsWrittenWhileItsClientWaits) {
  Serve();
  Client leaves(port_);
  leaves.Send(Post("/Test/Grow", R"({"count":1000001})"));
  while (!HasThread("wf-codec")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(Metric("wf_inflight_requests"), 1);
  leaves.Reset();
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
}

TEST_F(ServerTest, BodiesOfAllRequestsShareOneBudget) {
  Serve({"--limits-memory-bytes=1MiB"});
  const std::string half(600'000, 'x');
  Client::Answer first, second;
  for (int i = 0; i < 100 && !(first.status == 200 && second.status == 429); ++i) {  // who of the two comes first is chance
    Client early(port_), late(port_);
    const auto ask = [&] {
      late.Send("POST /Test/Size HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n927c0\r\n" + half + "\r\n0\r\n\r\n");
      return late.Receive();
    };
    early.Send("POST /Test/Size HTTP/1.1\r\nhost: t\r\nexpect: 100-continue\r\ncontent-length: " + std::to_string(half.size()) +
               "\r\n\r\n");
    ASSERT_TRUE(early.ReceiveLeave());
    if (i == 0) {
      EXPECT_EQ(ask().status, 200) << "what is only announced takes nothing";
    }
    early.Send(half.substr(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    second = ask();
    early.Send("x");
    first = early.Receive();
  }
  EXPECT_EQ(first.body, R"({"size":1200000,"note":null})");
  EXPECT_NE(second.head.find("retry-after: 1\r\n"), std::string::npos) << second.head;
  EXPECT_GE(Metric(R"(wf_refused_total{reason="memory"})"), 1);
}

TEST_F(ServerTest, RefusesWhileTheProcessIsOutOfMemory) {
  ASSERT_TRUE(base::Reserve::Keep());
  Serve({"--io-threads=1"});
  Client half(port_);
  half.Send("POST /Test/Size HTTP/1.1\r\nhost: t\r\nexpect: 100-continue\r\ncontent-length: 1000000\r\n\r\n");
  ASSERT_TRUE(half.ReceiveLeave());
  half.Send("x");
  const std::string greet = Post("/Test/Greet", R"({"name":"Ada"})");
  EXPECT_EQ(Call(greet).status, 200);
  int refused = 0;
  for (int i = 0; i < 10 && refused != 429; ++i) {  // the reserve may be back between the two
    if (!base::Reserve::memory_is_short()) base::Reserve::MakeRoom(0);
    refused = Call(greet).status;
  }
  EXPECT_EQ(refused, 429);
  const Client::Answer waited = half.Receive();  // though it sends no more
  EXPECT_EQ(waited.status, 429);
  EXPECT_NE(waited.body.find("the process has no memory left"), std::string::npos) << waited.body;
  for (int i = 0; i < 500 && Call(greet).status != 200; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(Call(greet).status, 200);
  EXPECT_FALSE(base::Reserve::memory_is_short());
  EXPECT_GE(Metric(R"(wf_refused_total{reason="memory"})"), 1);
}

TEST_F(ServerTest, WhatIsComputedSharesTheBudgetWithBodies) {
  Serve({"--limits-memory-bytes=16MiB"});
  const std::string grow = Post("/Test/Grow", R"({"count":5000000})");
  EXPECT_EQ(Call(grow).status, 200);
  std::vector<std::unique_ptr<Client>> bodies;
  for (int i = 0; i < 12; ++i) {
    bodies.push_back(std::make_unique<Client>(port_));
    bodies.back()->Send("POST /Test/Size HTTP/1.1\r\nhost: t\r\nexpect: 100-continue\r\ncontent-length: 1000000\r\n\r\n");
    ASSERT_TRUE(bodies.back()->ReceiveLeave());
    bodies.back()->Send(std::string(999'999, 'x'));
  }
  Client::Answer answer;
  for (int i = 0; i < 20 && answer.status != 429; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // for them to be read
    answer = Call(grow);
  }
  EXPECT_EQ(answer.status, 429);
  EXPECT_NE(answer.head.find("retry-after: 1\r\n"), std::string::npos) << answer.head;
  EXPECT_NE(answer.body.find("\"code\":3010"), std::string::npos) << answer.body;
  EXPECT_GE(Metric(R"(wf_refused_total{reason="memory"})"), 1);
  bodies.clear();
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
  EXPECT_EQ(Call(grow).status, 200);
}

TEST_F(ServerTest, AnswersThatNobodyReadsShareTheBudget) {
  Serve({"--limits-memory-bytes=72MiB"});
  const auto answered = [this] {
    return Metric(R"(wf_requests_total{service="Test",workflow="Grow",protocol="plain",code="0"})") +
           Metric(R"(wf_refused_total{reason="memory"})");
  };
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 8; ++i) {
    silent.push_back(std::make_unique<Client>(port_));
    silent.back()->Send(Post("/Test/Grow", R"({"count":20000000})"));
    for (int wait = 0; wait < 3000 && answered() <= i; ++wait) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(Metric(R"(wf_refused_total{reason="memory"})"), 6);
  EXPECT_EQ(Call(Post("/Test/Greet", R"({"name":"Ada"})")).status, 200);
  int whole = 0, none = 0;
  for (const auto& client : silent) {
    const Client::Answer answer = client->Receive();
    whole += answer.status == 200 && answer.body.size() == 20'000'012U;
    none += answer.status == 429;
  }
  EXPECT_EQ(whole, 2);
  EXPECT_EQ(none, 6);
  EXPECT_EQ(Call(Post("/Test/Grow", R"({"count":20000000})")).status, 200) << "what they read is free again";
}

TEST_F(ServerTest, TellsAnOldClientThatItsConnectionStays) {
  Serve();
  Client client(port_);
  for (int i = 0; i < 2; ++i) {
    client.Send("GET /livez HTTP/1.0\r\nconnection: keep-alive\r\n\r\n");
    EXPECT_NE(client.Receive().head.find("connection: keep-alive\r\n"), std::string::npos);
  }
  client.Send("GET /livez HTTP/1.0\r\n\r\n");
  EXPECT_NE(client.Receive().head.find("connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(client.closed());
}

TEST_F(ServerTest, HeadAnswersWithoutABody) {
  Serve();
  Client client(port_);
  client.Send("HEAD /readyz HTTP/1.1\r\nhost: t\r\n\r\n");
  const Client::Answer answer = client.Receive(true);
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.head.find("content-length: 3\r\n"), std::string::npos);
  client.Send("GET /livez HTTP/1.1\r\nhost: t\r\n\r\n");
  EXPECT_EQ(client.Receive().body, "ok\n");
}

TEST_F(ServerTest, AsksForTheBodyThatWaitsForItsLeave) {
  Serve();
  Client client(port_);
  const std::string body = R"({"name":"Ada"})";
  client.Send("POST /Test/Greet HTTP/1.1\r\nhost: t\r\nexpect: 100-continue\r\ncontent-length: " + std::to_string(body.size()) +
              "\r\n\r\n");
  ASSERT_TRUE(client.ReceiveLeave());
  client.Send(body);
  EXPECT_EQ(client.Receive().body, R"({"text":"hello, Ada"})");
  Client refused(port_);
  refused.Send("POST /Test/Gret HTTP/1.1\r\nhost: t\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n");
  EXPECT_EQ(refused.Receive().status, 404);
  EXPECT_TRUE(refused.closed());
}

TEST_F(ServerTest, AdmitsNoMoreThanTheServiceTakes) {
  Serve();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<Client>(port_));
    clients.back()->Send(Post("/Slow/Sleep", R"({"ms":100})"));
  }
  int served = 0, refused = 0;
  for (const auto& client : clients) {
    const Client::Answer answer = client->Receive();
    served += answer.status == 200 ? 1 : 0;
    if (answer.status != 429) continue;
    ++refused;
    EXPECT_NE(answer.head.find("retry-after: 1\r\n"), std::string::npos);
    EXPECT_NE(answer.body.find(R"("code":3010,"name":"Refused")"), std::string::npos) << answer.body;
  }
  EXPECT_EQ(served + refused, 20);
  EXPECT_GE(served, 8);
  EXPECT_GT(refused, 0);
  EXPECT_EQ(Call(Post("/Test/Greet", R"({"name":"Ada"})")).status, 200) << "the other service";
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
}

TEST_F(ServerTest, SendsALargeAnswerToASlowReader) {
  Serve();
  Client client(port_);
  client.Send(Post("/Test/Grow", R"({"count":20000000})") + Post("/Test/Greet", R"({"name":"Ada"})"));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const Client::Answer answer = client.Receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body.size(), 20'000'012U);
  EXPECT_EQ(answer.body.find_first_not_of('g', 10), 20'000'010U);
  EXPECT_EQ(client.Receive().body, R"({"text":"hello, Ada"})");
  {
    Client leaves(port_);
    leaves.Send(Post("/Test/Grow", R"({"count":20000000})"));
  }
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
}

TEST_F(ServerTest, ARequestThatNeedsMoreMemoryThanItMayIsRefused) {
  Serve();
  const Client::Answer answer = Call(Post("/Test/Grow", R"({"count":300000000})"));
  EXPECT_EQ(answer.status, 429);
  EXPECT_NE(answer.body.find(R"("code":3012)"), std::string::npos) << answer.body;
  EXPECT_EQ(answer.head.find("retry-after"), std::string::npos) << answer.head;
  EXPECT_EQ(Metric(R"(wf_refused_total{reason="memory"})"), 0);
}

TEST_F(ServerTest, CountsRequestsByCode) {
  Serve();
  Call(Post("/Test/Greet", R"({"name":"Ada"})"));
  Call(Post("/Test/Greet", R"({"name":"nobody"})"));
  Call(Post("/Test/Greet", "{"));
  Call(Post("/v2/models/Test/infer", R"({"inputs":[{"name":"name","shape":[2],"datatype":"BYTES","data":["a","b"]}]})"));
  const std::string labels = R"(wf_requests_total{service="Test",workflow="Greet",protocol=)";
  EXPECT_EQ(Metric(labels + R"("plain",code="0"})"), 1);
  EXPECT_EQ(Metric(labels + R"("plain",code="100001"})"), 1);
  EXPECT_EQ(Metric(labels + R"("plain",code="5000"})"), 1);
  EXPECT_EQ(Metric(labels + R"("oip",code="0"})"), 1);
  EXPECT_EQ(Metric(R"(wf_request_duration_seconds_count{service="Test",workflow="Greet",protocol="plain"})"), 3);
}

TEST_F(ServerTest, SpeaksTheOpenInferenceProtocol) {
  Serve();
  struct Case {
    const char* body;
    int status;
    const char* says;
  };
  const Case cases[] = {
      {R"({"id":"i","inputs":[{"name":"data","shape":[],"datatype":"BYTES","data":["abc"]}]})", 200,
       R"({"model_name":"Size","model_version":"1","id":"i","outputs":[{"name":"size","datatype":"INT64","shape":[],"data":[6]},{"name":"note","datatype":"BYTES","shape":[],"data":["null"]}]})"},
      {R"({"inputs":[{"name":"data","shape":[2],"datatype":"BYTES","data":["abc","d"]},{"name":"times","shape":[2,1],"datatype":"INT64","data":[[1],[5]]}],"outputs":[{"name":"size"}]})",
       200, R"("outputs":[{"name":"size","datatype":"INT64","shape":[2],"data":[3,5]}]})"},
      {R"({"inputs":[]})", 400, "input `data` is missing"},
  };
  for (const Case& c : cases) {
    const Client::Answer answer = Call(Post("/v2/models/Test.Size/infer", c.body));
    EXPECT_EQ(answer.status, c.status) << c.body << answer.body;
    std::string says = c.says;
    if (const size_t at = says.find("\"Size\""); at != std::string::npos) says.replace(at, 6, "\"Test.Size\"");
    EXPECT_NE(answer.body.find(says), std::string::npos) << answer.body;
  }
  const Client::Answer failed =
      Call(Post("/v2/models/Test/infer", R"({"inputs":[{"name":"name","shape":[3],"datatype":"BYTES","data":["a","nobody","b"]}]})"));
  EXPECT_EQ(failed.status, 404);
  EXPECT_NE(failed.body.find("sample 1: nobody is there"), std::string::npos) << failed.body;
}

TEST_F(ServerTest, ATimeoutOfTheClientIsADeadline) {
  Serve();
  const Client::Answer answer =
      Call(Post("/v2/models/Slow/infer",
                R"({"parameters":{"timeout":20000},"inputs":[{"name":"ms","shape":[1],"datatype":"INT64","data":[5000]}]})"));
  EXPECT_EQ(answer.status, 503) << answer.body;
  EXPECT_NE(answer.body.find("\"code\":6000"), std::string::npos) << answer.body;
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
}

TEST_F(ServerTest, TheDeadlineOfARequestRunsWhileItsBodyComes) {
  Serve({"--default-timeout=1s"});
  const std::string whole = Post("/Test/Greet", R"({"name":"Ada"})");
  Client slow(port_);
  slow.Send(whole.substr(0, whole.size() - 5));
  const auto begun = std::chrono::steady_clock::now();
  const Client::Answer answer = slow.Receive();
  EXPECT_EQ(answer.status, 408);
  EXPECT_NE(answer.body.find("\"code\":6000,"), std::string::npos) << answer.body;
  EXPECT_NE(answer.head.find("connection: close\r\n"), std::string::npos) << answer.head;
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(900));
  EXPECT_EQ(MetricAtRest("wf_inflight_requests"), 0);
  EXPECT_EQ(Call(whole).status, 200);
}

TEST_F(ServerTest, AnswersEveryOneOfManyPipelinedRequests) {
  Serve();
  constexpr int kRequests = 2000;
  std::string all;
  for (int i = 0; i < kRequests; ++i) all += Post("/Test/Greet", "{\"name\":\"" + std::to_string(i) + "\"}");
  Client client(port_);
  std::thread writer([&] { client.Send(all); });
  for (int i = 0; i < kRequests; ++i) EXPECT_EQ(client.Receive().body, "{\"text\":\"hello, " + std::to_string(i) + "\"}");
  writer.join();
}

TEST_F(ServerTest, DrainsWhatIsInFlight) {
  Serve();
  Client idle(port_), busy(port_), half(port_);
  idle.Send(Post("/Test/Greet", R"({"name":"Ada"})"));
  EXPECT_EQ(idle.Receive().status, 200);
  busy.Send(Post("/Slow/Sleep", R"({"ms":300})"));
  const std::string body = R"({"name":"Ada"})";
  half.Send("POST /Test/Greet HTTP/1.1\r\nhost: t\r\nexpect: 100-continue\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n");
  ASSERT_TRUE(half.ReceiveLeave());
  for (int i = 0; i < 500 && Metric("wf_inflight_requests") < 1; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(idle.closed());
  EXPECT_FALSE(Client(port_).connected());
  {
    Client admin(admin_);
    admin.Send("GET /readyz HTTP/1.1\r\nhost: t\r\n\r\n");
    EXPECT_EQ(admin.Receive().status, 503);
  }
  half.Send(body);
  const Client::Answer late = half.Receive();
  EXPECT_EQ(late.status, 200);
  EXPECT_NE(late.head.find("connection: close\r\n"), std::string::npos);
  EXPECT_EQ(busy.Receive().body, R"({"ms":300})");
  thread_.join();
  EXPECT_EQ(status_, 0);
  server_.reset();
}

TEST_F(ServerTest, DrainsAnAnswerThatIsOnItsWay) {
  Serve();
  Client slow(port_);
  slow.Send(Post("/v2/models/Test.Grow/infer", R"({"inputs":[{"name":"count","shape":[],"datatype":"INT64","data":[21000000]}]})"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));  // the answer waits for its reader
  kill(getpid(), SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const Client::Answer answer = slow.Receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_GT(answer.body.size(), 28'000'000U);
  EXPECT_TRUE(slow.closed());
  thread_.join();
  EXPECT_EQ(status_, 0);
  server_.reset();
}

// Recordings, traces and reports read what loops and pool threads write.
TEST_F(ServerTest, IsLookedIntoWhileItServes) {
  Serve({"--io-threads=2", "--schedule=pool", "--trace-otlp=http://127.0.0.1:9", "--trace-sample=1", "--log-access-sample=0.5"});
  std::atomic<bool> stop{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      Client client(port_);
      while (!stop.load()) {
        client.Send(Post("/Test/Greet", R"({"name":"Ada"})"));
        ASSERT_EQ(client.Receive().status, 200);
      }
    });
  }
  Client admin(admin_);
  const auto ask = [&admin](const std::string& path) {
    admin.Send("GET " + path + " HTTP/1.1\r\nhost: t\r\n\r\n");
    return admin.Receive();
  };
  for (const char* query : {"trace?seconds=1&seconds=2", "trace?second=2", "trace?seconds=0", "schedule?format=xml", "schedule?json"})
    EXPECT_EQ(ask("/debug/" + std::string(query)).status, 400) << query;
  for (int i = 0; i < 2; ++i) {
    const Client::Answer recorded = ask("/debug/trace?seconds=1");
    EXPECT_EQ(recorded.status, 200);
    for (const char* kind : {"serve", "task", "write", "request"})
      EXPECT_NE(recorded.body.find("\"cat\":\"" + std::string(kind) + "\""), std::string::npos) << kind;
    EXPECT_NE(ask("/debug/schedule").body.find("schedule=pool"), std::string::npos);
  }
  EXPECT_GT(Metric("wf_span_exports_total{result=\"error\"}"), 0);
  stop.store(true);
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(Stop(), 0);
}

TEST_F(ServerTest, StartsOverAfterItsPortWasTaken) {
  Serve();
  const std::string port = "--http-port=" + std::to_string(port_);
  const char* flags[] = {port.c_str(), "--admin-port=0", "--host=127.0.0.1"};
  const Loaded second = LoadSettings({.arguments = flags, .plan = &wf_plan_main});
  Server other(wf_plan_main, second.settings);
  const base::Status status = other.Start();
  EXPECT_EQ(status.code(), base::kAlreadyExists);
  EXPECT_NE(status.message().find("is in use"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace wf::server
