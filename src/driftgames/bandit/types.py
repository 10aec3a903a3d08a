"""The types that the modules of this package share."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np
import numpy.typing as npt

from driftgames.core.typing import FloatArray

Arm = Hashable
"""The name of an arm."""

ArmArray = npt.NDArray[np.int32]
"""The index of the arm that was drawn in each round."""

Rounds = npt.NDArray[np.int64]

Respond = Callable[[float, FloatArray, FloatArray], None]
"""``respond(t, p, losses)``: an adversary that sees the distribution writes its losses."""

Addresses = tuple[int, int]
"""The addresses of a generator: `driftgames.bandit.engines.uniform_kernels.addresses_of`."""

Replay = Callable[[FloatArray, Addresses, ArmArray, FloatArray], None]
"""``replay(losses, addresses, drawn, paid)``: play the rows, write the arms and their losses."""
