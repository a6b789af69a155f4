// A program that takes an agent's place where a test must say exactly what it does. It takes one command as a user message.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"

/** @param {unknown} message */
const print = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
/** @type {unknown[]} */
const kept = []

/** @type {Record<string, (...args: string[]) => unknown>} */
const commands = {
  argv: () => print({ type: "argv", argv: process.argv.slice(2) }),
  env: () => print({ type: "env", env: process.env }),
  cwd: () => print({ type: "cwd", cwd: process.cwd() }),
  /** As fast as they are read. */
  async lines(count, size = "0") {
    const filler = "x".repeat(Number(size))
    for (let n = 1; n <= Number(count); n++) {
      const more = process.stdout.write(`${JSON.stringify({ type: "stream_event", n, filler })}\n`)
      if (!more) await once(process.stdout, "drain")
    }
  },
  /** `event` "none": it does not say which. */
  hook: (id, callback = `cb-${id}`, event = "PreToolUse") =>
    print({
      type: "control_request",
      request_id: id,
      request: {
        subtype: "hook_callback",
        callback_id: callback,
        input: {
          ...(event === "none" ? {} : { hook_event_name: event }),
          tool_name: "Bash",
          tool_use_id: `toolu-${id}`,
        },
      },
    }),
  call: (id) =>
    print({ type: "control_request", request_id: id, request: { subtype: "mcp_message", server_name: "tools" } }),
  ask: (id) =>
    print({ type: "control_request", request_id: id, request: { subtype: "can_use_tool", tool_name: "Bash" } }),
  /** The whole set of its background tasks; "ambient" is one that is always there. */
  tasks: (...ids) =>
    print({
      type: "system",
      subtype: "background_tasks_changed",
      tasks: ids.map((id) => ({ task_id: id, task_type: "local_bash", ambient: id === "ambient" })),
    }),
  exit: (code) => process.exit(Number(code)),
  crash: () => process.kill(process.pid, "SIGKILL"),
  stderr: (text) => process.stderr.write(`${text}\n`),
  /** Takes memory and holds on to it. */
  eat: (mb) => kept.push(Buffer.alloc(Number(mb) * 1024 * 1024, 1)),
  stubborn() {
    process.on("SIGTERM", () => print({ type: "term" }))
    stubborn = true
  },
  /** Something of its own that lives on: "group" stays in its group, "away" leaves it. */
  child(where) {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], {
      detached: where === "away",
      stdio: "ignore",
    })
    child.unref()
    print({ type: "child", pid: child.pid })
  },
  /** Does nothing at all for a while, not even read. */
  stall: (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms)),
  deaf: () => process.stdin.destroy(),
  /** Does something after a while, when whoever asked may be gone. */
  later(name, ...rest) {
    print({ type: "later" })
    setTimeout(() => commands[name]?.(...rest), 300)
  },
}

let stubborn = false
// Whoever reads may be gone; a real agent lives on for a while too.
process.stdout.on("error", () => undefined)
const forever = setInterval(() => undefined, 1000)

// A reader that is killed resets the connection; the input has ended then all the same.
process.stdin.on("error", () => undefined)
process.stderr.on("error", () => undefined)
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line)
  if (message.type !== "user") {
    print({ type: "got", message })
    continue
  }
  print({ type: "system", subtype: "init", session_id: "agent-session" })
  const [name, ...rest] = message.message.content.split(" ")
  if (name === "turn") continue
  await commands[name]?.(...rest)
  print({ type: "result", subtype: "success", uuid: message.uuid })
}
print({ type: "input-ended" })
if (!stubborn) clearInterval(forever)
