import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import {
  atEnd,
  deadAddress,
  type Ended,
  exitOf,
  folder,
  openAsk,
  run,
  startHub,
  type TestHub,
} from "../../packages/cli/test/signalbox-process.ts"
import { ensurePostgres } from "../../scripts/system-package.mjs"
import { hasPostgres, testServer } from "./server.ts"

const up = (store: string, env: NodeJS.ProcessEnv = {}, data = folder()): Promise<Ended> =>
  run(["up", "--json", "--port", "0", "--no-runner", "--data", data, "--store", store], { env })

async function stop(hub: TestHub): Promise<void> {
  hub.process.child.kill("SIGTERM")
  expect(await exitOf(hub.process)).toBe(0)
}

/** A server that takes connections and says nothing. */
async function silentServer(): Promise<string> {
  const server: Server = createServer(() => undefined).listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  atEnd(() => server.close())
  const address = server.address()
  return `127.0.0.1:${typeof address === "object" ? address?.port : 0}`
}

describe.runIf(hasPostgres)("signalbox up on a database that cannot be used", () => {
  it("[PQ4] says what happened and what to do, and never the password", async () => {
    const server = await testServer()
    const database = new URL(await server.createDatabase()).pathname.slice(1)
    const dead = new URL(await deadAddress()).host
    const secret = "hidden-password"
    const cases: [store: string, said: RegExp, env?: NodeJS.ProcessEnv][] = [
      [
        `postgres://u:${secret}@${dead}/x`,
        /can't reach postgres:\/\/u@127\.0\.0\.1:\d+\/x \(.*ECONNREFUSED.*\): start it, or check the address/,
      ],
      [`postgres://u:${secret}@no-such-host.invalid/x`, /can't reach .*\(.*(?:ENOTFOUND|EAI_AGAIN).*\): start it/],
      [server.url(database, `signalbox:${secret}`), /refused the sign-in: set PGPASSWORD, or name a password file/],
      [server.url(database, "signalbox"), /refused the sign-in: set PGPASSWORD/],
      [server.url(database, "signalbox"), /refused the sign-in: set PGPASSWORD/, { PGPASSWORD: secret }],
      [server.url("nothing_here"), /nothing_here does not exist: create it: createdb nothing_here/],
      [server.url("postgres"), /may not create tables in .*: GRANT CREATE ON DATABASE postgres/],
      [`postgres//u:${secret}@host`, /the store must be sqlite or an address such as postgres:\/\/user@host/],
    ]
    for (const [store, said, env] of cases) {
      const { code, stdout, stderr } = await up(store, env)
      expect([stdout, stderr]).toEqual([
        "",
        expect.stringMatching(new RegExp(`^signalbox: [^\\n]*${said.source}[^\\n]*\\n$`)),
      ])
      expect(code, stderr).toBe(store.startsWith("postgres//") ? 2 : 1)
      expect(stderr).not.toMatch(/hidden-password|secret-of/)
    }
  })

  it("[PQ4] is read-only, has no connection left, or does not answer", async () => {
    const server = await testServer()
    const url = await server.createDatabase()
    const name = new URL(url).pathname.slice(1)
    const alter = (how: string) => server.query(`ALTER DATABASE ${name} ${how}`)
    await alter("SET default_transaction_read_only = on")
    expect(await up(url)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is read-only: give the address of the primary/),
    })
    await alter("RESET default_transaction_read_only")
    await alter("CONNECTION LIMIT 0")
    expect(await up(url)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/has no connection left: raise max_connections/),
    })
    await alter("CONNECTION LIMIT -1")
    const silent = `postgres://u@${await silentServer()}/x`
    expect(await up(silent)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/can't reach .*: start it, or check/),
    })
  })

  it("[PQ4] [PQ35] was written by a newer version", async () => {
    const server = await testServer()
    const url = await server.createDatabase()
    const hub = await startHub("no-runner", { env: { SIGNALBOX_STORE: url } })
    await stop(hub)
    await server.query("UPDATE signalbox.store SET version = 1000", [], new URL(url).pathname.slice(1))
    const { code, stderr } = await up(url)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/newer version of Signalbox \(its schema is 1000, this version knows \d+\)/),
    ])
  })
})

describe.runIf(hasPostgres)("commands of a hub on PostgreSQL", () => {
  it("[PQ1] [PQ5] [PQ13] the directory remembers its store; backup points to pg_dump; doctor and support look at the database", async () => {
    const server = await testServer()
    const url = await server.createDatabase()
    const shown = url.replace(/:[^:/@]+@/, "@")
    const env = { PGPASSWORD: server.password }
    const hub = await startHub("runner", { env: { ...env, SIGNALBOX_STORE: shown } })
    const ask = await openAsk(hub)
    const environments = environmentsOfAgents(hub.data)
    expect(environments.length).toBeGreaterThan(1)
    expect(environments.join("\n")).not.toContain(server.password)
    for (const command of [
      ["backup", join(folder(), "x.db")],
      ["salvage", "--to", folder()],
      ["restore", "x.db"],
    ]) {
      const { code, stderr } = await run([...command, "--data", hub.data], { env })
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(
          /^signalbox: this hub keeps its data in PostgreSQL \(postgres:\/\/signalbox@[^)]*\): .*(?:pg_dump|pg_restore)[^\n]*\n$/,
        ),
      ])
    }
    const doctor = JSON.parse((await run(["doctor", "--json", "--data", hub.data], { env })).stdout)
    expect(doctor.checks.find(({ name }: { name: string }) => name === "database")).toMatchObject({
      state: "ok",
      found: expect.stringMatching(
        /^PostgreSQL \d+\.\d+.* at postgres:\/\/signalbox@.*1 session, \d+ events, 1 request/,
      ),
    })
    const file = join(folder(), "support.txt")
    expect((await run(["support", file, "--data", hub.data], { env: { ...env, SIGNALBOX_STORE: url } })).code).toBe(0)
    const told = readFileSync(file, "utf8")
    expect(told).toMatch(/== store\n\nPostgreSQL \d+/)
    expect(told).not.toContain(server.password)
    await stop(hub)
    const again = await startHub("no-runner", { data: hub.data, env })
    expect((await again.call("GET", `/api/asks/${ask}`)).state).toBe("pending")
    await stop(again)
    const wrong = JSON.parse((await run(["doctor", "--json", "--data", hub.data])).stdout)
    expect(wrong.checks.find(({ name }: { name: string }) => name === "database")).toMatchObject({
      state: "wrong",
      todo: expect.stringContaining("PGPASSWORD"),
    })
  })

  it("[PQ5] [PQ13] a password file is enough, and a restored dump is a hub with everything", async () => {
    const server = await testServer()
    const [url, copy] = [await server.createDatabase(), await server.createDatabase()]
    const { hostname, port } = new URL(url)
    const pgpass = join(folder(), "pgpass")
    writeFileSync(pgpass, `${hostname}:${port}:*:signalbox:${server.password}\n`, { mode: 0o600 })
    const env = { PGPASSFILE: pgpass }
    const plain = (address: string) => address.replace(/:[^:/@]+@/, "@")
    const hub = await startHub("no-runner", { env: { ...env, SIGNALBOX_STORE: plain(url) } })
    const { token } = await hub.json("token", "create", "--role", "viewer", "--name", "phone")
    const programs = ensurePostgres() ?? ""
    const dump = join(folder(), "hub.dump")
    const tool = (name: string, ...args: string[]) =>
      execFileSync(join(programs, name), args, { env: { ...process.env, ...env }, stdio: "pipe" })
    tool("pg_dump", "--format=custom", "--schema=signalbox", "--file", dump, plain(url))
    tool("pg_restore", "--no-owner", "--dbname", plain(copy), dump)
    await stop(hub)
    const restored = await startHub("no-runner", { env: { ...env, SIGNALBOX_STORE: plain(copy) } })
    const reply = await fetch(`${restored.url}/api/sessions`, { headers: { authorization: `Bearer ${token}` } })
    expect(reply.status).toBe(200)
  })

  it("[PQ14] [PQ15] moves a hub to PostgreSQL and back, and refuses one that runs", async () => {
    const server = await testServer()
    const url = await server.createDatabase()
    const hub = await startHub("no-runner")
    const { token } = await hub.json("token", "create", "--role", "viewer", "--name", "phone")
    const works = async (at: TestHub) =>
      (await fetch(`${at.url}/api/sessions`, { headers: { authorization: `Bearer ${token}` } })).status
    const running = await hub.run(["move", "--to", url])
    expect([running.code, running.stderr]).toEqual([1, expect.stringMatching(/in use by another hub/)])
    await stop(hub)
    const moved = await run(["move", "--to", url, "--data", hub.data])
    expect([moved.code, moved.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Copied to postgres:\/\/signalbox@.* and compared: 0 sessions, .*2 tokens.*\nStart it with: signalbox up --data /,
      ),
    ])
    const env = { PGPASSWORD: server.password }
    const there = await startHub("no-runner", { data: hub.data, env })
    expect(await works(there)).toBe(200)
    const busy = await run(["move", "--from", url, "--data", folder()])
    expect([busy.code, busy.stderr]).toEqual([
      1,
      expect.stringMatching(/another hub uses postgres:\/\/signalbox@.*: stop it/),
    ])
    await stop(there)
    const data = join(folder(), "back")
    const back = await run(["move", "--from", url, "--data", data, "--json"])
    expect(JSON.parse(back.stdout)).toMatchObject({ to: data, resumed: false, rows: { tokens: 2 } })
    expect(await works(await startHub("no-runner", { data }))).toBe(200)
    for (const args of [[], ["--to", url, "--from", url], ["--to", "sqlite"]])
      expect((await run(["move", ...args, "--data", folder()])).code).toBe(2)
  })
})

/** The environments of all processes that a runner of this data directory started. */
function environmentsOfAgents(data: string): string[] {
  const pids = execFileSync("sh", ["-c", "ls /proc | grep -E '^[0-9]+$'"], { encoding: "utf8" }).trim().split("\n")
  return pids.flatMap((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/environ`, "latin1")
      const isAgent = text.includes("CLAUDE_RUNNER_SPAWN=")
      const isRunner = readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(`--local\0--data\0${data}`)
      return isAgent || isRunner ? [text] : []
    } catch {
      return []
    }
  })
}
