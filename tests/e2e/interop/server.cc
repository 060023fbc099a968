// The server of gRPC's interoperability cases: a service of the runtime's own layer in place of those that generated servers have. It does
// not sleep between the messages of a stream, whatever `interval_us` says.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/grpc/files.h"
#include "runtime/protocol/grpc/status.h"
#include "runtime/protocol/protobuf/wire.h"
#include "runtime/server/grpc_calls.h"
#include "runtime/server/grpc_service.h"
#include "runtime/server/intake.h"
#include "runtime/server/session.h"

namespace wf::grpc {
std::string_view InteropFile();  // embedded
}

namespace wf::server {
namespace {

using protobuf::Field;
using protobuf::Wire;

constexpr uint64_t kMostMessage = 4 << 20;
constexpr std::string_view kEchoed = "x-grpc-test-echo-initial", kEchoedLast = "x-grpc-test-echo-trailing-bin";

struct Status {
  uint64_t code = 0;
  std::string message;
};

// Of what a client asks; members that the method does not have stay as they are.
struct Wish {
  struct Answer {
    uint64_t bytes = 0;
    std::optional<bool> compressed;
  };
  std::vector<Answer> answers;
  uint64_t payload_bytes = 0;
  Status status;
  std::optional<bool> expects_compressed;
};

template <typename Take>
bool Read(wf_bytes message, Take&& take) {
  protobuf::Reader reader(message);
  Field field;
  bool good = true;
  while (reader.Next(&field)) good = take(field) && good;
  return good && !reader.broken();
}

bool ReadFlag(wf_bytes message, std::optional<bool>* flag) {
  *flag = false;
  return Read(message, [flag](const Field& field) {
    if (field.Is(1, Wire::kVarint)) *flag = field.value != 0;
    return true;
  });
}

bool ReadPayload(wf_bytes message, uint64_t* bytes) {
  return Read(message, [bytes](const Field& field) {
    if (field.Is(2, Wire::kBytes)) *bytes = field.bytes.len;
    return true;
  });
}

bool ReadStatus(wf_bytes message, Status* status) {
  return Read(message, [status](const Field& field) {
    if (field.Is(1, Wire::kVarint)) status->code = field.value;
    if (field.Is(2, Wire::kBytes)) status->message = field.text();
    return true;
  });
}

bool ReadAnswer(wf_bytes message, Wish::Answer* answer) {
  return Read(message, [answer](const Field& field) {
    if (field.Is(1, Wire::kVarint)) answer->bytes = field.value;
    return !field.Is(3, Wire::kBytes) || ReadFlag(field.bytes, &answer->compressed);
  });
}

// SimpleRequest
bool ReadUnary(wf_bytes message, Wish* wish) {
  Wish::Answer& answer = wish->answers.emplace_back();
  return Read(message, [wish, &answer](const Field& field) {
    if (field.Is(2, Wire::kVarint)) answer.bytes = field.value;
    if (field.Is(3, Wire::kBytes)) return ReadPayload(field.bytes, &wish->payload_bytes);
    if (field.Is(6, Wire::kBytes)) return ReadFlag(field.bytes, &answer.compressed);
    if (field.Is(7, Wire::kBytes)) return ReadStatus(field.bytes, &wish->status);
    return !field.Is(8, Wire::kBytes) || ReadFlag(field.bytes, &wish->expects_compressed);
  });
}

// StreamingInputCallRequest
bool ReadInput(wf_bytes message, Wish* wish) {
  return Read(message, [wish](const Field& field) {
    if (field.Is(1, Wire::kBytes)) return ReadPayload(field.bytes, &wish->payload_bytes);
    return !field.Is(2, Wire::kBytes) || ReadFlag(field.bytes, &wish->expects_compressed);
  });
}

// StreamingOutputCallRequest
bool ReadOutput(wf_bytes message, Wish* wish) {
  return Read(message, [wish](const Field& field) {
    if (field.Is(2, Wire::kBytes)) return ReadAnswer(field.bytes, &wish->answers.emplace_back());
    return !field.Is(7, Wire::kBytes) || ReadStatus(field.bytes, &wish->status);
  });
}

constexpr struct Method {
  std::string_view name;
  bool streams, takes_many;
  bool (*read)(wf_bytes message, Wish* wish);
} kMethods[] = {{"EmptyCall", false, false, nullptr},
                {"UnaryCall", false, false, ReadUnary},
                {"StreamingOutputCall", true, false, ReadOutput},
                {"StreamingInputCall", true, true, ReadInput},
                {"FullDuplexCall", true, true, ReadOutput}};

const Method* MethodOf(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kMethods), std::end(kMethods), [name](const Method& row) { return row.name == name; });
  return found == std::end(kMethods) ? nullptr : found;
}

bool Find(const WorkflowSite&, std::string_view name, GrpcMethod* found) {
  const Method* const method = MethodOf(name);
  if (method == nullptr) return false;
  *found = {method->streams, method->takes_many, kMostMessage};
  return true;
}

std::vector<http::Header> LastFields(const Exchange& exchange) {
  std::vector<http::Header> fields = {grpc::kOk};
  const std::string_view echoed = exchange.call_head().Find(kEchoedLast);
  if (!echoed.empty()) fields.push_back({kEchoedLast, echoed});
  return fields;
}

http::Header Echo(const Exchange& call) { return {kEchoed, call.head.Find(kEchoed)}; }

// Whether a message is coded is its client's to say here, once the head can still tell with what.
void Choose(Exchange& exchange, std::optional<bool> compressed) {
  if (!compressed) return;
  Exchange& call = exchange.grpc.call == nullptr ? exchange : *exchange.grpc.call;
  const bool takes_gzip = call.head.Find("grpc-accept-encoding").find("gzip") != std::string_view::npos;
  exchange.grpc.coded = *compressed && takes_gzip;
  if (!exchange.grpc.coded) return;
  exchange.grpc.coding = coding::Coding::kGzip;
  if (!call.grpc.answers) call.grpc.coding = coding::Coding::kGzip;
}

// {payload: {body: zeros}}
void PutPayload(uint64_t bytes, wf_sink* message) {
  static constexpr uint8_t kZeros[4096] = {};
  wf_sink payload;
  protobuf::PutHead(&payload, 2, bytes);
  for (uint64_t left = bytes; left != 0;) {
    const uint64_t now = std::min<uint64_t>(left, sizeof kZeros);
    payload.Put(kZeros, now);
    left -= now;
  }
  protobuf::PutMessage(message, 1, &payload);
}

void Refuse(Exchange& exchange, std::string_view what) {
  exchange.Refuse(400, code::kInputParams, std::string(what));
  AnswerRefusal(exchange);
}

void EndWith(Exchange& exchange, const Status& status) {
  wf_sink none;
  grpc::PutStatus({.code = 0, .name = {}, .message = status.message, .path = {}, .log_id = {}}, base::StatusCode(status.code),
                  &exchange.fields);
  exchange.session->Reply(exchange, {200, {}, exchange.fields.headers(), {}}, none);
}

void Serve(WorkflowSite&, Exchange& exchange, wf_bytes message) {
  const Method& method = *MethodOf(exchange.grpc.method);
  Wish wish;
  wf_sink body;
  if (method.read == nullptr) {
    wf_sink empty;
    PutMessage(exchange, &empty, &body);
  } else if (!method.read(message, &wish)) {
    return Refuse(exchange, "the message is none of the method");
  }
  if (wish.expects_compressed && *wish.expects_compressed != exchange.grpc.coded)
    return Refuse(exchange, exchange.grpc.coded ? "the message is coded" : "the message is not coded");
  if (wish.status.code != 0) return EndWith(exchange, wish.status);
  for (const Wish::Answer& answer : wish.answers) {
    wf_sink reply;
    Choose(exchange, answer.compressed);
    PutPayload(answer.bytes, &reply);
    PutMessage(exchange, &reply, &body);
  }
  if (exchange.grpc.call != nullptr) exchange.grpc.call->grpc.last_told += static_cast<uint32_t>(wish.payload_bytes);
  const std::vector<http::Header> fields = method.streams ? std::vector<http::Header>() : LastFields(exchange);
  exchange.session->Reply(exchange, {200, {}, fields, {}}, body);
}

void End(WorkflowSite&, Exchange& call) {
  wf_sink message, body;
  if (call.grpc.method == "StreamingInputCall") {
    if (call.grpc.last_told != 0) protobuf::PutInteger(&message, 1, call.grpc.last_told);
    PutMessage(call, &message, &body);
  }
  call.session->Reply(call, {200, {}, LastFields(call), {}}, body);
}

constexpr GrpcService kInterop = {
    .name = "grpc.testing.TestService", .file = grpc::InteropFile, .find = Find, .serve = Serve, .end = End, .field = Echo};

}  // namespace

// In place of the runtime's list.
std::span<const GrpcService* const> GrpcServices() {
  static constexpr const GrpcService* kServices[] = {&kInterop, &grpc_health, &grpc_reflection, &grpc_reflection_v1alpha};
  return kServices;
}

}  // namespace wf::server
