#include "compiler/lsp/programs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "compiler/parse/parse.h"

namespace wf::lsp {
namespace {

namespace fs = std::filesystem;

// A folder in which every program imports a.wf, which an editor has open.
class ProgramsTest : public testing::Test {
 protected:
  ProgramsTest() : folder_(fs::temp_directory_path() / ("wf-programs-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    Write("a.wf", "fn twice(x: i64) -> i64 = x + x;\n");
    Write("b.wf", "import a;\nconst FOUR = a.twice(2);\n");
    Write("c.wf", "import a;\nconst SIX = a.twice(3);\n");
    Settle();
    workspace_.AddFolder("file://" + folder_.string());
    workspace_.Open("file://" + PathTo("a.wf"), Text("a.wf"), 1);
  }
  ~ProgramsTest() override { fs::remove_all(folder_); }

  std::string PathTo(const std::string& name) const { return (folder_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(PathTo(name)) << text; }
  std::string Text(const std::string& name) const {
    std::ifstream file(PathTo(name));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void Settle() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }  // what has just been written may change unseen

  // The files that are analysed when it is asked who speaks of `twice`.
  std::vector<std::string> Analysed() {
    loaded_.clear();
    Thing thing;
    thing.kind = ThingKind::kFn;
    thing.name = "twice";
    const Programs programs(workspace_, thing, PathTo("a.wf"));
    EXPECT_EQ(programs.all().size(), 3u);
    std::vector<std::string> names;
    for (const std::string& path : loaded_) names.push_back(fs::path(path).filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::vector<LoadedModule> Load(const Root& start, const Overlay& overlay, source::SourceMap& sources, diag::Emitter& emitter) {
    const std::string& root = start.path;
    loaded_.push_back(root);
    std::vector<LoadedModule> modules;
    for (const std::string& path : {root, PathTo("a.wf")}) {
      if (path == root && !modules.empty()) continue;
      const std::string name = fs::path(path).filename().string();
      const FileId file = sources.Add(path, overlay(path).value_or(Text(name)));
      auto tree = parse::Parse(file, sources, emitter);
      modules.push_back({path == root ? "" : "a", tree ? std::make_unique<ast::File>(std::move(*tree)) : nullptr});
    }
    return modules;
  }

  const fs::path folder_;
  std::vector<std::string> loaded_;
  Workspace workspace_{Host{.load = [this](const Root& root, const Overlay& overlay, source::SourceMap& sources,
                                           diag::Emitter& emitter) { return Load(root, overlay, sources, emitter); },
                            .stdlib = "/none/",
                            .error_pages = "",
                            .version = ""}};
};
using Names = std::vector<std::string>;

TEST_F(ProgramsTest, AClosedFileIsAnalysedOnce) {
  EXPECT_EQ(Analysed(), (Names{"a.wf", "b.wf", "c.wf"}));
  EXPECT_EQ(Analysed(), Names{});
}

TEST_F(ProgramsTest, AFileThatChangedIsAnalysedAgain) {
  Analysed();
  Write("b.wf", "import a;\nconst FIVE = a.twice(2);\n");  // as long as it was
  EXPECT_EQ(Analysed(), Names{"b.wf"});
  Settle();
  Analysed();  // what was read so soon after it was written is not kept
  EXPECT_EQ(Analysed(), Names{});
}

TEST_F(ProgramsTest, WhatReadsAnOpenTextIsAnalysedWhenThatChanges) {
  Analysed();
  workspace_.Change("file://" + PathTo("a.wf"), Text("a.wf") + "const NEW = 1;\n", 2);
  EXPECT_EQ(Analysed(), (Names{"a.wf", "b.wf", "c.wf"}));
  EXPECT_EQ(Analysed(), Names{});
}

}  // namespace
}  // namespace wf::lsp
