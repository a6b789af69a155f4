import { aborted, SdkError } from "../base/errors.ts"
import { startEngine } from "../engine/load.ts"
import type { Prompt } from "../engine/prompt-feed.ts"
import { READY_TIMEOUT_MS, readyWithin } from "../engine/ready-within.ts"
import type { Options } from "../types/options.ts"
import type { Query, WarmQuery } from "../types/query.ts"
import { AgentQuery } from "./agent-query.ts"

export interface StartupParams {
  options?: Options | undefined
  /** How long the agent has to answer its first request. */
  initializeTimeoutMs?: number | undefined
}

/** Starts an agent and waits until it is ready, so that a later prompt is answered sooner. */
export async function startup({
  options = {},
  initializeTimeoutMs = READY_TIMEOUT_MS,
}: StartupParams = {}): Promise<WarmQuery> {
  const engine = await startEngine(options, { start: "warm" })
  const release = engine.expectPrompt()
  await readyWithin(engine, initializeTimeoutMs)
  let isUsed = false
  const close = () => {
    if (!isUsed) engine.close()
    isUsed = true
  }
  return {
    query(prompt: Prompt): Query {
      if (isUsed) throw new SdkError("sdk/used", "WarmQuery.query() can only be called once")
      const signal = options.abortController?.signal
      if (signal?.aborted === true) throw aborted(signal.reason)
      isUsed = true
      engine.prompt(prompt)
      release()
      return new AgentQuery(Promise.resolve(engine))
    },
    close,
    async [Symbol.asyncDispose]() {
      const wasUsed = isUsed
      close()
      if (!wasUsed) await engine.gone
    },
  }
}
