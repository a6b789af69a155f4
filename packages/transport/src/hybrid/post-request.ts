import { Agent, type ClientRequest, request as httpRequest, type RequestOptions } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import type { Clock } from "../pacing.ts"
import type { PostOutcome } from "../websocket/retry-policies.ts"

interface Post {
  readonly url: URL
  readonly headers: () => Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
}

/** Posts over one kept connection. */
export interface Poster {
  /** Never rejects. */
  post(post: Post): Promise<PostOutcome>
  /** Breaks off what is under way. */
  destroy(): void
}

export function createPoster(secure: boolean, clock: Clock): Poster {
  const kept = { keepAlive: true, maxSockets: 1 }
  const agent = secure ? new HttpsAgent(kept) : new Agent(kept)
  const open: OpenRequest = (url, options) => (secure ? httpsRequest : httpRequest)(url, { ...options, agent })
  let underWay: ClientRequest | undefined
  return {
    async post(parts) {
      try {
        underWay = start(open, parts)
      } catch (error) {
        // Headers that cannot be had, or cannot be headers.
        return { kind: "failed", error: error instanceof Error ? error : new Error(String(error)) }
      }
      return outcomeOf(underWay, parts, clock)
    },
    destroy() {
      underWay?.destroy(new Error("broken off"))
      agent.destroy()
    },
  }
}

type OpenRequest = (url: URL, options: RequestOptions) => ClientRequest

function start(open: OpenRequest, { url, headers, body }: Post): ClientRequest {
  const length = { "content-type": "application/json", "content-length": Buffer.byteLength(body) }
  return open(url, { method: "POST", headers: { ...headers(), ...length } })
}

function outcomeOf(request: ClientRequest, { body, timeoutMs }: Post, clock: Clock): Promise<PostOutcome> {
  return new Promise((resolve) => {
    const cancelTimeout = clock.after(timeoutMs, () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)))
    const settle = (outcome: PostOutcome) => {
      cancelTimeout()
      resolve(outcome)
    }
    const fail = (error: Error) => settle({ kind: "failed", error })
    request.on("error", fail)
    request.on("response", (response) => {
      response.on("error", fail)
      response.on("close", () => fail(new Error("the answer broke off")))
      response.on("end", () => settle({ kind: "answered", status: response.statusCode ?? 0 }))
      response.resume()
    })
    request.end(body)
  })
}
