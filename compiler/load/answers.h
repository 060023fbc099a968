#pragma once

#include <memory>
#include <span>
#include <string>

namespace wf::load {

// Takes the answers of HTTP/1.1 off the bytes of one connection (RFC 9112, by llhttp). Interim ones (1xx) are passed over.
// Thread: confined.   Bounds: kKept bytes of each body are kept.
class Answers {
 public:
  static constexpr size_t kKept = 1024;
  enum class Step { kNeedMore, kAnswer, kWrong };

  Answers();
  ~Answers();
  Answers(Answers&&) noexcept;
  Answers& operator=(Answers&&) noexcept;

  Step Next(std::span<const char>* input);  // consumes up to the end of an answer
  Step End();                               // the other side has closed: kAnswer if that is how a body ends, else kWrong
  void Reset();                             // for a new connection

  // Of the last kAnswer.
  int status() const;
  bool keeps_open() const;          // whether another request may follow on this connection
  const std::string& body() const;  // its beginning
  const char* reason() const;       // of kWrong

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace wf::load
