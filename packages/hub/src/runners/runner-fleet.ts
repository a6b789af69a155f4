import { isObject, textOf } from "@signalbox/protocol"
import type { Runner as RunnerView } from "@signalbox/protocol/hub-api"
import type { AgentUsage, LaunchAgent, RunnerFacts, RunnerRequest } from "@signalbox/protocol/runner-wire"
import { NOT_ALLOWED } from "@signalbox/transport"
import type { SharedRunner, SharedRunners } from "../cluster/shared-runners.ts"
import { HubError, unknown } from "../errors.ts"
import type { HubMetrics } from "../operations/metrics.ts"
import type { Directory } from "../store/directory.ts"
import { away, chooseRunner, type Here, type Runner, type RunnerLine, type Stats, viewOf } from "./runner-choice.ts"
import type { RunnerClaims } from "./runner-claims.ts"
import { type RunnerConnection, readFacts } from "./runner-connection.ts"

export interface RunnerFleetOptions {
  readonly directory: Pick<Directory, "getDocument" | "putDocument">
  readonly claims: RunnerClaims
  readonly metrics: HubMetrics
  readonly trouble: (what: string, error: unknown) => void
  readonly now?: () => Date
  /** One is being started beside the hub: whoever comes before it waits for it, as long as this. */
  readonly expectForMs?: number
  /** Where hubs share a store: the runners of the others. */
  readonly shared?: SharedRunners | undefined
  /** A runner has connected to another hub, or has told it how it is doing. */
  readonly onElsewhere?: (id: string, isNew: boolean) => void
  /** The hub's own: a runner that is too old for something is told by both. */
  readonly version?: string
}

const DOCUMENT = "runners"
/** Beyond this bound, the runners that have been away longest are forgotten. */
const MAX_KEPT = 1_000

/** The runners: those who are here, and those who were. */
export class RunnerFleet {
  readonly #options: RunnerFleetOptions
  readonly #runners = new Map<string, Runner>()
  #writing: Promise<void> = Promise.resolve()
  #arrival: Promise<void> = Promise.resolve()
  #arrived: () => void = () => undefined

  constructor(options: RunnerFleetOptions) {
    this.#options = options
    if (options.expectForMs !== undefined) this.#expect(options.expectForMs)
  }

  /** Resolves at once, unless a runner is being started: then when one is here, or did not come in time. The one that is named may have come to another hub a moment ago. */
  async arrival(named?: string): Promise<void> {
    await this.#arrival
    if (named !== undefined && !this.isHere(named)) await this.refresh({ areHubsNew: true })
  }

  /** The one who started the runner that was here starts it again. */
  #expectAnother(): void {
    const { expectForMs } = this.#options
    if (expectForMs === undefined || [...this.#runners.values()].some(({ here }) => here !== undefined)) return
    this.#expect(expectForMs)
  }

  #expect(forMs: number): void {
    // Those who still wait for the one before wait no longer than that.
    this.#arrival = new Promise((resolve) => {
      const timer = setTimeout(resolve, forMs)
      timer.unref()
      this.#arrived = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async load(): Promise<void> {
    await this.#options.claims.load()
    const kept = await this.#options.directory.getDocument(DOCUMENT)
    for (const entry of Array.isArray(kept) ? kept : []) {
      const facts = isObject(entry) ? readFacts(entry["facts"]) : undefined
      const seenAt = textOf(entry, "seenAt")
      const draining = isObject(entry) && entry["draining"] === true
      if (facts !== undefined && seenAt !== undefined)
        this.#runners.set(facts.id, { facts, seenAt, draining, here: undefined })
    }
    await this.#share()
  }

  /** The first of several hubs tells the others of the runners that a hub alone had. */
  async #share(): Promise<void> {
    const { shared } = this.#options
    if (shared === undefined || this.#runners.size === 0 || (await shared.list()).length > 0) return
    for (const { facts, draining } of this.#runners.values()) {
      shared.joined(facts.id, this.#toldOf(facts.id))
      shared.left(facts.id, this.#toldOf(facts.id))
      await shared.settled()
      if (draining) await shared.drain(facts.id, true)
    }
  }

  list(): readonly RunnerView[] {
    return [...this.#runners.values()].map(viewOf)
  }

  get countHere(): number {
    return [...this.#runners.values()].filter(({ here }) => here !== undefined && here.elsewhere === undefined).length
  }

  /** How people call it. */
  nameOf(id: string): string {
    return this.#runners.get(id)?.facts.name ?? id
  }

  isHere(id: string): boolean {
    return this.#runners.get(id)?.here !== undefined
  }

  /** A runner says hello. Of two with one id the newer is the one that is there. */
  join(connection: RunnerConnection, facts: RunnerFacts, agents: readonly AgentUsage[]): void {
    const known = this.#runners.get(facts.id)
    const before = known?.here?.elsewhere === undefined ? known?.here : undefined
    if (before === undefined) this.#options.metrics.runnerConnected()
    else void before.connection.end(NOT_ALLOWED, "another runner with the same id connected").catch(() => undefined)
    const here = { connection, agents, stats: undefined, arriving: 0 }
    this.#runners.set(facts.id, { facts, seenAt: this.#now(), draining: known?.draining ?? false, here })
    this.#arrived()
    this.#keep()
    this.#options.shared?.joined(facts.id, this.#toldOf(facts.id))
  }

  /** Whether the runner has this process, as far as it has told. */
  hasProcess(id: string, spawn: string): boolean {
    return this.#runners.get(id)?.here?.agents.some((agent) => agent.spawn === spawn) === true
  }

  /** News of the other hubs since. */
  async refresh(how?: { readonly areHubsNew: boolean }): Promise<void> {
    const { shared } = this.#options
    if (shared === undefined) return
    const all = await shared.list(how)
    for (const runner of all) this.#takeShared(runner)
    const known = new Set(all.map(({ id }) => id))
    for (const [id, { here }] of this.#runners)
      if ((here === undefined || here.elsewhere !== undefined) && !known.has(id)) this.#runners.delete(id)
  }

  #takeShared({ id, told, draining, where }: SharedRunner): void {
    const known = this.#runners.get(id)
    const isOurs = known?.here !== undefined && known.here.elsewhere === undefined
    if (where === "here") {
      if (known !== undefined) this.#runners.set(id, { ...known, draining })
      return
    }
    const facts = isObject(told) ? readFacts(told["facts"]) : undefined
    const seenAt = textOf(told, "seenAt")
    if (facts === undefined || seenAt === undefined || (isOurs && where === "away")) return
    if (where === "away") return void this.#runners.set(id, { facts, seenAt, draining, here: undefined })
    if (isOurs && known.here !== undefined) {
      this.#options.metrics.runnerDisconnected()
      void known.here.connection.end(NOT_ALLOWED, "this runner has connected to another hub").catch(() => undefined)
    }
    const { epoch } = where
    const request: RunnerLine["request"] = (asked, timeoutMs) => where.request(asked, timeoutMs)
    const connection = { tokenId: "", end: () => Promise.resolve(), request }
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a fellow hub read it off the runner and kept it
    const { agents = [], stats } = told as Partial<Pick<Here, "agents" | "stats">>
    const isNew = known?.here?.elsewhere !== epoch
    const arriving = isNew ? 0 : (known?.here?.arriving ?? 0)
    const here = isNew
      ? { connection, elsewhere: epoch }
      : { connection: known?.here?.connection ?? connection, elsewhere: epoch }
    this.#runners.set(id, { facts, seenAt, draining, here: { ...here, agents, stats, arriving } })
    if (isNew) this.#arrived()
    this.#options.onElsewhere?.(id, isNew)
  }

  #toldOf(id: string): unknown {
    const runner = this.#runners.get(id)
    return (
      runner && { facts: runner.facts, seenAt: runner.seenAt, agents: runner.here?.agents, stats: runner.here?.stats }
    )
  }

  /** For a fellow hub: of a runner that is connected here. */
  requestHere(id: string, request: RunnerRequest, timeoutMs: number): Promise<unknown> {
    const { facts, here } = this.#get(id)
    if (here === undefined || here.elsewhere !== undefined) return Promise.reject(away(facts.name))
    return request.kind === "launch" ? this.launch(id, request, timeoutMs) : here.connection.request(request, timeoutMs)
  }

  /** Whether it takes new agents. Those it has go on, and are brought back when they are parked or resumed. */
  async drain(id: string, draining: boolean): Promise<RunnerView> {
    const runner = { ...this.#get(id), draining }
    this.#runners.set(id, runner)
    this.#keep()
    await this.#writing
    await this.#options.shared?.drain(id, draining)
    return viewOf(runner)
  }

  /** Forgets a runner that is away and frees its id: any runner token may claim it next. */
  async forget(id: string): Promise<RunnerView> {
    const runner = this.#get(id)
    if (runner.here !== undefined) {
      const words = `the runner ${runner.facts.name} is connected: stop it first, or revoke its token`
      throw new HubError("runner/connected", words)
    }
    this.#runners.delete(id)
    this.#options.claims.free(id)
    this.#keep()
    await this.#writing
    await this.#options.shared?.forget(id)
    return viewOf(runner)
  }

  /** Gives the id to this token, whoever held it: the machine of the person who runs the hub is never locked out. */
  own(id: string, tokenId: string): void {
    this.#options.claims.give(id, tokenId)
    const connection = this.#runners.get(id)?.here?.connection
    if (connection === undefined || connection.tokenId === tokenId || connection.tokenId === "") return
    void connection.end(NOT_ALLOWED, "this runner belongs to another token").catch(() => undefined)
  }

  /** True when it is away now; false when a newer connection took its place. */
  leave(connection: RunnerConnection, id: string): boolean {
    const runner = this.#runners.get(id)
    if (runner?.here?.connection !== connection) return false
    this.#options.metrics.runnerDisconnected()
    this.#runners.set(id, { ...runner, seenAt: this.#now(), here: undefined })
    this.#expectAnother()
    this.#keep()
    this.#options.shared?.left(id, this.#toldOf(id))
    return true
  }

  told(connection: RunnerConnection, id: string, stats: Stats): void {
    const runner = this.#runners.get(id)
    if (runner?.here?.connection !== connection) return
    const here = { ...runner.here, stats, agents: stats.agents }
    const { signIn } = stats
    const facts = signIn === undefined ? runner.facts : { ...runner.facts, signIn }
    this.#runners.set(id, { ...runner, facts, seenAt: this.#now(), here })
    this.#options.shared?.changed(id, this.#toldOf(id))
  }

  /** Fails with runner/unknown, runner/away, runner/no-answer, or with the runner's own refusal. */
  request(id: string, request: RunnerRequest, timeoutMs: number): Promise<unknown> {
    return this.#hereOf(this.#get(id)).connection.request(request, timeoutMs)
  }

  /** As `request`, and the runner counts as having one agent more meanwhile. */
  async launch(id: string, request: RunnerRequest & { kind: "launch" }, timeoutMs: number): Promise<unknown> {
    const { connection } = this.#hereOf(this.#get(id))
    this.#count(id, connection, 1)
    try {
      return await connection.request(request, timeoutMs)
    } finally {
      this.#count(id, connection, -1)
    }
  }

  /** The runner for a launch. */
  async choose(wanted: string | undefined, agent: LaunchAgent): Promise<string> {
    await this.#arrival
    try {
      return chooseRunner([...this.#runners.values()], wanted, agent)
    } catch (error) {
      if (this.#options.shared === undefined) throw error
      // It may have come to another hub a moment ago.
      await this.refresh({ areHubsNew: true })
      return chooseRunner([...this.#runners.values()], wanted, agent)
    }
  }

  /** A runner that is older than the hub would start an agent without them, and say nothing. */
  requireOptions(id: string, names: readonly string[]): void {
    const { facts } = this.#get(id)
    if (facts.takesOptions === true) return
    const what = `${this.#older(facts)} and cannot pass on ${names.join(", ")}`
    throw new HubError("runner/invalid", `${what}: update Signalbox on that machine, or leave them out`)
  }

  /** A runner that is older than the hub would answer for a hub that is away, and let the tool run. */
  requireEnforcing(id: string): void {
    const { facts } = this.#get(id)
    if (facts.enforces === true) return
    const what = `the policy cannot judge every tool call of this agent: ${this.#older(facts)}`
    throw new HubError(
      "policy/cannot-enforce",
      `${what}; update Signalbox on that machine, or let an admin start the session with enforce "asked"`,
    )
  }

  #older({ name, version }: RunnerFacts): string {
    return `the runner ${name} is older than the hub (runner ${version}, hub ${this.#options.version ?? "unknown"})`
  }

  /** Resolves when the other hubs can read which runners are connected here. */
  async shared(): Promise<void> {
    await this.#options.shared?.settled()
  }

  async settled(): Promise<void> {
    await Promise.all([this.#writing, this.#options.claims.settled(), this.shared()])
  }

  #get(id: string): Runner {
    const runner = this.#runners.get(id)
    if (runner === undefined) throw unknown("runner", id)
    return runner
  }

  #hereOf({ facts, here }: Runner): Here {
    if (here === undefined) throw away(facts.name)
    return here
  }

  #count(id: string, connection: RunnerLine, change: number): void {
    const runner = this.#runners.get(id)
    if (runner?.here?.connection !== connection) return
    this.#runners.set(id, { ...runner, here: { ...runner.here, arriving: runner.here.arriving + change } })
  }

  #keep(): void {
    this.#forgetOldest()
    const kept = [...this.#runners.values()].map(({ facts, seenAt, draining }) => ({ facts, seenAt, draining }))
    this.#writing = Promise.all([this.#writing, this.#options.directory.putDocument(DOCUMENT, kept)])
      .then(() => undefined)
      .catch((error: unknown) => this.#options.trouble("the runners could not be kept", error))
  }

  #forgetOldest(): void {
    const away = [...this.#runners.values()].filter((runner) => runner.here === undefined)
    const oldest = away.toSorted((one, other) => (one.seenAt < other.seenAt ? -1 : 1))
    for (const { facts } of oldest.slice(0, Math.max(0, this.#runners.size - MAX_KEPT))) this.#runners.delete(facts.id)
  }

  #now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }
}
