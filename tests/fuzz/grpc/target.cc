// The body of a call of gRPC from a peer that means no good. The first byte picks the method, its two highest bits a coding of messages and
// a deadline; the second says where the body is cut in two.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/base/check.h"
#include "tests/fuzz/served.h"

namespace {

using namespace wf::test::http2;

constexpr std::string_view kPaths[] = {
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
    "/inference.GRPCInferenceService/ModelInfer",
    "/inference.GRPCInferenceService/ModelStreamInfer",
    "/inference.GRPCInferenceService/ServerMetadata",
    "/inference.GRPCInferenceService/ModelMetadata",
    "/inference.GRPCInferenceService/ModelConfig",
    "/inference.GRPCInferenceService/ModelReady",
    "/inference.GRPCInferenceService/ModelStatistics",
    "/inference.GRPCInferenceService/RepositoryIndex",
    "/inference.GRPCInferenceService/RepositoryModelLoad",
    "/inference.GRPCInferenceService/TraceSetting",
    "/inference.GRPCInferenceService/LogSettings",
    "/inference.GRPCInferenceService/Nothing",
};

// Messages that are whole, each behind its prefix.
bool AreMessages(std::string_view body) {
  while (!body.empty()) {
    if (body.size() < 5 || static_cast<uint8_t>(body[0]) > 1) return false;
    size_t length = 0;
    for (size_t i = 1; i < 5; ++i) length = length << 8 | static_cast<uint8_t>(body[i]);
    if (body.size() - 5 < length) return false;
    body.remove_prefix(5 + length);
  }
  return true;
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  static auto& served = *new wf::test::Served;  // kept: what one call leaves behind must not hurt the next
  if (size < 2) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::string_view path = kPaths[data[0] % std::size(kPaths)];
  Fields more = {{"content-type", "application/grpc"}, {"te", "trailers"}};
  if ((data[0] & 0x80U) != 0) more.emplace_back("grpc-encoding", "gzip");
  if ((data[0] & 0x40U) != 0) more.emplace_back("grpc-timeout", "3S");
  const size_t cut = std::min<size_t>(data[1] * body.size() / 255, body.size());
  served.Connect();
  served.Say(Start() + Frame(kHeaders, kEndHeaders, 1, Block(Request("POST", path, more))));
  if (cut != 0) served.Say(Frame(kData, 0, 1, body.substr(0, cut)));
  for (size_t at = cut; at < body.size(); at += 16'384) served.Say(Frame(kData, 0, 1, body.substr(at, 16'384)));
  served.Say(Frame(kData, kEndStream, 1, ""));
  auto& answer = served.reader().answers[1];
  constexpr int kTurns = 64;  // of a peer that reads what it is answered: a stream of messages takes many
  for (int turn = 0; turn < kTurns && !answer.ended; ++turn) {
    for (const uint32_t stream : {0U, 1U}) served.Say(Frame(kWindow, 0, stream, Number(1 << 20, 4)));
  }
  WF_CHECK(served.reader().goaway == -1, served.reader().goaway);
  WF_CHECK(AreMessages(answer.body), path);
  const bool watches = data[0] % std::size(kPaths) == 3 && answer.trailers.empty();
  if (!watches) {
    auto& end = answer.trailers.empty() ? answer.head : answer.trailers;
    const std::string& status = end["grpc-status"];
    WF_CHECK(answer.ended && !status.empty() && std::atoi(status.c_str()) <= 16, path, status);
    // A bug, or a mistake without a name; but lists of samples may be of different lengths, which is a failure of the call and told as one.
    const bool is_unstackable = end["grpc-message"].find("so they cannot be stacked") != std::string::npos;
    WF_CHECK((status != "13" || is_unstackable) && status != "2", path, status);
  }
  served.PassSeconds(1);
  served.Leave();
  return 0;
}
