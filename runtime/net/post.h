#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/sink.h"
#include "runtime/loop/loop.h"

namespace wf::net {

struct PostTarget {
  std::string host;  // a name, or a numeric address
  uint16_t port = 0;
  std::string path;
};

// Sends bodies to one HTTP server, one at a time, each on a connection of its own.
// Thread: loop-confined.   Owns: the connection.   Borrows: loop, user.   Bounds: 4 KiB of the answer, of which the status and
// `retry-after` are read; no time limit of its own: whoever has waited enough calls Drop.
class Poster {
 public:
  class User {
   public:
    virtual ~User() = default;
    // Of HTTP; 0: there was no answer. retry_after_s: what that asks for; -1: nothing, or in another way than seconds.
    virtual void OnPosted(int status, int64_t retry_after_s) noexcept = 0;
  };
  Poster(loop::Loop& loop, User& user, PostTarget target) : loop_(loop), user_(user), target_(std::move(target)) {}
  ~Poster() { Drop(); }
  Poster(const Poster&) = delete;
  Poster& operator=(const Poster&) = delete;

  // REQUIRES: not busy. OnPosted is called later, or before this returns. `body` is taken.
  void Post(std::string_view content_type, wf_sink& body) noexcept;
  void Drop() noexcept;  // OnPosted is not called any more for what is under way. Before the loop closes
  bool busy() const { return attempt_ != nullptr; }
  // A name is being looked up, by this or by what was dropped: the loop cannot close until the system answers.
  bool looks_up() const { return *lookups_ != 0; }

 private:
  struct Attempt;
  loop::Loop& loop_;
  User& user_;
  const PostTarget target_;
  Attempt* attempt_ = nullptr;
  const std::shared_ptr<int> lookups_ = std::make_shared<int>(0);
};

}  // namespace wf::net
