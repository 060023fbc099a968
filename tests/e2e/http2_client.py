"""HTTP/2 by the h2 package, for tests that look at frames."""
import json

import h2.config
import h2.connection
import h2.events
import h2.settings
import harness

FRAME = {"data": 0, "headers": 1, "priority": 2, "rst": 3, "settings": 4, "ping": 6, "window": 8, "continuation": 9}


class Client:
    """One connection by the h2 package, which keeps the rules; `raw` sends what breaks them."""
    def __init__(self, server, **settings):
        self.socket = server.connect(30).socket
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
        self.h2.initiate_connection()
        if settings:
            self.h2.update_settings({getattr(h2.settings.SettingCodes, name): value for name, value in settings.items()})
        self.replies, self.reset, self.pongs, self.informed, self.goaway, self.closed = {}, {}, [], [], None, False
        self.flush()

    def flush(self):
        self.socket.sendall(self.h2.data_to_send())

    def raw(self, kind, flags, stream, payload=b""):
        return len(payload).to_bytes(3, "big") + bytes([FRAME.get(kind, kind), flags]) + stream.to_bytes(4, "big") + payload

    def begin(self, path, body=None, method="POST", headers=(), end=True):
        stream = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream, [(":method", method), (":path", path), (":scheme", "http"), (":authority", "t"), *headers],
                             end_stream=end and body is None)
        if body is not None:
            self.send(stream, body, end)
        self.flush()
        return stream

    def send(self, stream, body, end=True):
        """A body of any length, as the windows allow."""
        while body:
            room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(body))
            if room == 0:
                self.flush()
                self.step()
                continue
            self.h2.send_data(stream, body[:room])
            body = body[room:]
        if end:
            self.h2.end_stream(stream)
        self.flush()

    def step(self):
        """Reads once. False: the server has closed."""
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            self.closed = True
            return False
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.ResponseReceived):
                self.replies[event.stream_id] = harness.Reply(int(dict(event.headers)[":status"]), dict(event.headers), b"")
            elif isinstance(event, h2.events.InformationalResponseReceived):
                self.informed.append((event.stream_id, int(dict(event.headers)[":status"])))
            elif isinstance(event, h2.events.DataReceived):
                self.replies[event.stream_id].body += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.TrailersReceived):
                self.replies[event.stream_id].headers.update(event.headers)
            elif isinstance(event, h2.events.StreamEnded):
                self.replies[event.stream_id].ended = True
            elif isinstance(event, h2.events.StreamReset):
                self.reset[event.stream_id] = event.error_code
            elif isinstance(event, h2.events.PingAckReceived):
                self.pongs.append(event.ping_data)
            elif isinstance(event, h2.events.ConnectionTerminated):
                self.goaway = event
        if not self.closed:
            try:
                self.flush()
            except OSError:
                pass
        return True

    def reply(self, stream):
        while not getattr(self.replies.get(stream), "ended", False):
            if stream in self.reset or not self.step():
                raise EOFError(f"stream {stream}: reset {self.reset.get(stream)}, closed {self.closed}, {self.goaway}")
        return self.replies[stream]

    def call(self, path, value, **more):
        return self.reply(self.begin(path, json.dumps(value).encode(), **more))

    def until_closed(self, seconds=10):
        self.socket.settimeout(seconds)
        while self.step():
            pass

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
