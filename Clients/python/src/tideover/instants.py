"""RFC 3339 times as milliseconds since 1970."""

import datetime
import re

_FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII)
_EPOCH = datetime.datetime(1970, 1, 1)
_MILLISECOND = datetime.timedelta(milliseconds=1)


def instant(text: object) -> int | None:
    """The milliseconds of a time; None for any other text."""
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, sign, hours, minutes = match.groups()[6:]
    if int(hours or 0) > 23 or int(minutes or 0) > 59:
        return None
    try:
        local = datetime.datetime(year, month, day, hour, minute, second) - _EPOCH
    except ValueError:
        return None
    offset = (int(hours or 0) * 60 + int(minutes or 0)) * 60_000
    milliseconds = local // _MILLISECOND + int(((fraction or "") + "000")[:3])
    return milliseconds + offset if sign == "-" else milliseconds - offset
