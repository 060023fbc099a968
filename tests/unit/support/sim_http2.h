#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/support/http2_peer.h"

struct nghttp2_session;

namespace wf::test {

// A client of HTTP/2 on one connection, by nghttp2: requests to bytes, bytes to answers. What a server sends is held against the protocol
// by it.
class SimHttp2 {
 public:
  // Of a stream that is closed.
  struct Answer {
    int32_t stream = 0;
    int status = 0;  // 0: no head has come
    std::string body;
    std::map<std::string, std::string> of_grpc;  // fields that begin with `grpc-` or `wf-`
    bool ended = false;                          // whole; else one side has reset it, the server with `error` unless `left`
    bool left = false;
    uint32_t error = 0;
  };
  struct Options {
    uint32_t window = 65'535;  // of a stream
    bool opens_late = false;   // windows open with OpenWindows alone
  };
  explicit SimHttp2(const Options& options);
  ~SimHttp2();

  // Of the body `first` bytes leave now, the others with GoOn. 0: the server wants no more requests on this connection.
  int32_t Ask(const http2::Fields& fields, std::string body, size_t first);
  void GoOn(int32_t stream, size_t bytes);
  void Reset(int32_t stream);
  void Ping();
  void OpenWindows();
  std::string Say();  // bytes for the server
  void Take(std::string_view bytes);

  bool wrote(int32_t stream) const;  // all of the request
  bool over() const { return goaway_ >= 0 || not_spoken_; }
  bool not_spoken() const { return not_spoken_; }  // the server answered in HTTP/1.1, before it had seen the whole preface
  int goaway() const { return goaway_; }           // its error; -1: none
  int32_t last_stream() const { return last_stream_; }
  const std::string& broken() const { return broken_; }  // what the server did against the protocol
  std::vector<Answer> TakeAnswers();

 private:
  struct Stream;
  struct Callbacks;
  std::map<int32_t, std::unique_ptr<Stream>> streams_;
  std::vector<Answer> answers_;
  nghttp2_session* session_ = nullptr;
  const bool opens_late_;
  std::string first_, broken_;
  bool spoken_ = false, not_spoken_ = false;
  int goaway_ = -1;
  int32_t last_stream_ = INT32_MAX;
};

}  // namespace wf::test
