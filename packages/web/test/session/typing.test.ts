import { describe, expect, it } from "vitest"
import { filePart, readSuggestions, withFile } from "../../src/session/composer/completion.tsx"
import { takesPriority } from "../../src/session/composer/outgoing.ts"
import { isQueued } from "../../src/transcript/window/waiting-prompts.ts"

describe("files in a message", () => {
  it("are offered after an @ that begins a word", () => {
    expect(filePart("see @src/a", 10)).toEqual({ start: 4, query: "src/a" })
    expect(filePart("@", 1)).toEqual({ start: 0, query: "" })
    expect(filePart("me@home", 7)).toBeUndefined()
    expect(filePart("@a b", 4)).toBeUndefined()
    expect(filePart("@a b", 2)).toEqual({ start: 0, query: "a" })
  })

  it("are read however the agent names them, and bounded", () => {
    const reply = { suggestions: ["a.ts", { path: "b.ts" }, { displayText: "c.ts" }, "a.ts", 7, {}, null] }
    expect(readSuggestions(reply)).toEqual(["a.ts", "b.ts", "c.ts"])
    expect(readSuggestions({ suggestions: "all" })).toEqual([])
    const many = Array.from({ length: 100 }, (_, index) => `${index}.ts`)
    expect(readSuggestions({ suggestions: many })).toHaveLength(12)
  })

  it("take the place of what was typed, with the caret after them", () => {
    const text = "look at @sr please"
    const part = filePart(text, 11)
    expect(part && withFile(text, part, "src/a.ts")).toEqual({ text: "look at @src/a.ts please", caret: 18 })
  })
})

describe("a message in the log", () => {
  const sent = { delivery: "sent", at: "2031-01-01T10:00:05Z" } as const

  it("[X-120] waits while its agent is not here, or says so, or is in a turn that began before", () => {
    expect(isQueued({ ...sent, delivery: "queued" }, { state: "running" }, true)).toBe(true)
    expect(isQueued(sent, { state: "starting" }, true)).toBe(true)
    expect(isQueued(sent, { state: "disconnected" }, true)).toBe(true)
    expect(isQueued(sent, { state: "running", turnStartedAt: "2031-01-01T10:00:00Z" }, false)).toBe(true)
  })

  it("[X-120] does not wait when the turn is its own, when it was taken, or when nothing is under way", () => {
    const earlier = { state: "running", turnStartedAt: "2031-01-01T10:00:00Z" } as const
    expect(isQueued(sent, { state: "running", turnStartedAt: sent.at }, false)).toBe(false)
    expect(isQueued({ ...sent, delivery: "queued" }, { state: "running", turnStartedAt: sent.at }, true)).toBe(false)
    expect(isQueued({ ...sent, delivery: "delivered" }, earlier, false)).toBe(false)
    expect(isQueued(sent, { state: "idle" }, true)).toBe(false)
    expect(isQueued({ ...sent, delivery: "queued" }, { state: "ended" }, true)).toBe(false)
  })

  it("[X-120] is not taken for a waiting one because the agent that answered it is away", () => {
    expect(isQueued(sent, { state: "disconnected" }, false)).toBe(false)
  })

  it("breaks into a turn by itself only with CLIs that are known to let it", () => {
    expect(takesPriority("2.1.325")).toBe(true)
    expect(takesPriority("2.2.0 (Claude Code)")).toBe(true)
    expect(takesPriority("2.1.120")).toBe(true)
    expect(takesPriority("2.1.37")).toBe(false)
    expect(takesPriority(null)).toBe(false)
  })
})
