"""The image, built once."""

import oci
import pytest


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """An oci.Image, and what scripts/image printed."""
    return oci.build(tmp_path_factory.mktemp("image"))


@pytest.fixture(scope="session")
def image(built):
    return built[0]
