"""A call of gRPC as bytes: ModelInfer of the Open Inference Protocol with one text, answered by ours and by Google's server alike."""
import struct

PATH = "/inference.GRPCInferenceService/ModelInfer"
HEADERS = ("te: trailers", "content-type: application/grpc")


def varint(value):
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def field(number, content):
    """A field of bytes."""
    assert number < 16
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def fields(message):
    """(number, content) of each field of a message; a number's content is that number."""
    at = 0

    def read():
        nonlocal at
        value = shift = 0
        while True:
            byte, at = message[at], at + 1
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(message):
        number, kind = divmod(read(), 8)
        content = read()
        if kind == 2:
            content, at = message[at:at + content], at + content
        yield number, content


def framed(message):
    return struct.pack(">BI", 0, len(message)) + message


def infer(model, name, text):
    contents = field(8, text)
    return framed(field(1, model) + field(5, field(1, name) + field(2, b"BYTES") + field(3, b"\x01") + field(5, contents)))


def floats(model, name, count):
    """A tensor of f32 in raw bytes."""
    return framed(field(1, model) + field(5, field(1, name) + field(2, b"FP32") + field(3, varint(count))) + field(7, struct.pack("<f", 0.5) * count))


def tensors(model, *inputs, parameters=()):
    """Inputs (name, datatype, shape, bytes), all raw; `parameters` of the call are texts, by name."""
    said = b"".join(field(4, field(1, name) + field(2, field(3, value))) for name, value in dict(parameters).items())
    told = b"".join(field(5, field(1, name) + field(2, datatype) + field(3, b"".join(map(varint, shape)))) for name, datatype, shape, _ in inputs)
    return framed(field(1, model) + said + told + b"".join(field(7, raw) for *_, raw in inputs))


def text(content):
    """A raw element of BYTES."""
    return struct.pack("<I", len(content)) + content


def results(answer):
    """{name: raw bytes} of an answered call whose results are raw."""
    found = list(fields(answer[5:]))
    names = [dict(fields(content))[1].decode() for number, content in found if number == 5]
    return dict(zip(names, (content for number, content in found if number == 6), strict=True))
