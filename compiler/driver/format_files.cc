#include "compiler/driver/format_files.h"

#include <algorithm>
#include <iterator>

#include "compiler/driver/diff.h"
#include "compiler/driver/files.h"
#include "compiler/driver/loader.h"
#include "compiler/driver/report.h"
#include "compiler/format/format.h"
#include "compiler/parse/parse.h"

namespace wf::driver {
namespace {

const size_t kMaxFileBytes = LoaderOptions{}.max_file_bytes;

base::Result<std::string> ReadStdin(std::istream& in) {
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kMaxFileBytes) return base::Status(base::kResourceExhausted, "larger than 16 MiB");
  return text;
}

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
    auto text = from_stdin_ ? ReadStdin(*console_.in) : ReadFile(input_, kMaxFileBytes);
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
    if (options_.write && changed && !from_stdin_ && !Write(formatted)) return;
    if (changed && !options_.diff && quiet) console_.out << Name() << "\n";
    if (!quiet || (options_.write && from_stdin_)) console_.out << formatted;
  }

  bool Write(const std::string& formatted) {
    const base::Result<std::string> place = PlaceForProduct(input_);
    const base::Status status = place.ok() ? WriteFile(*place, formatted) : place.status();
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

}  // namespace

int FormatFiles(const Options& options, Console& console) {
  int status = kFine;
  for (const std::string& input : options.inputs) status = std::max(status, Formatting(input, options, console).Run());
  return status;
}

}  // namespace wf::driver
