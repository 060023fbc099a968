#include "compiler/driver/extern_objects.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <sstream>

#include "compiler/backend/backend.h"
#include "compiler/driver/child.h"
#include "compiler/driver/dependencies.h"
#include "compiler/driver/extern_header.h"
#include "compiler/driver/files.h"
#include "compiler/link/symbols.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"

namespace wf::driver {
namespace {

constexpr size_t kMaxOutputBytes = 1u << 20;  // of a compiler, that is read

std::vector<std::string> Words(const char* text) {
  std::istringstream stream(text == nullptr ? "" : text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

const char* Variable(const Console& console, const char* name) { return console.environment ? console.environment(name) : nullptr; }

// The program as a shell finds it; empty: it does not.
std::string FindProgram(const std::string& name, const Console& console) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* const path = Variable(console, "PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

struct Ran {
  bool fine = false;
  std::string output;  // of both streams
};

Ran RunProgram(const std::string& program, const std::vector<std::string>& arguments, const std::string& log) {
  const base::Descriptor out(open(log.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const pid_t pid = out.get() < 0 ? -1 : StartChild(program, arguments, {.out = out.get(), .err = out.get()});
  if (pid < 0) return {.fine = false, .output = base::TextOfErrno(errno)};
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const auto output = ReadFile(log, kMaxOutputBytes);
  Ran ran{.fine = WIFEXITED(status) && WEXITSTATUS(status) == 0, .output = output.ok() ? *output : output.status().message()};
  while (ran.output.ends_with('\n')) ran.output.pop_back();
  if (!ran.fine && ran.output.empty())
    ran.output = WIFSIGNALED(status) ? fmt::format("{} ended by signal {}", program, WTERMSIG(status))
                                     : fmt::format("{} ended with status {}", program, WEXITSTATUS(status));
  return ran;
}

class Externs {
 public:
  Externs(const sema::Program& program, const source::SourceMap& sources, std::string folder, const Console& console,
          diag::Emitter& emitter)
      : program_(program), sources_(sources), folder_(std::move(folder)), console_(console), emitter_(emitter) {}

  ExternObjects Compile() {
    std::vector<const sema::Extern*> files;  // the first of each source
    for (const sema::Extern& external : program_.externs) {
      const auto same = [&](const sema::Extern* other) { return other->source == external.source; };
      if (std::none_of(files.begin(), files.end(), same)) files.push_back(&external);
    }
    made_.fine = HasCompiler(*files[0]) && WriteHeader();
    if (!made_.fine) files.clear();
    for (const sema::Extern* file : files) {
      const std::string object = fmt::format("{}extern{}.o", folder_, made_.objects.size());
      made_.objects.push_back(object);
      made_.firsts.push_back(file);
      made_.fine = CompileSource(*file, object) && Defines(*file, object) && made_.fine;
    }
    return std::move(made_);
  }

 private:
  bool HasCompiler(const sema::Extern& first) {
    compiler_ = FindCompiler(console_);
    const std::vector<std::string> wanted = Words(Variable(console_, "CXX"));
    if (!wanted.empty()) arguments_.assign(wanted.begin() + 1, wanted.end());
    if (!compiler_.empty()) return true;
    const std::string why =
        wanted.empty() ? "there is no c++, g++ or clang++" : fmt::format("`{}`, which CXX names, is not there", wanted[0]);
    emitter_.Emit(first.span, diag::kNoCompiler, {first.name, why}).Help("install one, or name it in the environment variable CXX");
    return false;
  }

  // Under the name that a source includes it by, where the user has not written it: after the program, or after the module that declares
  // the extern, which may be a program, too.
  bool WriteHeader() {
    const std::string text = ExternHeader(program_, sources_);
    std::set<std::string> names{BaseOf(program_.source_name)};
    for (const sema::Extern& external : program_.externs) names.insert(BaseOf(std::string(sources_.name(external.span.file))));
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return Write(folder_ + name + ".h", text); });
  }
  static std::string BaseOf(const std::string& path) { return path.substr(FolderOf(path).size()); }
  bool Write(const std::string& path, const std::string& text) {
    const base::Status status = WriteFile(path, text);
    if (!status.ok()) emitter_.Emit({}, diag::kCannotWriteFile, {path, status.message()});
    return status.ok();
  }

  // The source is the last. Paths leave no trace in the object: the same program in another folder is the same program.
  std::vector<std::string> ArgumentsFor(const std::string& source) const {
    std::vector<std::string> arguments = arguments_;
    const auto add = [&](const std::vector<std::string>& words) { arguments.insert(arguments.end(), words.begin(), words.end()); };
    add({"-std=c++20", "-O2", "-fPIC", "-ffile-prefix-map=" + folder_ + "="});
    if (const std::string beside = FolderOf(source); !beside.empty()) add({"-ffile-prefix-map=" + beside + "="});
    add(Words(Variable(console_, "CXXFLAGS")));
    add({"-I" + folder_, (source.starts_with('-') ? "./" : "") + source});
    return arguments;
  }

  bool CompileSource(const sema::Extern& external, const std::string& object) {
    if (!Write(object + ".h", ExternShim(program_, sources_, external.source))) return false;
    std::vector<std::string> arguments = ArgumentsFor(external.source);
    arguments.insert(arguments.end() - 1, {"-include", object + ".h", "-MMD", "-MF", object + ".d", "-o", object, "-x", "c++", "-c"});
    const Ran ran = RunProgram(compiler_, arguments, object + ".log");
    if (!ran.fine)
      emitter_.Emit(external.span, diag::kExternCompile, {external.source, diag::Words{"\n" + AsUsersKnow(ran.output, object)}});
    if (!ran.fine) return AddFilesOfFailed(external.source, object);
    const auto rule = ReadFile(object + ".d", kMaxOutputBytes);
    for (const std::string& file : rule.ok() ? FilesOfRule(*rule) : std::vector<std::string>{}) AddFile(file);
    return true;
  }
  // Without the paths of files that are gone when it is read. What stands in front of the source is printed by a command.
  std::string AsUsersKnow(std::string output, const std::string& object) const {
    for (const auto& [path, name] :
         {std::pair(object + ".h", std::string("<wfc build --emit=header>")), std::pair(folder_, std::string())}) {
      for (size_t at = output.find(path); at != std::string::npos; at = output.find(path, at + name.size()))
        output.replace(at, path.size(), name);
    }
    return output;
  }
  void AddFile(const std::string& file) {
    if (!file.starts_with(folder_)) made_.files.push_back(file);
  }

  // Compilers write no rule of what does not compile. Another run tells what is included, and what would be if it were there (-MG): that by
  // the name in the `#include`, which may come to stand in the folder of whatever else is included.
  bool AddFilesOfFailed(const std::string& source, const std::string& object) {
    std::vector<std::string> arguments = ArgumentsFor(source);
    arguments.insert(arguments.end() - 1, {"-include", object + ".h", "-MM", "-MG", "-MF", object + ".d", "-x", "c++"});
    RunProgram(compiler_, arguments, object + ".log");
    const auto rule = ReadFile(object + ".d", kMaxOutputBytes);
    const std::vector<std::string> files = rule.ok() ? FilesOfRule(*rule) : std::vector<std::string>{source};
    const auto is_missing = [](const std::string& file) { return !file.starts_with('/') && access(file.c_str(), F_OK) != 0; };
    std::set<std::string> folders;
    for (const std::string& file : files) {
      AddFile(file);
      if (!is_missing(file)) folders.insert(FolderOf(file));
    }
    for (const std::string& file : files) {
      for (const std::string& folder : folders) {
        if (is_missing(file)) AddFile(folder + file);
      }
    }
    return false;
  }

  bool Defines(const sema::Extern& file, const std::string& object) {
    const auto symbols = backend::Get().read_symbols(object);
    if (!symbols.ok()) {
      emitter_.Emit(file.span, diag::kExternCompile, {file.source, symbols.status().message()});
      return false;
    }
    bool fine = true;
    for (const sema::Extern& external : program_.externs) {
      if (external.source == file.source) fine = Defines(external, *symbols) && fine;
    }
    return fine;
  }

  bool Defines(const sema::Extern& external, const link::Symbols& symbols) {
    const std::string bare = NameInCpp(external.name) + "(", name = fmt::format("{}::{}", kExternNamespace, bare);
    const auto named = [&](const std::string& symbol) { return symbol.starts_with(name); };
    const auto wanted = std::find_if(symbols.missing.begin(), symbols.missing.end(), named);
    if (wanted == symbols.missing.end()) return true;
    const auto found = std::find_if(symbols.defined.begin(), symbols.defined.end(),
                                    [&](const std::string& symbol) { return named(symbol) || symbol.starts_with(bare); });
    const std::string declaration = ExternDeclaration(program_, external);
    if (found == symbols.defined.end()) {
      emitter_.Emit(external.span, diag::kExternMissing, {external.source, external.name}).Help("it is `" + declaration + "`");
    } else {
      emitter_.Emit(external.span, diag::kExternSignature, {external.source, *found, *wanted}).Help("it is `" + declaration + "`");
    }
    return false;
  }

  const sema::Program& program_;
  const source::SourceMap& sources_;
  const std::string folder_;
  const Console& console_;
  diag::Emitter& emitter_;
  std::string compiler_;
  std::vector<std::string> arguments_;  // of CXX
  ExternObjects made_;
};

}  // namespace

std::string FindCompiler(const Console& console) {
  const std::vector<std::string> wanted = Words(Variable(console, "CXX"));
  if (!wanted.empty()) return FindProgram(wanted[0], console);
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (std::string found = FindProgram(name, console); !found.empty()) return found;
  }
  return "";
}

ExternObjects CompileExterns(const sema::Program& program, const source::SourceMap& sources, const Console& console,
                             diag::Emitter& emitter) {
  if (program.externs.empty()) return {};
  auto folder = std::make_unique<TemporaryFolder>();
  if (folder->path().empty()) {
    emitter.Emit({}, diag::kCannotWriteFile, {folder->parent(), folder->why()}).Help("a temporary folder is made there; TMPDIR says where");
    return {.fine = false, .objects = {}, .files = {}};
  }
  ExternObjects made = Externs(program, sources, folder->path(), console, emitter).Compile();
  made.folder = std::move(folder);
  return made;
}

namespace {

// Calls report(symbol, block) for each complaint of LLD that says `phrase` and a symbol: the block is it and the lines below. Whether one
// call was true.
template <typename Report>
bool ForEachComplaint(std::string_view words, std::string_view phrase, Report&& report) {
  bool reported = false;
  for (size_t at = words.find(phrase); at != std::string_view::npos;) {
    at += phrase.size();
    const size_t next = words.find(phrase, at);
    const std::string_view block = words.substr(at, next - at);
    if (report(block.substr(0, block.find('\n')), block)) reported = true;
    at = next;
  }
  return reported;
}

}  // namespace

// Of LLD: "error: undefined symbol: q(long)", and in lines below, behind ">>>", the objects with the functions that refer to it.
bool ReportUndefined(const sema::Program& program, const ExternObjects& externs, std::string_view words, diag::Emitter& emitter) {
  return ForEachComplaint(words, "undefined symbol: ", [&](std::string_view symbol, std::string_view block) {
    for (size_t i = 0; i < externs.objects.size(); ++i) {
      const size_t line = block.find(externs.objects[i]);
      if (line == std::string_view::npos) continue;
      const std::string_view place = block.substr(line, block.find('\n', line) - line);
      const auto refers = [&](const sema::Extern& external) {
        const std::string name = fmt::format("{}::{}(", kExternNamespace, NameInCpp(external.name));
        return external.source == externs.firsts[i]->source && place.find(name) != std::string_view::npos;
      };
      const auto it = std::find_if(program.externs.begin(), program.externs.end(), refers);
      const sema::Extern& external = it == program.externs.end() ? *externs.firsts[i] : *it;
      emitter.Emit(external.span, diag::kCannotLink, {external.source, fmt::format("nothing defines `{}`", symbol)})
          .Help("what it calls stands in the same file or in one that it includes; no other libraries are linked");
      return true;
    }
    return false;
  });
}

// Of LLD: "error: duplicate symbol: main", and below ">>> defined at", once for each of the two files that define it.
bool ReportTwice(const ExternObjects& externs, std::string_view words, diag::Emitter& emitter) {
  return ForEachComplaint(words, "duplicate symbol: ", [&](std::string_view symbol, std::string_view block) {
    std::vector<const sema::Extern*> definers;
    for (size_t i = 0; i < externs.objects.size(); ++i) {
      if (block.find(externs.objects[i]) != std::string_view::npos) definers.push_back(externs.firsts[i]);
    }
    if (definers.empty()) return false;
    const std::string other = definers.size() > 1 ? fmt::format("`{}`", definers[0]->source) : "the server itself";
    emitter.Emit(definers.back()->span, diag::kCannotLink, {definers.back()->source, fmt::format("{} defines `{}`, too", other, symbol)})
        .Help("a function that only its own file calls is `static`, or stands in `namespace { }`");
    return true;
  });
}

}  // namespace wf::driver
