// Functions that the checker knows by name.

#include <algorithm>

#include "compiler/sema/builtins.h"
#include "runtime/base/error_codes.h"
#include "tests/diff/oracle.h"
#include "tests/diff/tree_run.h"

namespace wf::diff {

namespace {

int64_t LengthOf(TypeRef type, const ir::Value& value) {
  if (type->kind == sema::TypeKind::kTensor) return value.dims[0];
  if (type->kind == sema::TypeKind::kString || type->kind == sema::TypeKind::kBytes) return static_cast<int64_t>(value.text->size());
  return static_cast<int64_t>(ItemsOf(value).size());
}

// From where on it is no UTF-8, as RFC 3629 has it.
bool IsUtf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto byte = [&](size_t k) { return i + k < text.size() ? static_cast<uint8_t>(text[i + k]) : 0; };
    const uint8_t first = byte(0);
    const size_t length = first < 0x80                    ? 1
                          : first >= 0xc2 && first < 0xe0 ? 2
                          : first >= 0xe0 && first < 0xf0 ? 3
                          : first >= 0xf0 && first < 0xf5 ? 4
                                                          : 0;
    if (length == 0) return false;
    for (size_t k = 1; k < length; ++k)
      if ((byte(k) & 0xc0) != 0x80) return false;
    if (first == 0xe0 && byte(1) < 0xa0) return false;
    if (first == 0xed && byte(1) > 0x9f) return false;
    if (first == 0xf0 && byte(1) < 0x90) return false;
    if (first == 0xf4 && byte(1) > 0x8f) return false;
    i += length;
  }
  return true;
}

ir::Value ListOf(TypeRef type, const ir::Value& tensor) {
  const std::vector<int64_t> dims(tensor.dims.begin() + 1, tensor.dims.end());
  const size_t bytes = static_cast<size_t>(CountOf(dims)) * ir::SizeOf(type->dtype);
  std::vector<ir::Value> items;
  for (int64_t i = 0; i < tensor.dims[0]; ++i)
    items.push_back(dims.empty() ? ir::Value::Scalar(ElementAt(tensor, type->dtype, i))
                                 : ir::Value::Tensor(dims, tensor.text->substr(static_cast<size_t>(i) * bytes, bytes)));
  return ir::Value::Items(std::move(items));
}

}  // namespace

Made TreeRun::OfBuiltin(const Expr& expr) {
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  const auto builtin = static_cast<sema::Builtin>(expr.index);
  const TypeRef type = expr.args[0]->type;
  const auto native = [&](const char* symbol, TypeRef told) {
    const ir::Outcome outcome = CallNative(program_, symbol, args, TypeOf(told));
    if (outcome.failure) return Made{{}, {outcome.failure->code}};
    return Made{outcome.value, {}};
  };
  Made value;
  switch (builtin) {
    case sema::Builtin::kLen:
      value.value = I64(LengthOf(type, args[0]));
      break;
    case sema::Builtin::kStr:
      if (type->kind == sema::TypeKind::kScalar) {
        value.value = ir::Value::Text(ir::ScalarText(type->dtype, args[0].bits));
      } else if (IsUtf8(*args[0].text)) {
        value.value = ir::Value::Text(*args[0].text);
      } else {
        value.codes.insert(code::kNotUtf8);
      }
      break;
    case sema::Builtin::kListOf:
      value.value = ListOf(type, args[0]);
      break;
    case sema::Builtin::kStack:
      value = OfStack(expr, args[0]);
      break;
    case sema::Builtin::kReshape:
      value = OfReshape(expr, args);
      break;
    case sema::Builtin::kJsonParse:
      value = native("wf_n_json_parse", expr.type);
      break;
    case sema::Builtin::kJsonBuild:
      value = native("wf_n_json_build", type);
      break;
    case sema::Builtin::kKeys: {
      std::vector<ir::Value> keys;
      if (args[0].keys != nullptr)
        for (const std::string& key : *args[0].keys) keys.push_back(ir::Value::Text(key));
      value.value = ir::Value::Items(std::move(keys));
      break;
    }
    case sema::Builtin::kMapValues:
      value.value = ir::Value::Items(ItemsOf(args[0]));
      break;
    case sema::Builtin::kClose:
    case sema::Builtin::kTokenizer:
      return Unknown(std::string(sema::NameOf(builtin)));
    default:
      value = OfMath(expr, args);
  }
  value.Take(made);
  return value;
}

// Along a new axis 0; of none, as long as the type says.
Made TreeRun::OfStack(const Expr& expr, const ir::Value& list) {
  Made made;
  const std::vector<ir::Value>& items = ItemsOf(list);
  const sema::Type& item = *expr.args[0]->type->element;
  std::vector<int64_t> dims{static_cast<int64_t>(items.size())};
  if (items.empty())
    for (const base::Dim& dim : item.dims) {
      std::set<int32_t> none;
      dims.push_back(Value(dim, none).value_or(0));
      if (dims.back() < 0) Note(made, code::kDimension);
    }
  if (!items.empty()) dims.insert(dims.end(), items[0].dims.begin(), items[0].dims.end());
  std::string elements;
  for (const ir::Value& one : items) {
    if (item.kind == sema::TypeKind::kScalar) {
      elements.append(reinterpret_cast<const char*>(&one.bits), ir::SizeOf(item.dtype));
    } else if (one.dims == items[0].dims) {
      elements += *one.text;
    } else {
      Note(made, code::kDimension);
    }
  }
  if (made.codes.empty()) made.value = ir::Value::Tensor(dims, std::move(elements));
  return made;
}

Made TreeRun::OfReshape(const Expr& expr, const std::vector<ir::Value>& args) {
  Made made;
  std::vector<int64_t> dims;
  for (size_t i = 1; i < args.size(); ++i) {
    dims.push_back(static_cast<int64_t>(ir::ConvertScalar(expr.args[i]->type->dtype, ir::DType::kI64, args[i].bits)));
    if (dims.back() < 0) Note(made, code::kDimension);
  }
  double wanted = 1;
  for (const int64_t dim : dims) wanted *= static_cast<double>(dim);
  if (wanted != static_cast<double>(CountOf(args[0].dims))) Note(made, code::kDimension);
  if (made.codes.empty()) made.value = ir::Value::Tensor(dims, *args[0].text);
  return made;
}

}  // namespace wf::diff
