import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { hasUnseen } from "@signalbox/protocol/unseen"
import { describe, expect, it } from "vitest"
import { FakeHub, refused, TOKEN } from "../../client/test/fake-hub.ts"
import { atEnd, folder, run } from "./signalbox-process.ts"

/** A hub elsewhere, which says whatever it likes. */
async function fakeHub() {
  const fake = new FakeHub()
  await fake.start()
  atEnd(() => fake.stop())
  const data = folder()
  const env = { SIGNALBOX_URL: fake.url, SIGNALBOX_TOKEN: TOKEN, SIGNALBOX_DATA: data }
  return { fake, data, env, run: (...args: string[]) => run(args, { env }) }
}

const runner = (name: string, claudePath: string) => ({
  id: name,
  name,
  claudePath,
  connected: true,
  agents: 1,
  cliVersions: ["2.1.325"],
  seenAt: "2030-01-01T00:00:00.000Z",
})

describe("words of others", () => {
  it("[CL13] neither the name of a machine nor an error can steer a terminal", async () => {
    const { fake, run } = await fakeHub()
    fake.route("GET /api/runners", () => ({
      body: { runners: [runner("attic\u001b]0;x\u0007", "/opt/\u202eclaude")] },
    }))
    fake.route("GET /api/sessions", () => refused(409, "x/y", "no \u001b[2J way\r\nat all"))
    const told = await run("doctor")
    expect(told.stdout).toContain("attic<U+001B>]0;x<U+0007> (1 agent)")
    expect(hasUnseen(told.stdout, "prose")).toBe(false)
    const failed = await run("ls")
    expect([failed.code, failed.stderr]).toEqual([1, "signalbox: no <U+001B>[2J way at all\n"])
  })

  it("[BU12] a support file has no address, no name of a machine, no path on one, and no name of a file that is not ours", async () => {
    const { fake, data, run } = await fakeHub()
    const runners = [runner("attic-of-lovelace", "/srv/lovelace/claude"), runner("b", "/srv/lovelace/other/claude")]
    fake.route("GET /api/runners", () => ({ body: { runners } }))
    writeFileSync(join(data, "plans of lovelace.txt"), "")
    const lines = [
      "    at the bank they keep the money",
      "    at rob (the bank:1:2)",
      `    at ${"x".repeat(200)} (/a/packages/b.js:1:2)`,
      JSON.stringify({ msg: "another program says bank" }),
      "    at async launch (file:///srv/lovelace/packages/runner/dist/a.js:1:2)",
    ]
    writeFileSync(join(data, "runner.log"), `${lines.join("\n")}\n`)
    const file = join(folder(), "support.txt")
    expect(await run("support", file)).toMatchObject({ code: 0 })
    const text = readFileSync(file, "utf8")
    for (const said of [fake.url, data, "lovelace", "bank", "xxxx"]) expect(text.includes(said), said).toBe(false)
    for (const part of [
      "[SIGNALBOX_URL], your role: operator",
      "runner: [machine 1] (1 agent), [machine 2] (1 agent)\n",
      "claude: 2.1.325 at [path] on [machine 1]\n",
      "runner.log\n(other files: 1)\n",
      "    at async launch (packages/runner/dist/a.js:1:2)\n(lines left out because they may hold anything: 4)\n",
    ])
      expect(text, part).toContain(part)
  })
})

describe("a support file of a hub on PostgreSQL", () => {
  it("[BU12] has neither the host nor the name of a database that only the data directory remembers", async () => {
    const data = folder()
    writeFileSync(join(data, "store"), "postgres://lovelace@attic.invalid:5432/engines\n")
    const file = join(folder(), "support.txt")
    expect(await run(["support", file, "--data", data])).toMatchObject({ code: 0 })
    const text = readFileSync(file, "utf8")
    for (const said of ["attic", "lovelace", "engines"]) expect(text.includes(said), said).toBe(false)
    expect(text).toContain("can't reach postgres://[store]")
  })
})

describe("an abbreviated id", () => {
  it("[CL12] is refused where the hub has more than can be looked through", async () => {
    const { fake, run } = await fakeHub()
    const session = { id: "abc-1", agentSessionId: null, title: null, state: "ended", lastSeq: 1 }
    fake.route("GET /api/sessions", () => ({ body: { sessions: [session], cursor: "more" } }))
    fake.route("GET /api/asks", () => ({ body: { asks: [{ id: "ask_abc-1" }], more: true } }))
    const removed = await run("rm", "abc", "--yes")
    expect([removed.code, removed.stderr]).toEqual([
      2,
      expect.stringMatching(/too many sessions .* give the whole id\n$/),
    ])
    const answered = await run("answer", "abc", "allow")
    expect([answered.code, answered.stderr]).toEqual([2, expect.stringContaining("too many open requests")])
    expect(fake.calls.filter(({ method }) => method !== "GET")).toEqual([])
  })
})
