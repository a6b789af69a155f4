// One turn of a real Claude Code CLI, without an account, a network or a token: our scripted Messages API plays the model.
// Shows every line that passes between host and agent. Run it with `node examples/scripted-turn.mjs` after `npm run build`.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { composeAllow, composeRequest, composeUserMessage, decode, encode } from "@signalbox/protocol"
import { claudeEnvironment, openScriptedApi } from "@signalbox/simulator"
import { findClaude, openClaude, TransportError } from "@signalbox/transport"
import { ensureClaude, isInstalled, PINNED } from "../scripts/claude-cli.mjs"

const PINNED_NEWEST = PINNED.at(-1) ?? ""

/** The one that is named; the pinned one if the tests have fetched it; the one on this machine; else the pinned one after all. */
async function pickClaude() {
  if (process.env.CLAUDE_BIN) return findClaude().path
  if (!isInstalled(PINNED_NEWEST)) {
    try {
      return findClaude().path
    } catch (error) {
      if (!(error instanceof TransportError)) throw error
    }
  }
  const { command, args } = await ensureClaude(PINNED_NEWEST)
  return args[0] ?? command
}

/** @param {"→" | "←"} way @param {string} line */
function show(way, line) {
  const width = (process.stdout.columns ?? 120) - 10
  console.log(`${way === "→" ? "host  →" : "agent ←"} ${line.length > width ? `${line.slice(0, width - 1)}…` : line}`)
}

const executable = await pickClaude()
const folder = mkdtempSync(join(tmpdir(), "signalbox-turn-"))
const [home, cwd] = [join(folder, "home"), join(folder, "project")]
for (const each of [home, cwd]) mkdirSync(each)

const api = await openScriptedApi({
  scenario: {
    turns: [
      {
        steps: [
          { say: "I will leave a note." },
          { tool: "Bash", input: { command: "echo 'the signal is clear' > note.txt && cat note.txt" } },
          { say: "The note is written." },
        ],
      },
    ],
  },
})

console.log(`A real CLI (${executable})\nwith a scripted model, in an empty folder, on loopback only.\n`)
const agent = await openClaude({
  executable,
  cwd,
  baseEnv: claudeEnvironment({ home, apiUrl: api.url }),
  flags: { permissionPromptTool: "stdio", settingSources: [] },
})

/** @param {import("@signalbox/protocol").Envelope} message */
async function send(message) {
  const line = encode(message)
  show("→", line)
  await agent.send(line)
}

let succeeded = false
try {
  await send(composeRequest("init-1", { subtype: "initialize" }))
  await send(composeUserMessage("Leave a note that the signal is clear."))
  for await (const line of agent.lines) {
    show("←", line)
    const decoded = decode(line, "agent")
    if (decoded.kind !== "known") continue
    const { message } = decoded
    if (message.type === "control_request" && message.request.subtype === "can_use_tool") {
      await send(composeAllow({ request_id: message.request_id, request: message.request }))
    }
    if (message.type === "result") {
      succeeded = message.subtype === "success"
      agent.endInput()
    }
  }
  const { error } = await agent.closed
  if (error !== undefined) console.error(`\n${error.message}`)
} finally {
  await agent.close("done")
  await api.close()
  rmSync(folder, { recursive: true, force: true })
}
console.log(succeeded ? "\nThe turn succeeded: asked, allowed, run, reported." : "\nThe turn did not succeed.")
process.exitCode = succeeded ? 0 : 1
