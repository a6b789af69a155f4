import { describe, expect, it } from "vitest"
import { ensureClaude } from "../../../scripts/claude-cli.mjs"
import { claudeVersionsNow } from "../../../test/gate.ts"
import { environment, folder, run, startHub } from "./signalbox-process.ts"

const POLL = { timeout: 60_000, interval: 200 }
/** The CLI must not leave this machine. */
const LOOPBACK = {
  HTTPS_PROXY: "http://127.0.0.1:9",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
}

describe.each(claudeVersionsNow)("claude %s without an account", (version) => {
  it("[CL55] is shown as failed, with what to do", async () => {
    const { command, args } = await ensureClaude(version)
    const env = { ...LOOPBACK, HOME: folder(), CLAUDE_BIN: args[0] ?? command }
    const hub = await startHub("runner", { env })
    const { id } = await hub.json("new", "--cwd", folder(), "--prompt", "hello")
    const row = async () => (await hub.run(["ls", "--all"])).stdout
    await expect.poll(row, POLL).toMatch(/\bfailed\b.*Not signed in\. On its machine, run claude, then \/login\./)
    expect((await hub.run(["ls", "--state", "failed"])).stdout).toContain(String(id).slice(0, 8))
    expect((await hub.run(["log", String(id)])).stdout).toMatch(/turn: failed \(not signed in: run claude/)
    expect((await hub.call("GET", `/api/sessions/${id}`)).state).toMatch(/^(?:idle|ended)$/)
    const alone = await run(["run", "hello", "--cwd", folder()], { env: environment(env) })
    expect([alone.code, alone.stderr]).toEqual([
      1,
      expect.stringContaining("signalbox: not signed in: run claude, then /login"),
    ])
  })
})
