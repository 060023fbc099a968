// Models: the file's signature, the written one, the batch axis, and the defaults of the model block.

#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/sema/check_decl.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/names.h"
#include "compiler/sema/settings.h"
#include "runtime/abi/bounds.h"
#include "runtime/abi/plan.h"
#include "runtime/base/text.h"
#include "runtime/onnx/infer.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/signature.h"
#include "runtime/onnx/text_ports.h"

namespace wf::sema {
namespace {

// ONNX names that are no identifiers become ones (docs/semantics.md 28).
std::string Sanitised(const std::string& name) {
  std::string clean;
  for (const char c : name) clean += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (clean.empty() || std::isdigit(static_cast<unsigned char>(clean[0]))) clean.insert(clean.begin(), '_');
  return clean;
}

// What in `folder` has nearly the name; a name without `.onnx` means the file with it. Empty: nothing.
std::string NearIn(const std::filesystem::path& folder, const std::string& name) {
  constexpr size_t kMost = 1000;
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end && names.size() < kMost;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  if (std::binary_search(names.begin(), names.end(), name + ".onnx")) return name + ".onnx";
  return std::string(base::Nearest(name, std::vector<std::string_view>(names.begin(), names.end())));
}

// "did you mean `models/digits.onnx`?" for what is not at `path`, which stands in the program as `written`: a file beside it, or one of the
// name in a folder beside its own.
std::optional<std::string> FileMeant(const std::filesystem::path& path, const std::filesystem::path& written) {
  const auto question = [](const std::filesystem::path& meant) { return "did you mean `" + meant.string() + "`?"; };
  const std::filesystem::path folder = path.parent_path(), name = path.filename();
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) {
    const std::string near = NearIn(folder, name.string());
    if (near.empty()) return std::nullopt;
    return question(written.parent_path() / near);
  }
  const std::string near = NearIn(folder.parent_path(), folder.filename().string());
  if (near.empty() || !std::filesystem::exists(folder.parent_path() / near / name, error)) return std::nullopt;
  return question(written.parent_path().parent_path() / near / name);
}

// Of a row. A call brings an input in its body, which may be as long as settings say, or has it in memory of its own, as all its outputs.
constexpr int64_t kMostInBytes = onnx::kMostTensorBytes, kMostOutBytes = abi::kMostRequestBytes;

struct WrittenPort {
  ast::Name label;  // empty: the only result, without a name
  std::optional<std::string> external_name;
  TypeRef type;
  Span span;
};
struct Written {
  std::vector<WrittenPort> inputs, outputs;
};

class ModelCheck {
 public:
  ModelCheck(Env& env, Module& module, Entity& entity, const ast::ModelDecl& decl)
      : env_(env), entity_(entity), decl_(decl), body_(env, module, &decl) {}

  // False after a report.
  bool Run() {
    if (!ReadBinding() || (decl_.has_signature && !ReadWritten())) return false;
    std::optional<onnx::Signature> file;
    if (!ReadFile(file)) return false;
    onnx::Signature real;
    onnx::BatchAxes axes;
    if (!Choose(file, real, axes)) return false;
    if (!MakePorts(onnx::WithoutBatchAxis(real, axes))) return false;
    SetUnproved(file, real, axes);
    model_.batch_axis = axes.axis;
    model_.batched = axes.batched;
    model_.batch_reason = axes.reason;
    model_.signature_written = decl_.has_signature;
    model_.symbols = body_.symbols;
    ApplyBlock();
    WarnOfMixing(axes);
    Publish();
    return true;
  }

 private:
  bool ReadBinding() {
    const ast::Binding& binding = decl_.binding;
    const bool one = binding.arguments.size() == 1 && PlainText(*binding.arguments[0].value, path_) != nullptr;
    if (binding.function.text != "onnx" || !one) {
      ReportBinding(env_, binding, "onnx", kModelBinding);
      return false;
    }
    model_.name = entity_.name;
    model_.qualified = QualifiedName(env_, entity_);
    model_.path = PathInProgram(env_, binding.arguments[0].span, path_);
    model_.span = entity_.span;
    if (binding.settings) values_ = ReadSettings(env_, binding.settings->settings, kInModel);
    return true;
  }

  static std::string PortText(const std::string& name) { return "port `" + name + "`"; }
  bool AddWritten(std::vector<WrittenPort>& ports, const ast::Name& label, const std::optional<std::string>& external,
                  const ast::Type& type) {
    const TypeRef resolved = ResolveType(body_, type, SymbolRule::kDeclare);
    if (resolved->kind == TypeKind::kError) return false;
    if (resolved->kind != TypeKind::kTensor && resolved->kind != TypeKind::kScalar && !TextAxes(resolved)) {
      env_.Report(type.span, kModelPort,
                  {label.text.empty() ? "the result" : PortText(label.text), entity_.name,
                   "`" + ToString(resolved) + "` is no tensor and no `list<string>`"});
      return false;
    }
    ports.push_back({label, external, resolved, type.span});
    return true;
  }
  bool ReadWritten() {
    bool sound = true;
    for (const ast::Param& param : decl_.params) {
      sound = AddWritten(written_.inputs, param.name, param.external_name, *param.type) && sound;
      if (!param.default_value) continue;
      env_.Report(param.default_value->span, kModelPort, {PortText(param.name.text), entity_.name, "an input of a model has no default"});
      sound = false;
    }
    if (decl_.result->kind == ast::Type::Kind::kTuple) {
      for (const ast::Type::Field& field : decl_.result->fields) {
        sound = AddWritten(written_.outputs, field.label, field.external_name, *field.type) && sound;
      }
      return sound;
    }
    return AddWritten(written_.outputs, {}, std::nullopt, *decl_.result) && sound;
  }

  // Those that `versions specific` names, or all.
  base::Result<std::vector<onnx::VersionFile>> Named(std::vector<onnx::VersionFile> files, const std::string& path) const {
    if (!values_.versions || values_.versions->value.policy != WF_SPECIFIC) return files;
    const std::vector<int64_t>& named = values_.versions->value.versions;
    std::erase_if(files, [&](const onnx::VersionFile& file) { return std::find(named.begin(), named.end(), file.version) == named.end(); });
    if (!files.empty()) return files;
    return base::Status(base::kNotFound, "`" + path + "` has none of the versions that `versions specific` names");
  }

  // A file that is not there is called as the program calls it.
  diag::Builder ReportUnread(const Span& span, diag::Code code, const std::string& path, const base::Status& status) {
    std::error_code error;
    if (std::filesystem::exists(path, error) || error) return env_.Report(span, code, {entity_.name, status.message()});
    auto builder = env_.Report(span, code, {entity_.name, "`" + path_ + "`: no such file or folder"}).HelpIf(FileMeant(path, path_));
    return path == path_ ? builder : builder.Help("a path starts from the folder of the .wf that names it: `" + path + "` was looked for");
  }

  // Sets `file` to the newest version's signature; leaves it empty when the file is missing but the signature is written.
  bool ReadFile(std::optional<onnx::Signature>& file) {
    const Span& span = decl_.binding.arguments[0].span;
    const std::string path = (ProgramFolder(env_) / model_.path).string();
    if (env_.input.options.on_read) env_.input.options.on_read(path);
    auto versions = onnx::FindVersions(path);
    if (versions.ok()) versions = Named(*std::move(versions), path);
    if (!versions.ok()) {
      const diag::Code code = decl_.has_signature ? kModelFileMissing : kModelUnreadable;
      auto builder = ReportUnread(span, code, path, versions.status());
      builder.Help(decl_.has_signature
                       ? "no error, since the signature is written: the program builds, and the server wants the file when it starts"
                       : "with a written signature the program builds without the file");
      return decl_.has_signature;
    }
    onnx::ReadOptions reading;
    if (decl_.has_signature) reading.given = onnx::Given{ToPorts(written_.inputs, nullptr), {}};
    auto model = onnx::ReadModel(versions->back().path, reading);
    base::Status sound = model.status();
    if (sound.ok()) sound = onnx::CheckRows(model->signature, versions->back().path, kMostInBytes, kMostOutBytes);
    if (!sound.ok()) {
      env_.Report(span, kModelUnreadable, {entity_.name, sound.message()});
      return false;
    }
    for (const onnx::VersionFile& version : *versions) env_.program.files.push_back(version.path);
    file = model->signature;
    read_ = *std::move(model);
    return true;
  }

  // Of a string, or a list of them, as a port.
  static std::optional<size_t> TextAxes(const TypeRef& type) {
    if (type->kind == TypeKind::kString) return 0;
    const bool is_list = type->kind == TypeKind::kList && type->element->kind == TypeKind::kString;
    return is_list ? std::optional<size_t>(1) : std::nullopt;
  }

  static bool MarksBatch(const std::vector<WrittenPort>& ports) {
    return std::any_of(ports.begin(), ports.end(), [](const WrittenPort& port) {
      return std::any_of(port.type->dims.begin(), port.type->dims.end(),
                         [](const Dim& dim) { return dim.symbol() == std::string(onnx::kBatchSymbol); });
    });
  }

  static bool AreTexts(const std::vector<WrittenPort>& ports) {
    return std::all_of(ports.begin(), ports.end(), [](const WrittenPort& port) { return TextAxes(port.type).has_value(); });
  }

  // A type of strings has no place for `batch`: they have it as axis 0 where the file has an axis more than the type, or, without a file,
  // where another port has it, or none could.
  std::vector<Dim> DimsOfTexts(size_t axes, const onnx::Port* in_file) {
    const bool has_batch = in_file != nullptr ? in_file->dim.size() == axes + 1 : marks_batch_;
    std::vector<Dim> dims;
    if (has_batch) dims.push_back(Dim::Symbol(std::string(onnx::kBatchSymbol)));
    if (axes == 0) return dims;
    const bool is_fixed = in_file != nullptr && in_file->dim.size() == dims.size() + 1 && in_file->dim.back().is_constant();
    dims.push_back(is_fixed ? in_file->dim.back() : unknown_.Next());
    return dims;
  }

  std::vector<onnx::Port> ToPorts(const std::vector<WrittenPort>& written, const std::vector<onnx::Port>* file) {
    std::vector<onnx::Port> ports;
    for (size_t i = 0; i < written.size(); ++i) {
      onnx::Port port;
      port.name = written[i].external_name.value_or(written[i].label.text.empty() ? "output" : written[i].label.text);
      const bool same_place = file != nullptr && i < file->size() && !written[i].external_name;
      if (same_place && (written[i].label.text.empty() || Sanitised((*file)[i].name) == written[i].label.text)) port.name = (*file)[i].name;
      const TypeRef type = written[i].type;
      const std::optional<size_t> text_axes = TextAxes(type);
      port.dtype = text_axes ? onnx::kStringType : static_cast<uint8_t>(type->dtype);
      port.dim = type->dims;
      for (Dim& dim : port.dim) {
        if (IsAny(dim)) dim = unknown_.Next();
      }
      if (text_axes) port.dim = DimsOfTexts(*text_axes, file != nullptr && i < file->size() ? &(*file)[i] : nullptr);
      ports.push_back(std::move(port));
    }
    return ports;
  }

  // A signature need not name outputs of strings.
  void LeaveOutUnwritten() {
    const auto is_written = [this](const std::string& name) {
      return std::any_of(written_.outputs.begin(), written_.outputs.end(), [&](const WrittenPort& port) {
        if (port.label.text.empty()) return TextAxes(port.type).has_value();
        return port.external_name.value_or(port.label.text) == (port.external_name ? name : Sanitised(name));
      });
    };
    if (written_.outputs.size() >= read_->signature.outputs.size()) return;
    onnx::LeaveOutTexts(*read_, [&](size_t output) { return !is_written(read_->signature.outputs[output].name); });
  }

  // In `outputs` as the file has them.
  void WarnOfLeftOut(const std::vector<onnx::Port>& outputs) {
    for (const onnx::Port& port : outputs) {
      const std::vector<std::string>& names = read_->left_out;
      if (std::find(names.begin(), names.end(), port.name) == names.end()) continue;
      env_.Report(decl_.binding.arguments[0].span, kModelLeavesOut, {port.name, entity_.name, std::to_string(port.dim.size())})
          .Help("a written signature without it says that this is meant");
    }
  }

  bool Choose(std::optional<onnx::Signature>& file, onnx::Signature& real, onnx::BatchAxes& axes) {
    if (!decl_.has_signature) {
      const std::vector<onnx::Port> outputs = read_->signature.outputs;
      auto chosen = onnx::ChoosePorts(*read_, onnx::TextPorts::kOfCalls);
      if (chosen.status().code() == base::kUnimplemented) {
        env_.Report(decl_.binding.arguments[0].span, kModelUnreadable,
                    {entity_.name, "`" + read_->path + "`: " + chosen.status().message()});
        return false;
      }
      WarnOfLeftOut(outputs);
      file = real = read_->signature;
      return Take(std::move(chosen), axes);
    }
    if (read_) {
      LeaveOutUnwritten();
      file = read_->signature;
    }
    marks_batch_ = MarksBatch(written_.inputs) || MarksBatch(written_.outputs) || (AreTexts(written_.inputs) && AreTexts(written_.outputs));
    real.inputs = ToPorts(written_.inputs, file ? &file->inputs : nullptr);
    real.outputs = ToPorts(written_.outputs, file ? &file->outputs : nullptr);
    const std::vector<onnx::Mismatch> mismatches = file ? onnx::FindMismatches(*file, real) : std::vector<onnx::Mismatch>();
    for (const onnx::Mismatch& mismatch : mismatches) ReportMismatch(mismatch, *file);
    return mismatches.empty() && Take(onnx::ChooseBatchAxis(file ? *file : real, read_ ? &read_->graph : nullptr, &real), axes);
  }
  bool Take(base::Result<onnx::BatchAxes> chosen, onnx::BatchAxes& axes) {
    if (!chosen.ok()) {
      env_.Report(decl_.has_signature ? decl_.name.span : decl_.binding.span, kModelBatch, {entity_.name, chosen.status().message()});
      return false;
    }
    axes = std::move(*chosen);
    return true;
  }

  // At the port, if it is one that differs.
  void ReportMismatch(const onnx::Mismatch& mismatch, const onnx::Signature& file) {
    const WrittenPort* port = nullptr;
    if (mismatch.port) port = &(mismatch.is_input ? written_.inputs : written_.outputs)[*mismatch.port];
    const bool is_named = port != nullptr && !port->label.text.empty();
    const Span& at = port == nullptr ? decl_.name.span : is_named && mismatch.only_name ? port->label.span : port->span;
    auto builder = env_.Report(at, kModelSignature, {entity_.name, mismatch.text});
    if (is_named) HelpWithName(*port, mismatch, mismatch.is_input ? file.inputs : file.outputs, builder);
  }
  static void HelpWithName(const WrittenPort& port, const onnx::Mismatch& mismatch, const std::vector<onnx::Port>& file,
                           diag::Builder& builder) {
    const ast::Name& label = port.label;
    std::vector<std::string> known;
    for (const onnx::Port& other : file) known.push_back(Sanitised(other.name));
    if (!port.external_name && std::find(known.begin(), known.end(), label.text) != known.end()) return;  // its own, or out of order
    const std::optional<std::string> meant = port.external_name ? std::nullopt : diag::Suggest(label.text, known);
    if (meant)
      builder.DidYouMean(label.span, label.text, known);
    else if (mismatch.only_name)
      builder.Help("a name of the file is written behind that of the program: `" + label.text + " as \"" + file[*mismatch.port].name +
                   "\"`");
  }

  TypeRef TypeOf(const onnx::Port& port, int64_t most_bytes) {
    Types& types = env_.types;
    if (const int64_t bytes = onnx::RowBytes(port); bytes > most_bytes) {
      env_.Report(decl_.name.span, kModelPort,
                  {PortText(port.name), entity_.name,
                   "a row of `" + port.ToString() + "` has at least " + std::to_string(bytes) + " bytes, above the limit of " +
                       std::to_string(most_bytes)});
      return types.Error();
    }
    const TypeRef text = types.Simple(TypeKind::kString);
    if (port.dtype == onnx::kStringType && port.dim.size() <= 1) return port.dim.empty() ? text : types.List(text);
    const bool known = port.dtype >= static_cast<uint8_t>(DType::kBool) && port.dtype <= static_cast<uint8_t>(DType::kF64);
    if (!known || port.dim.size() > WF_MAX_RANK) {
      env_.Report(decl_.name.span, kModelPort, {PortText(port.name), entity_.name, "`" + port.ToString() + "` has no type here"});
      return types.Error();
    }
    const auto dtype = static_cast<DType>(port.dtype);
    return port.dim.empty() ? types.Scalar(dtype) : types.Tensor(dtype, port.dim);
  }
  bool AddPorts(const std::vector<onnx::Port>& ports, const std::vector<WrittenPort>& written, int64_t most_bytes,
                std::vector<ModelPort>& out) {
    bool sound = true;
    for (size_t i = 0; i < ports.size(); ++i) {
      std::string name = i < written.size() && !written[i].label.text.empty() ? written[i].label.text : Sanitised(ports[i].name);
      const auto same = std::find_if(out.begin(), out.end(), [&](const ModelPort& other) { return other.name == name; });
      if (same != out.end()) {
        env_.Report(decl_.name.span, kModelPortClash, {same->wire_name, ports[i].name, entity_.name, name})
            .Help("write the signature and name them apart, as in `x as \"" + ports[i].name + "\": f32[n]`");
        sound = false;
      }
      const TypeRef type = TypeOf(ports[i], most_bytes);
      sound = sound && type->kind != TypeKind::kError;
      out.push_back({std::move(name), ports[i].name, type, ports[i].dim});
    }
    return sound;
  }
  bool MakePorts(const onnx::Signature& seen) {
    const bool in = AddPorts(seen.inputs, written_.inputs, kMostInBytes, model_.in);
    const bool out = AddPorts(seen.outputs, written_.outputs, kMostOutBytes, model_.out);
    if (!in || !out) return false;
    const bool bare = model_.out.size() == 1 && (!decl_.has_signature || written_.outputs[0].label.text.empty());
    if (bare || model_.out.size() == 1) {  // one result is the bare value, named or not (docs/semantics.md 27)
      model_.result = model_.out[0].type;
      return true;
    }
    std::vector<Field> fields;
    for (const ModelPort& port : model_.out) fields.push_back({port.name, port.type});
    model_.result = env_.types.Record("", std::move(fields));
    return true;
  }

  // Without the file nothing of what is written follows.
  void SetUnproved(const std::optional<onnx::Signature>& file, const onnx::Signature& real, const onnx::BatchAxes& axes) {
    onnx::Signature nothing = real;
    for (onnx::Port& port : nothing.outputs) std::generate(port.dim.begin(), port.dim.end(), [this] { return unknown_.Next(); });
    model_.unproved = onnx::UnprovedExtents(file ? *file : nothing, real);
    for (size_t i = 0; i < model_.unproved.size(); ++i) {
      const int8_t axis = axes.axis[real.inputs.size() + i];
      if (axis >= 0) model_.unproved[i].erase(model_.unproved[i].begin() + axis);
    }
  }

  void ApplyBlock() {
    model_.defaults = DefaultPolicy(model_.batched);
    ApplySettings(env_, values_, model_, model_.defaults);
    if (values_.batch) model_.batch_span = values_.batch->span;
    if (values_.queue) model_.queue_span = values_.queue->span;
    ApplyMixing();
    if (!values_.versions) {
      model_.versions = {1};
      return;
    }
    model_.version_policy = values_.versions->value.policy;
    model_.versions = values_.versions->value.versions;
  }

  void ApplyMixing() {
    if (!values_.mixing) return;
    model_.mixing_allowed = true;
    if (model_.batched) return;
    auto builder = env_.Report(values_.mixing->span, kSettingNoEffect,
                               {"mixing", "model `" + entity_.name + "`", "it has no batch axis: " + model_.batch_reason});
    if (!decl_.has_signature)
      builder.Help("a written signature marks it: `model " + entity_.name + "(x: f32[batch, 4]) -> f32[batch, 2] = ..`");
  }

  // Of a batch axis that is written; rows that the block sets apart share nothing.
  void WarnOfMixing(const onnx::BatchAxes& axes) {
    if (axes.mixing.empty() || model_.mixing_allowed || model_.defaults.batch_max == 1) return;
    env_.Report(decl_.name.span, kModelMixes, {entity_.name, axes.mixing})
        .Help("`{ batch 1; }` behind the model says so, too, and `{ mixing allowed; }` that they share runs all the same")
        .Help("with another name than `batch` for the axis, or without a signature, a call gives all of it, which is one run");
  }

  void Publish() {
    Signature& signature = *entity_.signature;
    signature.may_wait = signature.may_fail = true;
    signature.result = model_.result;
    std::set<std::string> symbols;
    for (const ModelPort& port : model_.in) {
      signature.params.push_back({port.name, port.type, nullptr, entity_.span});
      ForEachDim(port.type, [&](const Dim& dim) {
        for (const std::string& symbol : dim.Symbols()) symbols.insert(symbol);
      });
    }
    signature.symbols.assign(symbols.begin(), symbols.end());
    std::set<std::string> fresh;
    ForEachDim(model_.result, [&](const Dim& dim) {
      for (const std::string& symbol : dim.Symbols()) {
        if (!symbols.contains(symbol)) fresh.insert(symbol);
      }
    });
    signature.result_symbols.assign(fresh.begin(), fresh.end());
    entity_.index = static_cast<uint32_t>(env_.program.models.size());
    env_.program.models.push_back(std::move(model_));
  }

  Env& env_;
  Entity& entity_;
  const ast::ModelDecl& decl_;
  Body body_;
  std::string path_;
  Written written_;
  std::optional<onnx::Model> read_;  // the newest version, when the file is there
  SettingValues values_;
  Model model_;
  base::UnknownDims unknown_{"w"};
  bool marks_batch_ = false;  // a type of the written signature
};

}  // namespace

void CheckModel(Env& env, Module& module, Entity& entity, const ast::ModelDecl& decl) {
  NewSignature(entity);
  entity.broken = decl.has_errors || !ModelCheck(env, module, entity, decl).Run();
}

}  // namespace wf::sema
