import {
  defined,
  type Envelope,
  factsIn,
  fieldOf,
  isObject,
  textOf,
  toolDenial,
  type UnlistedRequest,
} from "@signalbox/protocol"
import { isAtLeast } from "@signalbox/protocol/compose"
import { type DeniedCall, ENFORCES_SINCE, TOOL_EVENT } from "@signalbox/protocol/runner-wire"
import type { AskVerdict } from "../asks/answer.ts"
import { ACTOR } from "../model/access.ts"
import type { Ask } from "../model/ask.ts"
import type { StoredEvent } from "../model/event.ts"
import type { SeenCall } from "../model/seen-call.ts"
import type { PolicyDesk } from "../policy-desk.ts"
import { isEnforcing } from "../session/kept-record.ts"
import type { LiveSession } from "../session/live-session.ts"
import type { HeardEvent } from "../session/session-hub.ts"
import type { Directory, NewAuditRecord } from "../store/directory.ts"
import { allows } from "./client-hooks.ts"

type Fields = Readonly<Record<string, unknown>>

export interface EnforcementOptions {
  readonly policy: Pick<PolicyDesk, "judgeCall">
  readonly directory: Pick<Directory, "addSeenCall" | "getSeenCall" | "addAudit">
  readonly trouble: (session: LiveSession, what: string, error: unknown) => void
}

const INTERRUPT_MS = 10_000
const RECALLED = "A rule wanted a person to decide this before the hub was started again."
const FAILED = "The hub could not judge this tool call, so it is denied. Try again."
/** Calls of one session whose hook, request or result may still come. */
const MAX_CALLS = 1_000
/** A longer input that a client's hook made up is not kept. */
const MAX_INPUT_CHARS = 64 * 1024

/**
 * Judges every tool call of the sessions whose policy is to see everything. It only narrows: an answer of this is deny, ask, or
 * what clients' hooks said, which leaves the decision where it would be without the policy.
 */
export class Enforcement {
  readonly #options: EnforcementOptions
  /** The event of each call's message, by the call's id. */
  readonly #calls = new WeakMap<LiveSession, Map<string, Promise<StoredEvent | undefined>>>()
  /** The verdict on each call whose request may come, by the call's id. */
  readonly #judged = new WeakMap<LiveSession, Map<string, Judged>>()

  constructor(options: EnforcementOptions) {
    this.#options = options
  }

  /** `outputs`: what clients' own hooks say. Never rejects: what cannot be judged is denied. */
  async narrow(session: LiveSession, request: UnlistedRequest, outputs: () => Promise<Fields>): Promise<Fields> {
    try {
      const hook = fieldOf(request, "input") ?? {}
      const [tool, toolUseId] = [textOf(hook, "tool_name"), textOf(hook, "tool_use_id")]
      if (tool === undefined || toolUseId === undefined) throw new Error("the hook names no tool call")
      const said = wellFormed(await outputs())
      const changed = fieldOf(said["hookSpecificOutput"], "updatedInput")
      const input = changed ?? fieldOf(hook, "tool_input")
      if (input === undefined) throw new Error("the hook has no input of the tool")
      const verdict = this.#judge(session, { tool, input }, hook)
      await this.#keep(session, { tool, toolUseId, input, isChanged: changed !== undefined }, verdict, hook)
      const told = verdict.effect === "deny" ? { told: denialOf(verdict) } : {}
      const about = { cwd: hook["cwd"], permission_mode: hook["permission_mode"] }
      this.#note(session, toolUseId, { verdict, hook: about, ...told })
      return narrowed(said, verdict)
    } catch (error) {
      this.#options.trouble(session, "a tool call could not be judged and was denied", error)
      // The denial does not wait for the disk.
      const hook = fieldOf(request, "input")
      const call = { toolName: textOf(hook, "tool_name"), toolUseId: textOf(hook, "tool_use_id") }
      session.background(this.deniedElsewhere(session, call, FAILED))
      return toolDenial(FAILED)
    }
  }

  /** A call that no rule denied. Never rejects. */
  async deniedElsewhere(session: LiveSession, call: DeniedCall, reason: string): Promise<void> {
    const { directory, trouble } = this.#options
    const { toolName = null, toolUseId = null } = call
    const details = { toolName, toolUseId, seq: null, rule: null, reason, why: null }
    const who = { by: ACTOR.hub, via: "hub", sessionId: session.id, askId: null }
    try {
      await directory.addAudit({ at: session.now(), what: "call/denied", ...who, details })
    } catch (error) {
      trouble(session, "a denied call is not in the audit", error)
    }
  }

  /**
   * Judges a client's hook that allows a call, in any session: where a rule stops it, the hook has said nothing, and the agent
   * asks. Otherwise a program could allow what no rule and no person would, and nobody would know.
   */
  judgeAllowed(session: LiveSession, request: UnlistedRequest, said: Fields): Fields {
    if (!allows(said)) return said
    const hook = fieldOf(request, "input") ?? {}
    const specific = fieldOf(said, "hookSpecificOutput")
    const changed = fieldOf(specific, "updatedInput") ?? fieldOf(fieldOf(specific, "decision"), "updatedInput")
    const [tool, input] = [textOf(hook, "tool_name"), changed ?? fieldOf(hook, "tool_input")]
    if (tool === undefined || input === undefined) return isEnforcing(session.kept) ? {} : said
    return this.#judge(session, { tool, input }, hook).effect === "allow" ? said : {}
  }

  /** Before a request is judged: a hub that was started since then has only the store's word on its call. */
  async recall(session: LiveSession, toolUseId: string | undefined): Promise<void> {
    if (toolUseId === undefined || this.#judged.get(session)?.has(toolUseId) === true) return
    const seen = await this.#seen(session, toolUseId)
    if (seen === undefined) return
    const { effect, rule, fourEyes, cwd, mode } = seen
    const verdict = { effect, reason: RECALLED, ...defined({ rule, fourEyes }) }
    this.#note(session, toolUseId, { verdict, hook: { cwd, permission_mode: mode } })
  }

  /**
   * A request for a call, with its input as it is or as somebody changed it. A rule of the session's folder does not allow it
   * where the agent has gone to a folder in which it is to be asked about or denied. Where no rule covers the request, the one
   * that wanted it is named.
   */
  atMostAsked(session: LiveSession, { toolUseId = "", toolName, input }: Ask, verdict: AskVerdict): AskVerdict {
    const judged = this.#judged.get(session)?.get(toolUseId)
    if (judged === undefined || verdict.effect === "deny") return verdict
    const isCall = toolName !== undefined && input !== undefined
    const there = isCall ? this.#judge(session, { tool: toolName, input }, judged.hook) : undefined
    const { effect, rule, judgedIn } = verdict
    if (there?.effect === "deny") return { ...there, ...defined({ judgedIn }) }
    const asked = [judged.verdict, there].find((each) => each?.effect === "ask")
    if (asked === undefined) return verdict
    const fourEyes = verdict.fourEyes ?? judged.verdict.fourEyes ?? there?.fourEyes
    const named = effect === "allow" || rule === undefined ? { ...verdict, ...asked } : verdict
    return { ...named, ...defined({ judgedIn, fourEyes }) }
  }

  #note(session: LiveSession, toolUseId: string, judged: Judged): void {
    const all = this.#judged.get(session) ?? new Map<string, Judged>()
    this.#judged.set(session, all.set(toolUseId, judged))
    forgetOldest(all)
  }

  #judge({ id, record }: LiveSession, call: { tool: string; input: Fields }, hook: Fields): AskVerdict {
    const mode = textOf(hook, "permission_mode") ?? record.permissionMode ?? undefined
    const place = { cwd: record.cwd ?? undefined, wentTo: textOf(hook, "cwd"), runner: record.runner ?? "" }
    const about = { session: id, mode, ...place, branch: record.branch, now: Date.now() }
    return this.#options.policy.judgeCall(call, about)
  }

  /** Kept before the agent is told: a result without this is of a call that no hook saw. */
  async #keep(session: LiveSession, call: JudgedCall, verdict: AskVerdict, hook: Fields): Promise<void> {
    const { effect, rule } = verdict
    const { tool, toolUseId, input, isChanged } = call
    // The one that it was judged by: there may be another one by the time the event is there.
    const { branch } = session.record
    const event = isChanged ? undefined : await this.#calls.get(session)?.get(toolUseId)
    const mode = textOf(hook, "permission_mode")
    const cwd = textOf(hook, "cwd")
    const seen: SeenCall = {
      sessionId: session.id,
      toolUseId,
      at: session.now(),
      tool,
      effect,
      ...(rule === undefined ? {} : { rule }),
      ...(mode === undefined ? {} : { mode }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(branch === undefined ? {} : { branch }),
      ...(verdict.fourEyes === true ? { fourEyes: true } : {}),
      seq: event?.seq ?? null,
      ...(event === undefined && JSON.stringify(input).length <= MAX_INPUT_CHARS ? { input } : {}),
    }
    await this.#options.directory.addSeenCall(seen, effect === "deny" ? auditOfDenied(seen, verdict) : undefined)
  }

  /** An event of a process: calls that hooks will come for, or results, each of a call that a hook must have come for. */
  heard(session: LiveSession, { message, stored, isLeftover }: HeardEvent): void {
    const known = stored.catch(() => undefined)
    const { claude_code_version: cliVersion } = factsIn(message)
    if (!isLeftover && cliVersion !== undefined && !isAtLeast(cliVersion, ENFORCES_SINCE)) {
      const which = session.kept.own.incarnation ?? ""
      session.background(known.then((event) => this.#lose(session, which, { cliVersion, seq: event?.seq ?? null })))
    }
    const blocks = message["isReplay"] === true ? [] : blocksOf(message)
    const calls = this.#calls.get(session) ?? new Map<string, Promise<StoredEvent | undefined>>()
    for (const block of blocks) {
      const called = block["type"] === "tool_use" ? textOf(block, "id") : undefined
      if (called !== undefined) this.#calls.set(session, calls.set(called, known))
      const over = block["type"] === "tool_result" ? textOf(block, "tool_use_id") : undefined
      if (over === undefined) continue
      calls.delete(over)
      if (!hasRun(block, message)) continue
      session.background(
        known.then((event) => this.#requireSeen(session, { block, seq: event?.seq ?? null, isLeftover })),
      )
    }
    forgetOldest(calls)
  }

  /** A call that no hook saw, or that was denied, has run: the session is not enforced. What the store does not tell, no hook saw. */
  async #requireSeen(session: LiveSession, { block, seq, isLeftover }: Result): Promise<void> {
    const toolUseId = textOf(block, "tool_use_id") ?? ""
    const told = this.#judged.get(session)?.get(toolUseId)?.told
    const mayRun = ({ effect }: SeenCall) => effect !== "deny" || isDenial(block, told)
    try {
      if ((await this.#seen(session, toolUseId, mayRun)) !== undefined) return
    } catch (error) {
      this.#options.trouble(
        session,
        "a call that ran could not be looked up, and counts as one that no hook saw",
        error,
      )
    }
    const details = { toolUseId, seq }
    // The process that ran it is gone, and the one that is here did not.
    await (isLeftover ? this.#tell(session, toolUseId, details) : this.#lose(session, toolUseId, details))
  }

  /** The record of a call, in this session or in the one whose conversation goes on in it. */
  async #seen(
    { id, record }: LiveSession,
    toolUseId: string,
    isWanted: (seen: SeenCall) => boolean = () => true,
  ): Promise<SeenCall | undefined> {
    for (const place of record.parent === undefined ? [id] : [id, record.parent]) {
      const seen = await this.#options.directory.getSeenCall(place, toolUseId)
      if (seen !== undefined && isWanted(seen)) return seen
    }
    return undefined
  }

  /** `which`: the call or the process. An agent that says it again is interrupted again, and it is told once. */
  async #lose(session: LiveSession, which: string, details: Fields): Promise<void> {
    session.change({ enforce: "lost" })
    const told = this.#tell(session, which, details)
    session.background(session.history.recordAnswer(INTERRUPT, ACTOR.hub, "hub"))
    // Before the audit: its writing may take a while.
    session.background(session.ask({ subtype: "interrupt" }, INTERRUPT_MS))
    await told
  }

  /** In the history and in the audit, once. */
  async #tell(session: LiveSession, which: string, details: Fields): Promise<void> {
    const { toolUseId: tool_use_id, cliVersion: cli_version } = details
    const { id, history } = session
    const noted = await history.note("not_enforced", defined({ tool_use_id, cli_version }), `not_enforced:${which}`)
    if (noted === undefined) return
    const who = { by: ACTOR.hub, via: "hub", sessionId: id, askId: null }
    await this.#options.directory.addAudit({ at: session.now(), what: "session/not-enforced", ...who, details })
  }
}

/** A denied call is nobody's request: this is all that the audit has of it. Its input is in the event at `seq`, or else in the kept call. */
function auditOfDenied(
  { at, sessionId, tool: toolName, toolUseId, seq }: SeenCall,
  verdict: AskVerdict,
): NewAuditRecord {
  const { rule = null, reason, why = null } = verdict
  const details = { toolName, toolUseId, seq, rule, reason, why }
  return { at, what: "call/denied", by: ACTOR.rule(verdict.rule), via: "policy", sessionId, askId: null, details }
}

function forgetOldest(calls: Map<string, unknown>): void {
  for (const oldest of calls.keys()) if (calls.size > MAX_CALLS) calls.delete(oldest)
}

const INTERRUPT: Envelope = { type: "control_request", request_id: "", request: { subtype: "interrupt" } }

/** A verdict on a call, with the parts of its hook that say where the agent is. */
interface Judged {
  readonly verdict: AskVerdict
  readonly hook: Fields
  /** The words in which it was denied. A hub that was started since then knows none. */
  readonly told?: string
}

/** The result of a call, and where it stands. */
interface Result extends Pick<HeardEvent, "isLeftover"> {
  readonly block: Fields
  readonly seq: number | null
}

interface JudgedCall {
  readonly tool: string
  readonly toolUseId: string
  readonly input: Fields
  /** A client's hook has put it in the place of the agent's. */
  readonly isChanged: boolean
}

/** The answer of clients' hooks, narrowed by the policy. A stopped call loses `continue: false`, which would let it run. */
export function narrowed(said: Fields, verdict: AskVerdict): Fields {
  if (verdict.effect === "deny") return toolDenial(denialOf(verdict))
  const { continue: _ends, ...rest } = said
  if (isDenied(said)) return rest
  if (verdict.effect === "allow") return said
  const { decision: _old, reason: _why, ...others } = rest
  const asked = { permissionDecision: "ask", permissionDecisionReason: verdict.reason }
  return {
    ...others,
    hookSpecificOutput: { ...fieldOf(said, "hookSpecificOutput"), hookEventName: TOOL_EVENT, ...asked },
  }
}

const denialOf = ({ message, reason }: AskVerdict) => message ?? reason

function isDenied(said: Fields): boolean {
  return said["decision"] === "block" || textOf(said["hookSpecificOutput"], "permissionDecision") === "deny"
}

const isText = (value: unknown) => typeof value === "string"
const isFlag = (value: unknown) => typeof value === "boolean"
const OUTPUT: Readonly<Record<string, (value: unknown) => boolean>> = {
  continue: isFlag,
  stopReason: isText,
  suppressOutput: isFlag,
  systemMessage: isText,
  decision: (value) => value === "approve" || value === "block",
  reason: isText,
}
const SPECIFIC: typeof OUTPUT = {
  permissionDecision: (value) => value === "allow" || value === "deny" || value === "ask",
  permissionDecisionReason: isText,
  updatedInput: isObject,
  additionalContext: isText,
}

/** Known fields of the right kind alone: one wrong field, and the CLI takes the whole answer for an error and runs the tool. */
function wellFormed(output: Fields): Fields {
  const specific = pick(fieldOf(output, "hookSpecificOutput") ?? {}, SPECIFIC)
  const isEmpty = Object.keys(specific).length === 0
  return {
    ...pick(output, OUTPUT),
    ...(isEmpty ? {} : { hookSpecificOutput: { hookEventName: TOOL_EVENT, ...specific } }),
  }
}

function pick(from: Fields, known: typeof OUTPUT): Fields {
  return Object.fromEntries(
    Object.entries(known).flatMap(([name, fits]) => (fits(from[name]) ? [[name, from[name]]] : [])),
  )
}

function blocksOf(message: Envelope): readonly Fields[] {
  if (message.type !== "assistant" && message.type !== "user") return []
  const content = fieldOf(message, "message")?.["content"]
  return Array.isArray(content) ? content.filter(isObject) : []
}

/**
 * The words of CLIs (2.1.200 to 2.1.325) for calls that did not run: no tool of that name, input of the wrong kind, blocked by a
 * hook, refused, or interrupted before. 2.1.200 gives the words of a denial as they are: ours and the runner's stand here too.
 */
const DID_NOT_RUN =
  /^(?:The hub could not judge this tool call|The policy decides about every tool call, and its hub did not answer|the hub that decides about this is away|<tool_use_error>(?!Error calling tool)|PreToolUse[: ]|The SDK host [^\n]{1,100} PreToolUse hook |The user doesn't want to |\[Request interrupted|\[Tool call (?:did not complete|skipped)|\[Tool result missing|Claude requested permissions to |Permission for this (?:action|tool use) |Permission to [^\n]{1,1000} has been denied|Tool permission )/

/** An error in none of those words ran, as far as anybody knows; newer versions say so of a call that did not. */
function hasRun({ is_error, content, tool_use_id }: Fields, { tool_result_meta: meta }: Envelope): boolean {
  const isSaid = (each: unknown) => isObject(each) && each["id"] === tool_use_id && isText(each["non_execution_kind"])
  if (is_error !== true) return true
  return !(typeof content === "string" && DID_NOT_RUN.test(content)) && !(Array.isArray(meta) && meta.some(isSaid))
}

const SHOWN_CHARS = 200

/** An error in the words of the denial. Where nobody knows these any more, any but that of a command that ran. */
function isDenial({ is_error, content }: Fields, told: string | undefined): boolean {
  if (is_error !== true || typeof content !== "string") return false
  const plain = (text: string) => text.replace(/\s+/g, "")
  return told === undefined
    ? !content.startsWith("Exit code ")
    : plain(content).includes(plain(told).slice(0, SHOWN_CHARS))
}
