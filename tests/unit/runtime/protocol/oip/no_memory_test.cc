// Answers that there is no memory to write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "runtime/base/reserve.h"
#include "runtime/protocol/oip/open_inference_grpc.pb.h"
#include "tests/unit/runtime/protocol/oip/infer.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"
#include "tests/unit/support/sim_faults.h"

namespace wf::test {
namespace {

using testing::HasSubstr;

constexpr uint32_t kText = 5;  // workflow Text(text: string) -> (text: string)
constexpr char kNoMemory[] = "there is no memory for it now: other requests have it, or the system has none";

// The first piece of the answer is not to be had, or nothing that is asked for while it is written.
class Without final : public Infer {
 public:
  explicit Without(int pieces) : Infer(TypesPlan()), left_(pieces) {}
  ~Without() { base::Reserve::Refill(); }

 private:
  void Write(bus::Bus& bus, wf_sink* body) override {
    wf_sink::DropKept();
    const std::function<bool()> fails = [this] { return left_-- > 0; };
    const FailingAllocations failing(&fails);
    Infer::Write(bus, body);
  }
  int left_;
};

TEST(OipNoMemory, JsonThatFindsNoneIsRefusedForNow) {
  constexpr char kBody[] = R"({"inputs":[{"name":"text","datatype":"BYTES","shape":[],"data":["a"]}]})";
  for (const int pieces : {1, 1 << 20}) {
    const auto reply = Without(pieces).Call(kText, kBody);
    EXPECT_EQ(reply.status, 503) << pieces;
    EXPECT_EQ(reply.code, 3010) << pieces;
    EXPECT_THAT(reply.text, HasSubstr(pieces == 1 ? "there is no memory for the reply now" : "")) << pieces;
  }
}

TEST(OipNoMemory, SoIsAMessage) {
  for (const bool raw : {false, true}) {
    inference::ModelInferRequest request;
    auto* const input = request.add_inputs();
    input->set_name("text");
    input->set_datatype("BYTES");
    input->mutable_contents()->add_bytes_contents("a");
    (*request.mutable_parameters())["binary_data_output"].set_bool_param(raw);
    for (const int pieces : {1, 1 << 20}) {
      const auto reply = Without(pieces).CallMessage(kText, request.SerializeAsString());
      EXPECT_EQ(reply.code, 3010) << pieces;
      EXPECT_EQ(reply.text, kNoMemory) << pieces;
    }
  }
}

}  // namespace
}  // namespace wf::test
