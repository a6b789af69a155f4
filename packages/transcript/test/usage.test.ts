import { describe, expect, it } from "vitest"
import { modelWords, resultWords, Transcript, totalTokens } from "../src/index.ts"
import { SessionLog } from "./session-log.ts"

describe("what a turn used", () => {
  const usage = {
    input_tokens: 5_000,
    output_tokens: 993,
    cache_read_input_tokens: 8_000,
    cache_creation_input_tokens: 9_016,
  }
  const used = (inputTokens: number, cacheCreationInputTokens: number) => ({
    inputTokens,
    outputTokens: 1,
    cacheReadInputTokens: 2,
    cacheCreationInputTokens,
    costUSD: 0.5,
  })
  const counted = (input: number, cacheCreation: number) => ({
    input,
    output: 1,
    cacheRead: 2,
    cacheCreation,
    costUsd: 0.5,
  })
  const resultsOf = (log: SessionLog) => {
    const transcript = new Transcript()
    transcript.fold(log.events)
    return transcript.rows().filter((row) => row.kind === "result")
  }

  it("[TR22] a result of 23,009 tokens is told as such, cache reads and writes apart", () => {
    const [row] = resultsOf(new SessionLog().ends({ usage }))
    expect(row?.tokens).toEqual({ input: 5_000, output: 993, cacheRead: 8_000, cacheCreation: 9_016 })
    expect(row === undefined ? 0 : totalTokens(row.tokens)).toBe(23_009)
    expect(row === undefined ? "" : resultWords(row)).toContain(
      "23k tokens: 5k in, 993 out, 8k cache read, 9k cache write",
    )
  })

  it("[TR22] a result tells each model's part of its turn, from totals or from the use since the last one", () => {
    const totals = resultsOf(
      new SessionLog()
        .ends({ modelUsage: { big: used(10, 100) } })
        .ends({ modelUsage: { big: { ...used(30, 150), outputTokens: 2, costUSD: 0.75 }, small: used(1, 0) } }),
    )
    expect(totals.map(({ models }) => models)).toEqual([
      { big: counted(10, 100) },
      { big: { input: 20, output: 1, cacheRead: 0, cacheCreation: 50, costUsd: 0.25 }, small: counted(1, 0) },
    ])
    expect(modelWords(totals[1]?.models)).toEqual([
      "big · $0.25 · 71 tokens: 20 in, 1 out, 50 cache write",
      "small · $0.50 · 4 tokens: 1 in, 1 out, 2 cache read",
    ])
    const own = resultsOf(
      new SessionLog()
        .ends({ modelUsage: { big: used(10, 100) } })
        .ends({ modelUsage: { big: used(900, 900) }, model_usage_since_last_result: { big: used(7, 8) } }),
    )
    expect(own[1]?.models).toEqual({ big: counted(7, 8) })
  })

  it("[TR22] totals that began anew, with a /clear or another process, are the turn's own", () => {
    const rows = resultsOf(
      new SessionLog().ends({ modelUsage: { big: used(1_000, 100) } }).ends({ modelUsage: { big: used(30, 15) } }),
    )
    expect(rows[1]?.models).toEqual({ big: counted(30, 15) })
  })
})
