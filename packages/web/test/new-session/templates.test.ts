import { describe, expect, it } from "vitest"
import { modelNames } from "../../src/new-session/launch.ts"
import { offeredOf } from "../../src/new-session/start-from.tsx"
import { keepTemplate, MAX_TEMPLATE_CHARS, withTemplate } from "../../src/new-session/templates.ts"

describe("a template [N-143]", () => {
  it("fills an empty message, and comes after what was typed", () => {
    expect(withTemplate(" \n", "Explain.")).toBe("Explain.")
    expect(withTemplate("Mind the tests. \n", "Explain.")).toBe("Mind the tests.\n\nExplain.")
  })

  it("is kept whole or not at all", () => {
    const longest = "x".repeat(MAX_TEMPLATE_CHARS)
    expect(keepTemplate(longest).map(({ text }) => text)).toEqual([longest])
    expect(keepTemplate(`${longest}x`)).toEqual([])
  })
})

describe("conversations to go on from [N-144]", () => {
  const recorded = (sessionId: string, cwd: string | null) => ({
    sessionId,
    cwd,
    summary: null,
    updatedAt: "2026-01-01T00:00:00.000Z",
    sizeBytes: 1,
    inUse: false,
  })

  it("are the folder's first, then those of other folders by their folder, each once and without the one that was asked for", () => {
    const here = [recorded("a", "/w")]
    const everywhere = [recorded("b", "/v"), recorded("a", "/w"), recorded("c", null), recorded("d", "/w")]
    const offered = offeredOf({ here, everywhere, cwd: "/w", asked: "d" })
    expect(offered.map(({ sessionId, elsewhere }) => [sessionId, elsewhere])).toEqual([
      ["a", undefined],
      ["b", "/v"],
      ["c", undefined],
    ])
  })

  it("are at most thirty", () => {
    const everywhere = Array.from({ length: 200 }, (_, index) => recorded(String(index), "/v"))
    expect(offeredOf({ here: [], everywhere, cwd: "/w", asked: undefined })).toHaveLength(30)
  })
})

describe("the models of a launch [N-140]", () => {
  it("are the names that every CLI knows, then those that were used, each once", () => {
    const used = [{ model: "claude-x" }, { model: null }, { model: "opus" }, { model: "claude-x" }]
    expect(modelNames(used)).toEqual(["opus", "sonnet", "haiku", "claude-x"])
  })
})
