import { AgentQuery } from "./agent-query.ts"
import { startEngine } from "./engine/load.ts"
import { type Prompt, startReading } from "./engine/prompt-feed.ts"
import type { Options } from "./types/options.ts"
import type { Query } from "./types/query.ts"

/** Starts an agent on a prompt. The process is started at once, whether or not the messages are read. */
export function query({ prompt, options = {} }: { prompt: Prompt; options?: Options | undefined }): Query {
  const engine = startEngine(options, { start: "now" })
  const reading = startReading(prompt)
  return new AgentQuery(
    engine.then((started) => {
      started.prompt(reading)
      return started
    }),
  )
}
