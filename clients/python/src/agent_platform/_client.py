from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ._operations import Operations


class Client(Operations):
    """Talks to one platform with one API key. Use it as a context manager, or call `close`."""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def each(operation: Callable[..., Any], *args: Any, **query: Any) -> Iterator[Any]:
    """Yield every record of a list, page by page: `each(platform.list_work_items, status="ERROR")`."""
    while True:
        page = operation(*args, **query)
        yield from page.get("data", page.get("records", page.get("rows", [])))
        if page.get("has_more"):
            query["next"] = page["next"]
        elif page.get("next_offset") is not None:
            query["offset"] = page["next_offset"]
        else:
            return
