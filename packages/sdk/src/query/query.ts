import { aborted, SdkError } from "../base/errors.ts"
import { isObject } from "../base/wire.ts"
import { startEngine } from "../engine/load.ts"
import { READY_TIMEOUT_MS, readyWithin } from "../engine/patience.ts"
import { type Prompt, startReading } from "../engine/prompt-feed.ts"
import type { Options } from "../types/options.ts"
import type { Query, WarmQuery } from "../types/query.ts"
import { AgentQuery } from "./agent-query.ts"

/** Starts an agent on a prompt. The process is started at once, whether or not the messages are read. */
export function query(params: { prompt: Prompt; options?: Options | undefined }): Query {
  const { prompt, options } = given(params)
  const engine = startEngine(options ?? {}, { start: "now" })
  const reading = startReading(prompt)
  return new AgentQuery(
    engine.then((started) => {
      started.prompt(reading)
      return started
    }),
  )
}

/** A program without types may call it with nothing, or with the prompt alone. */
function given<T>(params: T): T {
  if (isObject(params)) return params
  throw new SdkError("sdk/bad-option", "query() takes one object, { prompt, options }", {
    name: "TypeError",
    details: { option: "prompt" },
  })
}

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
