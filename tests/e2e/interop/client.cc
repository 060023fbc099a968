// gRPC's interoperability cases, asked by Google's client for C++: wf_interop_client HOST:PORT. Prints the name of each case that went as
// it should, and ends at the first that did not.
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstdlib>
#include <future>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "interop.grpc.pb.h"

namespace {

using namespace grpc::testing;
using grpc::ClientContext;
using grpc::Status;
using grpc::StatusCode;

constexpr int kLargeRequest = 271'828, kLargeAnswer = 314'159;
constexpr int kAsked[] = {27182, 8, 1828, 45904}, kAnswered[] = {31415, 9, 2653, 58979};
constexpr char kOddMessage[] = "\t\ntest with whitespace\r\nand Unicode BMP \u263A and non-BMP \U0001F608\t\n";

struct Caller {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<TestService::Stub> stub;
};

const char* current_case = "";

void Require(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "%s: %s\n", current_case, what.c_str());
  std::_Exit(1);
}

void RequireStatus(const Status& status, StatusCode code) {
  Require(status.error_code() == code,
          "status " + std::to_string(status.error_code()) + " (" + status.error_message() + ") in place of " + std::to_string(code));
}

SimpleRequest LargeRequest() {
  SimpleRequest request;
  request.set_response_size(kLargeAnswer);
  request.mutable_payload()->set_body(std::string(kLargeRequest, '\0'));
  return request;
}

bool IsLarge(const SimpleResponse& answer) { return answer.payload().body() == std::string(kLargeAnswer, '\0'); }

void EmptyUnary(Caller& caller) {
  ClientContext context;
  Empty answer;
  RequireStatus(caller.stub->EmptyCall(&context, Empty(), &answer), StatusCode::OK);
}

void LargeUnary(Caller& caller) {
  ClientContext context;
  SimpleResponse answer;
  RequireStatus(caller.stub->UnaryCall(&context, LargeRequest(), &answer), StatusCode::OK);
  Require(IsLarge(answer), "the answer is another");
}

// One call whose message is coded or not, and says that it is or not.
void AskCoded(Caller& caller, bool coded, bool said, StatusCode code) {
  ClientContext context;
  SimpleRequest request = LargeRequest();
  SimpleResponse answer;
  request.mutable_expect_compressed()->set_value(said);
  context.set_compression_algorithm(coded ? GRPC_COMPRESS_GZIP : GRPC_COMPRESS_NONE);
  RequireStatus(caller.stub->UnaryCall(&context, request, &answer), code);
  Require(code != StatusCode::OK || IsLarge(answer), "the answer is another");
}

void ClientCompressedUnary(Caller& caller) {
  AskCoded(caller, false, true, StatusCode::INVALID_ARGUMENT);
  AskCoded(caller, true, true, StatusCode::OK);
  AskCoded(caller, false, false, StatusCode::OK);
}

void ServerCompressedUnary(Caller& caller) {
  for (const bool coded : {true, false}) {
    ClientContext context;
    SimpleRequest request = LargeRequest();
    SimpleResponse answer;
    request.mutable_response_compressed()->set_value(coded);
    RequireStatus(caller.stub->UnaryCall(&context, request, &answer), StatusCode::OK);
    Require(IsLarge(answer), "the answer is another");
  }
}

void ClientStreaming(Caller& caller) {
  ClientContext context;
  StreamingInputCallResponse answer;
  const auto writer = caller.stub->StreamingInputCall(&context, &answer);
  for (const int bytes : kAsked) {
    StreamingInputCallRequest request;
    request.mutable_payload()->set_body(std::string(bytes, '\0'));
    Require(writer->Write(request), "a message was not taken");
  }
  writer->WritesDone();
  RequireStatus(writer->Finish(), StatusCode::OK);
  Require(answer.aggregated_payload_size() == 74922, "the sum is " + std::to_string(answer.aggregated_payload_size()));
}

void ClientCompressedStreaming(Caller& caller) {
  StreamingInputCallRequest coded, whole;
  coded.mutable_expect_compressed()->set_value(true);
  coded.mutable_payload()->set_body(std::string(27182, '\0'));
  whole.mutable_expect_compressed()->set_value(false);
  whole.mutable_payload()->set_body(std::string(45904, '\0'));
  StreamingInputCallResponse answer;
  {
    ClientContext context;
    const auto writer = caller.stub->StreamingInputCall(&context, &answer);
    writer->Write(coded);
    writer->WritesDone();
    RequireStatus(writer->Finish(), StatusCode::INVALID_ARGUMENT);
  }
  ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  const auto writer = caller.stub->StreamingInputCall(&context, &answer);
  Require(writer->Write(coded) && writer->Write(whole, grpc::WriteOptions().set_no_compression()), "a message was not taken");
  writer->WritesDone();
  RequireStatus(writer->Finish(), StatusCode::OK);
  Require(answer.aggregated_payload_size() == 73086, "the sum is " + std::to_string(answer.aggregated_payload_size()));
}

void ServerStreaming(Caller& caller) {
  ClientContext context;
  StreamingOutputCallRequest request;
  StreamingOutputCallResponse answer;
  for (const int bytes : kAnswered) request.add_response_parameters()->set_size(bytes);
  const auto reader = caller.stub->StreamingOutputCall(&context, request);
  for (const int bytes : kAnswered)
    Require(reader->Read(&answer) && answer.payload().body() == std::string(bytes, '\0'), "no answer of " + std::to_string(bytes));
  Require(!reader->Read(&answer), "one answer too many");
  RequireStatus(reader->Finish(), StatusCode::OK);
}

void ServerCompressedStreaming(Caller& caller) {
  ClientContext context;
  StreamingOutputCallRequest request;
  StreamingOutputCallResponse answer;
  const std::pair<int, bool> wanted[] = {{31415, true}, {92653, false}};
  for (const auto& [bytes, coded] : wanted) {
    ResponseParameters* const row = request.add_response_parameters();
    row->set_size(bytes);
    row->mutable_compressed()->set_value(coded);
  }
  const auto reader = caller.stub->StreamingOutputCall(&context, request);
  for (const auto& [bytes, coded] : wanted)
    Require(reader->Read(&answer) && answer.payload().body() == std::string(bytes, '\0'), "no answer of " + std::to_string(bytes));
  Require(!reader->Read(&answer), "one answer too many");
  RequireStatus(reader->Finish(), StatusCode::OK);
}

StreamingOutputCallRequest Ping(size_t at) {
  StreamingOutputCallRequest request;
  request.add_response_parameters()->set_size(kAnswered[at]);
  request.mutable_payload()->set_body(std::string(kAsked[at], '\0'));
  return request;
}

void PingPong(Caller& caller) {
  ClientContext context;
  const auto stream = caller.stub->FullDuplexCall(&context);
  StreamingOutputCallResponse answer;
  for (size_t i = 0; i < std::size(kAsked); ++i) {
    Require(stream->Write(Ping(i)) && stream->Read(&answer), "no answer");
    Require(answer.payload().body() == std::string(kAnswered[i], '\0'), "the answer is another");
  }
  stream->WritesDone();
  Require(!stream->Read(&answer), "one answer too many");
  RequireStatus(stream->Finish(), StatusCode::OK);
}

void EmptyStream(Caller& caller) {
  ClientContext context;
  const auto stream = caller.stub->FullDuplexCall(&context);
  StreamingOutputCallResponse answer;
  stream->WritesDone();
  Require(!stream->Read(&answer), "an answer to nothing");
  RequireStatus(stream->Finish(), StatusCode::OK);
}

constexpr char kEchoed[] = "x-grpc-test-echo-initial", kEchoedLast[] = "x-grpc-test-echo-trailing-bin";

void AddMetadata(ClientContext& context) {
  context.AddMetadata(kEchoed, "test_initial_metadata_value");
  context.AddMetadata(kEchoedLast, "\x0a\x0b\x0a\x0b\x0a\x0b");
}

void RequireMetadata(const ClientContext& context) {
  const auto& first = context.GetServerInitialMetadata();
  const auto& last = context.GetServerTrailingMetadata();
  const auto at = first.find(kEchoed), at_last = last.find(kEchoedLast);
  Require(at != first.end() && at->second == "test_initial_metadata_value", "the head has not what was sent");
  Require(at_last != last.end() && at_last->second == "\x0a\x0b\x0a\x0b\x0a\x0b", "the end has not what was sent");
}

void CustomMetadata(Caller& caller) {
  {
    ClientContext context;
    SimpleResponse answer;
    AddMetadata(context);
    RequireStatus(caller.stub->UnaryCall(&context, LargeRequest(), &answer), StatusCode::OK);
    RequireMetadata(context);
  }
  ClientContext context;
  StreamingOutputCallResponse answer;
  AddMetadata(context);
  const auto stream = caller.stub->FullDuplexCall(&context);
  Require(stream->Write(Ping(0)) && stream->Read(&answer), "no answer");
  stream->WritesDone();
  Require(!stream->Read(&answer), "one answer too many");
  RequireStatus(stream->Finish(), StatusCode::OK);
  RequireMetadata(context);
}

void AskStatus(Caller& caller, const std::string& message, bool streams) {
  ClientContext context;
  Status status;
  if (streams) {
    StreamingOutputCallRequest request;
    StreamingOutputCallResponse answer;
    request.mutable_response_status()->set_code(StatusCode::UNKNOWN);
    request.mutable_response_status()->set_message(message);
    const auto stream = caller.stub->FullDuplexCall(&context);
    stream->Write(request);
    stream->WritesDone();
    while (stream->Read(&answer)) {
    }
    status = stream->Finish();
  } else {
    SimpleRequest request;
    SimpleResponse answer;
    request.mutable_response_status()->set_code(StatusCode::UNKNOWN);
    request.mutable_response_status()->set_message(message);
    status = caller.stub->UnaryCall(&context, request, &answer);
  }
  RequireStatus(status, StatusCode::UNKNOWN);
  Require(status.error_message() == message, "the message is `" + status.error_message() + "`");
}

void StatusCodeAndMessage(Caller& caller) {
  AskStatus(caller, "test status message", false);
  AskStatus(caller, "test status message", true);
}

void SpecialStatusMessage(Caller& caller) { AskStatus(caller, kOddMessage, false); }

void UnimplementedMethod(Caller& caller) {
  ClientContext context;
  Empty answer;
  RequireStatus(caller.stub->UnimplementedCall(&context, Empty(), &answer), StatusCode::UNIMPLEMENTED);
}

void UnimplementedWholeService(Caller& caller) {
  ClientContext context;
  Empty answer;
  RequireStatus(UnimplementedService::NewStub(caller.channel)->UnimplementedCall(&context, Empty(), &answer), StatusCode::UNIMPLEMENTED);
}

void CancelAfterBegin(Caller& caller) {
  ClientContext context;
  StreamingInputCallResponse answer;
  const auto writer = caller.stub->StreamingInputCall(&context, &answer);
  context.TryCancel();
  RequireStatus(writer->Finish(), StatusCode::CANCELLED);
}

void CancelAfterFirstResponse(Caller& caller) {
  ClientContext context;
  StreamingOutputCallResponse answer;
  const auto stream = caller.stub->FullDuplexCall(&context);
  Require(stream->Write(Ping(0)) && stream->Read(&answer), "no answer");
  context.TryCancel();
  RequireStatus(stream->Finish(), StatusCode::CANCELLED);
}

void TimeoutOnSleepingServer(Caller& caller) {
  ClientContext context;
  StreamingOutputCallRequest request;
  StreamingOutputCallResponse answer;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(1));
  request.mutable_payload()->set_body(std::string(27182, '\0'));
  const auto stream = caller.stub->FullDuplexCall(&context);
  stream->Write(request);
  while (stream->Read(&answer)) {
  }
  RequireStatus(stream->Finish(), StatusCode::DEADLINE_EXCEEDED);
}

std::shared_ptr<grpc::Channel> OwnChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// As many as ten connections carry at once.
void LargeUnaryThousandAtOnce(const std::string& address) {
  struct Call {
    ClientContext context;
    SimpleResponse answer;
    std::promise<Status> status;
  };
  const SimpleRequest request = LargeRequest();
  std::vector<std::unique_ptr<TestService::Stub>> stubs;
  for (int i = 0; i < 10; ++i) stubs.push_back(TestService::NewStub(OwnChannel(address)));
  std::vector<Call> calls(1000);
  for (size_t i = 0; i < calls.size(); ++i) {
    Call& call = calls[i];
    stubs[i % stubs.size()]->async()->UnaryCall(&call.context, &request, &call.answer,
                                                [&call](const Status& s) { call.status.set_value(s); });
  }
  for (Call& call : calls) {
    RequireStatus(call.status.get_future().get(), StatusCode::OK);
    Require(IsLarge(call.answer), "the answer is another");
  }
}

constexpr struct {
  const char* name;
  void (*ask)(Caller& caller);
} kCases[] = {{"empty_unary", EmptyUnary},
              {"large_unary", LargeUnary},
              {"client_compressed_unary", ClientCompressedUnary},
              {"server_compressed_unary", ServerCompressedUnary},
              {"client_streaming", ClientStreaming},
              {"client_compressed_streaming", ClientCompressedStreaming},
              {"server_streaming", ServerStreaming},
              {"server_compressed_streaming", ServerCompressedStreaming},
              {"ping_pong", PingPong},
              {"empty_stream", EmptyStream},
              {"custom_metadata", CustomMetadata},
              {"status_code_and_message", StatusCodeAndMessage},
              {"special_status_message", SpecialStatusMessage},
              {"unimplemented_method", UnimplementedMethod},
              {"unimplemented_service", UnimplementedWholeService},
              {"cancel_after_begin", CancelAfterBegin},
              {"cancel_after_first_response", CancelAfterFirstResponse},
              {"timeout_on_sleeping_server", TimeoutOnSleepingServer}};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "wf_interop_client HOST:PORT\n"), 2;
  const auto channel = OwnChannel(argv[1]);
  Caller caller{channel, TestService::NewStub(channel)};
  for (const auto& row : kCases) {
    current_case = row.name;
    row.ask(caller);
    std::printf("%s\n", row.name);
  }
  current_case = "large_unary_1000_at_once";
  LargeUnaryThousandAtOnce(argv[1]);
  std::printf("%s\n", current_case);
  return 0;
}
