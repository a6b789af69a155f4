import { randomUUID } from "node:crypto"
import { isObject } from "@signalbox/protocol"
import type { Grant } from "@signalbox/protocol/hub-api"
import { HubError } from "../errors.ts"
import type { AskAnswer, AskRecord } from "../model/ask.ts"
import type { Directory } from "../store/directory.ts"

export interface GrantDeskOptions<Rule> {
  readonly directory: Directory
  /** A standing permission as rules of the hub's own, or undefined when only the CLI can keep it. */
  readonly toRules: (grant: Grant) => readonly Rule[] | undefined
  /** The machine whose settings files a session's agent writes. */
  readonly machineOf: (sessionId: string) => string | null
  readonly now?: () => Date
}

/**
 * "Always allow". For this session it becomes rules of the hub, answered by the hub and so truly revocable; the CLI is not
 * told. Every other destination is passed on to the CLI and listed here, so that somebody can find it.
 */
export class GrantDesk<Rule = unknown> {
  readonly #options: GrantDeskOptions<Rule>
  readonly #rules = new Map<string, { readonly sessionId: string; readonly rules: readonly Rule[] }>()

  constructor(options: GrantDeskOptions<Rule>) {
    this.#options = options
  }

  async restore(session: string): Promise<void> {
    for (const grant of await this.#options.directory.listGrants({ session })) this.#hold(grant)
  }

  /** Nobody asks for this session: its grants are in the store. */
  letGo(session: string): void {
    for (const [id, { sessionId }] of this.#rules) if (sessionId === session) this.#rules.delete(id)
  }

  rulesOf(sessionId: string): readonly Rule[] {
    return [...this.#rules.values()].flatMap((entry) => (entry.sessionId === sessionId ? entry.rules : []))
  }

  /** Splits an answer into what the CLI is told and the grants that come of it. Nothing is kept before `keep`. */
  take(ask: AskRecord, answer: AskAnswer, by: string): { answer: AskAnswer; grants: readonly Grant[] } {
    if (!("behavior" in answer) || answer.behavior !== "allow" || answer.updatedPermissions === undefined) {
      return { answer, grants: [] }
    }
    const grants = answer.updatedPermissions.filter(isObject).map((update) => this.#grantOf(ask, update, by))
    const passedOn = grants.filter((grant) => grant.where !== "hub").map((grant) => grant.update)
    const { updatedPermissions: _all, ...rest } = answer
    return { answer: passedOn.length === 0 ? rest : { ...rest, updatedPermissions: passedOn }, grants }
  }

  async keep(grants: readonly Grant[]): Promise<void> {
    for (const grant of grants) {
      this.#hold(grant)
      await this.#options.directory.addGrant(grant)
    }
  }

  list(filter: { session?: string }): Promise<readonly Grant[]> {
    return this.#options.directory.listGrants(filter)
  }

  /** `gone` is false when it is only noted: the CLI keeps it and cannot take it back through us. */
  async revoke(id: string, by: string): Promise<{ grant: Grant; gone: boolean }> {
    const grant = await this.#options.directory.revokeGrant(id, this.#now(), by)
    if (grant === undefined) throw new HubError("grant/unknown", `there is no grant ${id}`)
    this.#rules.delete(id)
    return { grant, gone: grant.where === "hub" }
  }

  #grantOf(ask: AskRecord, update: Readonly<Record<string, unknown>>, by: string): Grant {
    const destination = update["destination"]
    const grant: Grant = {
      id: randomUUID(),
      sessionId: ask.sessionId,
      askId: ask.id,
      grantedBy: by,
      grantedAt: this.#now(),
      where: isDestination(destination) ? destination : "session",
      machine: this.#options.machineOf(ask.sessionId),
      update,
      revokedAt: null,
      revokedBy: null,
    }
    const own = grant.where === "session" && this.#options.toRules(grant) !== undefined
    return own ? { ...grant, where: "hub" } : grant
  }

  #hold(grant: Grant): void {
    if (grant.where !== "hub" || grant.revokedAt !== null) return
    const rules = this.#options.toRules(grant)
    if (rules !== undefined) this.#rules.set(grant.id, { sessionId: grant.sessionId, rules })
  }

  #now(): string {
    return (this.#options.now?.() ?? new Date()).toISOString()
  }
}

const DESTINATIONS = ["userSettings", "projectSettings", "localSettings", "session", "cliArg"] as const

function isDestination(value: unknown): value is (typeof DESTINATIONS)[number] {
  return DESTINATIONS.some((known) => known === value)
}
