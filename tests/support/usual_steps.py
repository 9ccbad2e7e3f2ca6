"""Which steps of one trace count, by the rule of METRICS 10, written a second time: periods of most, or else spans; without warm-up at
the start and without rare long ones, unless there are two kinds of steps."""
import dataclasses
import math
import statistics


def most_regular(times):
    middle = statistics.median(times)
    spread = 1.4826 * statistics.median([abs(time - middle) for time in times])
    return middle + max(5 * spread, 0.2 * middle)


@dataclasses.dataclass
class Usual:
    counted: list  # places in the sample
    rare: list
    warm_up: int
    slow_from: object = None


def usual(times):
    warm_up = 0
    while warm_up + 1 < len(times) and times[warm_up] > most_regular(times[warm_up + 1:]):
        warm_up += 1
    places = range(warm_up, len(times))
    ordered = sorted(times[warm_up:])
    least = max(2, math.ceil(0.2 * len(ordered)))
    gaps = [(above / max(below, 1), above) for number, (below, above) in enumerate(zip(ordered, ordered[1:]), 1)
            if number >= least and len(ordered) - number >= least and above > 1.3 * max(below, 1)]
    if gaps:
        return Usual(list(places), [], warm_up, max(gaps, key=lambda gap: gap[0])[1])
    limit = most_regular(times[warm_up:])
    if sum(time > limit for time in ordered) >= least:
        return Usual(list(places), [], warm_up)
    return Usual([i for i in places if times[i] <= limit], [i for i in places if times[i] > limit], warm_up)


def counted(spans, periods):
    """(places of the steps that count, whether by period); a step without a period has None."""
    followed = [i for i, period in enumerate(periods) if period is not None]
    by_period = followed and 2 * len(followed) >= len(periods)
    sample = followed if by_period else range(len(spans))
    found = usual([periods[i] if by_period else spans[i] for i in sample])
    return [sample[i] for i in found.counted], bool(by_period)
