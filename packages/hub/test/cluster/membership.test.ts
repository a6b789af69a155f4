import { mkdtempSync, readFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { createServer } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { tmpdir } from "node:os"
import { afterEach, describe, expect, it, vi } from "vitest"
import { makeCertificate } from "../../../../test/hub/proxy.ts"
import { hasPostgres } from "../../../../test/postgres/server.ts"
import { ClusterSecret } from "../../src/cluster/cluster-secret.ts"
import { checkClusterUrl } from "../../src/cluster/cluster-url.ts"
import { Fellows } from "../../src/cluster/fellows.ts"
import { Membership, type MembershipOptions } from "../../src/cluster/membership.ts"
import { type ClusterStore, LEASE_MS } from "../../src/store/cluster-store.ts"
import type { Store } from "../../src/store/open-store.ts"
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { clusterOf, emptiedDatabase, rowsIn } from "../store/postgres-database.ts"

const closers: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function openDatabase() {
  const url = await emptiedDatabase()
  const store: Store = await openPostgresStore({ url })
  closers.push(() => store.close())
  const open = async (): Promise<ClusterStore> => {
    const tables = await clusterOf(store)
    closers.push(() => tables.close())
    return tables
  }
  return { url, open }
}

const ABOUT: Omit<MembershipOptions, "store"> = {
  url: "http://10.0.0.2:8765",
  version: "1.2.3",
  counts: () => ({ sessions: 3, runners: 2, viewers: 1 }),
  onLapsed: () => undefined,
  onBack: () => undefined,
  trouble: () => undefined,
}

async function join(store: ClusterStore, options: Partial<MembershipOptions> = {}): Promise<Membership> {
  const membership = await Membership.join({ ...ABOUT, store, ...options })
  closers.push(() => membership.leave())
  return membership
}

describe.runIf(hasPostgres)("the place of a hub among others", () => {
  it("[CT1] hubs on one database see each other, and not one that has left or was not seen for longer than its lease", async () => {
    const { url, open } = await openDatabase()
    const first = await join(await open(), { url: "http://10.0.0.1:8765" })
    const second = await join(await open())
    expect(second.list()).toMatchObject([
      { id: first.id, url: "http://10.0.0.1:8765", self: false },
      { id: second.id, url: "http://10.0.0.2:8765", version: "1.2.3", sessions: 3, runners: 2, viewers: 1, self: true },
    ])
    await first.refresh()
    expect(first.list().map(({ self }) => self)).toEqual([true, false])

    await rowsIn(url, `UPDATE signalbox.hubs SET seen_at = now() - interval '${LEASE_MS} ms' WHERE id = '${first.id}'`)
    await second.refresh()
    expect(second.list().map(({ id }) => id)).toEqual([second.id])
    await first.refresh()
    await second.leave()
    await first.refresh()
    expect(first.list().map(({ id }) => id)).toEqual([first.id])
  })

  it("[CT3] a hub of another kind is named with its version, and leaves no trace of this one", async () => {
    const { url, open } = await openDatabase()
    await join(await open(), { version: "9.9.9" })
    await rowsIn(url, "UPDATE signalbox.hubs SET wire = 999")
    await expect(join(await open(), { version: "1.2.3" })).rejects.toMatchObject({
      code: "start/store",
      message: expect.stringMatching(/10\.0\.0\.2:8765 runs version 9\.9\.9, .*this version \(1\.2\.3\)/),
    })
    expect(await rowsIn(url, "SELECT version FROM signalbox.hubs")).toEqual([{ version: "9.9.9" }])
  })

  it("[CT3] of two that joined in the same moment and cannot work together, the later one serves nobody from then on, and says why", async () => {
    const { url, open } = await openDatabase()
    const told: unknown[] = []
    const first = await join(await open(), { version: "9.9.9" })
    const second = await join(await open(), { onLapsed: (error) => told.push(error) })
    await rowsIn(url, `UPDATE signalbox.hubs SET wire = 999 WHERE id = '${second.id}'`)
    await first.refresh()
    expect(first.hasLease).toBe(true)
    await rowsIn(url, `UPDATE signalbox.hubs SET wire = 999 WHERE id = '${first.id}'`)
    await second.refresh()
    const words = expect.stringMatching(/10\.0\.0\.2:8765 runs version 9\.9\.9, .*this version \(1\.2\.3\)/)
    expect([second.hasLease, told]).toEqual([false, [expect.objectContaining({ message: words })]])
    expect(second.refusal).toMatchObject({ message: words })
    await second.refresh()
    await first.refresh()
    expect(first.list().map(({ id }) => id)).toEqual([first.id])
  })

  it("[CT5] a renewal that is never answered ends the lease in time, and not later", async () => {
    const { open } = await openDatabase()
    const tables = await open()
    const told: unknown[] = []
    let isAway = false
    const store: ClusterStore = Object.create(tables, {
      hub: { value: tables.hub },
      leave: { value: () => Promise.resolve() },
      beat: {
        value: (...row: Parameters<ClusterStore["beat"]>) =>
          isAway ? new Promise(() => undefined) : tables.beat(...row),
      },
    })
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] })
    try {
      const hub = await Membership.join({ ...ABOUT, store, onLapsed: (error) => told.push(error) })
      isAway = true
      await vi.advanceTimersByTimeAsync(8_900)
      expect([hub.hasLease, told.length]).toEqual([true, 0])
      await vi.advanceTimersByTimeAsync(200)
      expect([hub.hasLease, told.length]).toEqual([false, 1])
    } finally {
      vi.useRealTimers()
    }
  })

  it("[CT6] all hubs have the database's time, whatever their own clocks say", async () => {
    const { url, open } = await openDatabase()
    const hub = await join(await open(), { wallClock: () => Date.now() + 3_600_000 })
    const [row] = await rowsIn(url, "SELECT extract(epoch FROM now()) * 1000 AS now")
    expect(Math.abs(hub.now().getTime() - Number(row?.["now"]))).toBeLessThan(30_000)
  })

  it("[CT5] a hub that cannot renew its place in time has no lease until it can again, and so has one that was stopped", async () => {
    const { open } = await openDatabase()
    const tables = await open()
    const told: string[] = []
    let isAway = false
    let now = 0
    const store: ClusterStore = Object.create(tables, {
      hub: { value: tables.hub },
      leave: { value: () => Promise.resolve() },
      beat: {
        value: (...row: Parameters<ClusterStore["beat"]>) =>
          isAway ? Promise.reject(new Error("away")) : tables.beat(...row),
      },
    })
    const hub = await join(store, {
      clock: () => now,
      onLapsed: () => told.push("lapsed"),
      onBack: () => told.push("back"),
    })
    isAway = true
    now = LEASE_MS / 2
    await hub.refresh()
    expect(hub.hasLease).toBe(true)
    now = LEASE_MS
    await hub.refresh()
    await hub.refresh()
    expect([hub.hasLease, ...told]).toEqual([false, "lapsed"])
    isAway = false
    await hub.refresh()
    expect([hub.hasLease, ...told]).toEqual([true, "lapsed", "back"])
    now += 2 * LEASE_MS
    expect(hub.hasLease).toBe(false)
    await hub.refresh()
    expect([hub.hasLease, ...told]).toEqual([true, "lapsed", "back", "lapsed", "back"])
  })
})

describe.runIf(hasPostgres)("the lease of a hub", () => {
  it("[CT5] is over when the machine slept through it, although its clock stood still", async () => {
    const { open } = await openDatabase()
    let wall = 1_000_000
    const hub = await join(await open(), { clock: () => 0, wallClock: () => wall })
    expect(hub.hasLease).toBe(true)
    wall += LEASE_MS
    expect(hub.hasLease).toBe(false)
  })

  it("[CT5] is renewed while what hubs share is still being read", async () => {
    const { open } = await openDatabase()
    let now = 0
    let end = () => {}
    const reading = new Promise<void>((resolve) => {
      end = resolve
    })
    const begun: number[] = []
    const hub = await join(await open(), {
      clock: () => now,
      onBeat: () => {
        begun.push(now)
        return reading
      },
    })
    for (now = 1; now <= 3; now++) await hub.refresh()
    expect([hub.hasLease, begun]).toEqual([true, [1]])
    end()
  })
})

describe("what hubs need to know each other", () => {
  it("[CT4] a hub whose secret is not taken reads it anew, and tells nobody that their token is bad", async () => {
    let taken = "new"
    const server = createServer((request, response) => {
      const isTaken = request.headers.authorization === `Bearer ${taken}`
      response.writeHead(isTaken ? 200 : 401, { "content-type": "application/json" }).end("{}")
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closers.push(() => new Promise((resolve) => server.close(resolve)))
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    let current = "old"
    const secret = {
      get current() {
        return current
      },
      load: async () => {
        current = "new"
      },
    }
    const fellows = new Fellows(secret)
    const call = { method: "POST", path: "/refresh", body: {} }
    const fetch = () => fellows.fetch({ id: "fellow", url }, call, { timeoutMs: 5_000 })
    expect((await fetch()).status).toBe(200)
    taken = "another"
    await expect(fetch()).rejects.toMatchObject({ code: "hub/unreachable" })
  })

  it("[CT21] a hub that answers neither a call nor pings is given up, and one that answers pings is waited for", async () => {
    let pings = 0
    const server = createServer((request, response) => {
      if (request.url !== "/cluster/ping") return
      pings += 1
      if (pings <= 3) response.writeHead(200).end("{}")
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closers.push(() => new Promise((resolve) => server.close(resolve)))
    closers.push(async () => server.closeAllConnections())
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    const fellows = new Fellows({ current: "secret", load: () => Promise.resolve() }, undefined, 1_000)
    const call = { method: "POST", path: "/api/sessions/s/control", body: {} }
    const reply = fellows.fetch({ id: "fellow", url }, call, { timeoutMs: 150_000 })
    await expect(reply).rejects.toMatchObject({ code: "hub/moved" })
    expect(pings).toBe(4)
  }, 30_000)

  it("[CT2] hubs that call each other over https trust the certificates that they were told, and no others", async () => {
    const folder = mkdtempSync(`${tmpdir()}/signalbox-test-`)
    closers.push(() => rm(folder, { recursive: true }))
    const { file, key } = makeCertificate(folder)
    const cert = readFileSync(file, "utf8")
    const server = createSecureServer({ cert, key: readFileSync(key) }, (_request, response) => response.end("{}"))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closers.push(() => new Promise((resolve) => server.close(resolve)))
    const address = server.address()
    const url = `https://localhost:${typeof address === "object" ? address?.port : ""}`
    const secret = { current: "secret", load: () => Promise.resolve() }
    const call = { method: "POST", path: "/refresh", body: {} }
    const fetch = (ca?: string) => new Fellows(secret, ca).fetch({ id: "fellow", url }, call, { timeoutMs: 5_000 })
    expect((await fetch(cert)).status).toBe(200)
    await expect(fetch()).rejects.toMatchObject({ code: "hub/unreachable" })
  })

  it("[CT2] an address that cannot work, has no database beside it or shows secrets is refused", () => {
    const check =
      (clusterUrl: string, more = {}) =>
      () =>
        checkClusterUrl({ clusterUrl, store: "postgres://db/x", plaintextUnderstood: false, ...more })
    expect(check("http://127.0.0.1:8765/")()).toBe("http://127.0.0.1:8765")
    expect(check("https://one.example.org")()).toBe("https://one.example.org")
    expect(check("http://10.0.0.2:8765", { plaintextUnderstood: true })()).toBe("http://10.0.0.2:8765")
    expect(check("http://10.0.0.2:8765")).toThrow(/plain text.*--i-understand-plaintext/)
    expect(check("https://one.example.org", { store: undefined })).toThrow(/--store postgres/)
    for (const odd of ["one", "ftp://one", "http://one/path", "http://a:b@one", "http://one?x"]) {
      expect(check(odd)).toThrow(/scheme, host and port only/)
    }
  })

  it("[CT4] a replaced secret reaches the other hubs, and the one before is taken for a minute", async () => {
    const directory = new MemoryDirectory()
    let now = new Date("2030-01-31T12:00:00Z")
    const one = new ClusterSecret({ directory, now: () => now })
    const other = new ClusterSecret({ directory, now: () => now })
    await one.load()
    await other.load()
    expect(other.current).toBe(one.current)
    const before = one.current
    await other.rotate("ann")
    expect(one.isKnown(other.current)).toBe(false)
    await one.load()
    expect([one.current === before, one.isKnown(before), one.isKnown(other.current), one.isKnown("")]).toEqual([
      false,
      true,
      true,
      false,
    ])
    now = new Date(now.getTime() + 61_000)
    expect([one.isKnown(before), one.isKnown(one.current)]).toEqual([false, true])
    expect(await directory.listAudit({ after: 0, limit: 9 })).toMatchObject([
      { what: "hubs/secret-rotated", by: "ann" },
    ])
  })

  it("[CT60] secrets that are not known cause five reads a second at most, and a new secret is found", async () => {
    const directory = new MemoryDirectory()
    let now = new Date("2030-01-31T12:00:00Z")
    const one = new ClusterSecret({ directory, now: () => now })
    const other = new ClusterSecret({ directory, now: () => now })
    await one.load()
    const load = vi.spyOn(one, "load")
    const guesses = Array.from({ length: 100 }, (_, index) => one.admits(`guess ${index}`))
    expect((await Promise.all(guesses)).filter(Boolean)).toEqual([])
    expect([await one.admits(one.current), await one.admits("")]).toEqual([true, false])
    expect(load).toHaveBeenCalledTimes(5)
    await other.rotate("ann")
    expect(await one.admits(other.current)).toBe(false)
    now = new Date(now.getTime() + 1_000)
    expect(await one.admits(other.current)).toBe(true)
  })
})
