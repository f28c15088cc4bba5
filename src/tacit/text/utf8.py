"""Characters read from UTF-8 bytes and written to them, inside kernels.

The text is known to be sound: whoever made a Text has seen to it.
"""

import numpy as np

from tacit.core.kernel import kernel

__all__ = ["decode_at", "encode_to", "is_ascii"]


@kernel(inline="always")
def decode_at(data, i):
    """The character at byte i and how long it is."""
    b = np.uint32(data[i])
    if b < 0x80:
        return b, 1
    if b < 0xE0:
        return (b & np.uint32(0x1F)) << np.uint32(6) | tail(data, i + 1), 2
    if b < 0xF0:
        high = (b & np.uint32(0x0F)) << np.uint32(12) | tail(data, i + 1) << np.uint32(6)
        return high | tail(data, i + 2), 3
    high = (b & np.uint32(0x07)) << np.uint32(18) | tail(data, i + 1) << np.uint32(12)
    return high | tail(data, i + 2) << np.uint32(6) | tail(data, i + 3), 4


@kernel(inline="always")
def tail(data, i):
    return np.uint32(data[i]) & np.uint32(0x3F)


@kernel
def encode_to(buffer, at, c):
    """Write a character; where the next one goes."""
    if c < 0x80:
        buffer[at] = c
        return at + 1
    if c < 0x800:
        buffer[at] = 0xC0 | c >> 6
        buffer[at + 1] = 0x80 | c & 0x3F
        return at + 2
    if c < 0x10000:
        buffer[at] = 0xE0 | c >> 12
        buffer[at + 1] = 0x80 | c >> 6 & 0x3F
        buffer[at + 2] = 0x80 | c & 0x3F
        return at + 3
    buffer[at] = 0xF0 | c >> 18
    buffer[at + 1] = 0x80 | c >> 12 & 0x3F
    buffer[at + 2] = 0x80 | c >> 6 & 0x3F
    buffer[at + 3] = 0x80 | c & 0x3F
    return at + 4


@kernel
def is_ascii(data, start, stop):
    """Whether all bytes are ASCII."""
    any_high = np.uint8(0)
    for i in range(start, stop):
        any_high |= data[i]
    return any_high < 0x80
