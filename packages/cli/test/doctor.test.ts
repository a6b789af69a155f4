import { chmodSync, mkdirSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { canDial } from "../src/base/installed.ts"
import { checkClock, checkNode, checkSignIn } from "../src/doctor/machine-checks.ts"
import { exitOf, folder, run, start, startHub } from "./signalbox-process.ts"

interface Report {
  readonly ok: boolean
  readonly checks: readonly {
    readonly name: string
    readonly state: string
    readonly found: string
    readonly todo?: string
  }[]
}

const NAMES = "node claude sign-in port data database disk clock hub store runner tokens".split(" ")

/** A machine with a `claude` of this version. */
function machine(version: string): { readonly bin: string; readonly env: NodeJS.ProcessEnv } {
  const place = folder()
  const bin = join(place, "claude")
  writeFileSync(bin, `#!/bin/sh\necho "${version} (Claude Code)"\n`)
  chmodSync(bin, 0o755)
  return { bin, env: { CLAUDE_BIN: bin, HOME: place } }
}

describe("signalbox doctor", () => {
  it("[CL27] finds a machine well on which everything is there", async () => {
    const { bin, env } = machine("2.1.325")
    const secret = "sk-ant-never-shown"
    const hub = await startHub("runner", { env: { ...env, ANTHROPIC_API_KEY: secret } })
    // Its runner is on its way.
    await hub.json("new", "--agent", "simulator", "--cwd", folder())
    // The shell has neither: agents run where their runner does.
    const told = await run(["doctor", "--json", "--data", hub.data], { env: { CLAUDE_BIN: join(bin, "missing") } })
    const report: Report = JSON.parse(told.stdout)
    expect(report.checks.filter(({ state }) => state === "wrong")).toEqual([])
    expect(report.checks.map(({ name }) => name)).toEqual(NAMES)
    expect(told.code).toBe(0)
    const found = Object.fromEntries(report.checks.map((check) => [check.name, check.found]))
    expect(found["claude"]).toMatch(new RegExp(`^2\\.1\\.325 at ${bin} on `))
    expect(found["sign-in"]).toBe("by the variable ANTHROPIC_API_KEY")
    expect(found["hub"]).toBe(`${hub.url}, your role: admin`)
    expect(found["store"]).toMatch(/^[\d.]+ [kM]B \(.+ free\), search index .+; \d+ events?$/)
    expect(found["runner"]).toMatch(/\((?:0 agents|1 agent)\)$/)
    expect(told.stdout).not.toContain(secret)
    expect(told.stdout).not.toContain(hub.token)
  })

  it("[CL58] checks the environment of the runner, not of this shell, and lists machines that are away", async () => {
    const { env } = machine("2.1.325")
    const hub = await startHub("runner", { env: { HOME: folder(), CLAUDE_BIN: "/no/such/claude" } })
    await hub.json("new", "--agent", "simulator", "--cwd", folder())
    const { token } = await hub.json("token", "create", "--role", "runner")
    const attic = start(["runner", "--hub", hub.url, "--name", "attic", "--data", folder()], { SIGNALBOX_TOKEN: token })
    await expect.poll(() => attic.said(), { timeout: 60_000 }).toContain("Connected to")
    attic.child.kill("SIGTERM")
    await exitOf(attic)
    const told = await run(["doctor", "--json", "--data", hub.data], { env: { ...env, ANTHROPIC_API_KEY: "sk-x" } })
    const report: Report = JSON.parse(told.stdout)
    const checks = Object.fromEntries(report.checks.map((check) => [check.name, check]))
    expect(checks["claude"]).toMatchObject({ state: "wrong", found: expect.stringContaining("/no/such/claude") })
    expect(checks["sign-in"]).toMatchObject({
      state: "wrong",
      found: expect.stringContaining("no credentials or key on "),
    })
    expect(checks["runner"]).toMatchObject({
      state: "note",
      found: expect.stringMatching(/; disconnected: attic \(seen .* ago\)$/),
    })
    expect(told.code).toBe(1)
  })

  it("[CL27] says what is wrong and how to mend it, and exits 1", async () => {
    const data = folder()
    chmodSync(data, 0o755)
    writeFileSync(join(data, "admin-token"), "sbx_x\n", { mode: 0o644 })
    const told = await run(["doctor", "--data", data], { env: { CLAUDE_BIN: join(data, "missing") } })
    expect(told.code).toBe(1)
    const lines = told.stdout.trim().split("\n")
    expect(lines.filter((line) => line.startsWith("wrong")).map((line) => line.split(/ +/)[1])).toEqual([
      "claude",
      "sign-in",
      "data",
      "tokens",
    ])
    expect(told.stdout).toContain(`Fix: chmod 700 ${data}`)
    expect(told.stdout).toContain("Fix: start it: signalbox up")
    expect(lines.filter((line) => !line.startsWith("ok") && !line.includes("Fix: "))).toEqual([])
  })

  it("[BU8] says how to check a database that is not checked by itself, because that takes minutes", async () => {
    const hub = await startHub("no-runner")
    await run(["down", "--data", hub.data])
    // A hole at the end, which takes no room on the disk.
    truncateSync(join(hub.data, "signalbox.db"), 5 * 1024 ** 3)
    const database = async (...options: string[]) => {
      const report: Report = JSON.parse((await run(["doctor", "--json", "--data", hub.data, ...options])).stdout)
      return report.checks.find(({ name }) => name === "database")
    }
    expect(await database()).toMatchObject({
      state: "note",
      todo: expect.stringContaining(`signalbox doctor --check-all --data ${hub.data}`),
    })
    expect(await database("--check-all")).toMatchObject({ state: "ok", found: expect.stringMatching(/; sound$/) })
  })

  it("[CL27] tells a hub that is named without a token, or by no address, from one that is not running", async () => {
    const hubOf = async (env: NodeJS.ProcessEnv) => {
      const told = await run(["doctor", "--json"], { env: { SIGNALBOX_DATA: folder(), ...env } })
      const report: Report = JSON.parse(told.stdout)
      return report.checks.find(({ name }) => name === "hub")
    }
    expect(await hubOf({})).toMatchObject({ state: "note", found: "not running" })
    expect(await hubOf({ SIGNALBOX_URL: "http://127.0.0.1:9" })).toMatchObject({
      state: "wrong",
      found: "no token for the hub at http://127.0.0.1:9",
      todo: expect.stringMatching(/^set SIGNALBOX_TOKEN to /),
    })
    expect(await hubOf({ SIGNALBOX_URL: "notaurl" })).toMatchObject({
      state: "wrong",
      found: "SIGNALBOX_URL is notaurl",
      todo: expect.stringMatching(/^set it to a hub's address such as /),
    })
  })

  it("[CL27] knows which versions dial, old Nodes, late clocks, and the ways to sign in", () => {
    expect(["2.1.37", "2.1.120", "2.0.999", "1.9.0"].map(canDial)).toEqual([true, true, true, true])
    expect(["2.1.121", "2.2.0", "3.0.0"].map(canDial)).toEqual([false, false, false])
    expect(checkNode("20.18.3").state).toBe("wrong")
    expect(checkNode("22.0.0").state).toBe("ok")
    expect(checkClock(0).state).toBe("wrong")
    expect(checkClock().state).toBe("ok")
    const home = folder()
    expect(checkSignIn({ HOME: home }, "linux").state).toBe("wrong")
    expect(checkSignIn({ HOME: home }, "darwin").state).toBe("note")
    mkdirSync(join(home, ".claude"))
    writeFileSync(join(home, ".claude/.credentials.json"), "{}")
    expect(checkSignIn({ HOME: home }, "linux").state).toBe("ok")
    expect(checkSignIn({ HOME: folder(), CLAUDE_CODE_USE_BEDROCK: "1" }, "linux").state).toBe("ok")
  })
})
