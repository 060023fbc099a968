#include "compiler/driver/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/driver/compile.h"
#include "compiler/driver/interface_of.h"
#include "compiler/driver/layout.h"
#include "compiler/interface/reference.h"
#include "compiler/sema/builtins.h"

namespace wf::driver {
namespace {

std::string Entry(std::string_view name, std::string_view head, std::string_view about) {
  std::string text = fmt::format("## {}\n\n```wf\n{}\n```\n\n", name, head);
  if (!about.empty()) text += fmt::format("{}\n\n", about);
  return text;
}

// The functions and types of a module, as they are declared, and the functions that the checker adds. What has no documentation is the
// module's own.
std::string ModuleReference(const std::string& name, const ast::File& file, const source::SourceMap& sources) {
  std::string text = fmt::format("# {}\n\n", name);
  for (const ast::DeclPtr& decl : file.decls) {
    if (decl->doc.empty()) continue;
    source::Span head = decl->span;
    if (const auto* fn = ast::DynAs<ast::FnDecl>(*decl)) {
      if (fn->result) head.end = fn->result->span.end;
    } else if (const auto* node = ast::DynAs<ast::ExternDecl>(*decl)) {
      head.end = node->result->span.end;
    } else if (decl->kind != ast::DeclKind::kTypeDecl && decl->kind != ast::DeclKind::kErrorCodeDecl) {
      continue;
    }
    text += Entry(decl->name.text, sources.Text(head), decl->doc);
  }
  for (const sema::BuiltinInfo& row : sema::kBuiltins) {
    if (row.module == name) text += Entry(row.name, row.head, row.about);
  }
  return text;
}

// What stands before the modules where all are printed, as docs/std.md.
constexpr std::string_view kLibraryHead =
    R"(# The standard library

Everything below is printed by `wfc doc std`, from the comments of `stdlib`; `wfc doc std.nn` prints one module.
What `stdlib` declares without such a comment is the library's own: it can be called, may change, and is neither suggested nor completed.

A program has a module's functions by `import std.nn;`, as `nn.softmax(x)`; those of `std.prelude` it has without. In types `T` is any type or number, where a
function adds, multiplies or clips one that does so: i32, i64, u32, u64, f32 or f64. A dimension like `n` is any extent, and one that stands only in the result
is known when the call has ended. Arguments that differ in an extent of one name fail with Type (7004), and so does a result with an extent below 0. `*s` stands for all further axes, or none: what is at index i of `f32[n, *s]` is a number, a row, a picture. Errors are named
with their codes; besides, what is computed by the runtime, as `tensor.top_k`, may fail for want of memory or when its request ends, so it stands nowhere that must have
a value (WF3031), nor, with four exceptions, in a `const` (WF3037), and neither does a function that is made of it, as `lists.flatten`. An example is an expression that is true. Where a function is as another library's, tests hold it against that library; against its definition on their pages,
where that is PyTorch, torchvision, sentence-transformers or transformers.

)";

bool IsLibraryName(const std::string& input) { return input == "std" || (input.starts_with("std.") && !input.ends_with(".wf")); }

int WriteLibrary(const Options& options, Console& console) {
  const std::string folder = StdlibFolder(console.executable), &wanted = options.inputs.front();
  std::vector<std::string> names = LibraryModules(console);
  std::erase_if(names, [&](const std::string& name) { return wanted != "std" && wanted != name; });
  if (names.empty()) {
    console.err << fmt::format("wfc: the standard library has no module `{}`; `wfc doc std` shows all\n", wanted);
    return kUsage;
  }
  if (wanted == "std") console.out << kLibraryHead;
  for (const std::string& name : names) {
    source::SourceMap sources;
    diag::Emitter emitter(options.error_limit);
    const auto modules = LoadProgram(folder + name.substr(4) + ".wf", {.stdlib = folder, .on_read = nullptr}, sources, emitter);
    if (modules.front().file) console.out << ModuleReference(name, *modules.front().file, sources);
  }
  return kFine;
}

}  // namespace

std::vector<std::string> LibraryModules(const Console& console) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(StdlibFolder(console.executable), failed)) {
    if (entry.path().extension() == ".wf") names.push_back("std." + entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

int WriteReference(const Options& options, Console& console) {
  const std::string& input = options.inputs.front();
  if (IsLibraryName(input)) return WriteLibrary(options, console);
  if (!input.ends_with(".wf")) {
    const auto interface = InterfaceOf(input, options, console);
    if (interface) console.out << interface::Reference(*interface);
    return interface ? kFine : kProgramHasErrors;
  }
  Compilation compilation(input, options, console);
  if (!compilation.RunTo(Phase::kCheck, Compilation::Purpose::kServer)) {
    compilation.Finish();
    return kProgramHasErrors;
  }
  console.out << interface::Reference(compilation.DescribeInterface());
  for (const Module& module : compilation.products().modules) {
    const bool is_imported = module.path.starts_with("std.") && module.path != "std.prelude";  // which every program has
    if (is_imported) console.out << ModuleReference(module.path, *module.file, compilation.sources());
  }
  return kFine;
}

}  // namespace wf::driver
