import { createLinkedPair, type HybridConnection, ReadingTurns, type Transport } from "@signalbox/transport"
import { describe, expect, it, onTestFinished } from "vitest"
import { AgentConnection } from "../../src/agents/agent-connection.ts"
import type { NewEvent } from "../../src/model/event.ts"
import { createPrometheusMetrics } from "../../src/operations/metrics.ts"
import type { AppendOptions } from "../../src/store/event-log.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"
import { setUpSessions } from "../session/session-setup.ts"

/** Remembers what agents said in the order in which it was kept, and keeps nothing of a session that has to wait. */
class WatchedLog extends MemoryEventLog {
  readonly kept: { readonly session: string; readonly line: string }[] = []
  #held: { readonly session: string; readonly until: Promise<void> } | undefined

  hold(session: string): () => void {
    let release = () => undefined as void
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    this.#held = { session, until }
    return release
  }

  override async append(session: string, events: readonly NewEvent[], options?: AppendOptions) {
    if (this.#held?.session === session) await this.#held.until
    for (const { from, line } of events) if (from === "agent") this.kept.push({ session, line })
    return super.append(session, events, options)
  }

  linesOf(session: string): string[] {
    return this.kept.filter((each) => each.session === session).map(({ line }) => line)
  }
}

function accepted(near: Transport): HybridConnection {
  const request = {
    path: "/",
    query: new URLSearchParams(),
    token: undefined,
    environmentRunnerVersion: undefined,
    lastRequestId: undefined,
    remoteAddress: undefined,
    headers: {},
  }
  return {
    request,
    lines: near.lines,
    closed: near.closed,
    send: (line) => near.send(line),
    close: (reason) => near.close(reason),
    closeWith: (_code, reason) => near.close(reason),
  }
}

/** A hub's agents without sockets: `far` is the end that an agent has, and its sends wait as a paused socket's do. */
function openAgents() {
  const log = new WatchedLog()
  const { registry } = setUpSessions(undefined, log)
  const troubles: string[] = []
  const [turns, metrics] = [new ReadingTurns(), createPrometheusMetrics()]
  onTestFinished(() => metrics.close())
  const connect = () => {
    const session = registry.create({ agent: "external" })
    const [near, far] = createLinkedPair()
    const agent = new AgentConnection({
      connection: accepted(near),
      session,
      registry,
      isBound: true,
      metrics,
      turns,
      journal: { room: async () => undefined },
      onTrouble: (error) => void troubles.push(String(error)),
    })
    const run = agent.run()
    const sent: string[] = []
    const say = async (count: number, text: string) => {
      for (let n = 0; n < count; n++) {
        const line = JSON.stringify({ type: "said", n, text })
        sent.push(line)
        await far.send(line)
      }
    }
    const leave = async () => {
      await far.close()
      await run
      await session.settled()
    }
    return { id: session.id, say, sent, leave }
  }
  return { log, connect, troubles }
}

async function turnsPass(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe("an agent that floods", () => {
  it("[HS160] holds up another's line for the few hundred lines of a turn; nothing is lost, and all is in order", async () => {
    const { log, connect, troubles } = openAgents()
    const [loud, quiet] = [connect(), connect()]
    const flood = loud.say(20_000, "x".repeat(100))
    await turnsPass(10)
    const before = log.kept.length
    expect(before).toBeGreaterThan(0)
    expect(before).toBeLessThan(5_000)
    await quiet.say(1, "me too")
    await expect.poll(() => log.linesOf(quiet.id)).toHaveLength(1)
    expect(log.kept.findIndex(({ session }) => session === quiet.id) - before).toBeLessThan(1_000)
    await flood
    await Promise.all([loud.leave(), quiet.leave()])
    expect(log.linesOf(loud.id)).toEqual(loud.sent)
    expect(troubles).toEqual([])
  })

  it("[HS161] is not read past its own bound while the store has not taken what it said; others go on, and then so does it", async () => {
    const { log, connect, troubles } = openAgents()
    const [loud, quiet] = [connect(), connect()]
    await turnsPass(3)
    const release = log.hold(loud.id)
    const flood = loud.say(1_000, "x".repeat(20_000))
    await turnsPass(200)
    // Two megabytes on their way to the log, and one that waits to be read.
    expect(loud.sent.length).toBeLessThan(200)
    await quiet.say(1_000, "me too")
    await expect.poll(() => log.linesOf(quiet.id)).toHaveLength(1_000)
    expect(loud.sent.length).toBeLessThan(200)
    release()
    await flood
    await Promise.all([loud.leave(), quiet.leave()])
    expect(log.linesOf(loud.id)).toEqual(loud.sent)
    expect(log.linesOf(quiet.id)).toEqual(quiet.sent)
    expect(troubles).toEqual([])
  })
})
