"""A KeyboardInterrupt at every place of a call where Python code begins to run."""

import gc
import sys


def lost_interruptions(call):
    """Return the places of a call in which an interruption is lost, or becomes another error."""
    call()  # what is made once is made
    places = sorted(_run(call, None)[0])
    assert len(places) > 100
    return [place for place in places if not _run(call, place)[1]]


def _run(call, target):
    """Return the places of a call, and whether it ends with the interruption in one of them."""
    seen = set()

    def look(frame, event, argument):
        caller = frame.f_back
        if event == "call" and caller is not None:
            code, line = frame.f_code, caller.f_lineno
            place = code.co_filename, code.co_qualname, caller.f_code.co_qualname, line
            if place == target and place not in seen:
                seen.add(place)
                raise KeyboardInterrupt
            seen.add(place)

    gc.disable()  # it calls Python code at any place, and Python only reports its errors
    sys.setprofile(look)
    try:
        call()
    except KeyboardInterrupt:
        return seen, True
    except Exception:
        return seen, False
    finally:
        sys.setprofile(None)
        gc.enable()
    return seen, target not in seen  # a place that is not always reached
