from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_data():
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}")
    return folder
