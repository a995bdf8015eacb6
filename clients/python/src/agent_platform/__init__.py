"""A client of Agent Platform."""

from . import models
from ._client import Client, each
from ._transport import ApiError, Event

__all__ = ["ApiError", "Client", "Event", "each", "models"]
