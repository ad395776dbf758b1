"""Speaks with the test: a JSON object per line asks, a JSON object per line answers."""

import asyncio
import json
import sys


async def serve(handlers):
    """Answers until the end of the input; `handlers` maps the member "do" to an async function."""
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        request = json.loads(line)
        try:
            answer = await handlers[request["do"]](request)
        except Exception as error:  # every failure is an answer that the test can show
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
