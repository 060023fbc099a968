// Values known when compiled: embedded files, and expressions over constants.

#include "compiler/sema/consts.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "compiler/base/utf8.h"
#include "compiler/sema/build_ir.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/json_value.h"
#include "compiler/sema/names.h"
#include "compiler/sema/npy.h"
#include "compiler/sema/walk.h"
#include "compiler/tokens/read_tokenizer.h"
#include "compiler/tokens/write_table.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/system_error.h"

namespace wf::sema {
namespace {

bool IsBelow(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const std::filesystem::path inside = path.lexically_relative(folder.empty() ? "." : folder);
  return !inside.empty() && *inside.begin() != "..";
}

// A program is built alike wherever its folder lies, so it takes no file from elsewhere, whether named so or behind a link.
bool IsOutside(const Env& env, const std::filesystem::path& path, const std::string& name) {
  if (std::filesystem::path(name).is_absolute()) return true;
  const std::filesystem::path root = ProgramFolder(env);
  if (!IsBelow(path.lexically_normal(), root.lexically_normal())) return true;
  std::error_code error, root_error;
  const auto real = std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error),
             real_root = std::filesystem::canonical(root.empty() ? "." : root, root_error);
  return !error && !root_error && !IsBelow(real, real_root);  // why one leads nowhere is told where it is read
}

// Some editors begin a text with a mark of the order of bytes, which UTF-8 does not need.
std::string_view WithoutMark(std::string_view text) { return text.substr(source::ByteOrderMarkLength(text)); }

uint64_t LeftForConsts(const Env& env) { return env.constants_end ? 0 : kMostConstBytes - std::min(kMostConstBytes, env.constant_bytes); }

// Whether values may take as much more; false after a report, the only one, for then no constant is computed any more.
bool HasRoom(Env& env, uint64_t bytes, const Span& span) {
  if (bytes <= LeftForConsts(env)) return true;
  if (!env.constants_end) env.Report(span, kProgramTooLarge, {std::to_string(kMostConstBytes >> 20) + " MiB of constants"});
  env.constants_end = true;
  return false;
}

// Adds up what a value takes: what stands in it several times each time, as a server has it, but long texts and tensors, which a program
// has once. They and large parts become known.
class Sum {
 public:
  Sum(Env& env, uint64_t most) : env_(env), most_(most) {}
  uint64_t bytes() const { return bytes_; }

  // False: it is more than `most`, however much.
  bool Add(const ir::Value& value) {
    constexpr size_t kMany = 16;
    bytes_ += sizeof value;
    if (value.text && (value.text->size() < ir::kLongText || env_.counted.insert(value.text).second)) bytes_ += value.text->size();
    if (value.keys) {
      for (const std::string& key : *value.keys) bytes_ += sizeof key + key.size();
    }
    if (bytes_ > most_) return false;
    if (value.items && value.items->size() >= kMany) env_.counted.insert(value.items);
    return !value.items || std::all_of(value.items->begin(), value.items->end(), [this](const ir::Value& item) { return Add(item); });
  }

 private:
  Env& env_;
  const uint64_t most_;
  uint64_t bytes_ = 0;
};

ExprPtr MakeEmbedded(Body& body, std::string name, TypeRef type, ir::Value value, const Span& span) {
  if (!CountConst(body.env, value, span)) return Poison(body, span);
  return MakeConst(body, std::move(name), type, std::move(value), span);
}

ExprPtr LinesOf(Body& body, std::string_view content, const std::string& name, const Span& span) {
  if (const auto bad = source::FirstBadByte(content)) {
    body.env.Report(span, kCannotEmbed, {name, "byte " + std::to_string(*bad) + " is not UTF-8"});
    return Poison(body, span);
  }
  content = WithoutMark(content);
  const auto count = static_cast<uint64_t>(std::count(content.begin(), content.end(), '\n')) + 1;
  if (!HasRoom(body.env, count * sizeof(ir::Value) + content.size(), span)) return Poison(body, span);
  std::vector<ir::Value> lines;
  lines.reserve(count);
  for (size_t at = 0; at < content.size();) {
    const size_t end = std::min(content.find('\n', at), content.size());
    const bool carriage = end < content.size() && end > at && content[end - 1] == '\r';
    lines.push_back(ir::Value::Text(std::string(content.substr(at, end - at - (carriage ? 1 : 0)))));
    at = end + 1;
  }
  Types& types = body.env.types;
  return MakeEmbedded(body, "lines(" + name + ")", types.List(types.Simple(TypeKind::kString)), ir::Value::Items(std::move(lines)), span);
}

ExprPtr JsonOf(Body& body, const std::string& content, const std::string& name, TypeRef wanted, const Span& span) {
  if (wanted != nullptr && wanted->kind == TypeKind::kError) return Poison(body, span);  // reported where the type is written
  if (wanted == nullptr) {
    body.env.Report(span, kCannotInfer, {"`json(..)`"}).Help("as in `const TABLE: map<f32> = json(\"" + name + "\");`");
    return Poison(body, span);
  }
  if (const auto bad = source::FirstBadByte(content)) {
    body.env.Report(span, kCannotEmbed, {name, "byte " + std::to_string(*bad) + " is not UTF-8"});
    return Poison(body, span);
  }
  const uint64_t left = LeftForConsts(body.env);
  auto value = ReadJson(WithoutMark(content), wanted, left);
  if (!value.ok() && value.status().code() == base::kResourceExhausted && !HasRoom(body.env, left + 1, span)) return Poison(body, span);
  if (!value.ok()) {
    body.env.Report(span, kBadJson, {name, ToString(wanted), value.status().message()});
    return Poison(body, span);
  }
  const TypeRef type = TypeOfValue(body.env.types, wanted, *value);
  return MakeEmbedded(body, "json(" + name + ")", type, std::move(*value), span);
}

ExprPtr ArrayOf(Body& body, const std::string& content, const std::string& name, const ast::CallExpr& call) {
  if (!HasRoom(body.env, content.size(), call.span)) return Poison(body, call.span);
  const auto array = ReadNpy(content);
  if (!array.ok()) {
    body.env.Report(call.arguments[0].span, kCannotEmbed, {name, array.status().message()});
    return Poison(body, call.span);
  }
  Types& types = body.env.types;
  const std::string text = "npy(" + name + ")";
  if (array->dims.empty()) {
    uint64_t bits = 0;
    std::memcpy(&bits, array->elements.data(), array->elements.size());
    return MakeEmbedded(body, text, types.Scalar(array->dtype), ir::Value::Scalar(bits), call.span);
  }
  const TypeRef type = types.Tensor(array->dtype, {array->dims.begin(), array->dims.end()});
  return MakeEmbedded(body, text, type, ir::Value::Tensor(array->dims, std::string(array->elements)), call.span);
}

// A record of the type that std.text declares for the model, which holds the table.
ExprPtr TokenizerOf(Body& body, const std::string& content, const std::string& name, const ast::CallExpr& call) {
  const Span& span = call.arguments[0].span;
  if (const auto bad = source::FirstBadByte(content)) {
    body.env.Report(span, kCannotEmbed, {name, "byte " + std::to_string(*bad) + " is not UTF-8"});
    return Poison(body, call.span);
  }
  const std::string_view text_of = WithoutMark(content);
  const auto read = name.ends_with(".txt") ? tokens::ReadVocabulary(text_of) : tokens::ReadTokenizer(text_of);
  if (!read.ok()) {
    const bool is_sound = read.status().code() == base::kUnimplemented;
    body.env.Report(span, is_sound ? kTokenizerNeeds : kBadTokenizer, {name, read.status().message()});
    return Poison(body, call.span);
  }
  auto table = tokens::WriteTable(*read);
  if (!table.ok()) {
    body.env.Report(span, kBadTokenizer, {name, table.status().message()});
    return Poison(body, call.span);
  }
  const auto text = std::find_if(body.env.modules.begin(), body.env.modules.end(), [](const Module& m) { return m.path == "std.text"; });
  const Entity* type = FindEntity(*text, tokens::NameOf(read->model));
  WF_CHECK(type != nullptr && type->type != nullptr, name);
  return MakeEmbedded(body, "tokenizer(" + name + ")", type->type, ir::Value::Items({ir::Value::Text(std::move(*table))}), call.span);
}

std::optional<ir::Value> Simple(Env& env, const Expr& expr);

std::optional<ir::Value> Items(Env& env, const std::vector<ExprPtr>& args) {
  std::vector<ir::Value> items;
  for (const ExprPtr& arg : args) {
    auto item = Simple(env, *arg);
    if (!item) return std::nullopt;
    items.push_back(std::move(*item));
  }
  return ir::Value::Items(std::move(items));
}

// A list of scalars or of tensors of one shape, end to end.
std::optional<ir::Value> Stacked(Env& env, const Expr& expr) {
  const auto list = Simple(env, *expr.args[0]);
  if (!list || !list->items) return std::nullopt;
  const size_t scalar_bytes = expr.args[0]->type->element->kind == TypeKind::kScalar ? ir::SizeOf(expr.type->dtype) : 0;
  const auto bytes_of = [&](const ir::Value& item) { return scalar_bytes != 0 ? scalar_bytes : item.text->size(); };
  uint64_t bytes = 0;
  for (const ir::Value& item : *list->items) bytes += bytes_of(item);
  if (bytes > LeftForConsts(env)) return std::nullopt;  // which is told where it is computed
  std::string elements;
  elements.reserve(bytes);
  std::vector<int64_t> dims{static_cast<int64_t>(list->items->size())};
  for (const ir::Value& item : *list->items) {
    if (scalar_bytes != 0) {
      elements.append(reinterpret_cast<const char*>(&item.bits), scalar_bytes);
    } else {
      elements += *item.text;
      if (item.dims != list->items->front().dims) return std::nullopt;
    }
  }
  if (!list->items->empty()) {
    const std::vector<int64_t>& inner = list->items->front().dims;
    dims.insert(dims.end(), inner.begin(), inner.end());
  } else {
    for (size_t i = 1; i < expr.type->dims.size(); ++i) dims.push_back(expr.type->dims[i].constant().value_or(0));
  }
  return ir::Value::Tensor(std::move(dims), std::move(elements));
}

// What needs no interpreter: literals and what is built of them. Nothing when it is more than that.
std::optional<ir::Value> Simple(Env& env, const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kScalar:
      return ir::Value::Scalar(expr.bits);
    case ExprKind::kText:
      if (!expr.args.empty()) return std::nullopt;
      return ir::Value::Text(expr.text);
    case ExprKind::kNone:
      return ir::Value{};
    case ExprKind::kSome: {
      auto items = Items(env, expr.args);
      if (items) items->bits = 1;
      return items;
    }
    case ExprKind::kConst:
      return env.program.consts[expr.index].value;
    case ExprKind::kRecord:
    case ExprKind::kList:
      return Items(env, expr.args);
    case ExprKind::kBuiltin:
      if (static_cast<Builtin>(expr.index) != Builtin::kStack) return std::nullopt;
      return Stacked(env, expr);
    default:
      return std::nullopt;
  }
}

std::string LargerThan(uint64_t most) {
  return "larger than " + (most < 1 << 20 ? std::to_string(most) + " bytes" : std::to_string(most >> 20) + " MiB");
}

}  // namespace

std::shared_ptr<const std::string> ReadEmbedded(Env& env, const Span& span, const std::string& name) {
  if (name.empty()) {
    env.Report(span, kCannotEmbed, {name, "that names no file"});
    return nullptr;
  }
  const std::filesystem::path path = PathBeside(env, span, name);
  if (env.input.options.on_read) env.input.options.on_read(path.string());
  if (IsOutside(env, path, name)) {
    env.Report(span, kEmbedOutside, {name}).Help("copy the file there: what a program is made of moves with it");
    return nullptr;
  }
  if (const auto known = env.embedded.find(path.string()); known != env.embedded.end()) return known->second;
  const auto fail = [&](const std::string& why) {
    if (env.unread.insert(path.string()).second) env.Report(span, kCannotEmbed, {path.string(), why});
    return nullptr;
  };
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return fail("no such file");
  if (error) return fail(base::TextOfErrno(error.value()));
  if (status.type() == std::filesystem::file_type::directory) return fail("it is a folder");
  if (status.type() != std::filesystem::file_type::regular) return fail("it is not a regular file");
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) return fail(base::TextOfErrno(error.value()));
  if (size > env.input.options.max_embedded_bytes) return fail(LargerThan(env.input.options.max_embedded_bytes));
  std::ifstream file(path, std::ios::binary);
  std::string content(size, '\0');
  file.read(content.data(), static_cast<std::streamsize>(size));
  if (!file) return fail("it cannot be read");
  env.program.files.push_back(path.string());
  return env.embedded.emplace(path.string(), std::make_shared<const std::string>(std::move(content))).first->second;
}

std::filesystem::path PathBeside(const Env& env, const Span& span, const std::string& name) {
  return std::filesystem::path(env.input.sources.name(span.file)).parent_path() / name;
}

std::filesystem::path ProgramFolder(const Env& env) {
  return env.input.folder.empty() ? PathBeside(env, {env.modules.front().file->id, 0, 0}, "") : std::filesystem::path(env.input.folder);
}

std::string PathInProgram(const Env& env, const Span& span, const std::string& name) {
  const std::filesystem::path root = ProgramFolder(env).lexically_normal(), own = PathBeside(env, span, "").lexically_normal();
  if (own == root || std::filesystem::path(name).is_absolute()) return name;
  const std::filesystem::path path = (own / name).lexically_normal().lexically_relative(root.empty() ? "." : root);
  return path.empty() ? name : path.string();
}

bool IsEmbedName(std::string_view name) { return name == "file" || name == "lines" || name == "json" || name == "npy"; }

ExprPtr CheckEmbed(Body& body, std::string_view name, const ast::CallExpr& call, TypeRef wanted, const Where& where) {
  if (!where.files) {
    body.env.Report(call.span, kFilesHere, {std::string(name)});
    return Poison(body, call.span);
  }
  std::string path;
  if (call.arguments.size() != 1 || PlainText(*call.arguments[0].value, path) == nullptr) {
    body.env.Report(call.span, kTypeArgument, {std::string(name), "one plain string, the path of a file"});
    return Poison(body, call.span);
  }
  if (body.env.constants_end) return Poison(body, call.span);  // told where they ended
  const auto content = ReadEmbedded(body.env, call.arguments[0].span, path);
  if (!content) return Poison(body, call.span);
  if (name == "lines") return LinesOf(body, *content, path, call.span);
  if (name == "npy") return ArrayOf(body, *content, path, call);
  if (name == "json") return JsonOf(body, *content, path, wanted, call.span);
  if (name == NameOf(Builtin::kTokenizer)) return TokenizerOf(body, *content, path, call);
  ir::Value bytes;
  bytes.text = content;
  return MakeEmbedded(body, "file(" + path + ")", body.env.types.Simple(TypeKind::kBytes), std::move(bytes), call.span);
}

namespace {

// Which function of the library in `expr`, or in functions of the program that it calls, comes to `native`; null: none.
const Function* CallerOf(const Program& program, const Expr& expr, const std::string& native, std::set<uint32_t>& visited) {
  const Function* found = nullptr;
  ForEachInside(expr, [&](const Expr& call) {
    if (found != nullptr || call.kind != ExprKind::kCallFn || !visited.insert(call.index).second) return;
    const Function& called = program.functions[call.index];
    if (called.body != nullptr) found = CallerOf(program, *called.body, native, visited);
    if (called.is_std && (found != nullptr || called.native == native)) found = &called;
  });
  return found;
}

// What servers alone compute may stand within a function of the library: the one that the program calls is named.
std::string CalledByUser(const Program& program, const Expr& expr, const std::string& message) {
  constexpr std::string_view kEnd = "` is computed by servers alone";
  if (!message.starts_with('`') || !message.ends_with(kEnd)) return message;
  std::set<uint32_t> visited;
  const Function* const called = CallerOf(program, expr, "wf_n_" + message.substr(1, message.size() - 1 - kEnd.size()), visited);
  if (called == nullptr) return message;
  const std::string name = called->name.substr(0, called->name.find('<'));  // "lists.flatten<i64>"
  return "`" + name.substr(name.rfind('.') + 1) + std::string(kEnd);
}

}  // namespace

std::optional<ir::Value> ValueOf(Env& env, const Expr& expr, std::string_view purpose) {
  if (env.constants_end) return std::nullopt;  // told where they ended
  if (auto value = Simple(env, expr)) return value;
  ir::Limits left{.max_steps = env.const_steps_left, .max_bytes = LeftForConsts(env)};
  ir::Outcome outcome = EvaluateConst(env.program, expr, left, env.input.folded, env.input.options.natives);
  env.const_steps_left = left.max_steps;
  if (outcome.value) return std::move(outcome.value);
  if (!outcome.failure && env.diag.has_errors()) return std::nullopt;  // a function that it calls has been reported
  std::string why = outcome.failure ? CalledByUser(env.program, expr, outcome.failure->message) : "it has no value";
  if (outcome.failure && outcome.failure->code == code::kMemoryCap)
    why = "more than " + std::to_string(kMostConstBytes >> 20) + " MiB of values for the constants up to this one";
  if (outcome.failure && outcome.failure->code == ir::kOutOfSteps && env.const_steps_left == 0)
    why = "more than " + std::to_string(kMostConstSteps) + " steps for the constants up to this one";
  if (outcome.failure && outcome.failure->code == ir::kOutOfSteps) env.constants_end = true;  // to find that out takes long each time
  env.Report(expr.span, kNotConstant, {why, purpose});
  return std::nullopt;
}

bool CountConst(Env& env, const ir::Value& value, const Span& span) {
  if (value.items && env.counted.contains(value.items)) return true;  // a constant or a file has it
  Sum sum(env, LeftForConsts(env));
  const bool is_added = sum.Add(value);
  if (!HasRoom(env, sum.bytes(), span)) return false;
  WF_CHECK(is_added, sum.bytes());
  env.constant_bytes += sum.bytes();
  if (value.items) env.counted.insert(value.items);
  return true;
}

ExprPtr MakeConst(Body& body, std::string name, TypeRef type, ir::Value value, const Span& span) {
  ExprPtr expr = Make(ExprKind::kConst, type, span);
  expr->index = static_cast<uint32_t>(body.env.program.consts.size());
  body.env.program.consts.push_back({std::move(name), type, std::move(value), span});
  return expr;
}

}  // namespace wf::sema
