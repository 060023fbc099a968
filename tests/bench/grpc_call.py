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


def framed(message):
    return struct.pack(">BI", 0, len(message)) + message


def infer(model, name, text):
    contents = field(8, text)
    return framed(field(1, model) + field(5, field(1, name) + field(2, b"BYTES") + field(3, b"\x01") + field(5, contents)))


def floats(model, name, count):
    """A tensor of f32 in raw bytes."""
    return framed(field(1, model) + field(5, field(1, name) + field(2, b"FP32") + field(3, varint(count))) + field(7, struct.pack("<f", 0.5) * count))
