#include "compiler/driver/serve.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "compiler/driver/child.h"
#include "compiler/driver/files.h"

namespace wf::driver {
namespace {

// A server that is a shell script.
class ServeTest : public ::testing::Test {
 protected:
  int Run(const std::string& script, const std::vector<std::string>& arguments = {}) {
    const std::string path = folder_.path() + "server";
    EXPECT_TRUE(WriteFile(path, "#!/bin/sh\n" + script).ok());
    EXPECT_EQ(chmod(path.c_str(), 0700), 0);
    Console console{.out = out_, .err = err_, .environment = {}, .executable = {}};
    return Serve(path, arguments, [&](const std::string& address) { ready_.push_back(address); }, console);
  }

  TemporaryFolder folder_;
  std::ostringstream out_, err_;
  std::vector<std::string> ready_;
};

TEST_F(ServeTest, TellsTheUrlOnceItListensAndPassesTheOutputOn) {
  const std::string line = "listening http=0.0.0.0:8080 grpc=0.0.0.0:8080 admin=127.0.0.1:8082";
  EXPECT_EQ(Run("echo first; echo '" + line + "'; echo last"), 0);
  EXPECT_EQ(ready_, std::vector<std::string>{"http://127.0.0.1:8080"});
  EXPECT_EQ(out_.str(), "first\n" + line + "\nlast\n");
}

TEST(UrlIn, IsWhereTheServerCanBeCalled) {
  EXPECT_EQ(UrlIn("listening http=127.0.0.1:80 grpc=127.0.0.1:80 admin=127.0.0.1:81"), "http://127.0.0.1:80");
  EXPECT_EQ(UrlIn("listening http=0.0.0.0:443 grpc=0.0.0.0:443 admin=127.0.0.1:81 tls=on"), "https://127.0.0.1:443");
  EXPECT_EQ(UrlIn("listening http=[::1]:80 grpc=[::1]:80 admin=127.0.0.1:81"), "http://[::1]:80");
  EXPECT_EQ(UrlIn("not listening http=127.0.0.1:80"), "");
}

TEST_F(ServeTest, HandsOverArgumentsAndItsExitStatus) {
  EXPECT_EQ(Run("echo \"$@\"; exit 3", {"--http-port", "0"}), 3);
  EXPECT_EQ(out_.str(), "--http-port 0\n");
  EXPECT_TRUE(ready_.empty());
}

TEST_F(ServeTest, ForwardsATermination) {
  EXPECT_EQ(Run("trap 'echo drained; exit 0' TERM; kill -TERM $PPID; sleep 5 >/dev/null & wait"), 0);
  EXPECT_EQ(out_.str(), "drained\n");
}

TEST_F(ServeTest, TerminatesItsServerForSignalsThatMeanSomethingElseToThat) {
  for (const char* signal : {"HUP", "QUIT", "USR1", "USR2", "ALRM"}) {
    out_.str("");
    EXPECT_EQ(Run("trap 'echo drained; exit 0' TERM; kill -" + std::string(signal) + " $PPID; sleep 5 >/dev/null & wait"), 0);
    EXPECT_EQ(out_.str(), "drained\n") << signal;
  }
}

TEST(StartChild, SaysWhyAProgramCannotBeStarted) {
  for (const auto& [program, why] : {std::pair("/dev/null", EACCES), std::pair("/nowhere/at/all", ENOENT)}) {
    EXPECT_EQ(StartChild(program, {}, {}), -1);
    EXPECT_EQ(errno, why);
  }
  errno = EACCES;
  EXPECT_NE(WhyNotStarted().find("TMPDIR"), std::string::npos);
}

TEST(ServerArguments, LookForModelsBesideTheProgramUnlessToldOtherwise) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(ServerArguments("a.wf", {"--x"}), Words{"--x"});
  EXPECT_EQ(ServerArguments("apps/a.wf", {"--x"}), (Words{"--model-root", "apps/", "--x"}));
  for (const Words& given : {Words{"--model-root", "m"}, Words{"--model-root=m"}, Words{"--config", "c.yml"}})
    EXPECT_EQ(ServerArguments("apps/a.wf", given), given);
  ASSERT_EQ(setenv("WF_MODEL_ROOT", "m", 1), 0);
  EXPECT_EQ(ServerArguments("apps/a.wf", {}), Words{});
  ASSERT_EQ(unsetenv("WF_MODEL_ROOT"), 0);
}

TEST_F(ServeTest, FailsWhenTheServerDiesOfASignal) { EXPECT_EQ(Run("kill -KILL $$"), kProgramHasErrors); }

TEST_F(ServeTest, SaysWhenThereIsNothingToRun) {
  Console console{.out = out_, .err = err_, .environment = {}, .executable = {}};
  EXPECT_EQ(Serve(folder_.path() + "missing", {}, [](const std::string&) {}, console), kProgramHasErrors);
  EXPECT_EQ(err_.str(), "wfc: cannot start the server: no such file\n");
}

}  // namespace
}  // namespace wf::driver
