#include "runtime/protocol/grpc/reflection.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/protocol/grpc/files.h"
#include "runtime/protocol/protobuf/wire.h"

namespace wf::grpc {
namespace {

using protobuf::Field;
using protobuf::Reader;
using protobuf::Wire;

const Reflected kServices[] = {{"inference.GRPCInferenceService", InferenceFile()}, {"grpc.health.v1.Health", HealthFile()}};
enum Asked : uint32_t { kFilename = 3, kSymbol = 4, kExtension = 5, kExtensions = 6, kList = 7 };
enum Answer : uint32_t { kFile = 4, kNumbers = 5, kNames = 6, kError = 7 };

wf_bytes Bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

std::string Text(wf_sink& sink) {
  std::string text;
  for (const base::SinkPiece& piece : sink.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  return text;
}

// Which answer it is, and what stands in it.
std::pair<uint32_t, std::string> Ask(uint32_t number, std::string_view name) {
  wf_sink request, response;
  protobuf::PutText(&request, number, name);
  const std::string asked = Text(request);
  EXPECT_TRUE(Reflect(kServices, Bytes(asked), &response));
  const std::string answer = Text(response);
  Reader reader(Bytes(answer));
  Field field;
  std::pair<uint32_t, std::string> found;
  while (reader.Next(&field)) {
    if (field.number == 2) {
      EXPECT_EQ(field.text(), asked);
    }
    if (field.number >= kFile) found = {field.number, std::string(field.text())};
  }
  EXPECT_FALSE(reader.broken());
  return found;
}

std::string FileAnswer(std::string_view file) {
  wf_sink sink;
  protobuf::PutText(&sink, 1, file);
  return Text(sink);
}

TEST(Reflection, FilesAreByNameAndBySymbol) {
  const std::pair<uint32_t, std::string> health{kFile, FileAnswer(HealthFile())}, inference{kFile, FileAnswer(InferenceFile())};
  EXPECT_EQ(Ask(kFilename, "grpc/health/v1/health.proto"), health);
  EXPECT_EQ(Ask(kFilename, "open_inference_grpc.proto"), inference);
  for (const char* symbol : {"grpc.health.v1.Health", "grpc.health.v1.Health.Check", "grpc.health.v1.HealthCheckResponse.ServingStatus",
                             "grpc.health.v1.HealthCheckResponse.SERVING", "grpc.health.v1.HealthCheckRequest.service"})
    EXPECT_EQ(Ask(kSymbol, symbol), health) << symbol;
  for (const char* symbol : {"inference.GRPCInferenceService.ModelStreamInfer", "inference.DataType", "inference.TYPE_FP32"})
    EXPECT_EQ(Ask(kSymbol, symbol), inference) << symbol;
}

TEST(Reflection, WhatIsNotThereIsAnError) {
  for (const char* symbol : {"", ".", "grpc", "grpc.health.v1", "grpc.health.v1.", "grpc.health.v1.Hea", "grpc.health.v1.Health.",
                             "grpc.health.v1.Health.Check.x", "inference.DataType.TYPE_FP32", "grpc.health.v1xHealth", "inference.Health"})
    EXPECT_EQ(Ask(kSymbol, symbol).first, kError) << symbol;
  EXPECT_EQ(Ask(kFilename, "health.proto").first, kError);
  EXPECT_EQ(Ask(kExtension, "").first, kError);
  EXPECT_EQ(Ask(kExtensions, "inference.Nothing").first, kError);
}

TEST(Reflection, ListsServicesAndNoExtensions) {
  EXPECT_EQ(Ask(kList, "*").first, kNames);
  EXPECT_NE(Ask(kList, "").second.find("grpc.health.v1.Health"), std::string::npos);
  EXPECT_EQ(Ask(kExtensions, "inference.ModelInferRequest").first, kNumbers);
}

TEST(Reflection, RefusesWhatAsksForNothing) {
  wf_sink response;
  for (const std::string_view bytes :
       {std::string_view(), std::string_view("\x0a\x01h"), std::string_view("\xff\xff"), std::string_view("\x22\x7f")})
    EXPECT_FALSE(Reflect(kServices, Bytes(bytes), &response));
}

}  // namespace
}  // namespace wf::grpc
