import { Agent, request as httpRequest } from "node:http"
import { Agent as HttpsAgent, request as httpsRequest } from "node:https"
import type { Clock } from "../websocket/clock.ts"
import type { PostOutcome } from "./post-policy.ts"

export interface Post {
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
  const agent = secure
    ? new HttpsAgent({ keepAlive: true, maxSockets: 1 })
    : new Agent({ keepAlive: true, maxSockets: 1 })
  let abort: () => void = () => undefined

  function post({ url, headers, body, timeoutMs }: Post): Promise<PostOutcome> {
    return new Promise((resolve) => {
      const settle = (outcome: PostOutcome) => {
        cancelTimeout()
        resolve(outcome)
      }
      const fail = (error: Error) => settle({ kind: "failed", error })
      const options = {
        method: "POST",
        agent,
        headers: { ...headers(), "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      }
      const request = (secure ? httpsRequest : httpRequest)(url, options, (response) => {
        response.on("error", fail)
        response.on("close", () => fail(new Error("the answer broke off")))
        response.on("end", () => settle({ kind: "answered", status: response.statusCode ?? 0 }))
        response.resume()
      })
      const cancelTimeout = clock.after(timeoutMs, () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)))
      abort = () => request.destroy(new Error("broken off"))
      request.on("error", fail)
      request.end(body)
    })
  }

  return {
    post: (parts) =>
      // Headers that cannot be had, or cannot be headers, throw.
      post(parts).catch((error: unknown): PostOutcome => {
        return { kind: "failed", error: error instanceof Error ? error : new Error(String(error)) }
      }),
    destroy() {
      abort()
      agent.destroy()
    },
  }
}
