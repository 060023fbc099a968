#pragma once

#include <uv.h>

#include "runtime/net/connection.h"

namespace wf::net {

// libuv's part of a connection, away from the headers that others include.
struct Connection::Io {
  uv_tcp_t socket;
  uv_write_t write;
};

}  // namespace wf::net
