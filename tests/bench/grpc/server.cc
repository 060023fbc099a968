// What Google's gRPC in C++ makes of the same call: GRPCInferenceService/ModelInfer over one BYTES tensor, answered with a greeting.
//   server callback|queue   prints `listening PORT`; ends with its stdin
#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "open_inference_grpc.grpc.pb.h"

namespace {

using inference::GRPCInferenceService;
using inference::ModelInferRequest;
using inference::ModelInferResponse;

void Greet(const ModelInferRequest& request, ModelInferResponse* response) {
  const auto& names = request.inputs(0).contents().bytes_contents();
  response->set_model_name(request.model_name());
  response->set_model_version("1");
  auto* const output = response->add_outputs();
  output->set_name("text");
  output->set_datatype("BYTES");
  output->add_shape(1);
  const std::string text = "hello, " + names.Get(0);
  const auto length = static_cast<uint32_t>(text.size());
  std::string* const raw = response->add_raw_output_contents();
  raw->append(reinterpret_cast<const char*>(&length), sizeof length);
  raw->append(text);
}

class Callback final : public GRPCInferenceService::CallbackService {
  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context, const ModelInferRequest* request,
                                       ModelInferResponse* response) override {
    Greet(*request, response);
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

// One call on the completion queue: asked for, answered, and then anew.
class Call {
 public:
  Call(GRPCInferenceService::AsyncService& service, grpc::ServerCompletionQueue& queue) : service_(service), queue_(queue) { Begin(); }
  void Advance() {
    if (answered_) return Begin();
    answered_ = true;
    Greet(request_, &response_);
    writer_->Finish(response_, grpc::Status::OK, this);
  }

 private:
  void Begin() {
    answered_ = false;
    context_ = std::make_unique<grpc::ServerContext>();
    writer_ = std::make_unique<grpc::ServerAsyncResponseWriter<ModelInferResponse>>(context_.get());
    request_.Clear();
    response_.Clear();
    service_.RequestModelInfer(context_.get(), &request_, writer_.get(), &queue_, &queue_, this);
  }

  GRPCInferenceService::AsyncService& service_;
  grpc::ServerCompletionQueue& queue_;
  std::unique_ptr<grpc::ServerContext> context_;
  std::unique_ptr<grpc::ServerAsyncResponseWriter<ModelInferResponse>> writer_;
  ModelInferRequest request_;
  ModelInferResponse response_;
  bool answered_ = false;
};

void ServeQueue(GRPCInferenceService::AsyncService* service, grpc::ServerCompletionQueue* queue) {
  constexpr int kCalls = 256;
  std::vector<std::unique_ptr<Call>> calls;
  for (int i = 0; i < kCalls; ++i) calls.push_back(std::make_unique<Call>(*service, *queue));
  void* tag = nullptr;
  bool ok = false;
  while (queue->Next(&tag, &ok))
    if (ok) static_cast<Call*>(tag)->Advance();
}

}  // namespace

int main(int argc, char** argv) {
  const bool by_queue = argc > 1 && std::string_view(argv[1]) == "queue";
  Callback callback;
  GRPCInferenceService::AsyncService async;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(by_queue ? static_cast<grpc::Service*>(&async) : &callback);
  const std::unique_ptr<grpc::ServerCompletionQueue> queue = by_queue ? builder.AddCompletionQueue() : nullptr;
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) return 1;
  std::printf("listening %d\n", port);
  std::fflush(stdout);
  std::thread thread;
  if (by_queue) thread = std::thread(ServeQueue, &async, queue.get());
  while (std::getchar() != EOF) {
  }
  std::quick_exit(0);
}
