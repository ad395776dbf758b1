"""A WebDAV server for tests that write what they read: writing methods change a folder, all others go to a gateway.

Usage: writable.py GATEWAY PREFIX FOLDER, as 127.0.0.1:8080 /ndn/site /tmp/site. Prints its port as JSON.
"""

import http.client
import http.server
import json
import os
import shutil
import sys
import urllib.parse

GATEWAY, PREFIX, FOLDER = sys.argv[1:]
# Of one connection alone (RFC 9110, section 7.6.1), or written by this server.
OWN = {"connection", "keep-alive", "te", "transfer-encoding", "date", "server"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, fields=(), body=b""):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in fields):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def path_of_file(self):
        path = urllib.parse.unquote(self.path.removeprefix(PREFIX))
        return FOLDER + path.rstrip("/")

    def forward(self):
        body = self.body()
        connection = http.client.HTTPConnection(GATEWAY, timeout=90)
        fields = {name: value for name, value in self.headers.items() if name.lower() not in OWN | {"host"}}
        connection.request(self.command, self.path, body or None, fields)
        found = connection.getresponse()
        content = found.read()
        kept = [(name, value) for name, value in found.getheaders() if name.lower() not in OWN]
        self.answer(found.status, kept, content)
        connection.close()

    do_GET = do_HEAD = do_OPTIONS = do_PROPFIND = do_PROPPATCH = do_LOCK = do_UNLOCK = do_COPY = do_MOVE = forward

    def do_PUT(self):
        body, file = self.body(), self.path_of_file()
        if os.path.isdir(file) or not os.path.isdir(os.path.dirname(file)):
            return self.answer(409)
        is_new = not os.path.exists(file)
        with open(file, "wb") as target:
            target.write(body)
        return self.answer(201 if is_new else 204)

    def do_MKCOL(self):
        body, folder = self.body(), self.path_of_file()
        if body:
            return self.answer(415)
        if os.path.exists(folder):
            return self.answer(405)
        if not os.path.isdir(os.path.dirname(folder)):
            return self.answer(409)
        os.mkdir(folder)
        return self.answer(201)

    def do_DELETE(self):
        self.body()
        file = self.path_of_file()
        if "#" in self.path or not os.path.exists(file):
            return self.answer(404)
        shutil.rmtree(file) if os.path.isdir(file) else os.unlink(file)
        return self.answer(204)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
