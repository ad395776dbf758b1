"""Waiting for native operations, in a thread and in an event loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recoup._native import Operation


async def finish(operation: Operation) -> Any:
    """Wait for an operation in the running event loop; cancelling the task cancels the operation."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ended.done():
            ended.set_result(None)

    def report() -> None:
        # A loop that has been closed has no one left to wake.
        if not loop.is_closed():
            loop.call_soon_threadsafe(wake)

    operation.add_done_callback(report)
    try:
        await ended
    except asyncio.CancelledError:
        operation.cancel()
        raise
    return operation.take()
