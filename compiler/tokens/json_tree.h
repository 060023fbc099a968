#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/json_scanner.h"

namespace wf::tokens {

// A JSON value of any shape.
struct Json {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kText, kArray, kObject };

  const Json* Find(std::string_view name) const;  // a member that is there and not null; null
  std::string_view TextOf(std::string_view name) const;
  bool BoolOf(std::string_view name, bool missing) const;
  std::optional<uint32_t> id() const;  // an integer that can be a token's

  Kind kind = Kind::kNull;
  bool is_true = false;           // kBool
  std::string text;               // kText; kNumber: as written
  std::vector<Json> items;        // kArray, kObject
  std::vector<std::string> keys;  // kObject
};

// The value that stands next; `left` loses one for each value in it. Errors: as JsonScanner, and kResourceExhausted where none is left, or
// below 32 levels.
base::Result<Json> ReadTree(source::JsonScanner& scanner, size_t& left);

// What stands at the scanner as the id of a token.
base::Status ReadId(source::JsonScanner& scanner, uint32_t& id);

}  // namespace wf::tokens
