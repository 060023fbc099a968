#include "compiler/driver/loader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "compiler/driver/files.h"

namespace wf::driver {
namespace {

class LoaderTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    const std::string path = folder_.path() + name;
    mkdir(FolderOf(path).c_str(), 0700);
    ASSERT_TRUE(WriteFile(path, text).ok());
  }
  std::vector<std::string> Load(LoaderOptions options = {}) {
    options.stdlib = folder_.path() + "std/";
    modules_ = LoadProgram(folder_.path() + "main.wf", options, sources_, emitter_);
    std::vector<std::string> paths;
    for (const Module& module : modules_) paths.push_back(module.path + (module.file == nullptr ? " (nothing)" : ""));
    return paths;
  }
  std::vector<diag::Code> codes() const {
    std::vector<diag::Code> found;
    for (const auto& one : emitter_.Sorted()) found.push_back(one.code);
    return found;
  }

  TemporaryFolder folder_;
  source::SourceMap sources_;
  diag::Emitter emitter_;
  std::vector<Module> modules_;
};

using Paths = std::vector<std::string>;

TEST_F(LoaderTest, FindsImportsBesideTheRootAndInTheLibraryOnceEach) {
  Write("main.wf", "import a.b; import std.x; import a.b as again;\n");
  Write("a/b.wf", "import c; import std.x;\n");
  Write("c.wf", "const k = 1;\n");
  Write("std/x.wf", "const x = 1;\n");
  Write("std/prelude.wf", "import std.x;\n");
  EXPECT_EQ(Load(), (Paths{"", "a.b", "std.x", "c", "std.prelude"}));
  EXPECT_TRUE(codes().empty());
}

TEST_F(LoaderTest, ReadsOfTheLibraryWhatIsNeededOnceAllOfTheProgramIsKnown) {
  Write("main.wf", "import std.x; import a;\n");
  Write("a.wf", "import std.x; const k = x.one();\n");
  Write("std/x.wf", "package std.x;\nimport std.y;\nfn one() -> i64 = y.two();\nfn other() -> i64 = 3;\n");
  Write("std/y.wf", "package std.y;\nfn two() -> i64 = 2;\nfn other() -> i64 = 4;\n");
  EXPECT_EQ(Load({.needed_alone = true}), (Paths{"", "std.x", "a", "std.y"}));
  EXPECT_TRUE(codes().empty());
  ASSERT_EQ(modules_[1].file->decls.size(), 2U);
  EXPECT_EQ(modules_[1].file->decls[1]->name.text, "one");
  ASSERT_EQ(modules_[3].file->decls.size(), 1U);
  EXPECT_EQ(modules_[3].file->decls[0]->name.text, "two");
}

TEST_F(LoaderTest, ReadsImportsInACircleOnceAndShowsTheWayRound) {
  Write("main.wf", "import a;\n");
  Write("a.wf", "import b;\n");
  Write("b.wf", "import a;\n");
  EXPECT_EQ(Load(), (Paths{"", "a", "b"}));
  ASSERT_EQ(codes(), std::vector<diag::Code>{diag::kImportCircle});
  const diag::Diagnostic found = emitter_.Sorted().front();
  const std::string a = "`" + folder_.path() + "a.wf`", b = "`" + folder_.path() + "b.wf`";
  EXPECT_EQ(found.message, "imports run in a circle: " + a + " → " + b + " → " + a);
  EXPECT_EQ(sources_.name(found.span.file), folder_.path() + "b.wf");
  EXPECT_EQ(sources_.Text(found.span), "a");
}

TEST_F(LoaderTest, KnowsTheRootWhereItIsImported) {
  Write("main.wf", "import main; import a;\n");
  Write("a.wf", "import main;\n");
  EXPECT_EQ(Load(), (Paths{"", "a"}));
  EXPECT_EQ(codes(), (std::vector<diag::Code>{diag::kImportCircle, diag::kImportCircle}));
}

TEST_F(LoaderTest, TellsACircleOnceHoweverManyWaysLeadRound) {
  Write("main.wf", "import a; import b; import c; import d;\n");
  for (const char* name : {"a.wf", "b.wf", "c.wf"}) Write(name, "import a; import b; import c; import d;\n");
  Write("d.wf", "const k = 1;\n");
  EXPECT_EQ(Load(), (Paths{"", "a", "b", "c", "d"}));
  EXPECT_EQ(codes().size(), 3u);  // a in itself, a and b, all three
}

TEST_F(LoaderTest, ReportsWhatCannotBeReadAndGoesOn) {
  Write("main.wf", "import a; import b;\n");
  Write("b.wf", "const k = 1;\n");
  EXPECT_EQ(Load(), (Paths{"", "a (nothing)", "b"}));
  EXPECT_EQ(codes(), std::vector<diag::Code>{diag::kImportNotRead});
}

TEST_F(LoaderTest, SuggestsAFileOfANameThatIsNear) {
  Write("main.wf", "import std.imge;\n");
  Write("std/image.wf", "const x = 1;\n");
  Load();
  EXPECT_EQ(emitter_.Sorted().front().help, std::vector<std::string>{"did you mean `std.image`?"});
}

TEST_F(LoaderTest, SaysThatTheRootIsMissing) {
  EXPECT_EQ(Load(), Paths{" (nothing)"});
  EXPECT_EQ(codes(), std::vector<diag::Code>{diag::kCannotReadFile});
}

TEST_F(LoaderTest, BoundsFilesAndTheirSize) {
  Write("main.wf", "import a; import b; import c;\n");
  for (const char* name : {"a.wf", "b.wf", "c.wf"}) Write(name, "const k = 1;\n");
  EXPECT_EQ(Load({.max_modules = 3}), (Paths{"", "a", "b"}));
  EXPECT_EQ(codes(), std::vector<diag::Code>{diag::kTooManyModules});
}

TEST_F(LoaderTest, RefusesAHugeFile) {
  Write("main.wf", std::string(3 << 20, ' '));
  EXPECT_EQ(Load({.max_file_bytes = 2 << 20}), Paths{" (nothing)"});
}

}  // namespace
}  // namespace wf::driver
