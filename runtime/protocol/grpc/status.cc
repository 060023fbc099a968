#include "runtime/protocol/grpc/status.h"

#include <vector>

#include "runtime/base/text.h"
#include "runtime/protocol/grpc/head.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/protobuf/wire.h"

namespace wf::grpc {
namespace {

constexpr size_t kMostMessage = 1024, kMostPath = 512, kMostName = 128, kMostId = 128;

void AddText(std::string_view name, std::string_view text, http::Head* fields) {
  std::vector<char> storage;
  if (!text.empty()) fields->Add(name, PercentEncode(text, &storage));
}

void AddNumber(std::string_view name, uint64_t number, http::Head* fields) {
  base::TextBuilder digits;
  fields->Add(name, (digits << number).view());
}

void PutEntry(std::string_view key, std::string_view value, wf_sink* info) {
  constexpr uint32_t kMetadata = 3, kKey = 1, kValue = 2;
  if (value.empty()) return;
  wf_sink entry;
  protobuf::PutText(&entry, kKey, key);
  protobuf::PutText(&entry, kValue, value);
  protobuf::PutMessage(info, kMetadata, &entry);
}

// google.rpc.Status{code = 1, message = 2, details = 3} and google.rpc.ErrorInfo{reason = 1, domain = 2, metadata = 3}.
void AddDetails(const protocol::ErrorText& error, base::StatusCode status, http::Head* fields) {
  wf_sink info, any, all, base64;
  base::TextBuilder code, data_id;
  protobuf::PutText(&info, 1, error.name);
  protobuf::PutText(&info, 2, "wf");
  PutEntry("code", (code << static_cast<int64_t>(error.code)).view(), &info);
  PutEntry("path", error.path, &info);
  PutEntry("data_id", (data_id << error.data_id).view(), &info);
  PutEntry("log_id", error.log_id, &info);
  protobuf::PutText(&any, 1, "type.googleapis.com/google.rpc.ErrorInfo");
  protobuf::PutMessage(&any, 2, &info);
  protobuf::PutInteger(&all, 1, static_cast<uint64_t>(status));
  protobuf::PutText(&all, 2, error.message);
  protobuf::PutMessage(&all, 3, &any);
  const std::string_view bytes = all.Whole();
  json::PutBase64(&base64, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const std::string_view text = base64.Whole();
  if (!text.empty()) fields->Add("grpc-status-details-bin", text.substr(0, text.find('=')));
}

}  // namespace

void PutStatus(const protocol::ErrorText& whole, base::StatusCode status, http::Head* fields) {
  protocol::ErrorText error = whole;
  error.message = base::Cut(whole.text(), kMostMessage);
  error.name = base::Cut(whole.name, kMostName);
  error.path = base::Cut(whole.path, kMostPath);
  error.log_id = base::Cut(whole.log_id, kMostId);
  AddNumber("grpc-status", static_cast<uint64_t>(status), fields);
  AddText("grpc-message", error.message, fields);
  AddNumber("wf-code", static_cast<uint64_t>(error.code), fields);
  AddText("wf-name", error.name, fields);
  AddText("wf-path", error.path, fields);
  AddNumber("wf-data-id", error.data_id, fields);
  AddText("wf-log-id", error.log_id, fields);
  AddDetails(error, status, fields);
}

}  // namespace wf::grpc
