#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/type.h"
#include "runtime/base/dim.h"
#include "runtime/base/status.h"

// What the clients of a server rely on: its services, their calls, and how each answers. Everything that compares, exports or documents an
// interface reads this alone, so that a built server, which carries it in its note, is as good as the source.
namespace wf::interface {

// Where something is declared. line 0: unknown, as in all that was read from a server.
struct Place {
  std::string file;
  uint32_t line = 0, column = 0;
};

struct Field;
struct Type {
  ir::TypeKind kind = ir::TypeKind::kScalar;
  ir::DType dtype = ir::DType::kNone;  // kScalar, kTensor
  std::vector<base::Dim> dims;         // kTensor; symbols of the call; `_` is a symbol of its own
  std::vector<Type> element;           // kList, kMap, kOptional: one
  std::string record;                  // kRecord: its name in Interface::records, or empty
  std::vector<Field> fields;           // kRecord without a name
};
struct Field {
  std::string name;
  Type type;
};
std::string ToString(const Type& type);  // as programs write it: "f32[1, h, w]", "list<Line>?", "(a: i64, b: bytes)"

struct Record {
  std::string name, doc;
  std::vector<Field> fields;
};

struct Port {
  std::string name;  // on the wire
  Type type;
  bool required = true;       // of a parameter
  std::string default_value;  // JSON; empty: none, or one that JSON cannot say
  std::string written;        // the same as a program writes it, in short; empty: none, or not known
  Place place;
};

struct Meta {
  std::string key;
  Type type;
  std::string default_value;  // JSON; empty: it is computed
  std::string written;        // as of Port
  Place place;
};

struct Error {
  int32_t code = 0;
  std::string name, message;
  int status = 0;  // canonical
  Place place;
};

// A workflow or a model that a service publishes.
struct Call {
  std::string name, doc;
  bool is_model = false;
  std::vector<Port> in, out;
  std::vector<int32_t> errors;           // codes that the program itself gives, sorted; those of the framework come to all calls
  std::vector<Meta> meta;                // by key
  std::vector<std::string> annotations;  // keys, sorted
  std::string versions;                  // of a model that clients may ask for: "latest 2"
  std::string example;                   // a request that a test of the program makes, as JSON; or empty
  Place place;
};

struct Service {
  std::string name, doc;
  std::vector<Call> calls;  // the first is the service's default
  int64_t timeout_ns = 0;   // 0, as those below: not written
  uint64_t body_bytes = 0;
  uint32_t rows = 0;
  Place place;
};

struct Interface {
  std::vector<Record> records;  // named types that calls use, those within others first
  std::vector<Error> errors;    // declared ones that calls give, by code
  std::vector<Service> services;

  const Record* FindRecord(std::string_view name) const;
  const Error* FindError(int32_t code) const;
};
const std::vector<Field>& FieldsOf(const Interface& interface, const Type& record);

// The only required parameter of type `bytes`, which may also come as the raw body; null: none.
const Port* RawBody(const Call& call);

std::string ToJson(const Interface& interface);  // one object on one line, the same for the same interface; without examples
// Trusts nothing. Errors: kInvalidArgument: not what ToJson writes.
base::Result<Interface> FromJson(std::string_view text);
base::Result<Interface> FromNote(std::string_view note);                          // that of a server: its member `interface`
base::Result<Type> ParseType(std::string_view text, base::UnknownDims& unknown);  // what ToString writes

}  // namespace wf::interface
