"""A process that has imported the library and forks itself: a start costs no imports.

A request on the socket is JSON, ``{"before": code, "code": code, "arguments": [...]}``, with the
files that become the standard input, output and error of the fork. The server runs the code
"before" once for each text, the fork runs the other. The answer is the number of the process.
The request ``{"wait": pid}`` is answered with the exit code when that process has ended.
"""

import json
import os
import socket
import sys


def serve(connection: socket.socket) -> None:
    """Answer requests until the other side closes the connection."""
    prepared = set()
    while True:
        message, files, _, _ = socket.recv_fds(connection, 1 << 16, 3)
        if not message:
            return
        request = json.loads(message)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            connection.send(str(os.waitstatus_to_exitcode(status)).encode())
            continue
        if request["before"] not in prepared:
            exec(request["before"], {})
            prepared.add(request["before"])
        if not (pid := os.fork()):
            connection.close()
            for number, file in enumerate(files):
                os.dup2(file, number)
                os.close(file)
            sys.argv[1:] = request["arguments"]
            exec(request["code"], {"__name__": "__main__"})
            return
        for file in files:
            os.close(file)
        connection.send(str(pid).encode())


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        serve(connection)
