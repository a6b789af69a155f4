import { describe, expect, it } from "vitest"
import { turnNews } from "../../src/session/activity-line.tsx"

describe("what is said of a turn", () => {
  const idle = { id: "one" }
  const under = { id: "one", turnStartedAt: "2031-05-20T10:00:00Z" }
  const ended = (fields: { isError: boolean; interruptedBy?: string }) => ({
    id: "one",
    lastResult: { subtype: "success", at: "2031-05-20T10:00:09Z", ...fields },
  })

  it("that it began, and how it ended", () => {
    expect(turnNews(idle, under)).toBe("Turn started")
    expect(turnNews(under, ended({ isError: false }))).toBe("Turn finished")
    expect(turnNews(under, ended({ isError: true }))).toBe("Turn failed")
    expect(turnNews(under, ended({ isError: true, interruptedBy: "ops-phone" }))).toBe("Turn interrupted")
  })

  it("its end also where the next one began at once", () => {
    expect(turnNews(under, { ...ended({ isError: false }), turnStartedAt: "2031-05-20T10:00:10Z" })).toBe(
      "Turn finished",
    )
  })

  it("nothing of what did not change, nor of another session", () => {
    expect(turnNews(under, { ...under })).toBeUndefined()
    expect(turnNews(ended({ isError: true }), ended({ isError: true }))).toBeUndefined()
    expect(turnNews(idle, { ...under, id: "two" })).toBeUndefined()
  })
})
