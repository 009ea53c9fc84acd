"""Drives `a4emu debug --dap` and `a4emu pico debug --dap` with the client library dap-python.

Arguments: the a4emu binary, a capture, a PicoGpu shader. The library checks each message against the
protocol's schema; this checks what is in them.
"""
import subprocess
import sys

from dap import Client


class Adapter:
    """An adapter process with a client of the library in front of it."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.client = Client("a4emu")
        self.seen = []
        self.flush()
        assert self.take("InitializeResponse").body.supportsStepBack

    def flush(self):
        self.process.stdin.write(self.client.send())
        self.process.stdin.flush()

    def take(self, name):
        """The next message of that type; what comes before it is kept."""
        while True:
            for message in self.seen:
                if type(message).__name__ == name:
                    self.seen.remove(message)
                    return message
            data = self.process.stdout.read1(1 << 16)
            assert data, f"the adapter has gone; {name} did not come"
            self.seen.extend(self.client.receive(data))

    def ask(self, name, request, *arguments, **named):
        request(*arguments, **named)
        self.flush()
        return self.take(name).body

    def go(self, name, request, thread):
        """Moves, and gives why it stopped."""
        request(thread)
        self.flush()
        self.take(name)
        return self.take("StoppedEvent")

    def launch(self, **arguments):
        self.client.send_request("launch", arguments)
        self.flush()

    def begin(self):
        self.client.configuration_done()
        self.flush()
        self.take("ConfigurationDoneResponse")
        return self.take("StoppedEvent")

    def frames(self, thread):
        return self.ask("StackTraceResponse", self.client.stack_trace, thread).stackFrames

    def value(self, expression, frame):
        return self.ask("EvaluateResponse", self.client.evaluate, expression, frame).result

    def end(self):
        self.client.disconnect()
        self.flush()
        self.take("DisconnectResponse")
        self.process.stdin.close()
        assert self.process.wait(60) == 0, self.process.returncode


def fragment_shader(binary, capture):
    adapter = Adapter([binary, "debug", "--dap", "-q"])
    client = adapter.client
    adapter.launch(capture=capture, draw=99, stage="fs")
    assert "no draw 99" in adapter.take("ErrorResponse").message
    adapter.launch(capture=capture, draw=1, stage="fs", pixel=[100, 100])
    adapter.take("LaunchResponse")
    adapter.take("InitializedEvent")
    source = {"name": "draw 1 FS", "sourceReference": 1}
    set_ = adapter.ask("SetBreakpointsResponse", client.set_breakpoints, source, [{"line": 3}, {"line": 999}])
    assert [one.verified for one in set_.breakpoints] == [True, False], set_
    stopped = adapter.begin()
    assert stopped.reason == "entry", stopped

    threads = adapter.ask("ThreadsResponse", client.threads).threads
    here = [thread for thread in threads if "pixel 100,100" in thread.name]
    assert len(threads) == 32 and len(here) == 1, threads
    thread = here[0].id
    assert stopped.threadId == thread, "the pixel that was asked for"

    stopped = adapter.go("ContinueResponse", client.continue_, thread)
    assert stopped.reason == "breakpoint" and stopped.threadId == thread, stopped
    frame = adapter.frames(thread)[0]
    assert frame.line == 3 and frame.instructionPointerReference == "0x10", frame

    scopes = adapter.ask("ScopesResponse", client.scopes, frame.id).scopes
    assert [scope.name for scope in scopes][:2] == ["Registers", "Half registers"], scopes
    registers = adapter.ask("VariablesResponse", client.variables, scopes[0].variablesReference).variables
    named = {one.name: one.value for one in registers}
    assert named["r0.z"] == adapter.value("r0.z", frame.id), named
    inputs = adapter.ask("VariablesResponse", client.variables, scopes[4].variablesReference).variables
    assert {"r0.x", "r0.y"} <= {one.name for one in inputs}, inputs
    before = adapter.value("r1.x", frame.id)
    barycentric = adapter.value("r0.x", frame.id)
    assert float(barycentric.split()[0]) >= 0, barycentric

    stopped = adapter.go("NextResponse", client.next, thread)
    assert stopped.reason == "step" and adapter.frames(thread)[0].line == 4, stopped
    after = adapter.value("r1.x", adapter.frames(thread)[0].id)
    assert after != before, "the third instruction writes r1.x"
    other = adapter.value("r1.x", adapter.frames(threads[0].id)[0].id)
    assert other != after or threads[0].id == thread, "each lane has its own registers"

    stopped = adapter.go("StepBackResponse", client.step_back, thread)
    assert adapter.frames(thread)[0].line == 3, stopped
    assert adapter.value("r1.x", adapter.frames(thread)[0].id) == before

    rows = adapter.ask("DisassembleResponse", client.disassemble, "0x10", instruction_offset=-3, instruction_count=5)
    texts = [row.instruction for row in rows.instructions]
    assert len(texts) == 5 and texts[0] == "(no instruction)" and texts[1].startswith("bary.f r0.z"), texts

    info = adapter.ask("DataBreakpointInfoResponse", client.data_breakpoint_info, "r1.y", scopes[0].variablesReference)
    adapter.ask("SetDataBreakpointsResponse", client.set_data_breakpoints, [{"dataId": info.dataId}])
    stopped = adapter.go("ContinueResponse", client.continue_, thread)
    assert stopped.reason == "data breakpoint" and "r1.y" in stopped.text, stopped
    stopped = adapter.go("ContinueResponse", client.continue_, thread)
    assert stopped.reason == "end", stopped
    ended = adapter.frames(thread)[0]
    assert adapter.value("r1.x", ended.id) == after, "outputs can be read at the end"
    stopped = adapter.go("ReverseContinueResponse", client.reverse_continue, thread)
    assert stopped.reason == "data breakpoint", stopped
    stopped = adapter.go("ReverseContinueResponse", client.reverse_continue, thread)
    assert stopped.reason == "breakpoint" and adapter.frames(thread)[0].line == 3, stopped
    wrong = adapter.client.evaluate("r99.x", ended.id)
    adapter.flush()
    assert "r99.x" in adapter.take("ErrorResponse").message and wrong
    adapter.end()


def pico(binary, shader):
    adapter = Adapter([binary, "pico", "debug", "--dap"])
    client = adapter.client
    adapter.launch(shader=shader)
    adapter.take("LaunchResponse")
    adapter.take("InitializedEvent")
    set_ = adapter.ask("SetBreakpointsResponse", client.set_breakpoints, {"path": shader}, [{"line": 1}])
    first = set_.breakpoints[0]
    assert first.verified, set_
    assert adapter.begin().reason == "entry"
    assert [thread.id for thread in adapter.ask("ThreadsResponse", client.threads).threads] == [1]
    assert adapter.go("ContinueResponse", client.continue_, 1).reason == "breakpoint"
    frame = adapter.frames(1)[0]
    assert frame.line == first.line and frame.source.path == shader, frame
    assert adapter.go("NextResponse", client.next, 1).reason == "step"
    adapter.end()


if __name__ == "__main__":
    fragment_shader(sys.argv[1], sys.argv[2])
    pico(sys.argv[1], sys.argv[3])
    print("ok")
