#include "compiler/interface/proto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "compiler/base/field_number.h"
#include "runtime/base/json_text.h"

namespace wf::interface {
namespace {

std::string Comment(const std::string& text, std::string_view margin) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += fmt::format("{}// {}\n", margin, text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// A word that Protocol Buffers takes: other characters become `_`.
std::string Identifier(const std::string& name) {
  std::string out;
  for (const unsigned char c : name) out += std::isalnum(c) || c == '_' ? static_cast<char>(c) : '_';
  return out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) ? "_" + out : out;
}

std::string Capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string ScalarName(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kBool:
      return "bool";
    case ir::DType::kI8:
    case ir::DType::kI16:
    case ir::DType::kI32:
      return "int32";
    case ir::DType::kI64:
      return "int64";
    case ir::DType::kU8:
    case ir::DType::kU16:
    case ir::DType::kU32:
      return "uint32";
    case ir::DType::kU64:
      return "uint64";
    case ir::DType::kF64:
      return "double";
    case ir::DType::kF16:
    case ir::DType::kBf16:
    case ir::DType::kF32:
    case ir::DType::kNone:
      break;
  }
  return "float";
}

// Words with a meaning of their own where a message is named or a field begins with its type.
constexpr std::array<std::string_view, 27> kReservedWords = {
    "double",  "float",    "int32",    "int64",    "uint32",   "uint64",   "sint32", "sint64",   "fixed32",
    "fixed64", "sfixed32", "sfixed64", "bool",     "string",   "bytes",    "group",  "map",      "enum",
    "message", "oneof",    "option",   "optional", "repeated", "required", "extend", "reserved", "extensions"};

// `name`, or the first of `name_2`, `name_3`, .. that is free.
template <typename F>
std::string FirstFree(const std::string& name, const F& is_free) {
  std::string word = name;
  for (int number = 2; !is_free(word); ++number) word = fmt::format("{}_{}", name, number);
  return word;
}

// Fields of one message differ in more than case and `_`.
std::string KeyOf(const std::string& word) {
  std::string key;
  for (const unsigned char c : word) {
    if (c != '_') key += static_cast<char>(std::tolower(c));
  }
  return key;
}

// The message that stands for the rows of a map, within that of the map.
std::string EntryOf(const std::string& word) {
  std::string entry;
  for (size_t at = 0; at < word.size(); ++at) {
    const bool first = at == 0 || word[at - 1] == '_';
    if (word[at] != '_') entry += first ? static_cast<char>(std::toupper(static_cast<unsigned char>(word[at]))) : word[at];
  }
  return entry + "Entry";
}

class ProtoWriter {
 public:
  ProtoWriter(const Interface& interface, const Service& service) : interface_(interface), service_(service) {
    taken_.insert(kReservedWords.begin(), kReservedWords.end());
    taken_.insert(service.name);
    NameCalls();
    std::set<std::string> records;
    for (const Record& record : interface.records) records.insert(record.name);
    for (const std::string& record : records) record_names_[record] = Free(Identifier(record));
  }

  std::string Run() {
    std::string calls;
    for (const Call& call : service_.calls) {
      const std::string& name = call_names_.at(call.name);
      if (name != Capital(call.name)) calls += fmt::format("  // The call `{}`.\n", call.name);
      calls += Comment(call.doc, "  ") + fmt::format("  rpc {}({}Request) returns ({}Reply);\n", name, name, name);
      messages_ += Message(name + "Request", "", FieldsOfPorts(call.in));
      messages_ += Message(name + "Reply", "", FieldsOfPorts(call.out));
    }
    std::string text =
        "// The numbers of fields follow from their names; a field that is renamed is another one.\n"
        "// For generated types and gateways. No server speaks this service: over gRPC it is a model of the Open Inference Protocol, and "
        "the plain\n"
        "// JSON of `POST /Service/call` is not that of proto3 (a number is no string, a tensor is nested arrays). A gateway has to "
        "translate.\n"
        "syntax = \"proto3\";\n\n";
    std::string package;
    for (const char c : service_.name) package += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    text +=
        fmt::format("package {}_service;\n\n{}service {} {{\n{}}}\n", Identifier(package), Comment(service_.doc, ""), service_.name, calls);
    for (const auto& [name, message] : shared_) messages_ += message;
    return text + messages_;
  }

 private:
  struct ProtoField {
    std::string name, type, comment;
    bool repeated = false, optional = false;
  };

  std::vector<ProtoField> FieldsOfPorts(const std::vector<Port>& ports) {
    std::vector<ProtoField> fields;
    for (const Port& port : ports) {
      fields.push_back(FieldOf(port.name, port.type));
      if (port.required) continue;
      ProtoField& field = fields.back();
      field.optional = !field.repeated && !field.type.starts_with("map<");
      if (!port.written.empty()) field.comment += " = " + port.written;
    }
    return fields;
  }

  ProtoField FieldOf(const std::string& name, const Type& type) {
    ProtoField field{.name = name, .type = {}, .comment = ToString(type)};
    const bool optional = type.kind == ir::TypeKind::kOptional;
    const Type& plain = optional ? type.element[0] : type;
    field.optional = optional;
    if (optional || (plain.kind != ir::TypeKind::kList && plain.kind != ir::TypeKind::kMap)) {
      field.type = Single(plain);
      return field;
    }
    field.repeated = plain.kind == ir::TypeKind::kList;
    field.type = Single(plain.element[0]);
    if (!field.repeated) field.type = "map<string, " + field.type + ">";
    return field;
  }

  // The type of one value: what repeats, or may be absent, within others is a message of its own.
  std::string Single(const Type& type) {
    switch (type.kind) {
      case ir::TypeKind::kScalar:
        return ScalarName(type.dtype);
      case ir::TypeKind::kString:
        return "string";
      case ir::TypeKind::kBytes:
        return "bytes";
      case ir::TypeKind::kTensor:
        return TensorName(type);
      case ir::TypeKind::kRecord:
        return type.record.empty() ? Shared("Tuple", ToString(type), type.fields) : RecordName(type.record);
      case ir::TypeKind::kList:
        return Shared("List", ToString(type), {{"values", type}});
      case ir::TypeKind::kMap:
        return Shared("Map", ToString(type), {{"values", type}});
      case ir::TypeKind::kOptional:
        return Shared("Optional", ToString(type), {{"value", type}});
    }
    return "";
  }

  std::string TensorName(const Type& type) {
    const std::string wanted = Capital(std::string(ir::NameOf(type.dtype))) + "Tensor";
    const auto [row, is_new] = names_.try_emplace("tensor " + wanted, "");
    if (!is_new) return row->second;
    row->second = Free(wanted);
    shared_[row->second] = Message(row->second, "Row-major: the product of `shape` is the number of elements.",
                                   {{"shape", "int64", "", true, false}, {"data", ScalarName(type.dtype), "", true, false}});
    return row->second;
  }

  std::string RecordName(const std::string& record) {
    const std::string& name = record_names_.at(record);
    if (!names_.try_emplace("record " + record, name).second) return name;
    const Record& found = *interface_.FindRecord(record);
    shared_[name] = Message(name, found.doc, FieldsOfMembers(found.fields));
    return name;
  }

  std::string Shared(const std::string& word, const std::string& type, const std::vector<Field>& fields) {
    const auto [row, is_new] = names_.try_emplace(type, "");
    if (!is_new) return row->second;
    const std::string name = Free(word + "Of" + fmt::format("{:x}", source::FieldNumber(type)));
    row->second = name;
    shared_[name] = Message(name, type, FieldsOfMembers(fields));
    return name;
  }

  std::vector<ProtoField> FieldsOfMembers(const std::vector<Field>& fields) {
    std::vector<ProtoField> out;
    for (const Field& field : fields) out.push_back(FieldOf(field.name, field.type));
    return out;
  }

  // A call and its messages share one space: a message that is named like a call would be taken for it. Names that stay as they are go
  // first, then those that lose a character, each in the order of the alphabet.
  void NameCalls() {
    std::vector<std::pair<bool, std::string>> order;
    for (const Call& call : service_.calls) order.emplace_back(Identifier(call.name) != call.name, call.name);
    std::sort(order.begin(), order.end());
    const auto parts = [](const std::string& name) { return std::array{name, name + "Request", name + "Reply"}; };
    for (const auto& [differs, call] : order) {
      const std::string name = FirstFree(Capital(Identifier(call)), [&](const std::string& word) {
        const auto words = parts(word);
        return std::none_of(words.begin(), words.end(), [&](const std::string& part) { return taken_.contains(part); });
      });
      for (const std::string& part : parts(name)) taken_.insert(part);
      call_names_[call] = name;
    }
  }

  std::string Free(const std::string& name) {
    const std::string free = FirstFree(name, [&](const std::string& word) { return !taken_.contains(word); });
    taken_.insert(free);
    return free;
  }

  // By names on the wire.
  std::map<std::string, std::string> WordsOf(const std::vector<ProtoField>& fields) const {
    std::map<std::string, const ProtoField*> order;
    for (const ProtoField& field : fields) order.emplace(field.name, &field);
    std::set<std::string> keys;
    std::map<std::string, std::string> words;
    for (const auto& [name, field] : order) {
      const bool is_map = field->type.starts_with("map<");
      const std::string word = FirstFree(Identifier(name), [&](const std::string& one) {
        const bool entry_is_free = !is_map || (!taken_.contains(EntryOf(one)) && !keys.contains(KeyOf(EntryOf(one))));
        return entry_is_free && !keys.contains(KeyOf(one));
      });
      keys.insert(KeyOf(word));
      if (is_map) keys.insert(KeyOf(EntryOf(word)));
      words[name] = word;
    }
    return words;
  }

  // Numbers first, in the order of names: two that meet, of which check warns, are told apart whatever stands between them.
  std::string Message(const std::string& name, const std::string& doc, const std::vector<ProtoField>& fields) const {
    std::map<std::string, uint32_t> numbers;
    std::set<uint32_t> used;
    for (const ProtoField& field : fields) numbers.emplace(field.name, 0);
    for (auto& [field, number] : numbers) {
      number = source::FieldNumber(field);
      while (!used.insert(number).second) number = source::FieldNumberAfter(number);
    }
    const std::map<std::string, std::string> words = WordsOf(fields);
    std::string text = "\n" + Comment(doc, "") + "message " + name + " {\n";
    for (const ProtoField& field : fields) {
      text += fmt::format("  {}{} {} = {} [json_name = {}];{}\n",
                          field.repeated   ? "repeated "
                          : field.optional ? "optional "
                                           : "",
                          field.type, words.at(field.name), numbers.at(field.name), base::QuoteJson(field.name),
                          field.comment.empty() ? "" : "  // " + field.comment);
    }
    return text + "}\n";
  }

  const Interface& interface_;
  const Service& service_;
  std::set<std::string> taken_;  // by calls and messages
  std::map<std::string, std::string> call_names_, record_names_;
  std::map<std::string, std::string> names_;   // of what a message stands for
  std::map<std::string, std::string> shared_;  // messages by name
  std::string messages_;
};

}  // namespace

std::string Proto(const Interface& interface, const Service& service) { return ProtoWriter(interface, service).Run(); }

}  // namespace wf::interface
