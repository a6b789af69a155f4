import { SdkError } from "../base/errors.ts"
import { isObject } from "../base/wire.ts"
import { startEngine } from "../engine/load.ts"
import { type Prompt, startReading } from "../engine/prompt-feed.ts"
import type { Options } from "../types/options.ts"
import type { Query } from "../types/query.ts"
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
