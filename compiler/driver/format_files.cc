#include "compiler/driver/format_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/base/program_files.h"
#include "compiler/driver/diff.h"
#include "compiler/driver/files.h"
#include "compiler/driver/loader.h"
#include "compiler/driver/report.h"
#include "compiler/format/format.h"
#include "compiler/parse/parse.h"

namespace wf::driver {
namespace {

const size_t kMaxFileBytes = LoaderOptions{}.max_file_bytes;

// One input on its way: read, formatted, shown.
class Formatting {
 public:
  Formatting(const std::string& input, const Options& options, Console& console)
      : input_(input), from_stdin_(input == "-"), options_(options), console_(console), emitter_(options.error_limit) {}

  int Run() {
    const auto formatted = Format();
    const bool changed = formatted && *formatted != sources_.text(file_);
    if (formatted) Show(*formatted, changed);
    const int status = Report(emitter_, sources_, options_, console_);
    return changed && options_.check ? kProgramHasErrors : status;
  }

 private:
  std::string Name() const { return from_stdin_ ? "<stdin>" : input_; }

  std::optional<std::string> Format() {
    auto text = from_stdin_ ? ReadStream(*console_.in, kMaxFileBytes) : ReadFile(input_, kMaxFileBytes);
    if (!text.ok()) {
      emitter_.Emit({}, diag::kCannotReadFile, {Name(), text.status().message()});
      return std::nullopt;
    }
    file_ = sources_.Add(Name(), *std::move(text));
    const auto tree = parse::Parse(file_, sources_, emitter_, parse::Role::kText);
    if (!tree || emitter_.has_errors()) return std::nullopt;
    return format::Format(*tree, sources_);
  }

  void Show(const std::string& formatted, bool changed) {
    const bool quiet = options_.write || options_.check || options_.diff;
    if (options_.diff) console_.out << UnifiedDiff(Name(), sources_.text(file_), formatted);
    if (options_.write && changed && !Write(formatted)) return;
    if (changed && !options_.diff && quiet) console_.out << Name() << "\n";
    if (!quiet) console_.out << formatted;
  }

  bool Write(const std::string& formatted) {
    const base::Status status = RewriteFile(input_, formatted);
    if (!status.ok()) emitter_.Emit({}, diag::kCannotWriteFile, {input_, status.message()});
    return status.ok();
  }

  const std::string& input_;
  const bool from_stdin_;
  const Options& options_;
  Console& console_;
  source::SourceMap sources_;
  source::FileId file_ = source::FileId::kNone;
  diag::Emitter emitter_;
};

// The programs below a folder.
int FormatBelow(const std::string& folder, const Options& options, Console& console) {
  constexpr size_t kMost = 1'000'000;
  const source::ProgramFiles found = source::ProgramFilesBelow(folder, kMost, kMost);
  int status = kFine;
  for (const std::string& file : found.paths) status = std::max(status, Formatting(file, options, console).Run());
  diag::Emitter emitter(options.error_limit);
  for (const auto& [unread, why] : found.unread) emitter.Emit({}, diag::kCannotReadFile, {unread, why});
  if (!found.is_complete)
    emitter.Emit({}, diag::kCannotReadFile, {folder, fmt::format("more than {} files and folders are below it", kMost)});
  if (found.paths.empty() && !emitter.has_errors()) console.err << SayingLine("no .wf files below `" + folder + "`", options.format);
  return std::max<int>(status, Report(emitter, source::SourceMap(), options, console));
}

}  // namespace

int FormatFiles(const Options& options, Console& console) {
  int status = kFine;
  for (const std::string& input : options.inputs) {
    std::error_code missing;
    const bool is_folder = input != "-" && std::filesystem::is_directory(input, missing);
    status = std::max(status, is_folder ? FormatBelow(input, options, console) : Formatting(input, options, console).Run());
  }
  return status;
}

}  // namespace wf::driver
