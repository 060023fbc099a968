"""echo.py SIZE COUNT [PORT]: what sockets alone take. COUNT messages of SIZE bytes are read and written back, as by a server whose protocol costs nothing; prints its
port, then the processor time of one message in us. With a PORT it is the client, which sends each message when the one before is back."""
import resource
import socket
import sys

READ, WRITE = 64 << 10, 256 << 10  # at once, as our connections do


def receive(connection, message, at_once):
    at = 0
    while at < len(message):
        got = connection.recv_into(message[at:at + at_once])
        if got == 0:
            sys.exit("the other side has left")
        at += got


def serve(size, count):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    message = memoryview(bytearray(size))
    before = resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(count):
        receive(connection, message, READ)
        for at in range(0, size, WRITE):
            connection.sendall(message[at:at + WRITE])
    after = resource.getrusage(resource.RUSAGE_SELF)
    print((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / count * 1e6)


def call(size, count, port):
    message = memoryview(bytearray(size))
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(count):
            connection.sendall(message)
            receive(connection, message, READ)


if __name__ == "__main__":
    size, count, *port = map(int, sys.argv[1:])
    call(size, count, *port) if port else serve(size, count)
