import type { IncomingMessage, ServerResponse } from "node:http"
import { jsonFaultWords } from "@signalbox/protocol"
import type { Context } from "hono"
import type { z } from "zod"
import type { Authority } from "../auth/authority.ts"
import { factsOfMessage, factsOfRequest, isLoopbackRequest, type RequestFacts } from "../auth/authority.ts"
import { hasAccess } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import type { Caller } from "../model/access.ts"
import type { Route } from "./app.ts"
import type { ReplyShare } from "./reply.ts"

/** A request's surroundings: its message off the socket, or in tests just the peer's address. */
export interface Bindings {
  readonly incoming?: IncomingMessage
  readonly outgoing?: ServerResponse
  readonly peer?: string
  /** Another hub passes the request on, and says for whom. */
  readonly caller?: Caller
}

export interface HttpEnv {
  Bindings: Bindings
  Variables: {
    /** The route's path, for metrics: unlike the request's there are only so many of them. */
    path?: string
    caller?: Caller
    /** Set when the route reserved room for its reply. */
    share?: ReplyShare
  }
}

export function readFacts(context: Context<HttpEnv>): RequestFacts {
  const { incoming, peer } = context.env
  return incoming === undefined ? factsOfRequest(context.req.raw, peer) : factsOfMessage(incoming)
}

/** The caller, or null where none is needed. Otherwise 401, or 403 for a role that may not. */
export function requireAccess(context: Context<HttpEnv>, authority: Authority, access: Route["access"]): Caller | null {
  const facts = readFacts(context)
  const { caller: vouchedFor } = context.env
  if (access === "anybody" || (access === "viewer unless loopback" && isLoopbackRequest(facts))) return null
  const caller = vouchedFor ?? authority.identify(facts)
  if (caller === null) {
    throw new HubError("auth/required", "A token is needed: send it as Authorization: Bearer …, or sign in")
  }
  context.set("caller", caller)
  const needed = access === "viewer unless loopback" ? "viewer" : access
  if (hasAccess(caller.role, needed)) return caller
  throw new HubError("auth/forbidden", `This needs the role ${needed}; the token's role is ${caller.role}`)
}

const MAX_DEPTH = 200

/** Bodies that are being read, over all requests: each is bounded, and so is their sum. */
export class BodyReader {
  readonly #maxBytesAtOnce: number
  #heldBytes = 0

  constructor(maxBytesAtOnce = 256 * 1024 * 1024) {
    this.#maxBytesAtOnce = maxBytesAtOnce
  }

  /** The body as JSON; undefined when there is none. */
  async read(request: Request, maxBytes: number): Promise<unknown> {
    const announced = Number(request.headers.get("content-length") ?? 0)
    if (announced > maxBytes) throw tooLarge(maxBytes)
    if (request.body === null) return undefined
    const chunks: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const chunk of chunksOf(request.body)) {
        bytes += chunk.byteLength
        this.#heldBytes += chunk.byteLength
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        if (this.#heldBytes > this.#maxBytesAtOnce) throw busy()
        chunks.push(chunk)
      }
    } finally {
      this.#heldBytes -= bytes
    }
    return bytes === 0 ? undefined : parseJson(decodeUtf8(chunks))
  }
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new HubError("request/invalid", "The body ended early: send it again", { cause })
      })
      if (done) return
      yield value
    }
  } finally {
    // A caller that stops in the middle wants no more of it; the server discards the rest.
    reader.cancel().catch(() => {})
  }
}

function decodeUtf8(chunks: readonly Uint8Array[]): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new HubError("request/invalid", "The body is not UTF-8: encode it as UTF-8", { cause })
  }
}

function parseJson(text: string): unknown {
  if (isDeeperThan(text, MAX_DEPTH)) {
    throw new HubError("request/invalid", `The body is nested deeper than ${MAX_DEPTH}: make it flatter`)
  }
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch (cause) {
    throw new HubError("request/invalid", `The body is not JSON${jsonFaultWords(text)}`, { cause })
  }
}

function tooLarge(maxBytes: number): HubError {
  return new HubError("request/too-large", `The body is over the limit of ${maxBytes} bytes: make it smaller`)
}

function busy(): HubError {
  return new HubError("hub/busy", "Too many large bodies at once: try again in a moment", {
    details: { retryAfterSeconds: 1 },
  })
}

type Issue = z.core.$ZodIssue

const MAX_ISSUES = 5

/** The value as the schema reads it, or an error that says which field is wrong and what is right. */
export function validate<S extends z.ZodType>(schema: S, value: unknown, what: "body" | "query"): z.output<S> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issues = result.error.issues.flatMap((issue) => narrow(issue)).slice(0, MAX_ISSUES)
  const said = issues.map((issue) => `${nameOf(issue, what)}: ${issue.message}`)
  throw new HubError("request/invalid", said.join("; "), {
    details: { fields: issues.map((issue) => issue.path.map(String).join(".")) },
  })
}

/** A query's fields, each at most once. */
export function readQuery(url: string): Record<string, string> {
  const entries = [...new URL(url).searchParams]
  const names = entries.map(([name]) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new HubError("request/invalid", `query.${twice}: given more than once`)
  return Object.fromEntries(entries)
}

/** Keeps the issues of the form that the value comes closest to; if no form is closest, those of all forms. */
function narrow(issue: Issue): readonly Issue[] {
  if (issue.code !== "invalid_union") return [issue]
  const fewest = Math.min(...issue.errors.map((errors) => errors.length))
  const closest = issue.errors.filter((errors) => errors.length === fewest)
  const [only] = closest
  if (only === undefined || closest.length > 1) return [issue]
  return only.flatMap((inner) => narrow({ ...inner, path: [...issue.path, ...inner.path] }))
}

function nameOf(issue: Issue, what: "body" | "query"): string {
  return [what, ...issue.path.map(String)].join(".")
}

/** Whether brackets stand in one another deeper than this: what reads such a thing later might do it by recursion. */
function isDeeperThan(text: string, limit: number): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === 0x5c) at++
      else if (code === 0x22) inString = false
    } else if (code === 0x22) inString = true
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > limit) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}
