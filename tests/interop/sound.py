# SPDX-License-Identifier: MIT
"""Sound for the tests: a source that can be told apart at every moment, and how
alike two recordings are."""
import array
import math
import operator
import wave

RATE = 8000
ENVELOPE = 80  # samples per point of the coarse view: 10 ms
WINDOW = RATE // 2


def read(path):
    with wave.open(str(path)) as sound:
        assert sound.getnchannels() == 1 and sound.getframerate() == RATE
        return array.array("h", sound.readframes(sound.getnframes()))


def write(path, samples):
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes(array.array("h", samples).tobytes())


def sweeps(seconds):
    """Bursts of 1.2 s, each sweeping at its own speed after its own gap."""
    samples = array.array("h", bytes(2 * RATE * seconds))
    start = burst = 0
    while start < len(samples) - 4 * RATE:
        start += RATE + RATE * (burst * 7 % 11) // 10
        phase, pitch = 0.0, 300.0
        for i in range(12 * RATE // 10):
            phase += 2 * math.pi * pitch / RATE
            pitch += 0.1 + 0.025 * (burst % 7)
            samples[start + i] = int(9000 * math.sin(phase))
        start, burst = start + 12 * RATE // 10, burst + 1
    return samples


def dot(left, right):
    return sum(map(operator.mul, left, right))


def likeness(left, right):
    """Normalised correlation, -1 to 1."""
    energy = math.sqrt(dot(left, left)) * math.sqrt(dot(right, right))
    return dot(left, right) / energy if energy else 0.0


def envelope(samples):
    return [sum(map(abs, samples[at:at + ENVELOPE])) // ENVELOPE
            for at in range(0, len(samples) - ENVELOPE, ENVELOPE)]


def offset(reference, heard):
    """Samples, to 10 ms, that heard is behind the reference as a whole."""
    mean = sum(reference) / (len(reference) or 1)
    loud = [value - mean for value in reference]

    def score(lag):
        at = max(0, -lag)
        return dot(loud[at:], heard[max(0, lag):])
    return max(range(-len(reference) // 2, len(heard)), key=score) * ENVELOPE


def search(window, heard, places):
    """(likeness, place) of the best of the places in heard."""
    return max(((likeness(window, heard[at:at + WINDOW]), at)
                for at in places if 0 <= at <= len(heard) - WINDOW),
               default=(0.0, 0))


def far(part, loud):
    """Where in the envelope loud it may be: the four likeliest places."""
    ranked = sorted(((likeness(part, loud[at:at + len(part)]), at)
                     for at in range(len(loud) - len(part))), reverse=True)
    return [at * ENVELOPE for _, at in ranked[:4]]


def loud_parts(loud):
    """Where in an envelope it is loud for half a second: 12 places or fewer."""
    floor = max(loud, default=0) // 8
    length = WINDOW // ENVELOPE
    places = [at for at in range(0, len(loud) - length, length)
              if sum(point >= floor for point in loud[at:at + length]) >=
              0.6 * length]
    return places[::len(places) // 12 + 1]


def find(window, heard, centre, all_loud):
    """(likeness, place) where it is expected, then 0.2 s to either side, for
    a jitter buffer moves, then anywhere, for a busy machine stalls."""
    found = search(window, heard, range(centre - 8, centre + 8))
    if found[0] < 0.9:
        found = search(window, heard, range(centre - 1600, centre + 1600))
    if found[0] < 0.9:
        found = max(found, *(
            search(window, heard, range(place - ENVELOPE, place + ENVELOPE))
            for place in far(envelope(window), all_loud)))
    return found


def match(reference, heard):
    """How well each of some loud half seconds of the reference is found."""
    loud, all_loud = envelope(reference), envelope(heard)
    lag = offset(loud, all_loud)
    found = []
    for part in loud_parts(loud):
        start = part * ENVELOPE
        value, at = find(reference[start:start + WINDOW], heard, start + lag,
                         all_loud)
        if value > 0.9:
            lag = at - start
        found.append(value)
    return found
