import type { Session } from "@signalbox/protocol/hub-api"
import type { Caller } from "../../src/model/access.ts"
import { RunnerClaims, type RunnerClaimsOptions } from "../../src/runners/runner-claims.ts"
import { call, type Stage } from "../clients/stage.ts"

/** Claims of runners, where every token is live. */
export function claimsOn(directory: RunnerClaimsOptions["directory"]): RunnerClaims {
  return new RunnerClaims({ directory, isLive: () => true, meet: async () => undefined, trouble: () => undefined })
}

export const WAIT = { timeout: 15_000, interval: 10 }
/** Whoever has the token that a runner shows. */
export const RUNNER: Caller = { role: "runner", name: "a runner", tokenId: "t", sessionId: null }

interface Refused {
  readonly error?: { readonly code: string; readonly message: string }
  readonly reason?: string
}

export interface Replied<T> {
  readonly status: number
  readonly body: T & Refused
}

export async function rest<T>(
  stage: Stage,
  method: string,
  path: string,
  options: { body?: unknown; token?: string } = {},
): Promise<Replied<T>> {
  const reply = await call(stage, method, path, options.body, options.token)
  return { status: reply.status, body: (await reply.json()) as T & Refused }
}

export function launch(stage: Stage, body: Record<string, unknown> = {}, token?: string): Promise<Replied<Session>> {
  return rest(stage, "POST", "/api/sessions", { body, ...(token === undefined ? {} : { token }) })
}

export function send(stage: Stage, id: string, content: string, uuid?: string) {
  const body = { content, ...(uuid === undefined ? {} : { uuid }) }
  return rest<{ uuid: string; seq: number }>(stage, "POST", `/api/sessions/${id}/messages`, { body })
}

export async function eventsOf(stage: Stage, id: string): Promise<Record<string, unknown>[]> {
  const { body } = await rest<{ events: { message: Record<string, unknown> }[] }>(
    stage,
    "GET",
    `/api/sessions/${id}/events?limit=1000`,
  )
  return body.events.map(({ message }) => message)
}
