#include "compiler/sema/json_value.h"

#include <algorithm>
#include <map>

#include "compiler/base/json_scanner.h"
#include "compiler/ir/scalar.h"
#include "compiler/sema/resolve_type.h"
#include "runtime/base/number_text.h"

namespace wf::sema {
namespace {

using base::Result;
using base::Status;

class Reader {
 public:
  Reader(std::string_view text, uint64_t max_bytes) : json_(text), left_(max_bytes) {}

  Result<ir::Value> Whole(TypeRef type) {
    auto value = Read(type);
    if (!value.ok()) return value;
    WF_RETURN_IF_ERROR(json_.End());
    return value;
  }

 private:
  Result<ir::Value> Read(TypeRef type) {
    WF_RETURN_IF_ERROR(Spend(sizeof(ir::Value)));
    json_.Space();
    switch (type->kind) {
      case TypeKind::kScalar: {
        uint64_t bits = 0;
        WF_RETURN_IF_ERROR(Number(type->dtype, bits));
        return ir::Value::Scalar(bits);
      }
      case TypeKind::kString: {
        std::string text;
        WF_RETURN_IF_ERROR(json_.String(text));
        WF_RETURN_IF_ERROR(Spend(text.size()));
        ir::Value value;
        value.text = std::make_shared<const std::string>(std::move(text));
        return value;
      }
      case TypeKind::kTensor:
        return Tensor(*type);
      case TypeKind::kList:
        return List(type->element);
      case TypeKind::kMap:
        return Map(type->element);
      case TypeKind::kRecord:
        return Record(*type);
      case TypeKind::kOptional:
        return Optional(type->element);
      case TypeKind::kError:
      case TypeKind::kNever:
      case TypeKind::kNone:
      case TypeKind::kVariable:
        break;
      case TypeKind::kBytes:
        return Status(base::kInvalidArgument,
                      "a program reads no `bytes` from JSON, as a request does; `file(\"..\")` gives those of a file");
    }
    return Status(base::kInvalidArgument, "`" + ToString(type) + "` cannot stand in JSON");
  }

  Status Spend(size_t bytes) {
    if (bytes > left_) return {base::kResourceExhausted, "too large"};
    left_ -= bytes;
    return Status::Ok();
  }

  Status Number(DType dtype, uint64_t& bits) {
    json_.Space();
    if (dtype == DType::kBool) {
      if (json_.TakeWord("true"))
        bits = 1;
      else if (!json_.TakeWord("false"))
        return json_.Unexpected("true or false");
      return Status::Ok();
    }
    const std::string_view digits = json_.Digits();
    if (!ReadNumber(dtype, digits, bits)) return json_.Unexpected("a number of type `" + std::string(ir::NameOf(dtype)) + "`");
    json_.Skip(digits.size());
    return Status::Ok();
  }
  // As a request has them.
  static bool ReadNumber(DType dtype, std::string_view digits, uint64_t& bits) {
    const auto* begin = reinterpret_cast<const uint8_t*>(digits.data());
    base::Number number;
    if (!base::ScanNumber(begin, begin + digits.size(), &number) || number.end != begin + digits.size()) return false;
    bits = 0;
    return base::StoreNumber(number, static_cast<uint32_t>(dtype), &bits) == base::Stored::kOk;
  }

  Status Axis(const Type& type, size_t axis, std::vector<int64_t>& dims, std::string& elements) {
    if (axis == type.dims.size()) {
      uint64_t bits = 0;
      WF_RETURN_IF_ERROR(Number(type.dtype, bits));
      elements.append(reinterpret_cast<const char*>(&bits), ir::SizeOf(type.dtype));
      return Spend(ir::SizeOf(type.dtype));
    }
    int64_t count = 0;
    WF_RETURN_IF_ERROR(json_.Array([&] {
      ++count;
      return Axis(type, axis + 1, dims, elements);
    }));
    const auto wanted = type.dims[axis].constant();
    if (dims[axis] < 0) dims[axis] = count;
    if (dims[axis] != count || (wanted && *wanted != count)) {
      return json_.Wrong("an array of " + std::to_string(wanted.value_or(dims[axis])) + ", found " + std::to_string(count));
    }
    return Status::Ok();
  }
  Result<ir::Value> Tensor(const Type& type) {
    ir::Value value;
    std::string elements;
    value.dims.assign(type.dims.size(), -1);
    WF_RETURN_IF_ERROR(Axis(type, 0, value.dims, elements));
    for (int64_t& dim : value.dims) dim = std::max<int64_t>(dim, 0);
    value.text = std::make_shared<const std::string>(std::move(elements));
    return value;
  }
  Result<ir::Value> List(TypeRef element) {
    std::vector<ir::Value> items;
    WF_RETURN_IF_ERROR(json_.Array([&]() -> Status {
      auto item = Read(element);
      if (!item.ok()) return item.status();
      items.push_back(std::move(*item));
      return Status::Ok();
    }));
    ir::Value value;
    value.items = std::make_shared<const std::vector<ir::Value>>(std::move(items));
    return value;
  }
  Result<ir::Value> Map(TypeRef element) {
    std::map<std::string, ir::Value> entries;
    WF_RETURN_IF_ERROR(json_.Object([&](std::string name) -> Status {
      if (const Status spent = Spend(sizeof name + name.size()); !spent.ok()) return spent;
      auto item = Read(element);
      if (!item.ok()) return item.status();
      if (!entries.emplace(std::move(name), std::move(*item)).second) return json_.Wrong("each key once");
      return Status::Ok();
    }));
    std::vector<ir::Value> items;
    std::vector<std::string> keys;
    for (auto& [key, item] : entries) {
      keys.push_back(key);
      items.push_back(std::move(item));
    }
    ir::Value value;
    value.items = std::make_shared<const std::vector<ir::Value>>(std::move(items));
    value.keys = std::make_shared<const std::vector<std::string>>(std::move(keys));
    return value;
  }
  Result<ir::Value> Record(const Type& type) {
    std::vector<std::optional<ir::Value>> fields(type.fields.size());
    WF_RETURN_IF_ERROR(json_.Object([&](const std::string& name) -> Status {
      const auto at = std::find_if(type.fields.begin(), type.fields.end(), [&](const Field& field) { return field.name == name; });
      if (at == type.fields.end()) return json_.Wrong("a member of `" + type.name + "`, found `" + name + "`");
      auto& slot = fields[static_cast<size_t>(at - type.fields.begin())];
      if (slot) return json_.Wrong("`" + name + "` once");
      auto item = Read(at->type);
      if (!item.ok()) return item.status();
      slot = std::move(*item);
      return Status::Ok();
    }));
    ir::Value value;
    std::vector<ir::Value> items;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!fields[i] && type.fields[i].type->kind != TypeKind::kOptional) return json_.Wrong("a member `" + type.fields[i].name + "`");
      if (!fields[i]) WF_RETURN_IF_ERROR(Spend(sizeof(ir::Value)));
      items.push_back(fields[i] ? std::move(*fields[i]) : ir::Value{});
    }
    value.items = std::make_shared<const std::vector<ir::Value>>(std::move(items));
    return value;
  }
  Result<ir::Value> Optional(TypeRef element) {
    if (json_.TakeWord("null")) return ir::Value{};
    auto inner = Read(element);
    if (!inner.ok()) return inner;
    ir::Value value = ir::Value::Scalar(1);
    value.items = std::make_shared<const std::vector<ir::Value>>(std::vector<ir::Value>{std::move(*inner)});
    return value;
  }

  source::JsonScanner json_;
  uint64_t left_;  // bytes that values may still take
};

}  // namespace

Result<ir::Value> ReadJson(std::string_view text, TypeRef type, uint64_t max_bytes) { return Reader(text, max_bytes).Whole(type); }

namespace {

// Of two types that differ in extents alone, the one with `_` where they do.
TypeRef Common(Types& types, TypeRef a, TypeRef b) {
  if (a == b) return a;
  if (a->kind == TypeKind::kList) return types.List(Common(types, a->element, b->element));
  if (a->kind == TypeKind::kTensor) {
    std::vector<Dim> dims = a->dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != b->dims[i]) dims[i] = AnyDim();
    }
    return types.Tensor(a->dtype, std::move(dims));
  }
  std::vector<Field> fields = a->fields;
  for (size_t i = 0; i < fields.size(); ++i) fields[i].type = Common(types, fields[i].type, b->fields[i].type);
  return types.Record("", std::move(fields));
}

bool SaysAll(TypeRef type) {
  bool says_all = true;
  ForEachDim(type, [&](const Dim& dim) { says_all = says_all && dim.is_constant(); });
  return says_all;
}

}  // namespace

TypeRef TypeOfValue(Types& types, TypeRef type, const ir::Value& value) {
  if (SaysAll(type)) return type;
  if (type->kind == TypeKind::kTensor && value.dims.size() == type->dims.size()) {
    std::vector<Dim> dims = type->dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!dims[i].is_constant()) dims[i] = Dim(value.dims[i]);
    }
    return types.Tensor(type->dtype, std::move(dims));
  }
  if (value.items == nullptr || value.items->empty()) return type;
  if (type->kind == TypeKind::kList) {
    TypeRef element = TypeOfValue(types, type->element, value.items->front());
    for (const ir::Value& item : *value.items) element = Common(types, element, TypeOfValue(types, type->element, item));
    return types.List(element);
  }
  if (type->kind != TypeKind::kRecord || !type->name.empty()) return type;
  std::vector<Field> fields = type->fields;
  for (size_t i = 0; i < fields.size(); ++i) fields[i].type = TypeOfValue(types, fields[i].type, (*value.items)[i]);
  return types.Record("", std::move(fields));
}

}  // namespace wf::sema
