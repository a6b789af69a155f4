import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { openStore } from "../../hub/src/store/open-store.ts"
import { atEnd, exitOf, folder, openAsk, run, start, startHub, type TestHub } from "./signalbox-process.ts"

const [MOUNT, UNMOUNT] = ["mount", "umount"]
const POLL = { timeout: 60_000, interval: 100 }
const GONE = { throwIfNoEntry: false } as const

async function finished(hub: TestHub, prompt: string): Promise<string> {
  const { id } = await hub.json("new", "--agent", "simulator", "--cwd", folder(), "--prompt", prompt)
  await expect.poll(async () => (await hub.call("GET", `/api/sessions/${id}`)).turns, POLL).toBe(1)
  return id
}

/** A hub that was stopped, with so many megabytes in its database. */
async function stoppedWith(megabytes: number): Promise<string> {
  const hub = await startHub("no-runner")
  hub.process.child.kill("SIGTERM")
  await exitOf(hub.process)
  const store = openStore({ file: join(hub.data, "signalbox.db") })
  for (let batch = 0; batch < megabytes; batch++) {
    const fill = randomBytes(5_000).toString("hex")
    await store.log.append(
      "long",
      Array.from({ length: 100 }, (_, n) => ({ at: n, from: "agent", line: `{"fill":"${fill}"}` })),
    )
  }
  await store.close()
  return hub.data
}

describe("signalbox backup and restore", () => {
  it("[BU5] a hub that was backed up goes on as before: the next backup has what came since, and so has a killed hub", async () => {
    const hub = await startHub("no-runner")
    const place = folder()
    const names = async (of: TestHub) =>
      (await of.call("GET", "/api/tokens")).tokens.flatMap(({ name }: { name: string | null }) => name ?? [])
    for (const n of [1, 2, 3]) {
      await hub.json("token", "create", "--role", "viewer", "--name", `phone ${n}`)
      expect((await hub.json("backup", join(place, `${n}.db`))).rows.tokens).toBe(n + 1)
    }
    await hub.json("token", "create", "--role", "viewer", "--name", "last")
    hub.process.child.kill("SIGKILL")
    await exitOf(hub.process)
    const again = await startHub("no-runner", { data: hub.data })
    expect(await names(again)).toEqual(expect.arrayContaining(["phone 1", "phone 2", "phone 3", "last"]))
  })

  it("[BU1] [BU7] [BU17] moves a running hub's sessions, open requests and tokens to another directory", async () => {
    const hub = await startHub("runner")
    const ended = await finished(hub, "hello")
    const ask = await openAsk(hub)
    const { token } = await hub.json("token", "create", "--role", "viewer", "--name", "phone")
    const file = join(folder(), "backup.db")
    const report = await hub.json("backup", file)
    expect(report).toMatchObject({ file, bytes: statSync(file).size, rows: { sessions: 2 } })
    expect((await hub.run(["backup", file])).stderr).toMatch(/^signalbox: \S+ already exists: [^\n]+\n$/)
    const data = join(folder(), "restored")
    const restored = await run(["restore", file, "--data", data])
    expect(restored).toMatchObject({ code: 0, stderr: "" })
    expect(restored.stdout).toMatch(
      /^Restored to .*2 sessions.*\nStart it with: signalbox up --data \S+\nValid tokens: 3, including any revoked .*: signalbox token ls --data \S+\n$/,
    )
    expect([data, join(data, "signalbox.db")].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
    const other = await startHub("no-runner", { data })
    expect(other.token).not.toBe(hub.token)
    const { sessions } = await other.call("GET", "/api/sessions")
    expect(sessions.map(({ state }: { state: string }) => state)).toEqual(["disconnected", "disconnected"])
    const before = await hub.call("GET", `/api/sessions/${ended}/events?limit=500`)
    const after = await other.call("GET", `/api/sessions/${ended}/events?limit=500`)
    expect(after.events.slice(0, before.events.length)).toEqual(before.events)
    expect((await other.call("GET", "/api/asks?state=pending")).asks.map(({ id }: { id: string }) => id)).toEqual([ask])
    const asPhone = await fetch(`${other.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })
    expect([asPhone.status, (await asPhone.json()).name]).toEqual([200, "phone"])
    const found = async () => (await other.call("GET", "/api/search?q=hello")).hits.length
    await expect.poll(found, POLL).toBeGreaterThan(0)
    expect((await run(["restore", file, "--data", data])).stderr).toMatch(/in use by another hub \(http/)
  })

  it("[BU3] a backup or restore that is killed leaves nothing that counts, and the next one works", async () => {
    const data = await stoppedWith(60)
    const place = folder()
    const file = join(place, "backup.db")
    const partials = () => readdirSync(place).filter((name) => name.includes("partial"))
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      const backup = start(["backup", file, "--data", data])
      await expect
        .poll(() => partials().length + Number(existsSync(file)), { timeout: 30_000, interval: 1 })
        .toBeGreaterThan(0)
      backup.child.kill(signal)
      await exitOf(backup)
      expect([backup.child.signalCode, existsSync(file)], signal).toEqual([signal, false])
      expect(partials().length > 0, signal).toBe(signal === "SIGKILL")
    }
    expect(await run(["backup", file, "--data", data])).toMatchObject({ code: 0 })
    expect(readdirSync(place)).toEqual(["backup.db"])
    // A signal is heard too while the copy is being checked, which is when it is as long as the other.
    const another = start(["backup", join(place, "another.db"), "--data", data])
    const longest = () => Math.max(0, ...partials().map((name) => statSync(join(place, name), GONE)?.size ?? 0))
    await expect.poll(longest, { timeout: 30_000, interval: 1 }).toBe(statSync(file).size)
    another.child.kill("SIGINT")
    await exitOf(another)
    expect([another.child.signalCode, readdirSync(place)]).toEqual(["SIGINT", ["backup.db"]])
    const target = folder()
    const restore = start(["restore", file, "--data", target])
    const begun = () => readdirSync(target).filter((name) => /signalbox\.db/.test(name)).length
    await expect.poll(begun, { timeout: 30_000, interval: 1 }).toBeGreaterThan(0)
    restore.child.kill("SIGKILL")
    await exitOf(restore)
    expect(existsSync(join(target, "signalbox.db"))).toBe(false)
    expect(await run(["restore", file, "--data", target])).toMatchObject({ code: 0 })
    expect(readdirSync(target).toSorted()).toEqual(["lock", "signalbox.db"])
  })

  it("[BU4] says in one line why it cannot be done", async () => {
    const data = await stoppedWith(5)
    const place = folder()
    const refused = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
      const { code, stdout, stderr } = await run(args, { env })
      expect(stdout).toBe("")
      expect(stderr).toMatch(/^signalbox: [^\n]+\n$/)
      return `${code} ${stderr}`
    }
    expect(await refused(["backup", join(place, "no/such"), "--data", data])).toMatch(/^1 .*there is no folder/)
    expect(await refused(["backup", join(place, "x"), "--data", folder()])).toMatch(/^1 .*has no database/)
    expect(await refused(["backup", "x"], { SIGNALBOX_URL: "http://10.9.8.7:8765", SIGNALBOX_DATA: data })).toMatch(
      /^2 .*SIGNALBOX_URL is http:\/\/10\.9\.8\.7:8765.*run it on that hub's machine/,
    )
    // Not even root may make a file there.
    expect(await refused(["backup", "/sys/x.db", "--data", data])).toMatch(/^1 .*can't write to \/sys/)
    const disk = smallDisk()
    if (disk === undefined) return
    expect(await refused(["backup", join(disk, "x"), "--data", data])).toMatch(
      /^1 .*needs about [\d.]+ MB.*free some space/,
    )
    expect(readdirSync(disk)).toEqual([])
  })

  it("[BU5] a hub stops in time and goes on writing while a backup reads", async () => {
    const data = await stoppedWith(60)
    const hub = await startHub("no-runner", { data })
    const place = folder()
    const backup = start(["backup", join(place, "b.db"), "--data", data])
    const written = () =>
      readdirSync(place).reduce((sum, name) => sum + (statSync(join(place, name), GONE)?.size ?? 0), 0)
    await expect.poll(written, { timeout: 30_000, interval: 1 }).toBeGreaterThan(0)
    // It holds its place in the write-ahead log for as long as the test likes.
    backup.child.kill("SIGSTOP")
    expect(await hub.call("POST", "/api/tokens", { role: "viewer" })).toMatchObject({ role: "viewer" })
    const startedAt = performance.now()
    hub.process.child.kill("SIGTERM")
    expect(await exitOf(hub.process)).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
    expect([backup.child.exitCode, existsSync(join(place, "b.db"))]).toEqual([null, false])
    backup.child.kill("SIGCONT")
    expect(await exitOf(backup), backup.said()).toBe(0)
  })
})

/** Two megabytes, where this machine lets us mount. */
function smallDisk(): string | undefined {
  const path = folder()
  try {
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", path], { stdio: "pipe" })
  } catch {
    process.stderr.write("NOT TESTED: a backup to a full disk. None can be mounted here (root may).\n")
    return undefined
  }
  atEnd(() => execFileSync(UNMOUNT, ["-l", path]))
  return path
}

describe("signalbox doctor and salvage", () => {
  it("[BU8] [BU9] a flipped page is found, and the rest is saved into a directory that works", async () => {
    const data = await stoppedWith(5)
    const file = join(data, "signalbox.db")
    const check = async (of: string) => {
      const { stdout } = await run(["doctor", "--json", "--data", of])
      return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === "database")
    }
    expect(await check(data)).toMatchObject({ state: "ok", found: expect.stringMatching(/500 events.*; sound$/) })
    const bytes = readFileSync(file)
    const middle = Math.floor(bytes.length / 8192) * 4096
    bytes.fill(0x5a, middle, middle + 4096)
    writeFileSync(file, bytes)
    expect(await check(data)).toMatchObject({
      state: "wrong",
      found: expect.stringMatching(/^damaged: .*Can be saved: .*; 4\d\d of 500 events;/),
      todo: expect.stringContaining(`signalbox salvage --to NEW --data ${data}`),
    })
    const saved = join(folder(), "saved")
    const { code, stdout } = await run(["salvage", "--data", data, "--to", saved])
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /events; \d+ could not be read[\s\S]*\n\d+ lost events? (?:is|are) marked in [\s\S]*\nStart it with: signalbox up --data /,
      ),
    ])
    expect(readFileSync(file).equals(bytes)).toBe(true)
    const hub = await startHub("no-runner", { data: saved })
    expect(await check(saved)).toMatchObject({ state: "ok", found: expect.stringContaining("in use by the hub") })
    const { events, lastSeq } = await hub.call("GET", "/api/sessions/long/events?limit=500")
    expect([events.length, lastSeq]).toEqual([500, 500])
  })
})

describe("signalbox support", () => {
  it("[BU12] writes what helps, and no secret, prompt, input or content", async () => {
    const planted = {
      key: "sk-ant-api03-planted-in-the-environment",
      variable: "planted-password-in-a-variable",
      prompt: "planted prompt about a permission please",
      content: "planted-content-of-a-file",
    }
    const env = { ANTHROPIC_API_KEY: planted.key, DB_PASSWORD: planted.variable }
    const hub = await startHub("runner", { env })
    const cwd = folder()
    writeFileSync(join(cwd, "notes.txt"), planted.content)
    const { token } = await hub.json("token", "create", "--role", "admin", "--name", "phone")
    const { id } = await hub.json("new", "--agent", "simulator", "--cwd", cwd, "--prompt", planted.prompt)
    await expect.poll(async () => (await hub.call("GET", `/api/asks?session=${id}`)).asks.length, POLL).toBe(1)
    const log = join(hub.data, "runner.log")
    const said = [
      `stderr of an agent: ${planted.prompt}`,
      JSON.stringify({ level: 50, msg: `x: ${planted.content} ${token}` }),
    ]
    writeFileSync(log, `${readFileSync(log, "utf8")}${said.join("\n")}\n`)
    const file = join(folder(), "support.txt")
    const ended = await run(["support", file, "--data", hub.data], { env })
    expect(ended).toMatchObject({ code: 0, stderr: "" })
    const text = readFileSync(file, "utf8")
    expect(statSync(file).mode & 0o777).toBe(0o600)
    for (const secret of [
      ...Object.values(planted),
      token,
      hub.token,
      readFileSync(join(hub.data, "runner-token"), "utf8").trim(),
    ])
      expect(text.includes(secret), secret).toBe(false)
    for (const part of [
      "signalbox 0.",
      "ANTHROPIC_API_KEY",
      "signalbox_events_total",
      "events: ",
      "Runner started",
      "rules in the policy: 0",
    ])
      expect(text, part).toContain(part)
    expect(await run(["support", file, "--data", hub.data])).toMatchObject({ code: 2 })
  })
})
