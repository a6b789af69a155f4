import type { Ask, AuditRecord, Pruned, Session, Retention as Settings, StoreSize } from "@signalbox/protocol/hub-api"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { WebSocket } from "ws"
import { HubError } from "../src/errors.ts"
import { Retention } from "../src/retention.ts"
import { keptSession } from "../src/testing/records.ts"
import { LineSocket } from "./clients/line-socket.ts"
import { ScriptedAgent } from "./clients/scripted-agent.ts"
import { SseReader } from "./clients/sse-reader.ts"
import { call, openAgent, openSession, openStage, type Stage, tokenOf } from "./clients/stage.ts"
import { rest } from "./runners/launching.ts"
import { setUpSessions } from "./session/session-setup.ts"

const SECRET = "said in confidence"
const POLL = { timeout: 15_000, interval: 10 }

async function stream(stage: Stage, ...sessions: string[]): Promise<LineSocket> {
  const headers = { authorization: `Bearer ${stage.hub.admin.token}` }
  const socket = await LineSocket.open(new WebSocket(`${stage.wsUrl}/api/stream`, { headers }))
  onTestFinished(() => socket.close())
  for (const session of sessions) {
    socket.send({ op: "subscribe", session, after: 0 })
    await socket.find((message) => message["ev"] === "subscribed" && message["session"] === session, session)
  }
  return socket
}

/** A session that has ended, with something said and one answered question in it. */
async function endedSession(stage: Stage): Promise<string> {
  const { agent, id } = await openAgent(stage)
  const answered = agent.askPermission("r1", { command: SECRET })
  await expect.poll(async () => (await asksOf(stage, id)).length, POLL).toBe(1)
  const [ask] = await asksOf(stage, id)
  await rest(stage, "POST", `/api/asks/${ask?.id}/answer`, { body: { behavior: "deny", message: SECRET } })
  await answered
  for (let n = 0; n < 20; n++) agent.sayText(`${SECRET} ${n}`)
  await expect.poll(async () => (await sessionOf(stage, id)).lastLine, POLL).toBe(`${SECRET} 19`)
  await stop(stage, id, agent)
  return id
}

/** It has left before it is asked to end: nobody waits for its answer. */
async function stop(stage: Stage, id: string, agent: ScriptedAgent): Promise<void> {
  agent.close()
  await expect.poll(async () => (await sessionOf(stage, id)).state, POLL).toBe("disconnected")
  expect((await rest(stage, "DELETE", `/api/sessions/${id}`)).status).toBe(200)
}

async function asksOf(stage: Stage, id: string): Promise<readonly Ask[]> {
  return (await rest<{ asks: Ask[] }>(stage, "GET", `/api/asks?session=${id}`)).body.asks
}

async function sessionOf(stage: Stage, id: string): Promise<Session> {
  return (await rest<Session>(stage, "GET", `/api/sessions/${id}`)).body
}

function purge(stage: Stage, id: string, token?: string): Promise<Response> {
  return call(stage, "DELETE", `/api/sessions/${id}?purge=true`, undefined, token)
}

describe("purging a session", () => {
  it("[PG1] [PG2] [PG3] [PG20] an admin purges an ended session: nothing of what was said is told by anything, who decided is", async () => {
    const stage = await openStage()
    const id = await endedSession(stage)
    for (const role of ["viewer", "operator"]) {
      const { token } = await tokenOf(stage, role)
      // The same whether or not there is such a session.
      for (const each of [id, "nobody's"]) expect((await purge(stage, each, token)).status).toBe(403)
    }
    expect((await sessionOf(stage, id)).lastLine).toBe(`${SECRET} 19`)
    const reply = await purge(stage, id)
    expect([reply.status, await reply.text()]).toEqual([204, ""])
    const paths = [`/api/sessions/${id}`, `/api/sessions/${id}/events`, `/api/sessions/${id}/outline`]
    for (const path of paths) expect((await rest(stage, "GET", path)).status).toBe(404)
    expect((await rest(stage, "POST", `/api/sessions/${id}/messages`, { body: { content: "hi" } })).status).toBe(404)
    expect((await rest<{ sessions: unknown[] }>(stage, "GET", "/api/sessions")).body.sessions).toEqual([])
    const [ask] = await asksOf(stage, id)
    expect(ask).toMatchObject({
      state: "denied",
      toolName: "Bash",
      via: "person",
      answer: { behavior: "deny" },
      purged: true,
    })
    expect(ask).not.toHaveProperty("input")
    const { records } = (await rest<{ records: AuditRecord[] }>(stage, "GET", `/api/audit?session=${id}`)).body
    expect(records.map(({ what }) => what)).toEqual(
      expect.arrayContaining(["ask/denied", "session/stopped", "session/purged"]),
    )
    const found = await rest<{ hits: unknown[] }>(stage, "GET", `/api/search?q=confidence`)
    expect(found.body.hits).toEqual([])
    expect(JSON.stringify([ask, records])).not.toContain(SECRET)
    expect((await purge(stage, id)).status).toBe(404)
    const later = await stage.reopen()
    expect((await asksOf(later, id))[0]).toMatchObject({ purged: true, inputHash: ask?.inputHash })
    expect((await rest(later, "GET", `/api/sessions/${id}`)).status).toBe(404)
    const size = async () => (await rest<StoreSize>(later, "GET", "/api/store")).body
    await expect.poll(size, POLL).toMatchObject({ events: 0, purging: 0 })
  })

  it("[PG20] of two purges at once one succeeds", async () => {
    const stage = await openStage()
    const id = await endedSession(stage)
    const replies = await Promise.all([purge(stage, id), purge(stage, id), purge(stage, id)])
    expect(replies.map(({ status }) => String(status)).sort()).toEqual(["204", "404", "404"])
  })

  it("[PG21] a session that has not ended, or that asks something, is refused, with what to do", async () => {
    const stage = await openStage()
    const { agent, id } = await openAgent(stage)
    agent.askPermission("r1").catch(() => undefined)
    await expect.poll(async () => (await sessionOf(stage, id)).state, POLL).toBe("waiting")
    const refused = await purge(stage, id)
    expect([refused.status, await refused.json()]).toEqual([
      409,
      { error: { code: "session/live", message: expect.stringContaining("stop it first") } },
    ])
    expect(await asksOf(stage, id)).toMatchObject([{ state: "pending", input: { command: "ls" } }])
    agent.close()
    await expect.poll(async () => (await sessionOf(stage, id)).state, POLL).toBe("disconnected")
    expect((await purge(stage, id)).status).toBe(409)
  })

  it("[PG21] [PG23] a session whose conversation goes on elsewhere is refused until that has ended; then the others are linked", async () => {
    const stage = await openStage()
    const { agent, id: first } = await openAgent(stage)
    agent.sayText("in the first")
    await expect.poll(async () => (await sessionOf(stage, first)).agentSessionId, POLL).toBe(agent.sessionId)
    const goOn = async (from: string, name: string): Promise<string> => {
      agent.say({ type: "system", subtype: "init", session_id: name })
      await expect.poll(async () => (await sessionOf(stage, from)).next, POLL).toBeDefined()
      return (await sessionOf(stage, from)).next ?? ""
    }
    const second = await goOn(first, "the second")
    const third = await goOn(second, "the third")
    const refused = await purge(stage, first)
    expect([refused.status, await refused.text()]).toEqual([
      409,
      expect.stringContaining(`goes on in session ${third}`),
    ])
    await expect.poll(async () => (await sessionOf(stage, third)).state, POLL).toBe("running")
    await stop(stage, third, agent)
    expect((await purge(stage, second)).status).toBe(204)
    expect(await sessionOf(stage, first)).toMatchObject({ next: third })
    expect((await sessionOf(stage, third)).parent).toBe(second)
    expect((await purge(stage, third)).status).toBe(204)
    expect(await sessionOf(stage, first)).not.toHaveProperty("next")
  })

  it("[PG22] whoever streams it is told, whoever watches all is told, and a reply under way is cut off", async () => {
    const stage = await openStage()
    const id = await endedSession(stage)
    const [viewer, watcher] = [await stream(stage, id), await stream(stage, "*")]
    await viewer.find((message) => message["ev"] === "event" && message["seq"] === 5, "the fifth event")
    const page = await stage.hub.core.readEvents(id, { after: 0, limit: 1_000 })
    expect((await purge(stage, id)).status).toBe(204)
    const told = await viewer.find((message) => message["ev"] === "error", "the end")
    expect(told).toMatchObject({ session: id, error: { code: "session/unknown" } })
    await watcher.find((message) => message["ev"] === "purged" && message["session"] === id, "the purge")
    const readOn = async () => {
      for await (const piece of page.pieces) expect(piece).not.toEqual([])
    }
    await expect(readOn()).rejects.toThrow("removed while they were read")
    viewer.send({ op: "subscribe", session: id })
    await expect.poll(() => viewer.messages.filter((message) => message["ev"] === "error").length, POLL).toBe(2)
  })

  it("[PG22] an event stream of it ends, and cannot be opened again", async () => {
    const stage = await openStage()
    const [id, other] = [await endedSession(stage), await endedSession(stage)]
    const open = (session: string) =>
      SseReader.open(`${stage.url}/v1/code/sessions/${session}/events/stream`, stage.hub.admin.token)
    const [reader, kept] = [await open(id), await open(other)]
    onTestFinished(() => kept.close())
    await reader.ofType("assistant")
    expect((await purge(stage, id)).status).toBe(204)
    await reader.ended
    expect((await open(id)).response.statusCode).toBe(404)
    await kept.ofType("assistant")
    expect(kept.response.closed).toBe(false)
  })

  it("[PG23] a fork of a purged session keeps working, without earlier history", async () => {
    const { directory, log, registry, asks } = setUpSessions()
    await directory.saveSession(keptSession("parent", { state: "ended" }), { isAtRest: true })
    await directory.saveSession(keptSession("fork", { state: "ended", parent: "parent", parentSeq: 3 }))
    const retention = retentionOn({ directory, log, registry, asks })
    await retention.purge("parent", { by: "ann", via: "person" })
    const fork = await registry.get("fork")
    expect(fork.view()).toMatchObject({ parent: "parent", parentSeq: 3 })
    // Nobody knows any more whether a token stood behind the one it came of.
    expect(await registry.isGuarded(fork)).toBe(true)
    expect((await registry.newestOf("fork"))?.id).toBe("fork")
    await retention.close()
  })

  it("[PG24] its agent is refused, and an object of it that somebody still has writes nothing", async () => {
    const stage = await openStage()
    const { id, ingress } = await openSession(stage)
    const agent = await ScriptedAgent.dial(ingress)
    agent.sayText("hello")
    await expect.poll(async () => (await sessionOf(stage, id)).lastLine, POLL).toBe("hello")
    await stop(stage, id, agent)
    expect((await purge(stage, id)).status).toBe(204)
    await expect(ScriptedAgent.dial(ingress)).rejects.toThrow(/401/)
    expect((await rest(stage, "GET", `/api/sessions/${id}`)).status).toBe(404)
    const { directory, log, registry, asks } = setUpSessions()
    await directory.saveSession(keptSession("s", { state: "ended" }), { isAtRest: true })
    const held = await registry.get("s")
    const retention = retentionOn({ directory, log, registry, asks })
    await retention.purge("s", { by: "ann", via: "person" })
    held.change({ title: "back" })
    await expect(held.history.note("again")).rejects.toThrow(HubError)
    await expect(held.send({ content: "hi" }, "ann")).rejects.toMatchObject({ code: "session/unknown" })
    await held.settled()
    expect([await directory.getSession("s"), await log.bounds("s")]).toEqual([undefined, { firstSeq: 0, lastSeq: 0 }])
    await retention.close()
  })
})

type Parts = Pick<ReturnType<typeof setUpSessions>, "directory" | "log" | "registry" | "asks">

const NOW = new Date("2030-06-01T00:00:00.000Z")
const SIZE = { bytes: 10_000, freeBytes: 0, walBytes: 0, searchBytes: 0, canShrink: true, events: 100 }

function retentionOn(
  parts: Parts,
  settings: Settings | null | (() => Settings | null) = null,
  trouble = fails,
): Retention {
  return new Retention({
    ...parts,
    tokens: { ofSession: async () => [], revokeAll: async () => undefined },
    viewers: { purged: () => undefined },
    store: { size: () => SIZE, purger: { wake: () => undefined } },
    settings: () => ({
      operatorsMayUseAuto: false,
      retention: typeof settings === "function" ? settings() : settings,
    }),
    trouble,
    now: () => new Date(NOW.getTime() + Math.round(performance.now() - started)),
  })
}

const started = performance.now()

function fails(what: string, error: unknown): void {
  throw new Error(what, { cause: error })
}

const PERSON = { by: "ann", via: "person" } as const

/** One for each day before, the newest first: d1 is a day old. */
async function daysOf(count: number): Promise<Parts> {
  const parts = setUpSessions()
  for (let day = count; day > 0; day--) {
    const updatedAt = new Date(NOW.getTime() - day * 86_400_000 - 1_000).toISOString()
    const change = { state: "ended", createdAt: updatedAt, updatedAt, lastSeq: 5 } as const
    await parts.directory.saveSession(keptSession(`d${day}`, change), { isAtRest: true })
  }
  return parts
}

async function change(parts: Parts, id: string, fields: Partial<Session>): Promise<void> {
  const kept = await parts.directory.getSession(id)
  if (kept === undefined) throw new Error(`no session ${id}`)
  await parts.directory.saveSession({ ...kept, record: { ...kept.record, ...fields } }, { isAtRest: true })
}

async function idsOf({ directory }: Parts): Promise<string[]> {
  return (await directory.listSessions({ limit: 1_000 })).map(({ id }) => id).sort()
}

function idsIn({ sessions }: Pruned): string[] {
  return sessions.map(({ id }) => id).sort()
}

describe("pruning", () => {
  it("[PG30] [PG31] takes what is old, ended, archived if so asked, neither pinned nor among the newest; a dry run deletes nothing", async () => {
    const parts = await daysOf(6)
    const retention = retentionOn(parts)
    await change(parts, "d5", { pinned: true })
    await change(parts, "d4", { archived: true })
    await change(parts, "d6", { updatedAt: NOW.toISOString() })
    await parts.directory.saveSession(
      keptSession("runs", { createdAt: "2020-01-01T00:00:00.000Z", updatedAt: "2020-01-01T00:00:00.000Z" }),
    )
    const dry = async (how: Omit<Parameters<Retention["prune"]>[0], "dryRun">) =>
      retention.prune({ ...how, dryRun: true }, PERSON)
    expect(await dry({ olderThan: "2d" })).toMatchObject({ count: 3, events: 15, bytes: 1_500, more: false })
    expect(idsIn(await dry({ olderThan: "2d" }))).toEqual(["d2", "d3", "d4"])
    expect(idsIn(await dry({ olderThan: "73h" }))).toEqual(["d4"])
    expect(idsIn(await dry({ olderThan: "1h", archived: true }))).toEqual(["d4"])
    // The pinned one comes first in every list, and takes no place of those that are kept.
    expect(idsIn(await dry({ olderThan: "1h", keepLast: 3 }))).toEqual(["d4"])
    expect((await dry({ olderThan: "999d" })).count).toBe(0)
    expect(await idsOf(parts)).toEqual(["d1", "d2", "d3", "d4", "d5", "d6", "runs"])
    await retention.close()
  })

  it("[PG32] replies at once, goes on in the background, and does no harm a second time", async () => {
    const parts = await daysOf(150)
    const retention = retentionOn(parts)
    const [first, second] = await Promise.all([
      retention.prune({ olderThan: "30d" }, PERSON),
      retention.prune({ olderThan: "30d" }, PERSON),
    ])
    expect([first.count, second.count, first.sessions.length]).toEqual([121, 121, 100])
    expect((await retention.size()).purging).toBeGreaterThan(0)
    await expect.poll(async () => (await retention.size()).purging, POLL).toBe(0)
    expect(await idsOf(parts)).toHaveLength(29)
    const purged = await parts.directory.listAudit({ what: "session/purged", after: 0, limit: 1_000 })
    expect(purged).toHaveLength(121)
    expect(purged[0]).toMatchObject({ by: "ann", via: "person" })
    await retention.close()
  })

  it("[PG31] a prune of more than 10,000 sessions tells how many it is", async () => {
    const parts = await daysOf(10_050)
    const retention = retentionOn(parts)
    const dry = await retention.prune({ olderThan: "10d", dryRun: true }, PERSON)
    expect([dry.count, dry.events, dry.sessions.length, dry.more]).toEqual([10_041, 50_205, 100, false])
    expect((await retention.prune({ olderThan: "10d" }, PERSON)).count).toBe(10_041)
    expect((await retention.size()).purging).toBeGreaterThan(10_000)
    await retention.close()
  })

  it("[PG30] [PG32] a prune of more sessions than it looks at in one go goes on until none is left, also after a restart", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const parts = await daysOf(650)
    const first = retentionOn(parts)
    expect((await first.prune({ olderThan: "10d", keepLast: 20 }, PERSON)).count).toBe(630)
    await first.close()
    const later = retentionOn(parts)
    const left = async () => (await parts.directory.countSessions([{}])).count
    expect(await left()).toBeGreaterThan(600)
    const isOver = async () => {
      await vi.advanceTimersByTimeAsync(61_000)
      expect(await left()).toBe(20)
      expect(await parts.directory.getDocument("open-prunes")).toEqual([])
    }
    await vi.waitFor(isOver, { timeout: 20_000 })
    expect((await later.size()).purging).toBe(0)
    await later.close()
  }, 30_000)

  it("[PG32] a person's prune takes sessions that the hub's own prune lets go when the settings change", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const parts = await daysOf(6)
    let settings: Settings | null = { olderThan: "1d" }
    const retention = retentionOn(parts, () => settings)
    const purgeSession = parts.directory.purgeSession.bind(parts.directory)
    // While the hub purges the first of them.
    vi.spyOn(parts.directory, "purgeSession").mockImplementationOnce(async (...purged) => {
      expect((await retention.prune({ olderThan: "3d" }, PERSON)).count).toBe(4)
      settings = null
      return purgeSession(...purged)
    })
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(61_000)
      expect(await idsOf(parts)).toEqual(["d2"])
    })
    const purged = await parts.directory.listAudit({ what: "session/purged", after: 0, limit: 9 })
    expect(purged.map(({ by }) => by)).toEqual(["hub", "ann", "ann", "ann", "ann"])
    await retention.close()
  })

  it("[PG32] a session that was pinned, unarchived or used again before its turn came is left alone", async () => {
    const parts = await daysOf(5)
    const retention = retentionOn(parts)
    const purgeSession = parts.directory.purgeSession.bind(parts.directory)
    // While the first one is purged, somebody wants the others back.
    vi.spyOn(parts.directory, "purgeSession").mockImplementationOnce(async (...purged) => {
      await change(parts, "d4", { pinned: true })
      await change(parts, "d5", { updatedAt: NOW.toISOString() })
      return purgeSession(...purged)
    })
    expect((await retention.prune({ olderThan: "2d" }, PERSON)).count).toBe(4)
    await expect.poll(async () => (await retention.size()).purging, POLL).toBe(0)
    expect(await idsOf(parts)).toEqual(["d1", "d4", "d5"])
    const [createdAt, updatedAt] = ["2020-01-01T00:00:00.000Z", "2020-01-01T00:00:00.000Z"]
    for (const id of ["d1", "d5"]) await change(parts, id, { archived: true, createdAt, updatedAt })
    vi.spyOn(parts.directory, "purgeSession").mockImplementationOnce(async (...purged) => {
      await change(parts, "d5", { archived: false })
      return purgeSession(...purged)
    })
    expect((await retention.prune({ olderThan: "2d", archived: true }, PERSON)).count).toBe(2)
    await expect.poll(async () => (await retention.size()).purging, POLL).toBe(0)
    expect(await idsOf(parts)).toEqual(["d4", "d5"])
    await retention.close()
  })

  it("[PG32] sessions that a full disk kept in place are purged at the next look, also by a later hub", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const parts = await daysOf(6)
    const trouble = vi.fn<() => void>()
    const retention = retentionOn(parts, null, trouble)
    const full = vi.spyOn(parts.directory, "purgeSession")
    for (let times = 0; times < 3; times++) full.mockRejectedValueOnce(new HubError("store/full", "no room"))
    expect((await retention.prune({ olderThan: "1h" }, PERSON)).count).toBe(6)
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(100)
      expect(await idsOf(parts)).toHaveLength(3)
    })
    await vi.advanceTimersByTimeAsync(100)
    expect([trouble.mock.calls.length, (await retention.size()).purging]).toEqual([3, 3])
    await retention.close()
    const later = retentionOn(parts)
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(61_000)
      expect(await idsOf(parts)).toEqual([])
    })
    await later.close()
  })

  it("[PG32] prunes that are asked for at the same moment all go on after a restart", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const parts = await daysOf(6)
    await change(parts, "d2", { archived: true })
    const first = retentionOn(parts, null, () => undefined)
    // Nothing is purged before the restart.
    vi.spyOn(parts.directory, "purgeSession").mockRejectedValueOnce(new HubError("store/full", "no room"))
    await Promise.all([
      first.prune({ olderThan: "5d" }, PERSON),
      first.prune({ olderThan: "1h", archived: true }, PERSON),
    ])
    await first.close()
    const later = retentionOn(parts)
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(61_000)
      expect(await idsOf(parts)).toEqual(["d1", "d3", "d4"])
    })
    await later.close()
  })

  it("[PG32] a prune that a restart interrupted goes on, and one that the store can't keep is refused", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const parts = await daysOf(4)
    const first = retentionOn(parts)
    expect((await first.prune({ olderThan: "1h" }, PERSON)).count).toBe(4)
    await first.close()
    expect(await idsOf(parts)).not.toHaveLength(0)
    const later = retentionOn(parts)
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(61_000)
      expect(await idsOf(parts)).toEqual([])
    })
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(1_000)
      expect(await parts.directory.getDocument("open-prunes")).toEqual([])
    })
    await later.close()
    const full = await daysOf(2)
    vi.spyOn(full.directory, "changeDocument").mockRejectedValueOnce(new HubError("store/full", "no room"))
    const refusing = retentionOn(full)
    await expect(refusing.prune({ olderThan: "1h" }, PERSON)).rejects.toMatchObject({ code: "store/full" })
    expect([(await refusing.size()).purging, (await idsOf(full)).length]).toEqual([0, 2])
    await refusing.close()
  })

  it("[PG33] a clock that jumped ahead deletes nothing by itself until it has held for an hour", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const parts = await daysOf(3)
    const before = new Date(NOW.getTime() - 30 * 86_400_000).toISOString()
    await parts.directory.putDocument("store-sizes", [{ at: before, bytes: 1 }])
    const retention = retentionOn(parts, { olderThan: "1d" })
    await vi.advanceTimersByTimeAsync(61_000)
    expect(await idsOf(parts)).toHaveLength(3)
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(3_600_000)
      expect(await idsOf(parts)).toEqual([])
    })
    await retention.close()
  })

  it("[PG33] the hub prunes by itself only if the settings say so, and the audit says that it did", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    onTestFinished(() => void vi.useRealTimers())
    const never = await daysOf(5)
    const idle = retentionOn(never)
    const parts = await daysOf(5)
    const retention = retentionOn(parts, { olderThan: "3d" })
    await vi.advanceTimersByTimeAsync(61_000)
    await vi.waitFor(async () => expect(await idsOf(parts)).toEqual(["d1", "d2"]))
    const audit = await parts.directory.listAudit({ what: "session/purged", after: 0, limit: 9 })
    expect(audit.map(({ by, via }) => [by, via])).toEqual([
      ["hub", "hub"],
      ["hub", "hub"],
      ["hub", "hub"],
    ])
    await change(parts, "d1", { updatedAt: "2020-01-01T00:00:00.000Z", createdAt: "2020-01-01T00:00:00.000Z" })
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(3_600_000)
      expect(await idsOf(parts)).toEqual(["d2"])
    })
    await vi.advanceTimersByTimeAsync(86_400_000)
    expect(await idsOf(never)).toHaveLength(5)
    await Promise.all([retention.close(), idle.close()])
  })

  it("[PG34] tells the size, and how large it was a day ago once it knows, also after a restart", async () => {
    const parts = await daysOf(1)
    const at = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000).toISOString()
    const first = retentionOn(parts)
    expect(await first.size()).toEqual({ ...SIZE, purging: 0 })
    await parts.directory.putDocument("store-sizes", [
      { at: at(30), bytes: 1 },
      { at: at(24), bytes: 2 },
      { at: at(2), bytes: 3 },
    ])
    const later = retentionOn(parts)
    expect((await later.size()).dayAgo).toEqual({ at: at(24), bytes: 2 })
    await Promise.all([first.close(), later.close()])
  })

  it("[PG33] [PG34] over HTTP: the settings are checked and kept, the size is told, and so are the metrics", async () => {
    const stage = await openStage()
    const put = (retention: unknown) => rest(stage, "PUT", "/api/settings", { body: { retention } })
    expect((await put({ olderThan: "soon" })).status).toBe(400)
    expect((await put({ olderThan: "0d" })).status).toBe(400)
    expect(await put({ olderThan: "90d", keepLast: 10 })).toMatchObject({ status: 200 })
    await endedSession(stage)
    const dry = await rest<Pruned>(stage, "POST", "/api/sessions/prune", { body: { olderThan: "1m", dryRun: true } })
    expect([dry.status, dry.body.count]).toEqual([202, 0])
    const again = await stage.reopen()
    const settings = await rest(again, "GET", "/api/settings")
    expect(settings.body).toEqual({ operatorsMayUseAuto: false, retention: { olderThan: "90d", keepLast: 10 } })
    const size = (await rest<StoreSize>(again, "GET", "/api/store")).body
    expect(size).toMatchObject({ canShrink: true })
    const text = await (await call(again, "GET", "/metrics")).text()
    expect(text).toContain(`signalbox_stored_events ${size.events}`)
    for (const part of ["database", "free", "wal", "search"]) {
      expect(text).toMatch(new RegExp(`^signalbox_store_bytes\\{part="${part}"\\} \\d+$`, "m"))
    }
    const { token } = await tokenOf(again, "operator")
    expect((await rest(again, "POST", "/api/sessions/prune", { body: { olderThan: "1m" }, token })).status).toBe(403)
  })
})
