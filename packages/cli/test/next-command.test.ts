import { describe, expect, it } from "vitest"
import { nextCommand } from "../src/base/context.ts"
import { exitOf, folder, run, startHub } from "./signalbox-process.ts"

const POLL = { timeout: 60_000, interval: 100 }

describe("what is suggested to type next", () => {
  it("[CL41] names the data directory that was named, so that a shell reads it, and never another hub's", () => {
    expect(nextCommand("ls", {}, {})).toBe("signalbox ls")
    expect(nextCommand("ls", { data: "/srv/sbx" }, { SIGNALBOX_URL: "http://h" })).toBe("signalbox ls --data /srv/sbx")
    expect(nextCommand("ls", { data: "/srv/it's mine" }, {})).toBe(`signalbox ls --data '/srv/it'\\''s mine'`)
    expect(nextCommand("ls", {}, { SIGNALBOX_DATA: "/srv/sbx" })).toBe("signalbox ls --data /srv/sbx")
    expect(nextCommand("ls", {}, { SIGNALBOX_DATA: "/srv/sbx", SIGNALBOX_URL: "http://h" })).toBe("signalbox ls")
  })

  it("[CL41] [CL42] by the commands that suggest something; what the hub says of its API is said in commands", async () => {
    const hub = await startHub("runner")
    const named = `--data ${hub.data}`
    const told = async (...args: string[]) => (await hub.run(args)).stderr
    expect(await told("ls")).toBe(`No sessions. Start one: signalbox new --prompt "What is in this folder?" ${named}\n`)
    expect(await told("loop", "--list")).toBe(`No runs. Start one: signalbox loop TASKS.md ${named}\n`)
    expect(await told("attach", "3f2a")).toContain(`signalbox log 3f2a --follow ${named}\n`)
    const made = await told("token", "create", "--role", "viewer")
    expect(made).toMatch(/To revoke it: signalbox token revoke [\w-]+ --data /)
    const byVariable = await run(["ls"], { env: { SIGNALBOX_DATA: hub.data } })
    expect(byVariable.stderr).toContain(named)

    const { id } = await hub.json("new", "--agent", "simulator", "--cwd", folder(), "--prompt", "hello")
    const live = await hub.run(["new", "--agent", "simulator", "--resume", id])
    expect([live.code, live.stderr]).toEqual([
      1,
      `signalbox: session ${id} is running: send a message, stop it ("signalbox stop ${named}"), or fork it (--fork)\n`,
    ])
    const nowhere = await hub.run(["new", "--agent", "simulator", "--runner", "nobody"])
    expect([nowhere.code, nowhere.stderr]).toEqual([
      1,
      `signalbox: Runner nobody not found. "signalbox doctor ${named}" lists all runners.\n`,
    ])

    const second = await hub.json("new", "--agent", "simulator", "--cwd", folder())
    const page = await hub.json("ls", "--limit", "1")
    expect(page).toEqual({ sessions: [expect.objectContaining({ id: second.id })], cursor: expect.any(String) })
    const rest = await hub.call("GET", `/api/sessions?cursor=${encodeURIComponent(page.cursor)}`)
    expect(rest.sessions.map((each: { id: string }) => each.id)).toEqual([id])
    expect((await hub.json("ls")).cursor).toBeNull()
    expect(await told("ls", "--limit", "1")).toBe(`More: signalbox ls --limit 2 ${named}\n`)
  })
})

describe("a hub that is gone while its runner lives", () => {
  it("[CL27] [CL41] doctor tells of the runner and its agents, and how to get the hub back", async () => {
    const hub = await startHub("runner")
    await hub.json("new", "--agent", "simulator", "--cwd", folder(), "--prompt", "permission please")
    await expect.poll(async () => (await hub.json("asks")).asks.length, POLL).toBe(1)
    hub.process.child.kill("SIGKILL")
    await exitOf(hub.process)
    const checkOf = async (name: string) => {
      const { checks } = JSON.parse((await hub.run(["doctor", "--json"])).stdout)
      return checks.find((check: { name: string }) => check.name === name)
    }
    expect(await checkOf("hub")).toMatchObject({ state: "note", todo: `start it: signalbox up --data ${hub.data}` })
    expect(await checkOf("runner")).toMatchObject({
      state: "note",
      found: expect.stringMatching(/^running without a hub \(pid \d+, 1 agent\)$/),
      todo: expect.stringContaining(`signalbox down --agents --data ${hub.data}`),
    })
    expect((await hub.run(["down", "--agents"])).code).toBe(0)
    expect(await checkOf("runner")).toMatchObject({ state: "note", found: "not running" })
  })
})
