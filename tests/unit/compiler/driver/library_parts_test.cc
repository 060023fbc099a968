#include "compiler/driver/library_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "compiler/driver/files.h"
#include "compiler/driver/layout.h"
#include "compiler/driver/loader.h"
#include "compiler/natives/natives.h"
#include "compiler/sema/check.h"

namespace wf::driver {
namespace {

constexpr char kModule[] =
    "package std.x;\n"
    "\n"
    "import std.y as other;\n"
    "import std.z;\n"
    "\n"
    "// Of several.\n"
    "\n"
    "/// Names third, and means nothing by it.\n"
    "fn first(\n"
    "  x: i64,\n"
    ") -> i64 = x + second(x);\n"
    "\n"
    "fn second(x: i64) -> i64 {\n"
    "  x\n"
    "}\n"
    "/// The last.\n"
    "const third: list<i64> = [\n"
    "  1,\n"
    "];\n";

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    if (text.find_first_not_of(' ', at) != end) lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(LibraryParts, AreThoseThatAProgramNamesAndWhatTheyName) {
  LibraryParts parts;
  const size_t module = parts.AddModule(kModule);
  parts.AddProgram("let y = x.first(1);");
  const std::string text = parts.TextOf(module);
  EXPECT_EQ(text.size(), sizeof kModule - 1);
  const std::string whole = kModule, kept = whole.substr(0, whole.find("/// The last."));
  EXPECT_EQ(text.substr(0, kept.size()), kept);
  EXPECT_EQ(LinesOf(text).back(), "}");
  EXPECT_EQ(parts.ImportsOf(module), (Lines{"std.y", "std.z"}));
}

TEST(LibraryParts, StandWhereTheyStoodAndLeaveBlanks) {
  LibraryParts parts;
  const size_t module = parts.AddModule(kModule);
  parts.AddProgram("\"{third}\"");
  const std::string text = parts.TextOf(module);
  EXPECT_EQ(LinesOf(text), (Lines{"package std.x;", "import std.y as other;", "import std.z;", "/// The last.",
                                  "const third: list<i64> = [", "  1,", "];"}));
  EXPECT_EQ(text.find("const third"), std::string(kModule).find("const third"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(std::begin(kModule), std::end(kModule), '\n'));
}

TEST(LibraryParts, FollowNamesFromModuleToModuleInAnyOrder) {
  LibraryParts parts;
  const size_t below = parts.AddModule("package std.b;\nfn mean() -> i64 = 1;\nfn var() -> i64 = 2;\n");
  const size_t above = parts.AddModule("package std.a;\nimport std.b;\nfn norm() -> i64 = b.mean();\n");
  parts.AddProgram("a.norm()");
  EXPECT_EQ(LinesOf(parts.TextOf(below)), (Lines{"package std.b;", "fn mean() -> i64 = 1;"}));
  EXPECT_EQ(LinesOf(parts.TextOf(above)).size(), 3U);
}

TEST(LibraryParts, HaveAllTypesAndWhatTheyName) {
  LibraryParts parts;
  const size_t module = parts.AddModule("package std.x;\ntype Table {\n  bytes: Inner;\n}\ntype Inner {\n}\nfn of() -> i64 = 1;\n");
  EXPECT_EQ(LinesOf(parts.TextOf(module)), (Lines{"package std.x;", "type Table {", "  bytes: Inner;", "}", "type Inner {", "}"}));
}

// The library as it is: a program that names any one declaration gets all that this needs, and not the others.
TEST(LibraryParts, OfEachDeclarationOfTheLibraryPassTheCheck) {
  const std::string library = StdlibFolder(std::filesystem::read_symlink("/proc/self/exe").string());
  const TemporaryFolder folder;
  const std::string root = folder.path() + "main.wf";
  size_t declarations = 0;
  const auto load = [&](const std::string& text, bool needed_alone, const auto& see) {
    ASSERT_TRUE(WriteFile(root, text).ok());
    source::SourceMap sources;
    diag::Emitter emitter;
    const auto modules = LoadProgram(root, {.stdlib = library, .needed_alone = needed_alone}, sources, emitter);
    sema::CheckInput input{.modules = {}, .sources = sources};
    input.options.natives = natives::Call;
    for (const Module& module : modules) input.modules.push_back({module.path, module.file.get()});
    sema::Check(input, emitter);
    EXPECT_FALSE(emitter.has_errors()) << text << ": " << emitter.Sorted().front().message;
    ASSERT_NE(modules[1].file, nullptr);
    see(*modules[1].file);
  };
  for (const auto& entry : std::filesystem::directory_iterator(library)) {
    if (entry.path().extension() != ".wf" || entry.path().stem() == "prelude") continue;
    const std::string import = "import std." + entry.path().stem().string() + ";\n";
    std::vector<std::string> names;
    size_t all = 0;
    load(import, false, [&](const ast::File& file) {
      all = file.decls.size();
      for (const ast::DeclPtr& decl : file.decls) {
        if (!decl->name.text.empty() && decl->kind != ast::DeclKind::kImportDecl) names.push_back(decl->name.text);
      }
    });
    for (const std::string& name : names) {
      load(import + "// " + name + "\n", true, [&](const ast::File& file) {
        const auto is_it = [&](const ast::DeclPtr& decl) { return decl->name.text == name; };
        EXPECT_TRUE(std::any_of(file.decls.begin(), file.decls.end(), is_it)) << name;
        EXPECT_TRUE(file.decls.size() < all || all < 6) << name << " needs the whole of " << import;
      });
      ++declarations;
    }
  }
  EXPECT_GT(declarations, 200U);
}

}  // namespace
}  // namespace wf::driver
