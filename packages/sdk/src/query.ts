import { AgentQuery } from "./agent-query.ts"
import type { Prompt } from "./engine/prompt-feed.ts"
import { QueryEngine } from "./engine/query-engine.ts"
import type { Options } from "./types/options.ts"
import type { Query } from "./types/query.ts"

/** Starts an agent on a prompt. The process is started at once, whether or not the messages are read. */
export function query({ prompt, options = {} }: { prompt: Prompt; options?: Options | undefined }): Query {
  const engine = new QueryEngine(options, { isWarm: false })
  engine.prompt(prompt)
  return new AgentQuery(engine)
}
