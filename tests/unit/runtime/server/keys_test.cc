#include "runtime/server/keys.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace wf::server {
namespace {

const std::string kKey = "0123456789abcdef", kOther = "a-longer-key-with-marks_.~+/=";

http::Head HeadOf(const std::vector<http::Header>& fields) {
  http::Head head;
  for (const http::Header& field : fields) head.AddLast(field);
  return head;
}

TEST(Keys, KnowsWhatItWasGivenAndNothingElse) {
  Keys keys;
  ASSERT_TRUE(keys.Add(kKey).ok());
  ASSERT_TRUE(keys.Add(kOther).ok());
  EXPECT_TRUE(keys.Has(kKey));
  EXPECT_TRUE(keys.Has(kOther));
  EXPECT_FALSE(keys.Has(""));
  EXPECT_FALSE(keys.Has(kKey + kOther));
  EXPECT_FALSE(keys.Has(std::string(Keys::kMostBytes + 1, '0')));
  EXPECT_FALSE(keys.Has(kKey + std::string(1, '\0')));
  for (const std::string& key : {kKey, kOther}) {
    for (size_t i = 0; i < key.size(); ++i) {
      std::string wrong = key;
      wrong[i] ^= 1;
      EXPECT_FALSE(keys.Has(wrong)) << wrong;
      EXPECT_FALSE(keys.Has(key.substr(0, i)));
      EXPECT_FALSE(keys.Has(key + key.substr(0, i + 1)));
    }
  }
}

TEST(Keys, RefusesWhatIsNoKeyWithoutTellingIt) {
  Keys keys;
  for (const std::string& bad : std::initializer_list<std::string>{"short", std::string(257, 'k'), "0123456789 abcdef" + kKey,
                                                                   "comma,0123456789abcdef", "\xc3\xa9-0123456789abcdef"}) {
    const base::Status status = keys.Add(bad);
    EXPECT_FALSE(status.ok()) << bad;
    EXPECT_EQ(status.message().find(bad), std::string::npos);
  }
  EXPECT_TRUE(keys.empty());
  for (size_t i = 0; i < Keys::kMostKeys; ++i) ASSERT_TRUE(keys.Add(kKey + std::to_string(i)).ok());
  EXPECT_FALSE(keys.Add(kKey).ok());
}

TEST(Keys, AreShownInTwoFields) {
  Keys keys;
  ASSERT_TRUE(keys.Add(kKey).ok());
  for (const std::string& good : {"Bearer " + kKey, "bearer " + kKey, "BEARER   " + kKey})
    EXPECT_TRUE(keys.Let(HeadOf({{"authorization", good}}))) << good;
  EXPECT_TRUE(keys.Let(HeadOf({{"x-api-key", kKey}})));
  EXPECT_TRUE(keys.Let(HeadOf({{"authorization", "Basic abc"}, {"host", "t"}, {"x-api-key", kKey}})));
  EXPECT_FALSE(keys.Let(HeadOf({})));
  EXPECT_FALSE(keys.Let(HeadOf({{"host", kKey}})));
  for (const std::string& bad : std::initializer_list<std::string>{kKey, "Basic " + kKey, "Bearer" + kKey, "Bearer\t" + kKey, "Bearer ",
                                                                   "Bearer " + kKey + " x", "Token Bearer " + kKey})
    EXPECT_FALSE(keys.Let(HeadOf({{"authorization", bad}}))) << bad;
  for (const std::string& unread : std::initializer_list<std::string>{kKey, "Basic " + kKey, "Bearer" + kKey, "Bearer\t" + kKey, "Bearer "})
    EXPECT_FALSE(Keys::ShowsOne(HeadOf({{"authorization", unread}, {"x-api-key", ""}}))) << unread;
  EXPECT_TRUE(Keys::ShowsOne(HeadOf({{"authorization", "Bearer x"}})));
  EXPECT_TRUE(Keys::ShowsOne(HeadOf({{"authorization", kKey}, {"x-api-key", "x"}})));
  EXPECT_FALSE(Keys::ShowsOne(HeadOf({{"x-api-key", kKey}, {"x-api-key", kKey}})));
  EXPECT_FALSE(keys.Let(HeadOf({{"x-api-key", kKey}, {"x-api-key", kKey}})));  // looked at one by one they would cost a loop its time
}

class KeysFile : public testing::Test {
 protected:
  ~KeysFile() override { std::filesystem::remove(path_); }
  base::Result<std::shared_ptr<const Keys>> Load(const std::string& text, const std::string& of_variable = "") {
    std::ofstream(path_) << text;
    Settings settings;
    settings.auth_keys_file = setting::KeyFile{path_};
    settings.auth_keys.text = of_variable;
    return LoadKeys(settings);
  }
  const std::string path_ = testing::TempDir() + "keys-" + std::to_string(getpid());
};

TEST_F(KeysFile, HasOneKeyALine) {
  const auto keys = Load("# whose these are\n\n  " + kKey + " \r\n" + kOther, "one-of-the-variable, another-of-the-variable");
  ASSERT_TRUE(keys.ok()) << keys.status().message();
  for (const std::string& key : {kKey, kOther, std::string("one-of-the-variable"), std::string("another-of-the-variable")})
    EXPECT_TRUE((*keys)->Has(key)) << key;
  EXPECT_FALSE((*keys)->Has("# whose these are"));
}

TEST_F(KeysFile, SaysWhereAMistakeIs) {
  EXPECT_EQ(Load(kKey + "\nshort\n").status().message(),
            "`auth.keys_file`: " + path_ + ":2: a key has 16 bytes or more, or it could be guessed");
  EXPECT_EQ(Load("# none\n").status().message(), "`auth.keys_file`: " + path_ + ": has no key");
  EXPECT_EQ(Load("", kKey).status().message(), "`auth.keys_file`: " + path_ + ": has no key");
  EXPECT_EQ(Load(kKey, " , ").status().message(), "`WF_AUTH_KEYS`: has no key");
  EXPECT_EQ(Load(kKey, kOther + ",x").status().message(), "`WF_AUTH_KEYS`: key 2: a key has 16 bytes or more, or it could be guessed");
  Settings settings;
  EXPECT_EQ(*LoadKeys(settings), nullptr);
  settings.auth_keys.text = " , ";
  EXPECT_FALSE(LoadKeys(settings).ok());
  settings.auth_keys_file = setting::KeyFile{path_ + ".missing"};
  EXPECT_FALSE(LoadKeys(settings).ok());
}

}  // namespace
}  // namespace wf::server
