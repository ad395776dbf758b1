"""An operator made of python-ndn: asks a forwarder about itself, and changes it."""

import asyncio
import logging

from ndn.app import NDNApp
from ndn.app_support import nfd_mgmt
from ndn.app_support.segment_fetcher import segment_fetcher
from ndn.encoding import Name, TlvModel
from ndn.security import KeychainDigest
from ndn.security.validator.digest_validator import sha256_digest_checker

import consume
import lines
from consume import face_for

DATASETS = {
    "status/general": nfd_mgmt.GeneralStatus,
    "faces/list": nfd_mgmt.FaceStatusMsg,
    "fib/list": nfd_mgmt.FibStatus,
    "rib/list": nfd_mgmt.RibStatus,
    "strategy-choice/list": nfd_mgmt.StrategyChoiceMsg,
}


def plain(value):
    """A record as JSON: names as URIs, enumerations by their names."""
    if isinstance(value, TlvModel):
        fields = {field.name: getattr(value, field.name) for field in value._encoded_fields}
        named = {"name": Name.to_str(fields["name"])} if fields.get("name") is not None else {}
        return {key: plain(field) for key, field in fields.items() if key != "name"} | named
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, (memoryview, bytes, bytearray)):
        return bytes(value).decode()
    if value is None or isinstance(value, (int, str)):
        return value
    return getattr(value, "name", None) or str(value)


async def run(request, work):
    """Connects, works and disconnects."""
    app = NDNApp(face=face_for(request["face"]), keychain=KeychainDigest())
    result = {}

    async def then():
        try:
            result["answer"] = await work(app)
        except Exception as error:  # every failure is an answer that the test can show
            result["answer"] = {"error": f"{type(error).__name__}: {error}"}
        app.shutdown()

    await app.main_loop(then())
    return result["answer"]


async def status(request):
    """What a dataset says."""

    async def work(app):
        name = Name.from_str(f"/localhost/nfd/{request['dataset']}")
        pieces = segment_fetcher(app, name, validator=sha256_digest_checker)
        content = b"".join([bytes(piece) async for piece in pieces])
        return plain(DATASETS[request["dataset"]].parse(content))

    return await run(request, work)


async def command(request):
    """Gives a command; with `in_name` signed in its name, as packet format v0.2 has it."""

    async def work(app):
        parameters = dict(request["parameters"])
        for key in ("name", "strategy"):
            if key in parameters:
                parameters[key] = Name.from_str(parameters[key])
        module, verb = request["verb"].split("/")
        if request.get("in_name"):
            name = nfd_mgmt.make_command(module, verb, app.face, **parameters)
            _, _, content = await app.express_interest(name, lifetime=4000, can_be_prefix=True, must_be_fresh=True)
            answer = nfd_mgmt.parse_response(content)
        else:
            answer = await consume.command(app, module, verb, **parameters)
        return {"statusCode": answer["status_code"], "statusText": plain(answer["status_text"])}

    return await run(request, work)


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    asyncio.run(lines.serve({"status": status, "command": command}))
