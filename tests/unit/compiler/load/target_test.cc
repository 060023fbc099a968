#include "compiler/load/target.h"

#include <gtest/gtest.h>

namespace wf::load {
namespace {

TEST(Target, IsReadFromAUrlOrAnAddress) {
  const auto whole = ParseUrl("http://127.0.0.1:8080/Hello/Greet?x=1#there");
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  EXPECT_EQ(whole->host, "127.0.0.1:8080");
  EXPECT_EQ(whole->path, "/Hello/Greet?x=1");
  const auto bare = ParseUrl("[::1]:80");
  ASSERT_TRUE(bare.ok()) << bare.status().message();
  EXPECT_EQ(bare->path, "/");
  EXPECT_EQ(bare->address.ss_family, AF_INET6);
}

TEST(Target, RefusesWhatIsNone) {
  for (const char* url :
       {"", "http://", "http://:80/", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:8o", "https://127.0.0.1/",
        "ftp://127.0.0.1/", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nx: y", "http://user@127.0.0.1/"}) {
    EXPECT_EQ(ParseUrl(url).status().code(), base::kInvalidArgument) << url;
  }
  EXPECT_EQ(ParseUrl("http://no-such-host.invalid/").status().code(), base::kNotFound);
}

}  // namespace
}  // namespace wf::load
