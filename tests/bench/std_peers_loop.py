"""What std_peers.py and std_sound_peers.py share: calls by name and package, timed one after the other."""
import sys
import time


def seconds(call, duration):
    """The mean, as ours is."""
    call()
    calls, started = 0, time.perf_counter()
    while calls < 3 or time.perf_counter() < started + duration:
        call()
        calls += 1
    return (time.perf_counter() - started) / calls


def serve(calls):
    print("ready", flush=True)
    for line in sys.stdin:
        name, package, duration = line.split()
        print(seconds(calls[name, package], float(duration)), flush=True)
