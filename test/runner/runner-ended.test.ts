import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { runnerEndings } from "../gate.ts"
import { Machine } from "./runner-process.ts"

const SCENARIO: Scenario = {
  turns: [
    { on: "ask", steps: [{ tool: "Bash", input: { command: "npm run nothing", description: "run it" } }] },
    { on: "speak", repeat: true, steps: [{ say: "Spoken." }] },
  ],
}

let machine: Machine | undefined

afterEach(async () => {
  await machine?.dispose()
  machine = undefined
})

async function nothingIsLeft(on: Machine): Promise<void> {
  await expect.poll(() => on.processes(), { timeout: 60_000, interval: 50 }).toEqual([])
}

describe.each(runnerEndings)("a runner that ends by %s, with the real CLI on it", (signal) => {
  it("[RU40] leaves nothing running after its next start, and its session is resumed by the next message", async () => {
    const on = await Machine.open({ scenario: SCENARIO, claude: "2.1.325" })
    machine = on
    const { id } = await on.launch({ prompt: "speak", permissionMode: "acceptEdits" })
    await expect.poll(async () => (await on.session(id)).turns, { timeout: 60_000 }).toBe(1)
    await on.say(id, "ask")
    await on.isIn(id, "waiting")
    const [ask] = (await on.hub.get(`/api/asks?state=pending&session=${id}`)).asks
    expect(on.processes().length).toBeGreaterThan(0)
    await on.endRunner(signal)
    if (signal === "SIGTERM") await nothingIsLeft(on)
    await on.startRunner()
    await nothingIsLeft(on)
    await on.isIn(id, "ended")
    expect((await on.session(id)).exit.reason).toContain(signal === "SIGTERM" ? "stopped" : "killed")
    expect(await on.hub.get(`/api/asks/${ask.id}`)).toMatchObject({ state: "orphaned" })

    const before = await on.session(id)
    await on.say(id, "speak")
    await expect.poll(async () => (await on.session(id)).turns, { timeout: 60_000 }).toBe(before.turns + 1)
    await on.isIn(id, "idle")
    const { agentSessionId, cwd, permissionMode, state } = await on.session(id)
    expect({ agentSessionId, cwd, permissionMode, state }).toEqual({
      agentSessionId: before.agentSessionId,
      cwd: on.cwd,
      permissionMode: "acceptEdits",
      state: "idle",
    })
  }, 300_000)
})

describe("agents of other kinds", () => {
  it("[RU41] the program that somebody names is run with its leading arguments, the runner's flags and its own", async () => {
    const on = await Machine.open({ scenario: SCENARIO })
    machine = on
    const program = join(on.cwd, "agent.mjs")
    writeFileSync(
      program,
      `process.stdout.write(JSON.stringify({ type: "system", subtype: "seen", uuid: "u-1", argv: process.argv.slice(2), token: process.env.SIGNALBOX_TOKEN ?? null, extra: process.env.EXTRA }) + "\\n")
       process.stdin.resume().on("end", () => process.exit(0))`,
    )
    const command = [process.execPath, program, "leading"]
    const { id } = await on.launch({ agent: { command }, args: ["--last"], env: { EXTRA: "yes" } })
    const seen = async () => (await on.events(id)).find(({ message }) => message.subtype === "seen")?.message
    await expect.poll(seen, { timeout: 60_000 }).toMatchObject({ token: null, extra: "yes" })
    const { argv } = await seen()
    expect([argv[0], argv.at(-1)]).toEqual(["leading", "--last"])
    await on.hub.call("DELETE", `/api/sessions/${id}`)
    await nothingIsLeft(on)
  })
})
