import { ReadingTurns } from "@signalbox/transport"
import { deferred } from "@signalbox/transport/pacing"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { type RawData, WebSocket, WebSocketServer } from "ws"
import type { NewEvent } from "../../src/model/event.ts"
import { createPrometheusMetrics } from "../../src/operations/metrics.ts"
import { DEFAULT_SETTINGS } from "../../src/policy-desk.ts"
import { DoorSocket, TakenLines } from "../../src/runners/door-socket.ts"
import { LaunchDesk } from "../../src/runners/launch-desk.ts"
import { ProcessEndings } from "../../src/runners/process-endings.ts"
import { RunnerAgent } from "../../src/runners/runner-agent.ts"
import { RunnerRefusals } from "../../src/runners/runner-claims.ts"
import { RunnerConnection } from "../../src/runners/runner-connection.ts"
import { RunnerDesk } from "../../src/runners/runner-desk.ts"
import { RunnerFleet } from "../../src/runners/runner-fleet.ts"
import type { LiveSession } from "../../src/session/live-session.ts"
import type { SessionRegistry } from "../../src/session/session-registry.ts"
import type { AppendOptions } from "../../src/store/event-log.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"
import { linesOf, setUpSessions } from "../session/session-setup.ts"
import { factsOf } from "./fake-runner.ts"
import { claimsOn, RUNNER, WAIT } from "./launching.ts"

/** Both ends of a connection: the hub's as its door has it, and the runner's. */
async function openPair(): Promise<{ door: DoorSocket; peer: WebSocket }> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
  onTestFinished(() => server.close())
  const accepted = new Promise<WebSocket>((resolve) => server.once("connection", resolve))
  await new Promise<void>((resolve) => server.once("listening", () => resolve()))
  const address = server.address()
  const peer = new WebSocket(`ws://127.0.0.1:${typeof address === "object" ? address?.port : 0}`)
  await new Promise<void>((resolve) => peer.once("open", () => resolve()))
  onTestFinished(() => peer.terminate())
  return { door: new DoorSocket({ socket: await accepted, caller: RUNNER }), peer }
}

const LAUNCH = { runner: "runner-1", agent: "claude", cwd: "/w", spawn: "p1", earlier: [] } as const

function textIn(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString() : ""
}

/** Refuses what agents say as long as it is told to. */
class MoodyLog extends MemoryEventLog {
  isRefusing = false

  override append(session: string, events: readonly NewEvent[], options?: AppendOptions) {
    if (this.isRefusing) return Promise.reject(new Error("the disk is gone"))
    return super.append(session, events, options)
  }
}

/** Writes what has this in it when the test lets it. */
class HeldLog extends MemoryEventLog {
  holds = "nothing"
  readonly held: (() => void)[] = []

  override async append(session: string, events: readonly NewEvent[], options?: AppendOptions) {
    if (events.some(({ line }) => line.includes(this.holds))) {
      await new Promise<void>((go) => void this.held.push(go))
    }
    return super.append(session, events, options)
  }
}

const QUESTION = {
  type: "control_request",
  request_id: "r1",
  request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t1" },
}

/** An agent's connection but for its socket. */
function agentParts(registry: SessionRegistry, session: LiveSession) {
  return {
    attach: { op: "attach", spawn: "p1", session: session.id, pid: 1, startedAt: "", first: 1 } as const,
    session,
    registry,
    taken: new TakenLines(),
    metrics: createPrometheusMetrics(),
    turns: new ReadingTurns(),
    journal: { room: async () => undefined },
    clients: { hookFailures: () => ({}), deniedByRunner: async () => undefined },
    exited: async () => undefined,
    onTrouble: () => undefined,
    epochOf: undefined,
  }
}

const ALONE = { turns: new ReadingTurns(), registry: { isCurrent: true } }

describe("what a runner has and what the hub thinks it has", () => {
  it("[HR35] a process that the runner does not know is over, unless it is heard of in time", async () => {
    const { registry, directory, log, troubles } = setUpSessions()
    const trouble = (what: string) => void troubles.push(what)
    const claims = claimsOn(directory)
    const refusals = new RunnerRefusals({ directory, claims, tokens: { getLive: () => undefined }, trouble })
    const fleet = new RunnerFleet({ directory, claims, metrics: createPrometheusMetrics(), trouble })
    const endings = new ProcessEndings(fleet)
    const launches = new LaunchDesk({
      endings,
      registry,
      fleet,
      directory,
      log,
      settings: { settings: DEFAULT_SETTINGS },
      policy: { enforce: "asked" },
      trouble: (_session, what) => void troubles.push(what),
    })
    const parts = { registry, fleet, claims, refusals, launches, endings }
    const desk = new RunnerDesk({ ...parts, hub: () => "hub", missingGraceMs: 50 })
    onTestFinished(() => desk.close())
    const [lost, kept] = [registry.create({}), registry.create({})]
    lost.expect(LAUNCH)
    kept.expect({ ...LAUNCH, spawn: "p2" })
    const { door, peer } = await openPair()
    void new RunnerConnection({ ...ALONE, socket: door, listener: desk }).run()
    const usage = { spawn: "p2", session: kept.id, pid: 1, memoryBytes: 0, cpuPercent: 0 }
    peer.send(JSON.stringify({ op: "hello", runner: factsOf(), agents: [usage], cut: [] }))
    await expect.poll(() => lost.record.exit?.reason, WAIT).toBe("its process is gone from the runner")
    expect(kept.isEnded).toBe(false)
    peer.close()
  })

  it("[AB35] what a runner says of itself is read in turns: a flood of it holds up nobody else", async () => {
    const { door, peer } = await openPair()
    const stats = { heard: 0, afterATurn: 0 }
    const listener = {
      hello: async () => undefined,
      stats() {
        if (stats.heard++ === 0) setImmediate(() => (stats.afterATurn = stats.heard))
      },
      gone: () => undefined,
    }
    const run = new RunnerConnection({ ...ALONE, socket: door, listener }).run()
    const hello = JSON.stringify({ op: "hello", runner: factsOf(), agents: [], cut: [] })
    peer.send([hello, ...Array.from({ length: 20_000 }, () => '{"op":"stats"}')].join("\n"))
    await expect.poll(() => stats.heard, WAIT).toBe(20_000)
    expect(stats.afterATurn).toBeGreaterThan(0)
    expect(stats.afterATurn).toBeLessThan(1_000)
    peer.close()
    await run
  })

  it("[CT14] a hub that lost its lease says nothing to an agent, and goes on when it has it again", async () => {
    const lease = { isCurrent: true }
    const nothing = async () => undefined
    const ownership = Object.assign(lease, {
      begin: () => undefined,
      drop: () => undefined,
      claim: nothing,
      take: nothing,
      takeUnsaved: nothing,
      release: nothing,
    })
    const { registry } = setUpSessions(undefined, undefined, { ownership })
    const session = registry.create({})
    session.expect(LAUNCH)
    const { door, peer } = await openPair()
    const heard: string[] = []
    peer.on("message", (data) => void heard.push(textIn(data)))
    const agent = new RunnerAgent({ ...agentParts(registry, session), socket: door })
    lease.isCurrent = false
    await expect(agent.send({ type: "user" })).rejects.toMatchObject({ code: "hub/moved" })
    lease.isCurrent = true
    await agent.send({ type: "keep_alive" })
    await expect.poll(() => heard, WAIT).toEqual(['L{"type":"keep_alive"}'])
    peer.close()
  })

  it("[CT14] a hub that lost its lease asks a runner for nothing, and goes on when it has it again", async () => {
    const { door, peer } = await openPair()
    const asked: unknown[] = []
    peer.on("message", (data) => {
      const { id, request } = JSON.parse(textIn(data)) as { id: string; request: { kind: string } }
      asked.push(request.kind)
      peer.send(JSON.stringify({ op: "reply", id, result: "done" }))
    })
    const registry = { isCurrent: false }
    const listener = { hello: async () => undefined, stats: () => undefined, gone: () => undefined }
    const connection = new RunnerConnection({ turns: new ReadingTurns(), registry, socket: door, listener })
    const run = connection.run()
    peer.send(JSON.stringify({ op: "hello", runner: factsOf(), agents: [], cut: [] }))
    const stop = { kind: "stop", spawn: "p1", reason: "nobody wants it" } as const
    await expect(connection.request(stop, 1_000)).rejects.toMatchObject({ code: "hub/busy" })
    registry.isCurrent = true
    expect(await connection.request({ kind: "folders" }, 10_000)).toBe("done")
    expect(asked).toEqual(["folders"])
    peer.close()
    await run
  })

  it("[CT15] a hub that lost the session before it greets the agent sends it away, and says nothing to it", async () => {
    const { registry } = setUpSessions()
    const session = registry.create({})
    session.expect(LAUNCH)
    const { door, peer } = await openPair()
    const heard: string[] = []
    peer.on("message", (data) => void heard.push(textIn(data)))
    const closed = new Promise<number>((resolve) => peer.on("close", (code) => resolve(code)))
    void new RunnerAgent({ ...agentParts(registry, session), socket: door, epochOf: () => undefined }).run()
    expect(await closed).toBe(1012)
    expect(heard).toEqual([])
    expect(session.wire).toBeUndefined()
  })

  it("[HR26] what the store refuses is not acknowledged, and is taken when it comes again", async () => {
    const log = new MoodyLog()
    const { registry, troubles } = setUpSessions(undefined, log)
    const session = registry.create({})
    session.expect(LAUNCH)
    const taken = new TakenLines()
    const connect = async () => {
      const { door, peer } = await openPair()
      const heard: string[] = []
      peer.on("message", (data) => void heard.push(textIn(data)))
      const closed = new Promise<number>((resolve) => peer.on("close", (code) => resolve(code)))
      const agent = new RunnerAgent({
        ...agentParts(registry, session),
        socket: door,
        taken,
        onTrouble: (error) => void troubles.push(String(error)),
      })
      void agent.run()
      return { peer, heard, closed }
    }
    const first = await connect()
    first.peer.send('L1 {"type":"said","text":1}')
    await expect.poll(() => first.heard, WAIT).toContain("A1")
    log.isRefusing = true
    first.peer.send('L2 {"type":"said","text":2}')
    expect(await first.closed).toBe(1012)
    expect(first.heard).not.toContain("A2")
    log.isRefusing = false
    const second = await connect()
    second.peer.send('L2 {"type":"said","text":2}\nL3 {"type":"said","text":3}')
    await expect.poll(() => second.heard, WAIT).toContain("A3")
    expect((await linesOf(log, session)).filter((line) => line === "agent said")).toHaveLength(3)
    second.peer.close()
  })

  it("[HR23] a question that an older connection of the process has not read yet becomes an ask on the next", async () => {
    const log = new HeldLog()
    const { registry, asks } = setUpSessions(undefined, log)
    const session = registry.create({})
    session.expect(LAUNCH)
    const taken = new TakenLines()
    const connect = async (room: () => Promise<void>) => {
      const { door, peer } = await openPair()
      const metrics = createPrometheusMetrics()
      const read = vi.spyOn(metrics, "linesReceived")
      const parts = { ...agentParts(registry, session), socket: door, taken, metrics, journal: { room } }
      void new RunnerAgent(parts).run()
      return { peer, read }
    }
    const full = deferred<void>()
    const first = await connect(() => full.promise)
    first.peer.send('L1 {"type":"said","text":1}')
    await expect.poll(() => first.read, WAIT).toHaveBeenCalledTimes(1)
    first.peer.send(`L2 ${JSON.stringify(QUESTION)}`)
    log.holds = '"disconnected"'
    const second = await connect(async () => undefined)
    await expect.poll(() => log.held.length, WAIT).toBe(1)
    full.resolve()
    await expect.poll(() => first.read, WAIT).toHaveBeenCalledTimes(2)
    log.held[0]?.()
    second.peer.send(`L1 {"type":"said","text":1}\nL2 ${JSON.stringify(QUESTION)}`)
    await expect.poll(() => asks.pendingOf(session.id), WAIT).toMatchObject([{ requestId: "r1", incarnation: "p1" }])
    second.peer.close()
  })
})
