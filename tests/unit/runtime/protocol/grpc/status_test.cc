#include "runtime/protocol/grpc/status.h"
#include "runtime/base/base64.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/protobuf/wire.h"
#include "tests/unit/support/count_new.h"

namespace wf::grpc {
namespace {

using Texts = std::map<std::string, std::string>;

Texts FieldsOf(const protocol::ErrorText& error, base::StatusCode status) {
  http::Head head;
  PutStatus(error, status, &head);
  Texts fields;
  for (const http::Header& header : head.headers()) EXPECT_TRUE(fields.emplace(header.name, header.value).second) << header.name;
  return fields;
}

std::string Unbase64(std::string text) {
  EXPECT_EQ(text.find('='), std::string::npos);
  text.resize((text.size() + 3) / 4 * 4, '=');
  std::string bytes(text.size(), '\0');
  const int64_t size = base::DecodeBase64(text, reinterpret_cast<uint8_t*>(bytes.data()));
  EXPECT_GE(size, 0);
  bytes.resize(static_cast<size_t>(size));
  return bytes;
}

// The fields of a message by their numbers, of several the last.
std::map<uint32_t, std::string> Message(const std::string& bytes) {
  protobuf::Reader reader({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  protobuf::Field field;
  std::map<uint32_t, std::string> fields;
  while (reader.Next(&field))
    fields[field.number] = field.wire == protobuf::Wire::kBytes ? std::string(field.text()) : std::to_string(field.value);
  EXPECT_FALSE(reader.broken());
  return fields;
}

TEST(GrpcStatus, TellsAllOfAnError) {
  const Texts fields = FieldsOf({100001, "Nobody", "nobody is there", "Greet/name", 7, "call-9"}, base::kNotFound);
  EXPECT_EQ(fields.at("grpc-status"), "5");
  EXPECT_EQ(fields.at("grpc-message"), "nobody is there");
  EXPECT_EQ(fields.at("wf-code"), "100001");
  EXPECT_EQ(fields.at("wf-name"), "Nobody");
  EXPECT_EQ(fields.at("wf-path"), "Greet/name");
  EXPECT_EQ(fields.at("wf-data-id"), "7");
  EXPECT_EQ(fields.at("wf-log-id"), "call-9");
  auto status = Message(Unbase64(fields.at("grpc-status-details-bin")));
  EXPECT_EQ(status[1], "5");
  EXPECT_EQ(status[2], "nobody is there");
  auto any = Message(status[3]);
  EXPECT_EQ(any[1], "type.googleapis.com/google.rpc.ErrorInfo");
  auto info = Message(any[2]);
  EXPECT_EQ(info[1], "Nobody");
  EXPECT_EQ(info[2], "wf");
  auto last = Message(info[3]);
  EXPECT_EQ(last[1], "log_id");
  EXPECT_EQ(last[2], "call-9");
}

TEST(GrpcStatus, LeavesOutWhatThereIsNot) {
  const Texts fields = FieldsOf({3002, "NoService", "", "", 7, ""}, base::kNotFound);
  EXPECT_EQ(fields.at("grpc-message"), "NoService");
  EXPECT_FALSE(fields.contains("wf-path"));
  EXPECT_FALSE(fields.contains("wf-log-id"));
}

TEST(GrpcStatus, TextsAreHeaders) {
  const Texts fields = FieldsOf({5000, "InputParams", "50% of\nnaïve", "", 1, "ï"}, base::kInvalidArgument);
  EXPECT_EQ(fields.at("grpc-message"), "50%25 of%0Ana%C3%AFve");
  EXPECT_EQ(fields.at("wf-log-id"), "%C3%AF");
}

TEST(GrpcStatus, IsShortHoweverLongTheTexts) {
  std::string message, id(100'000, 'i');
  for (int i = 0; i < 100'000; ++i) message += "ï";
  const Texts fields = FieldsOf({5000, "InputParams", "x" + message, id, 1, message}, base::kInvalidArgument);
  size_t bytes = 0;
  for (const auto& [name, value] : fields) bytes += name.size() + value.size() + 32;
  EXPECT_LT(bytes, 8192U);
  EXPECT_EQ(fields.at("grpc-message").substr(0, 7), "x%C3%AF");
  EXPECT_TRUE(fields.at("grpc-message").ends_with("%C3%AF"));
}

TEST(GrpcStatus, AllocatesNothingOnceItsHeadHasRoom) {
  http::Head head;
  int64_t before = 0;
  for (const bool warm : {false, true}) {
    if (warm) before = test::Allocations();
    head.Clear();
    PutStatus({3010, "Refused", "the service has as many requests in flight as it takes", "", 7, "call-9"}, base::kResourceExhausted,
              &head);
  }
  EXPECT_EQ(test::Allocations(), before);
  EXPECT_FALSE(head.Find("grpc-status-details-bin").empty());
}

}  // namespace
}  // namespace wf::grpc
