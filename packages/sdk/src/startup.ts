import { AgentQuery } from "./agent-query.ts"
import type { Prompt } from "./engine/prompt-feed.ts"
import { QueryEngine } from "./engine/query-engine.ts"
import { SdkError } from "./errors.ts"
import type { Options } from "./types/options.ts"
import type { Query, WarmQuery } from "./types/query.ts"

const DEFAULT_TIMEOUT_MS = 60_000

export interface StartupParams {
  options?: Options | undefined
  /** How long the agent has to answer its first request. */
  initializeTimeoutMs?: number | undefined
}

/** Starts an agent and waits until it is ready, so that a later prompt is answered sooner. */
export async function startup({
  options = {},
  initializeTimeoutMs = DEFAULT_TIMEOUT_MS,
}: StartupParams = {}): Promise<WarmQuery> {
  const engine = new QueryEngine(options, { isWarm: true })
  const release = engine.expectPrompt()
  try {
    await readyWithin(engine, initializeTimeoutMs)
  } catch (error) {
    engine.close()
    throw error
  }
  let isUsed = false
  const close = () => {
    if (!isUsed) engine.close()
    isUsed = true
  }
  return {
    query(prompt: Prompt): Query {
      if (isUsed) throw new SdkError("sdk/used", "WarmQuery.query() can only be called once")
      isUsed = true
      engine.prompt(prompt)
      release()
      return new AgentQuery(engine)
    },
    close,
    async [Symbol.asyncDispose]() {
      const wasUsed = isUsed
      close()
      if (!wasUsed) await engine.gone
    },
  }
}

async function readyWithin(engine: QueryEngine, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `Subprocess initialization did not complete within ${ms}ms. Claude Code did not answer the initialize request.`
      reject(new SdkError("startup/timeout", message, { details: { initializeTimeoutMs: ms } }))
    }, ms)
  })
  try {
    await Promise.race([engine.initialized(), late])
  } finally {
    clearTimeout(timer)
  }
}
