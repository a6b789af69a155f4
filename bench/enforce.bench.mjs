// How much longer a tool call takes when the policy judges it: from the agent's hook to the hub's answer on its input, through
// a runner and a hub of their own, all on this machine.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { call, here, startHub } from "./hub-process.mjs"
import { figureOf } from "./measure.mjs"

const CALLS = 2_000
const ROUNDS = 5
const MOST_MS = 5
const SIGNALBOX = here("../packages/cli/bin/signalbox.mjs")
const RULES = Array.from({ length: 100 }, (_, n) => ({
  id: `r${n}`,
  effect: n % 2 === 0 ? "deny" : "ask",
  tool: "Bash",
  input: { command: `forbidden-${n} *` },
}))

/** Speaks as much of an agent's wire as it takes to call hooks, one after the other, and to tell how long each took. */
const AGENT = `
  const say = (message) => process.stdout.write(JSON.stringify(message) + "\\n")
  const waiting = new Map()
  let turn = 0
  async function calls() {
    const took = []
    turn += 1
    for (let n = 0; n < ${CALLS}; n++) {
      const id = "tool-" + turn + "-" + n
      const input = { command: "npm run build -- --filter=package-" + n, description: "Build a package" }
      say({ type: "assistant", uuid: id, session_id: "bench", message: { role: "assistant", content: [{ type: "tool_use", id, name: "Bash", input }] } })
      const began = performance.now()
      const answer = new Promise((resolve) => waiting.set(id, resolve))
      say({ type: "control_request", request_id: id, request: { subtype: "hook_callback", callback_id: "hub-hook:PreToolUse",
        input: { hook_event_name: "PreToolUse", permission_mode: "default", cwd: process.cwd(), tool_name: "Bash", tool_input: input, tool_use_id: id } } })
      await answer
      took.push(performance.now() - began)
    }
    took.sort((one, other) => one - other)
    const at = (part) => took[Math.floor(part * took.length)]
    say({ type: "result", subtype: "success", uuid: "result-" + turn, session_id: "bench", result: JSON.stringify([at(0.5), at(0.99)]) })
  }
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const message = JSON.parse(line)
    if (message.type === "control_response") waiting.get(message.response.request_id)?.()
    if (message.type === "control_request") say({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response: {} } })
    if (message.type === "user") calls()
  })`

/** @param {() => Promise<boolean>} condition */
async function until(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** Medians and 99th percentiles, in milliseconds, of several rounds. */
async function measure() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-enforce-"))
  const claude = join(folder, "claude")
  writeFileSync(join(folder, "agent.cjs"), AGENT)
  const run = `exec "${process.execPath}" "${join(folder, "agent.cjs")}"`
  writeFileSync(claude, `#!/bin/sh\n[ "$1" = --version ] && echo 2.1.325 && exit\n${run}\n`, { mode: 0o755 })
  const hub = await startHub()
  await fetch(`${hub.url}/api/policy`, {
    method: "PUT",
    headers: { authorization: `Bearer ${hub.token}`, "content-type": "application/json" },
    body: JSON.stringify({ rules: RULES, enforce: "everything" }),
  })
  const { token } = await call(hub, "/api/tokens", { role: "runner", name: "bench" })
  const args = [SIGNALBOX, "runner", "--hub", hub.url, "--data", join(folder, "runner")]
  const env = { ...process.env, SIGNALBOX_TOKEN: token, CLAUDE_BIN: claude }
  const runner = spawn(process.execPath, args, { stdio: "ignore", env })
  await until(async () => (await call(hub, "/api/runners")).runners.some((/** @type {any} */ each) => each.connected))
  const { id } = await call(hub, "/api/sessions", { agent: "claude", cwd: folder })
  /** @type {[median: number, p99: number][]} */
  const rounds = []
  // The first round warms up and does not count.
  for (let round = 1; round <= ROUNDS + 1; round++) {
    await call(hub, `/api/sessions/${id}/messages`, { content: "go" })
    await until(async () => (await call(hub, `/api/sessions/${id}`)).turns === round)
    const { lastSeq } = await call(hub, `/api/sessions/${id}`)
    const { events } = await call(hub, `/api/sessions/${id}/events?before=${lastSeq + 1}&limit=10`)
    const result = events.findLast((/** @type {any} */ event) => event.message.type === "result")
    if (round > 1) rounds.push(JSON.parse(result.message.result))
  }
  const exited = once(runner, "exit")
  runner.kill("SIGTERM")
  await exited
  await hub.stop()
  for (const left of [folder, hub.data]) rmSync(left, { recursive: true, force: true, maxRetries: 5 })
  return rounds
}

export async function figures() {
  const rounds = await measure()
  // One round as it was: a call is as slow on an ordinary day, and the best of several days tells nobody that.
  const [middle, p99] = rounds.sort((a, b) => a[1] - b[1])[Math.floor(rounds.length / 2)] ?? [Number.NaN, Number.NaN]
  return [
    figureOf({
      title: `a tool call that the policy judges (${RULES.length} rules): 99th percentile of what it adds in the median round, against ${MOST_MS} ms`,
      unit: "ms",
      atMost: 1,
      rows: [
        { name: "p99", value: p99 },
        { name: "median", value: middle },
        { name: "at most", value: MOST_MS },
      ],
    }),
  ]
}
