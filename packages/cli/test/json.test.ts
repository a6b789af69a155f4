import { readFileSync } from "node:fs"
import { join } from "node:path"
import { LAUNCH_MODES, MACHINE_MODE } from "@signalbox/protocol/launch-options"
import { EFFORT_LEVELS, PERMISSION_MODES } from "@signalbox/protocol/schemas"
import { describe, expect, it } from "vitest"
import { EFFORTS } from "../src/commands/sessions.ts"
import { exitOf, folder, run, start, startHub } from "./signalbox-process.ts"

const POLL = { timeout: 60_000, interval: 100 }

describe("--json", () => {
  it("[CL53] prints data and nothing else, also where there is little to tell", async () => {
    const hub = await startHub("runner")
    const { id } = await hub.json("new", "--agent", "simulator", "--cwd", folder(), "--prompt", "hello")
    await expect.poll(async () => (await hub.call("GET", `/api/sessions/${id}`)).turns, POLL).toBe(1)
    expect(await hub.json("interrupt", id)).toEqual({ session: id, interrupted: true })
    const html = join(folder(), "page.html")
    expect(await hub.json("export", id, "--html", html)).toEqual({ session: id, html })
    expect(readFileSync(html, "utf8")).toContain("<html")
    expect((await hub.run(["export", id, "--html", "-", "--json"])).code).toBe(2)
    const watching = start(["attach", id, "--json", "--data", hub.data])
    // It begins at the live edge, and nothing tells when it is there: so a message is sent until one is seen.
    const seen = () => watching.lines.some((line) => JSON.parse(line).message.type === "result")
    const sends = async () => (await hub.json("send", id, "again"), seen())
    await expect.poll(sends, { timeout: 50_000, interval: 1_000 }).toBe(true)
    expect(await hub.json("stop", id)).toEqual({ stopped: [id] })
    expect(await exitOf(watching)).toBe(0)
    const { id: token } = await hub.json("token", "create", "--role", "viewer")
    expect(await hub.json("token", "revoke", token)).toMatchObject({ id: token, revokedAt: expect.any(String) })
    const { token: secret } = await hub.json("token", "create", "--role", "runner")
    const args = ["runner", "--hub", hub.url, "--name", "attic", "--json", "--data", folder()]
    const runner = start(args, { SIGNALBOX_TOKEN: secret })
    await expect.poll(() => runner.lines.length, POLL).toBe(1)
    expect(JSON.parse(runner.lines[0] ?? "")).toMatchObject({ event: "ready", name: "attic", hub: hub.url })
    runner.child.kill("SIGTERM")
    expect(await exitOf(runner)).toBe(0)
    const printed = async (...words: string[]) => JSON.parse((await run([...words, "--json"])).stdout)
    expect(await printed("completion", "bash")).toMatchObject({
      shell: "bash",
      script: expect.stringContaining("signalbox"),
    })
    expect(await printed("shim")).toEqual({ path: expect.stringContaining("signalbox-shim") })
    expect((await printed("sim", "--list")).scenarios[0]).toMatchObject({ name: expect.any(String) })
  }, 180_000)
})

describe("--mode", () => {
  it("[CL54] a mode that does not exist is refused before anything is started", async () => {
    for (const words of [["new"], ["run", "hello"], ["loop", "do it"]]) {
      const { code, stderr } = await run([...words, "--mode", "bogus"], { env: { SIGNALBOX_DATA: folder() } })
      expect([code, stderr]).toEqual([2, `signalbox: --mode bogus: choose one of ${LAUNCH_MODES.join(", ")}\n`])
    }
  })

  it("[CL54] the modes are those of the schemas, and the machine's own", () => {
    const known = new Set(Object.values(PERMISSION_MODES).flatMap((modes) => [...modes]))
    expect([...LAUNCH_MODES].toSorted()).toEqual([...known, MACHINE_MODE].toSorted())
  })
})

describe("--effort", () => {
  it("[CL64] an effort that does not exist is refused with the choices, before anything is started", async () => {
    const { code, stderr } = await run(["new", "--effort", "bogus"], { env: { SIGNALBOX_DATA: folder() } })
    expect([code, stderr]).toEqual([2, `signalbox: --effort bogus: choose one of ${EFFORT_LEVELS.join(", ")}\n`])
    expect(EFFORTS).toEqual(EFFORT_LEVELS)
  })
})
