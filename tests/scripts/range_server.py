#!/usr/bin/env python3
"""A server on 127.0.0.1 that supports ranges and fails on demand, for the tests of data-scripts/.

Usage: range_server.py ROOT FAULTS LOG

Serves the files of ROOT. Logs "METHOD PATH RANGE STATUS ACCEPT-ENCODING" to LOG. Before each answer it reads and
removes the first line of the file FAULTS/PATH, if the file exists: "cut N" sends N bytes and hangs up, "busy" answers
503, "error" 500, "rubbish" sends wrong bytes of the right length, "page" answers 200 with a page of HTML, and "none"
causes no fault.

`storage/v1/b/BUCKET/o` answers as the JSON API of Google Cloud Storage lists a bucket, from ROOT/BUCKET.list.json: a
list of objects with name, size and, most of them, md5Hash. Pages hold three objects and alternate between two ways to
write the same JSON. Pages have no ranges. Prints its port once it listens.
"""

import http.server
import json
import pathlib
import re
import socket
import sys
import threading
from urllib.parse import parse_qs, unquote, urlsplit

PAGE_SIZE = 3
FIELDS = "nextPageToken,items(name,size,md5Hash)"

root, faults, log = map(pathlib.Path, sys.argv[1:4])
lock = threading.Lock()


def token_of(start):
    """Returns a page token. Its last characters must be escaped in a URL."""
    return f"Cg{start}+/=="


def listing(path, query):
    """Returns the status and the body of one page of a bucket's list."""
    source = root / f"{path.split('/')[3]}.list.json"
    if not source.is_file():
        return 404, b'{"error": {"code": 404, "message": "The specified bucket does not exist."}}'
    query = {key: values[0] for key, values in parse_qs(query, strict_parsing=True).items()}
    if query.pop("fields", None) != FIELDS or query.pop("maxResults", None) != "1000":
        return 400, b"{}"
    prefix, token = query.pop("prefix", None), query.pop("pageToken", None)
    items = [item for item in json.loads(source.read_text()) if item["name"].startswith(prefix)]
    items.sort(key=lambda item: item["name"])
    starts = {None: 0} | {token_of(start): start for start in range(PAGE_SIZE, len(items), PAGE_SIZE)}
    if query or token not in starts:
        return 400, b"{}"
    start = starts[token]
    body = {"items": items[start : start + PAGE_SIZE]} if items else {}
    if start + PAGE_SIZE < len(items):
        body["nextPageToken"] = token_of(start + PAGE_SIZE)
    if start // PAGE_SIZE % 2:
        body["items"] = [dict(reversed(item.items())) for item in body["items"]]
        return 200, json.dumps(body, separators=(",", ":")).replace("=", "\\u003d").encode()
    return 200, json.dumps(dict(reversed(body.items())), indent=2).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def next_fault(self, path):
        with lock:
            file = faults / path
            lines = file.read_text().splitlines() if file.is_file() else []
            if lines:
                file.write_text("".join(line + "\n" for line in lines[1:]))
            return lines[0].split() if lines else ["none"]

    def answer(self, status, body, headers=(), cut=None):
        with lock, log.open("a") as out:
            asked = [self.headers.get(name, "-") for name in ("Range", "Accept-Encoding")]
            print(self.command, self.path, asked[0], status, asked[1], file=out)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[:cut])
        if cut is not None:
            self.wfile.flush()
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def do_GET(self):
        url = urlsplit(self.path)
        path = unquote(url.path).lstrip("/")
        kind, *value = self.next_fault(path) if self.command == "GET" else ["none"]
        cut = int(value[0]) if kind == "cut" else None
        if kind == "busy":
            return self.answer(503, b"busy\n")
        if kind == "error":
            return self.answer(500, b"error\n")
        if kind == "page":
            return self.answer(200, b"<html>please log in</html>\n")
        if re.fullmatch(r"storage/v1/b/[a-z0-9_]+/o", path):
            return self.answer(*listing(path, url.query), cut=cut)
        if not (root / path).is_file():
            return self.answer(404, b"not here\n")
        body = (root / path).read_bytes()
        if kind == "rubbish":
            return self.answer(200, bytes(len(body)))
        match = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if not match:
            return self.answer(200, body, [("Accept-Ranges", "bytes")], cut)
        first = int(match[1])
        if first >= len(body):
            return self.answer(416, b"", [("Content-Range", f"bytes */{len(body)}")])
        span = f"bytes {first}-{len(body) - 1}/{len(body)}"
        self.answer(206, body[first:], [("Content-Range", span)], cut)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


# The constructor binds and listens.
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"Serving on 127.0.0.1 port {server.server_port}", flush=True)
server.serve_forever()
