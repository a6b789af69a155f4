import { homedir, hostname } from "node:os"
import { AddressTurn, listedAddresses } from "@signalbox/protocol/hub-addresses"
import type { RunnerFacts, RunnerRequest } from "@signalbox/protocol/runner-wire"
import { deferred } from "@signalbox/transport/pacing"
import { claudeProcessEnvironment } from "@signalbox/transport/process"
import { KILLED, Roster } from "./agents/roster.ts"
import { Refusal } from "./errors.ts"
import { Governor } from "./governor.ts"
import { ClaudeVersions, claude, signInFacts } from "./launch/executable.ts"
import { checkLaunchSpec } from "./launch/launch-spec.ts"
import { Launcher } from "./launch/launcher.ts"
import { SecretFiles } from "./launch/secret-files.ts"
import { ControlLink } from "./link/control-link.ts"
import type { LinkSettings } from "./link/hub-link.ts"
import { expandHome, listFolders } from "./machine/folders.ts"
import { recordedSessions } from "./machine/recorded-sessions.ts"
import type { OwnSession } from "./machine/resume-check.ts"
import { type FolderInUse, Worktrees } from "./machine/worktrees.ts"
import type { RunnerSettings } from "./options.ts"
import type { DirectoryLock } from "./state/directory-lock.ts"
import type { StateFile } from "./state/state-file.ts"
import { sweep } from "./state/sweep.ts"

interface Parts {
  readonly settings: RunnerSettings
  readonly state: StateFile
  readonly lock: DirectoryLock
}

/** The runner of one machine, put together from its parts. */
export class OpenRunner {
  readonly facts: RunnerFacts
  readonly #connected = deferred<void>()
  readonly #closed = deferred<string>()
  readonly connected = this.#connected.promise
  readonly closed = this.#closed.promise
  readonly #parts: Parts
  readonly #roster: Roster
  readonly #governor: Governor
  readonly #worktrees: Worktrees
  readonly #secrets: SecretFiles
  readonly #control: ControlLink
  #closing: Promise<void> | undefined
  #cancelIdleExit = () => undefined as void

  private constructor(parts: Parts, facts: RunnerFacts, versions: ClaudeVersions) {
    const { settings, state } = parts
    this.#parts = parts
    this.facts = facts
    const link = linkSettings(settings)
    this.#worktrees = new Worktrees({ state, env: settings.env, inUse: () => this.#foldersInUse() })
    this.#secrets = new SecretFiles(settings)
    const secrets = this.#secrets
    const launcher = new Launcher({
      settings,
      versions,
      secrets,
      worktrees: this.#worktrees,
      sessionsOfOurs: () => this.#sessions(),
    })
    const isHubThere = () => this.#control.isUp
    const onChange = () => this.#watchIdleness()
    this.#roster = new Roster({ settings, state, launcher, secrets, link, isHubThere, onChange })
    this.#governor = new Governor({ settings, roster: this.#roster, onStats: (stats) => this.#control.tell(stats) })
    this.#control = new ControlLink({
      ...link,
      hello: () => this.#hello(),
      onRequest: (request) => this.#request(request),
      onNoted: (incarnations) => void this.#noted(incarnations),
      onUp: (hub) => this.#up(hub),
      onDown: () => this.#down(),
    })
  }

  static async start(parts: Parts): Promise<OpenRunner> {
    const versions = new ClaudeVersions()
    parts.settings.log.info({}, `Runner started, version ${parts.settings.version}`)
    const runner = new OpenRunner(parts, await factsOf(parts, versions), versions)
    await runner.#cleanUp()
    await runner.#keepId()
    runner.#governor.start()
    runner.#control.start()
    runner.#watchIdleness()
    return runner
  }

  get agents(): number {
    return this.#roster.count
  }

  async close(options: { agents: boolean; reason?: string }): Promise<boolean> {
    if (!options.agents && this.#roster.count > 0) return false
    this.#closing ??= this.#end(options.reason ?? "the runner was stopped")
    await this.#closing
    return true
  }

  async #end(reason: string): Promise<void> {
    this.#cancelIdleExit()
    this.#governor.close()
    // First the agents, while the hub can still be told of their end.
    await this.#roster.close(reason)
    await this.#control.close(reason)
    // The next runner may write there as soon as the lock is free.
    await this.#parts.state.settled()
    await this.#parts.lock.release()
    this.#closed.resolve(reason)
  }

  /** Before anything is launched: nothing of a killed runner may go on beside what is resumed. */
  async #cleanUp(): Promise<void> {
    const { settings, state } = this.#parts
    const left = state.state.agents
    const lived = await sweep(left, { killAfterMs: settings.limits.killAfterMs })
    if (lived.size > 0)
      settings.log.warn({ incarnations: [...lived] }, "Ended processes that a killed runner left running")
    await this.#secrets.sweep()
    const silent = await this.#roster.recover(left)
    const gone = new Set(silent.map(({ launched }) => launched.spawn))
    if (gone.size === 0) return
    await state.update(({ agents, cut, over }) => ({
      agents: agents.filter(({ launched }) => !gone.has(launched.spawn)),
      cut: [...cut, ...silent.map(({ launched, session }) => ({ spawn: launched.spawn, session, reason: KILLED }))],
      over: [...over, ...gone],
    }))
  }

  /** The hub binds the id to the token: a runner that has not launched anything yet must come back with the same one. */
  async #keepId(): Promise<void> {
    const { state, settings } = this.#parts
    await state
      .update(() => ({}))
      .catch((error: unknown) => {
        settings.log.error({ err: error }, "Couldn't save this runner's id; it gets another at its next start")
      })
  }

  #hello() {
    return {
      op: "hello",
      runner: this.facts,
      agents: this.#roster.usage((pid) => this.#governor.usageOf(pid), "all"),
      cut: this.#parts.state.state.cut,
    } as const
  }

  #up(hub: string): void {
    this.#parts.settings.log.info({ hub }, "Connected to hub")
    this.#connected.resolve()
    this.#roster.wake()
    this.#watchIdleness()
  }

  #down(): void {
    this.#parts.settings.log.info({ agents: this.#roster.count }, "Hub offline; agents keep running")
    this.#watchIdleness()
  }

  async #noted(incarnations: readonly string[]): Promise<void> {
    const { state, settings } = this.#parts
    const noted = new Set(incarnations)
    try {
      await state.update(({ cut }) => ({ cut: cut.filter(({ spawn }) => !noted.has(spawn)) }))
    } catch (error) {
      settings.log.error({ err: error }, "Couldn't save what the hub has noted; telling the hub again")
    }
  }

  async #request(request: RunnerRequest): Promise<unknown> {
    switch (request.kind) {
      case "launch":
        return this.#roster.launch(checkLaunchSpec(request.spec))
      case "stop":
        return this.#roster.stop(request.spawn, request.reason)
      case "folders":
        return listFolders(request.path === undefined ? undefined : expandHome(request.path))
      case "sessions":
        return recordedSessions(
          { ...this.#parts.settings.env, ...request.env },
          request.cwd === undefined ? undefined : expandHome(request.cwd),
        )
      case "remove-worktree":
        return this.#worktrees.remove(request.path)
      case "log":
        return this.#parts.settings.logTail.last(request.lines)
    }
    // A hub that is newer than we are.
    throw new Refusal("runner/invalid", "this runner is too old for what the hub asks: bring it to the hub's version")
  }

  #sessions(): ReadonlyMap<string, OwnSession> {
    const sessions = new Map<string, OwnSession>()
    for (const { activity, record, leaving } of this.#roster.living) {
      // Some give a conversation that they resume a new id.
      for (const sessionId of [activity.agent.facts.session_id, record.resumed]) {
        // One that stays says more than one that goes.
        if (sessionId === undefined || (leaving !== undefined && sessions.has(sessionId))) continue
        sessions.set(sessionId, { pid: record.launched.pid, leaving })
      }
    }
    return sessions
  }

  #foldersInUse(): readonly FolderInUse[] {
    return this.#roster.living.map(({ record, leaving }) => ({ path: record.launched.cwd, leaving }))
  }

  /** Without an agent and without a hub there is nothing to wait for. */
  #watchIdleness(): void {
    const { clock, limits } = this.#parts.settings
    this.#cancelIdleExit()
    if (this.#control.isUp || this.#roster.count > 0 || this.#closing !== undefined) return
    if (limits.idleExitMs === Number.POSITIVE_INFINITY) return
    const exit = () => void this.close({ agents: false, reason: "no agent and no hub for a while" })
    this.#cancelIdleExit = clock.after(limits.idleExitMs, exit)
  }
}

function linkSettings({ hubUrl, token, linkTiming, clock, log }: RunnerSettings): LinkSettings {
  const turn = new AddressTurn()
  const listed = () => listedAddresses(hubUrl() ?? [])
  const address = () => {
    const [url, secret] = [turn.now(listed()), token()]
    return url === undefined || secret === undefined ? undefined : { url, token: secret }
  }
  return { address, onFailed: (url) => turn.failed(url, listed()), timing: linkTiming, clock, log }
}

async function factsOf({ settings, state }: Parts, versions: ClaudeVersions): Promise<RunnerFacts> {
  const { name, labels, version, maxAgents, simulator } = settings
  return {
    id: state.state.id,
    name,
    labels,
    version,
    host: hostname(),
    platform: `${process.platform}-${process.arch}`,
    maxAgents,
    ...(await claudeAtHand(settings, versions)),
    ...signInFacts(settings.env),
    hasSimulator: simulator !== undefined,
    takesOptions: true,
    enforces: true,
    home: homedir(),
  }
}

async function claudeAtHand(
  { env }: RunnerSettings,
  versions: ClaudeVersions,
): Promise<Pick<RunnerFacts, "claude" | "claudeProblem">> {
  const own = claudeProcessEnvironment(env)
  try {
    const executable = claude(own)
    const version = await versions.of(executable, own)
    return { claude: [{ path: executable.path, version: version ?? "unknown" }] }
  } catch (error) {
    if (error instanceof Refusal) return { claude: [], claudeProblem: error.message.replaceAll(/\s+/g, " ") }
    throw error
  }
}
