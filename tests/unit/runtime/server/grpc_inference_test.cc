// What a call of the Open Inference Protocol over gRPC comes to.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "runtime/base/reserve.h"
#include "runtime/server/exchange.h"
#include "runtime/server/grpc_service.h"
#include "tests/unit/runtime/protocol/oip/infer.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"
#include "tests/unit/support/sim_faults.h"

namespace wf::server {
namespace {

constexpr uint32_t kText = 5;  // workflow Text(text: string) -> (text: string)

// As the server writes it, while one piece of memory that it asks for is not to be had.
class Written final : public test::Infer {
 public:
  explicit Written(int failing) : Infer(test::TypesPlan()), failing_(failing) {}
  protocol::Answer answer;
  std::string status;
  int asked = 0;

 private:
  void Write(bus::Bus& bus, wf_sink* body) override {
    ExchangePool pool;
    Exchange exchange(pool);
    exchange.bus = &bus;
    exchange.infer.reset(&request_);
    std::vector<http::Header> headers;
    wf_sink::DropKept();
    const std::function<bool()> fails = [this] { return asked++ == failing_; };
    {
      const test::FailingAllocations failing(&fails);
      answer = grpc_inference.write_answer(exchange, body, &headers);
    }
    for (const http::Header& field : headers)
      if (field.name == "grpc-status") status = field.value;
    static_cast<void>(exchange.infer.release());
    exchange.bus = nullptr;
  }

  const int failing_;
};

TEST(GrpcInference, AnAnswerThatFindsNoMemoryIsRefusedForNow) {
  constexpr char kBody[] = R"({"inputs":[{"name":"text","datatype":"BYTES","shape":[],"data":["a"]}]})";
  int refused = 0, asked = 0;
  for (int failing = 0; failing <= asked; ++failing) {
    base::Reserve::Refill();  // what the last one found too little of, or another test, is there again
    Written written(failing);
    written.Call(kText, kBody);
    asked = std::max(asked, written.asked);
    if (written.answer.code == 0) continue;
    EXPECT_EQ(written.answer.code, 3010) << failing;
    EXPECT_EQ(written.answer.status, 429) << failing;
    EXPECT_EQ(written.status, "8") << failing;
    ++refused;
  }
  base::Reserve::Refill();
  EXPECT_GE(refused, 2) << "the message, and the frame around it";
}

}  // namespace
}  // namespace wf::server
