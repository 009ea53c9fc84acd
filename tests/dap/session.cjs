// Drives `a4emu debug --dap` and `a4emu pico debug --dap` with the client of @vscode/debugadapter-testsupport, which is what
// VS Code's own adapters are tested with. Arguments: a script that starts the one, one that starts the other, a capture, a
// PicoGpu shader.
const assert = require("node:assert/strict");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

/** Starts an adapter. */
async function start(script) {
  const client = new DebugClient("sh", script, "a4emu", undefined, true);
  client.defaultTimeout = 60000;
  await client.start();
  const { body } = await client.initializeRequest();
  assert.ok(body.supportsStepBack && body.supportsDataBreakpoints && body.supportsDisassembleRequest);
  return client;
}

/** Moves a lane, and gives why it stopped. */
async function go(client, request, threadId) {
  const [event] = await Promise.all([client.waitForEvent("stopped"), client[request]({ threadId })]);
  return event.body;
}

async function begin(client) {
  const [event] = await Promise.all([client.waitForEvent("stopped"), client.configurationDoneRequest()]);
  return event.body;
}

async function top(client, threadId) {
  return (await client.stackTraceRequest({ threadId })).body.stackFrames[0];
}

async function value(client, threadId, expression) {
  const frame = await top(client, threadId);
  return (await client.evaluateRequest({ expression, frameId: frame.id })).body.result;
}

async function variables(client, variablesReference) {
  return (await client.variablesRequest({ variablesReference })).body.variables;
}

async function fragmentShader(script, capture) {
  const client = await start(script);
  await assert.rejects(client.launchRequest({ capture, draw: 99, stage: "fs" }), /no draw 99/);
  const initialized = client.waitForEvent("initialized");
  await client.launchRequest({ capture, draw: 1, stage: "fs", pixel: [100, 100] });
  await initialized;
  const source = { name: "draw 1 FS", sourceReference: 1 };
  const set = await client.setBreakpointsRequest({ source, breakpoints: [{ line: 3 }, { line: 999 }] });
  assert.deepEqual(set.body.breakpoints.map((one) => one.verified), [true, false]);
  let stopped = await begin(client);
  assert.equal(stopped.reason, "entry");

  // Lanes are threads.
  const { threads } = (await client.threadsRequest()).body;
  const here = threads.filter((thread) => thread.name.includes("pixel 100,100"));
  assert.deepEqual([threads.length, here.length], [32, 1]);
  const thread = here[0].id;
  assert.equal(stopped.threadId, thread, "the pixel that was asked for");

  // A breakpoint.
  stopped = await go(client, "continueRequest", thread);
  assert.deepEqual([stopped.reason, stopped.threadId], ["breakpoint", thread]);
  const frame = await top(client, thread);
  assert.deepEqual([frame.line, frame.instructionPointerReference], [3, "0x10"]);

  // Variables.
  const { scopes } = (await client.scopesRequest({ frameId: frame.id })).body;
  assert.deepEqual(scopes.map((scope) => scope.name).slice(0, 3), ["Registers", "Half registers", "Constants"]);
  const registers = await variables(client, scopes[0].variablesReference);
  const named = Object.fromEntries(registers.map((one) => [one.name, one.value]));
  assert.equal(named["r0.z"], await value(client, thread, "r0.z"));
  assert.ok(parseFloat(await value(client, thread, "r0.x")) >= 0, "a barycentric coordinate");
  const inputs = (await variables(client, scopes[4].variablesReference)).map((one) => one.name);
  assert.ok(inputs.includes("r0.x") && inputs.includes("r0.y"), inputs.join());
  const before = await value(client, thread, "r1.x");

  // Forward and back.
  stopped = await go(client, "nextRequest", thread);
  assert.deepEqual([stopped.reason, (await top(client, thread)).line], ["step", 4]);
  const after = await value(client, thread, "r1.x");
  assert.notEqual(after, before, "the third instruction writes r1.x");
  const other = threads.find((other) => other.id !== thread && !other.name.includes("helper"));
  assert.notEqual(await value(client, other.id, "r1.x"), after, "each lane has its own registers");
  await go(client, "stepBackRequest", thread);
  assert.equal((await top(client, thread)).line, 3);
  assert.equal(await value(client, thread, "r1.x"), before);

  // Disassembly, also of what is no program.
  const range = { memoryReference: "0x10", instructionOffset: -3, instructionCount: 5 };
  const rows = (await client.disassembleRequest(range)).body.instructions;
  assert.equal(rows.length, 5);
  assert.equal(rows[0].presentationHint, "invalid");
  assert.ok(rows[1].instruction.startsWith("bary.f r0.z") && rows[1].address === "0x0", JSON.stringify(rows));

  // Memory at the value of a constant or register, and where there is none.
  assert.ok(registers.every((one) => /^0x[0-9a-f]+$/.test(one.memoryReference)), JSON.stringify(registers[0]));
  const read = (memoryReference, count) => client.customRequest("readMemory", { memoryReference, offset: 4, count });
  const nowhere = (await read("0x10", 8)).body;
  assert.deepEqual([nowhere.address, nowhere.data, nowhere.unreadableBytes], ["0x14", "", 8]);
  const program = process.argv[6];
  const held = (await read(program, 8)).body;
  assert.equal(held.address, "0x" + (parseInt(program, 16) + 4).toString(16));
  assert.deepEqual([Buffer.from(held.data, "base64").length, held.unreadableBytes], [8, 0]);
  await assert.rejects(read("nothing", 8), /no such place/);

  // A data breakpoint, to the end, and all the way back.
  const wanted = { name: "r1.y", variablesReference: scopes[0].variablesReference };
  const { dataId } = (await client.dataBreakpointInfoRequest(wanted)).body;
  await client.setDataBreakpointsRequest({ breakpoints: [{ dataId }] });
  stopped = await go(client, "continueRequest", thread);
  assert.equal(stopped.reason, "data breakpoint");
  assert.ok(stopped.text.includes("r1.y"));
  stopped = await go(client, "continueRequest", thread);
  assert.equal(stopped.reason, "end");
  assert.equal(await value(client, thread, "r1.x"), after, "outputs can be read at the end");
  stopped = await go(client, "reverseContinueRequest", thread);
  assert.equal(stopped.reason, "data breakpoint");
  stopped = await go(client, "reverseContinueRequest", thread);
  assert.deepEqual([stopped.reason, (await top(client, thread)).line], ["breakpoint", 3]);
  await client.customRequest("setInstructionBreakpoints", { breakpoints: [{ instructionReference: "0x0", offset: 8 }] });
  await client.setBreakpointsRequest({ source, breakpoints: [] });
  stopped = await go(client, "reverseContinueRequest", thread);
  assert.deepEqual([stopped.reason, (await top(client, thread)).line], ["breakpoint", 2]);

  await assert.rejects(client.evaluateRequest({ expression: "r99.x" }), /r99.x/);
  await assert.rejects(client.customRequest("nonsense"), /nonsense/);
  await client.stop();
}

async function pico(script, shader) {
  const client = await start(script);
  const initialized = client.waitForEvent("initialized");
  await client.launchRequest({ shader });
  await initialized;
  const set = await client.setBreakpointsRequest({ source: { path: shader }, breakpoints: [{ line: 1 }] });
  const [first] = set.body.breakpoints;
  assert.ok(first.verified && first.line > 1, "the first line that is code");
  assert.equal((await begin(client)).reason, "entry");
  assert.deepEqual((await client.threadsRequest()).body.threads.map((thread) => thread.id), [1]);
  assert.equal((await go(client, "continueRequest", 1)).reason, "breakpoint");
  const frame = await top(client, 1);
  assert.deepEqual([frame.line, frame.source.path], [first.line, shader]);
  assert.equal((await go(client, "stepInRequest", 1)).reason, "step");
  await client.stop();
}

async function main([, , debug, picoDebug, capture, shader]) {
  await fragmentShader(debug, capture);
  await pico(picoDebug, shader);
  console.log("ok");
}

main(process.argv).then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
