#include "runtime/protocol/grpc/reflection.h"

#include <algorithm>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/protobuf/wire.h"

namespace wf::grpc {
namespace {

using protobuf::Field;
using protobuf::Reader;
using protobuf::Wire;

wf_bytes Bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

// What descriptor.proto says of names within one another: fields that hold declarations, by the kind of what they stand in.
enum class Kind : uint8_t { kFile, kMessage, kEnum, kService, kLeaf };
struct Member {
  Kind in;
  uint32_t number;
  Kind kind;
};
constexpr Member kMembers[] = {{Kind::kFile, 4, Kind::kMessage}, {Kind::kFile, 5, Kind::kEnum},       {Kind::kFile, 6, Kind::kService},
                               {Kind::kMessage, 2, Kind::kLeaf}, {Kind::kMessage, 3, Kind::kMessage}, {Kind::kMessage, 4, Kind::kEnum},
                               {Kind::kMessage, 8, Kind::kLeaf}, {Kind::kService, 2, Kind::kLeaf}};

std::string_view TextOf(std::string_view message, uint32_t number) {
  Reader reader(Bytes(message));
  Field field;
  while (reader.Next(&field)) {
    if (field.Is(number, Wire::kBytes)) return field.text();
  }
  return {};
}
std::string_view NameOf(std::string_view declaration) { return TextOf(declaration, 1); }  // of a file: its path

bool HasValue(std::string_view enumeration, std::string_view name) {
  constexpr uint32_t kValue = 2;
  Reader reader(Bytes(enumeration));
  Field field;
  while (reader.Next(&field)) {
    if (field.Is(kValue, Wire::kBytes) && NameOf(field.text()) == name) return true;
  }
  return false;
}

// The declaration of this name in another; empty: there is none. Values of an enum stand beside it, as in C++.
std::string_view FindIn(std::string_view outer, std::string_view name, Kind* kind) {
  Reader reader(Bytes(outer));
  Field field;
  while (reader.Next(&field)) {
    const auto* const member = std::find_if(std::begin(kMembers), std::end(kMembers),
                                            [&](const Member& row) { return row.in == *kind && field.Is(row.number, Wire::kBytes); });
    if (member == std::end(kMembers)) continue;
    const bool is_value = member->kind == Kind::kEnum && HasValue(field.text(), name);
    if (!is_value && NameOf(field.text()) != name) continue;
    *kind = is_value ? Kind::kLeaf : member->kind;
    return field.text();
  }
  return {};
}

bool Declares(std::string_view file, std::string_view symbol) {
  constexpr uint32_t kPackage = 2;
  const std::string_view package = TextOf(file, kPackage);
  if (symbol.size() <= package.size() || !symbol.starts_with(package) || symbol[package.size()] != '.') return false;
  symbol.remove_prefix(package.size() + 1);
  Kind kind = Kind::kFile;
  while (true) {
    const std::string_view name = symbol.substr(0, symbol.find('.'));
    file = FindIn(file, name, &kind);
    if (file.empty() || name.size() == symbol.size()) return !file.empty();
    symbol.remove_prefix(name.size() + 1);
  }
}

void PutNotFound(std::string_view what, std::string_view name, wf_sink* response) {
  constexpr uint32_t kErrorResponse = 7, kCode = 1, kMessage = 2;
  wf_sink error;
  base::TextBuilder message;
  message << what;
  message.Quote(name) << "`";
  protobuf::PutInteger(&error, kCode, static_cast<uint64_t>(base::kNotFound));
  protobuf::PutText(&error, kMessage, message.view());
  protobuf::PutMessage(response, kErrorResponse, &error);
}

// None of the files has imports.
void PutFile(std::string_view file, wf_sink* response) {
  constexpr uint32_t kFileResponse = 4, kFile = 1;
  wf_sink files;
  protobuf::PutText(&files, kFile, file);
  protobuf::PutMessage(response, kFileResponse, &files);
}

void PutServices(std::span<const Reflected> services, wf_sink* response) {
  constexpr uint32_t kListResponse = 6, kService = 1, kName = 1;
  wf_sink list;
  for (const Reflected& row : services) {
    wf_sink service;
    protobuf::PutText(&service, kName, row.service);
    protobuf::PutMessage(&list, kService, &service);
  }
  protobuf::PutMessage(response, kListResponse, &list);
}

// No message here has extensions.
void PutExtensions(std::span<const Reflected> services, std::string_view type, wf_sink* response) {
  constexpr uint32_t kExtensionsResponse = 5, kType = 1;
  if (std::none_of(services.begin(), services.end(), [type](const Reflected& row) { return Declares(row.file, type); }))
    return PutNotFound("nothing is called `", type, response);
  wf_sink extensions;
  protobuf::PutText(&extensions, kType, type);
  protobuf::PutMessage(response, kExtensionsResponse, &extensions);
}

template <typename IsIt>
void PutFileWhere(std::span<const Reflected> services, IsIt&& is_it, std::string_view name, wf_sink* response) {
  const auto found = std::find_if(services.begin(), services.end(), [&](const Reflected& row) { return is_it(row.file); });
  if (found == services.end()) return PutNotFound("no file has `", name, response);
  PutFile(found->file, response);
}

}  // namespace

bool Reflect(std::span<const Reflected> services, wf_bytes request, wf_sink* response) {
  constexpr uint32_t kHost = 1, kByFilename = 3, kBySymbol = 4, kByExtension = 5, kExtensions = 6, kServices = 7;
  constexpr uint32_t kValidHost = 1, kOriginal = 2;
  Reader reader(request);
  Field field, asked;
  std::string_view host;
  while (reader.Next(&field)) {
    if (field.Is(kHost, Wire::kBytes)) host = field.text();
    if (field.wire == Wire::kBytes && field.number >= kByFilename && field.number <= kServices) asked = field;
  }
  if (reader.broken() || asked.number == 0) return false;
  const std::string_view name = asked.text();
  protobuf::PutText(response, kValidHost, host);
  protobuf::PutText(response, kOriginal, {reinterpret_cast<const char*>(request.ptr), request.len});
  switch (asked.number) {
    case kByFilename:
      PutFileWhere(services, [name](std::string_view file) { return NameOf(file) == name; }, name, response);
      break;
    case kBySymbol:
      PutFileWhere(services, [name](std::string_view file) { return Declares(file, name); }, name, response);
      break;
    case kByExtension:
      PutNotFound("no message has extensions, nor `", TextOf(name, 1), response);
      break;
    case kExtensions:
      PutExtensions(services, name, response);
      break;
    default:
      PutServices(services, response);
  }
  return true;
}

}  // namespace wf::grpc
