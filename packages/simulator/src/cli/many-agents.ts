import type { DialState } from "@signalbox/transport"
import { type AgentOptions, openAgent, type SimulatedAgent } from "../agent/open-agent.ts"
import { faultsOver } from "../faults/faulty-transport.ts"
import type { Launch } from "../launch/launch.ts"
import type { Model } from "../model/model.ts"
import { recordTransport } from "../record/recording.ts"
import type { Scenario } from "../scenario/schema.ts"
import { refused } from "../simulator-error.ts"
import type { Environment } from "./launch-from-argv.ts"
import { cutsOf, dial } from "./roads.ts"
import type { Settings } from "./settings.ts"

export interface ManyAgents {
  readonly count: number
  readonly url: string | undefined
  readonly env: Environment
  readonly settings: Settings
  readonly launch: Launch
  readonly scenario?: Scenario | undefined
  readonly createModel?: () => Model
  readonly say: (text: string) => Promise<void>
}

interface Tally {
  connected: number
  linesIn: number
  linesOut: number
  readonly exits: Map<number, number>
  /** Why some never got in. */
  readonly refusals: Map<string, number>
}

const TERMINATED = 143
/** Reasons told at the end; of hundreds of agents most have the same. */
const MAX_REFUSALS = 5
/** For all agents together: what they remember to send again, and what waits on their ways. */
const RING_BYTES = 256 * 1024 * 1024
const WAITING_CHARS = 128 * 1024 * 1024
const LEAST = 64 * 1024
/** A server's queue of connections that were not taken yet is short. */
const DIALS_AT_ONCE = 50

/** Plays many agents in this process, each with a session and a connection of its own. The exit code is 0 if all of theirs are. */
export async function playMany(options: ManyAgents): Promise<number> {
  checkMany(options)
  const { count, say } = options
  const startedAt = performance.now()
  const tally: Tally = { connected: 0, linesIn: 0, linesOut: 0, exits: new Map(), refusals: new Map() }
  const company = new Company()
  const onTerm = () => company.terminate(TERMINATED)
  const onInterrupt = () => company.terminate(0)
  process.on("SIGTERM", onTerm).on("SIGINT", onInterrupt)
  const ends: Promise<void>[] = []
  for (let number = 1; number <= count && !company.isOver; number++) {
    ends.push(playOne(number, options, { tally, company }))
    if (number % DIALS_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(ends)
  process.off("SIGTERM", onTerm).off("SIGINT", onInterrupt)
  await say(summary(count, tally, performance.now() - startedAt))
  return [...tally.exits.keys()].every((code) => code === 0) ? 0 : 1
}

function checkMany({ url, launch, settings }: ManyAgents): void {
  if (url === undefined) throw refused("claude-sim: --agents N needs --sdk-url: on stdio there is room for one")
  if (settings.replayFile !== undefined || settings.recordFile !== undefined) {
    throw refused("claude-sim: --agents N plays scenarios: leave out --replay and --record")
  }
  const { resume, continueLast, sessionId } = launch.session
  if (resume !== undefined || continueLast === true || sessionId !== undefined) {
    throw refused("claude-sim: --agents N plays new sessions: leave out --resume, --continue and --session-id")
  }
}

/** `{n}` is the agent's number; without it the number is added to the path. */
export function addressOf(url: string, number: number): string {
  if (url.includes("{n}")) return url.replaceAll("{n}", String(number))
  const [, before = url, query = ""] = /^([^?#]*)(.*)$/s.exec(url) ?? []
  return `${before.replace(/\/$/, "")}/${number}${query}`
}

/** Those that are there now, to be told of a signal together. */
class Company {
  readonly #agents = new Set<SimulatedAgent>()
  #code: number | undefined

  get isOver(): boolean {
    return this.#code !== undefined
  }

  join(agent: SimulatedAgent): void {
    this.#agents.add(agent)
    void agent.exited.then(() => this.#agents.delete(agent))
    if (this.#code !== undefined) agent.terminate(this.#code)
  }

  terminate(code: number): void {
    this.#code = code
    for (const agent of this.#agents) agent.terminate(code)
  }
}

async function playOne(
  number: number,
  options: ManyAgents,
  { tally, company }: { tally: Tally; company: Company },
): Promise<void> {
  const { url = "", env, settings, count, launch, scenario, createModel, say } = options
  const { profile, seed } = settings
  const address = { url: addressOf(url, number), env, profile }
  let isConnected = false
  const onState = ({ phase }: DialState) => {
    if (isConnected || phase !== "connected") return
    isConnected = true
    tally.connected++
  }
  const { transport, isHybrid } = await dial(address, {
    ring: { maxBytes: Math.max(LEAST, RING_BYTES / count) },
    highWaterChars: Math.max(LEAST, WAITING_CHARS / count),
    onState,
  })
  try {
    const play: AgentOptions = {
      ...settings,
      transport: recordTransport(transport, {
        end: "agent",
        onLine: ({ from }) => void (from === "agent" ? tally.linesOut++ : tally.linesIn++),
      }),
      // Hundreds of sessions that nobody asked for must not stand in anybody's list.
      launch: { ...launch, session: { persist: false } },
      faultEffects: cutsOf(transport, isHybrid),
      scenario,
      model: createModel?.(),
      seed: seed === undefined ? undefined : seed + number,
      onStderr: (text) => void say(`agent ${number}: ${text}`),
    }
    const agent = openAgent(play, faultsOver(play))
    company.join(agent)
    const { code } = await agent.exited
    add(tally.exits, code)
  } finally {
    await transport.close("the agent has ended")
  }
  const { by, reason, error } = await transport.closed
  // One that we ended while it still tried was refused by nobody.
  const isRefused = by === "peer" || error !== undefined
  if (!isConnected && isRefused) add(tally.refusals, reason.replace(/ over \d+ ms/, ""))
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function summary(count: number, { connected, linesIn, linesOut, exits, refusals }: Tally, tookMs: number): string {
  const codes = [...exits].toSorted(([a], [b]) => a - b).map(([code, times]) => `${times} with exit code ${code}`)
  const refused = [...refusals]
    .map(([why, times]) => `claude-sim: ${times} never connected: ${why}\n`)
    .slice(0, MAX_REFUSALS)
  const megabytes = Math.round(process.resourceUsage().maxRSS / 1024)
  return (
    `claude-sim: ${count} agents, ${connected} connected, ended: ${codes.join(", ") || "none"}. ` +
    `${linesOut} lines out, ${linesIn} in, ${(tookMs / 1000).toFixed(1)} s, at most ${megabytes} MB\n${refused.join("")}`
  )
}
