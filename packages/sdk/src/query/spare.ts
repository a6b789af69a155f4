import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { deferred } from "@signalbox/transport/pacing"
import { quiet } from "../base/deadline.ts"
import { SdkError } from "../base/errors.ts"
import { type Answer, fieldOf } from "../base/wire.ts"
import { startEngine } from "../engine/load.ts"
import { READY_TIMEOUT_MS, readyWithin } from "../engine/patience.ts"
import type { QueryEngine } from "../engine/query-engine.ts"
import { environmentOf } from "../launch/capture.ts"
import { configFolder } from "../store/transcript-mirror.ts"
import type { Options } from "../types/options.ts"
import type { ClaimedSession, ClaimOptions, Query, SpareProcess } from "../types/query.ts"
import { AgentQuery } from "./agent-query.ts"
import type { StartupParams } from "./query.ts"

export type PrewarmParams = StartupParams

/** Starts an agent before it is known which session it will be, and waits until it is ready. */
export async function prewarm({
  options = {},
  initializeTimeoutMs = READY_TIMEOUT_MS,
}: PrewarmParams = {}): Promise<SpareProcess> {
  const parking = await parkingFolder(options)
  let engine: QueryEngine | undefined
  try {
    engine = await startEngine({ ...options, cwd: parking.cwd }, { start: "spare" })
    const release = engine.expectPrompt()
    await readyWithin(engine, initializeTimeoutMs)
    return new Spare({ engine, release, exited: engine.gone.then(parking.remove) })
  } catch (error) {
    await engine?.gone
    await parking.remove()
    throw error
  }
}

interface Parking {
  readonly cwd: string
  readonly remove: () => Promise<void>
}

/** An agent needs a folder to be in; until it is told its own, it is in one where nothing is. */
async function parkingFolder(options: Options): Promise<Parking> {
  if (options.cwd !== undefined) return { cwd: options.cwd, remove: async () => undefined }
  const spares = join(configFolder(environmentOf(options)), "spares")
  await mkdir(spares, { recursive: true, mode: 0o700 })
  const folder = await mkdtemp(join(spares, "spare-"))
  return { cwd: folder, remove: () => rm(folder, { recursive: true, force: true }).catch(() => undefined) }
}

export interface SpareOptions {
  readonly engine: QueryEngine
  /** Lets go of the input, which is held open for a prompt. */
  readonly release: () => void
  readonly exited: Promise<void>
}

type State = "parked" | "claimed" | "over"
type Settings = NonNullable<ClaimOptions["settings"]>

/** Hooks of a folder run with the claim; a setting that governs them would come too late. */
const ABOUT_HOOKS = [
  "hooks",
  "disableAllHooks",
  "allowManagedHooksOnly",
  "allowedHttpHookUrls",
  "httpHookAllowedEnvVars",
]
/** Settings that the agent takes only once it is a session. The others decide what of the folder is started with it. */
const OF_A_SESSION = ["model", "agent", "fastMode", "permissions", "availableModels", "disableAutoMode"]

/** The requests made along with the claim, and the agent's replies. */
interface Asked {
  readonly ahead: Promise<Answer> | undefined
  readonly claim: Promise<Answer>
  readonly behind: Promise<Answer> | undefined
  readonly options: ReadonlyMap<string, Promise<Answer>>
}

export class Spare implements SpareProcess {
  readonly #claiming = deferred<ClaimedSession>()
  /** Its waiters are told if it fails. */
  readonly claimed: Promise<ClaimedSession> = quiet(this.#claiming.promise)
  readonly exited: Promise<void>
  readonly #options: SpareOptions
  #state: State = "parked"

  constructor(options: SpareOptions) {
    this.#options = options
    this.exited = options.exited
    void this.exited.then(() => this.#leave("spare_exited: the spare process exited before it was claimed"))
  }

  claim({ prompt, options }: Parameters<SpareProcess["claim"]>[0]): Query {
    if (this.#state === "claimed") throw used("SpareProcess.claim() can only be called once")
    if (this.#state === "over") {
      throw used("SpareProcess.claim(): the spare was closed or has exited; start the session with query()")
    }
    refuseHookSettings(options.settings ?? {})
    this.#state = "claimed"
    const { engine, release } = this.#options
    const asked = ask(engine, options)
    engine.initialization.replaceBy(asked.claim.then(initializationIn))
    this.#claiming.resolve(this.#accept(asked))
    // Settings may carry permission rules: nothing is asked of the agent before they are in force.
    const before = options.settings === undefined ? undefined : settingsIn(asked)
    engine.prompt(prompt, before)
    release()
    return new AgentQuery(Promise.resolve(engine))
  }

  close(): void {
    this.#leave("spare_closed: the spare was closed before it was claimed")
    this.#options.engine.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.close()
    await this.exited
  }

  #leave(message: string): void {
    if (this.#state === "parked") this.#claiming.resolve(Promise.reject(new SdkError("spare/closed", message)))
    this.#state = "over"
  }

  async #accept(asked: Asked): Promise<ClaimedSession> {
    try {
      await settingsIn(asked)
    } catch (error) {
      this.#options.engine.close()
      throw error
    }
    const claim = sessionIn(await asked.claim)
    const refused: string[] = []
    for (const [name, answer] of asked.options) {
      const text = errorIn(await answer)
      if (text !== undefined) refused.push(`${name}: ${text}`)
    }
    if (refused.length === 0) return claim
    const message = `option_not_applied: ${refused.join("; ")} — the prompt was sent and the session runs without these options`
    throw Object.assign(new SdkError("spare/refused", message), { claim })
  }
}

function ask(engine: QueryEngine, options: ClaimOptions): Asked {
  const settings = Object.entries(options.settings ?? {})
  const apply = (chosen: typeof settings) =>
    chosen.length === 0
      ? undefined
      : quiet(engine.exchange({ subtype: "apply_flag_settings", settings: Object.fromEntries(chosen) }))
  // The agent takes them in this order.
  const ahead = apply(settings.filter(([name]) => !OF_A_SESSION.includes(name)))
  const claim = quiet(engine.exchange(claimRequest(engine, options)))
  const behind = apply(settings.filter(([name]) => OF_A_SESSION.includes(name)))
  const { model, maxThinkingTokens } = options
  const others = new Map<string, Promise<Answer>>()
  if (model !== undefined) others.set("model", quiet(engine.exchange({ subtype: "set_model", model })))
  if (maxThinkingTokens !== undefined) {
    const request = { subtype: "set_max_thinking_tokens", max_thinking_tokens: maxThinkingTokens }
    others.set("maxThinkingTokens", quiet(engine.exchange(request)))
  }
  return { ahead, claim, behind, options: others }
}

function claimRequest(engine: QueryEngine, options: ClaimOptions) {
  return {
    subtype: "claim_session",
    cwd: typeof options.cwd === "string" && !options.cwd.startsWith("~") ? resolve(options.cwd) : options.cwd,
    permission_mode: options.permissionMode,
    env: options.env,
    additional_directories: options.additionalDirectories,
    append_system_prompt: options.appendSystemPrompt,
    title: options.title,
    agents: options.agents,
    sdk_mcp_servers: engine.mcp.names,
    include_initialize: true,
  }
}

/** Rejects if the settings were refused, before the claim or with it. */
async function settingsIn({ ahead, claim, behind }: Asked): Promise<void> {
  const early = ahead === undefined ? undefined : errorIn(await ahead)
  if (early !== undefined) throw notApplied(`${early} — nothing was claimed; start the session with query()`)
  const answer = await claim
  const late = behind === undefined ? undefined : errorIn(await behind)
  if (late === undefined || errorIn(answer) !== undefined) return
  const message = `${late} — the prompt was not sent and the process was closed; start the session with query()`
  throw Object.assign(notApplied(message), { claim: sessionIn(answer) })
}

function notApplied(message: string): SdkError {
  return new SdkError("spare/refused", `settings_not_applied: ${message}`)
}

function sessionIn(answer: Answer): ClaimedSession {
  const refusal = errorIn(answer)
  if (refusal !== undefined) throw new SdkError("spare/refused", refusal)
  const { cwd, session_id, parked_ms, sdk_mcp_settled } = fieldOf(answer, "response") ?? {}
  return {
    cwd: String(cwd),
    sessionId: String(session_id),
    ...(typeof parked_ms === "number" ? { parkedMs: parked_ms } : {}),
    sdkMcpSettled: sdk_mcp_settled === true,
  }
}

/** The answer to a claim as an answer to `initialize`: from now on the process is this session. */
function initializationIn(answer: Answer): Answer {
  return { ...answer, response: fieldOf(answer, "response")?.["initialize"] }
}

function errorIn(answer: Answer): string | undefined {
  return answer["subtype"] === "error" ? String(answer["error"]) : undefined
}

function refuseHookSettings(settings: Settings): void {
  const found = Object.keys(settings).filter((name) => ABOUT_HOOKS.includes(name))
  if (found.length === 0) return
  throw new SdkError(
    "sdk/bad-option",
    `SpareProcess.claim(): hook settings (${found.join(", ")}) cannot be applied at claim; pass them to prewarm() in Options.settings. Nothing was sent: this spare can still be claimed without them.`,
  )
}

function used(message: string): SdkError {
  return new SdkError("sdk/used", message)
}
