#include "compiler/lsp/programs.h"

#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "compiler/base/program_files.h"

namespace wf::lsp {
namespace {

namespace fs = std::filesystem;

// Whether anything outside its own file can name it.
bool IsSeenElsewhere(ThingKind kind) {
  switch (kind) {
    case ThingKind::kConst:
    case ThingKind::kType:
    case ThingKind::kError:
    case ThingKind::kFn:
    case ThingKind::kExtern:
    case ThingKind::kModel:
    case ThingKind::kRemote:
    case ThingKind::kWorkflow:
    case ThingKind::kService:
    case ThingKind::kParam:
    case ThingKind::kField:
      return true;
    case ThingKind::kModule:
    case ThingKind::kLet:
    case ThingKind::kNode:
    case ThingKind::kIndex:
    case ThingKind::kLoop:
    case ThingKind::kAccumulator:
    case ThingKind::kDimension:
    case ThingKind::kStage:
      return false;
  }
  return false;
}

// Paths of imports count from the program's own file, so what is two imports away is found from there alone.
bool ImportsFilesBeside(std::string_view text) {
  constexpr std::string_view kImport = "import";
  for (size_t at = text.find(kImport); at != std::string_view::npos; at = text.find(kImport, at + 1)) {
    const std::string_view path = text.substr(at + kImport.size());
    const size_t first = path.find_first_not_of(" \t\r\n");
    if (first != 0 && first != std::string_view::npos && !path.substr(first).starts_with("std.")) return true;
  }
  return false;
}

bool HasWord(std::string_view text, std::string_view word) {
  const auto goes_on = [&](size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    if ((at == 0 || !goes_on(at - 1)) && !goes_on(at + word.size())) return true;
  }
  return false;
}

bool MayName(const std::string& path, const std::string& name) {
  const auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) return false;
  const std::string_view text((*file)->getBufferStart(), (*file)->getBufferSize());
  return text.find(name) != std::string_view::npos || ImportsFilesBeside(text);
}

// Nothing of the file's text was passed over.
bool IsReadWhole(const Analysis& analysis, FileId file) {
  const std::vector<diag::Diagnostic> all = analysis.diagnostics().Sorted();
  const auto is_syntax = [&](const diag::Diagnostic& one) {
    return one.span.file == file && one.severity == diag::Severity::kError && one.code < diag::kUnknownName;
  };
  return IsWhole(analysis.TreeOf(file)) && std::none_of(all.begin(), all.end(), is_syntax);
}

}  // namespace

Programs::Programs(Workspace& workspace, const Thing& thing, const std::string& path)
    : name_(thing.name), path_(path), seen_elsewhere_(IsSeenElsewhere(thing.kind)) {
  for (auto& [uri, document] : workspace.documents()) {
    if (!Concerns(document.path)) continue;
    const Analysis& analysis = workspace.AnalysisOf(document);
    if (Reaches(analysis)) all_.push_back({document.path, &analysis});
  }
  if (!seen_elsewhere_) return;
  for (const std::string& folder : workspace.folders()) Add(workspace, folder);
}

// Whether a program reads the file of the thing. An import that did not parse may be of that file: its name stands there then.
bool Programs::Reaches(const Analysis& analysis) {
  const bool reads = analysis.FileNamed(path_).has_value();
  const std::string stem = fs::path(path_).stem().string();
  for (size_t i = 0; unread_.empty() && i < analysis.sources().size(); ++i) {
    const auto file = static_cast<FileId>(i);
    const std::string_view text = analysis.sources().text(file);
    const bool may_use = Concerns(analysis.sources().name(file)) && HasWord(text, name_) && (reads || HasWord(text, stem));
    if (may_use && !IsReadWhole(analysis, file)) unread_ = analysis.sources().name(file);
  }
  return reads;
}

void Programs::Add(Workspace& workspace, const std::string& folder) {
  const source::ProgramFiles files = source::ProgramFilesBelow(folder, kMostFiles, kMostEntries);
  complete_ = complete_ && files.is_complete;
  const auto known = [&](const std::string& file) {  // of two folders, one may hold the other
    return std::any_of(all_.begin(), all_.end(), [&](const Program& program) { return program.path == file; });
  };
  for (const std::string& file : files.paths) {
    if (workspace.OpenAt(file) != nullptr || known(file) || !MayName(file, name_)) continue;
    std::shared_ptr<const Analysis> analysis = workspace.AnalysisOfFile(file);
    if (!Reaches(*analysis)) continue;
    all_.push_back({file, analysis.get()});
    closed_.push_back(std::move(analysis));
  }
}

}  // namespace wf::lsp
