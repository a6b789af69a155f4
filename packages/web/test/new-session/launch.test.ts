import { describe, expect, it } from "vitest"
import { problemOf, requestOf } from "../../src/new-session/launch.ts"
import { fields } from "./launch-fixture.ts"

describe("a launch from the form", () => {
  it("leaves out what was left empty", () => {
    expect(requestOf(fields())).toEqual({ agent: "claude", prompt: "Go", cwd: "/srv", runner: "r1" })
  })

  it("says what the policy judges only if that was chosen, for an external agent too", () => {
    expect(requestOf(fields({ enforce: "everything" }))).toMatchObject({ enforce: "everything" })
    expect(requestOf(fields({ agent: "external", enforce: "asked" }))).toEqual({
      agent: "external",
      prompt: "Go",
      enforce: "asked",
    })
    expect(requestOf(fields({ enforce: "nothing" }))).not.toHaveProperty("enforce")
  })

  it("names effort and worktree only where they were chosen, and a worktree not for a conversation that goes on", () => {
    expect(requestOf(fields({ effort: "high", worktree: true }))).toMatchObject({ effort: "high", worktree: true })
    expect(requestOf(fields({ worktree: true, resume: "s" }))).not.toHaveProperty("worktree")
    expect(requestOf(fields({ worktree: true, resume: "s", isFork: true }))).toHaveProperty("worktree", true)
    expect(requestOf(fields({ agent: "external", effort: "high", worktree: true }))).toEqual({
      agent: "external",
      prompt: "Go",
    })
  })

  it("begins at a message only as a fork", () => {
    const at = { resume: "s", resumeAt: "m" }
    expect(requestOf(fields({ ...at, isFork: true }))).toMatchObject({ resume: "s", fork: true, resumeAt: "m" })
    expect(requestOf(fields(at))).not.toHaveProperty("resumeAt")
    expect(requestOf(fields({ resumeAt: "m", isFork: true }))).not.toHaveProperty("fork")
  })

  it("makes arguments of what only a CLI knows, each tied to its flag", () => {
    const { args } = requestOf(
      fields({
        budget: "2.5",
        directories: "/a\n\n --evil \n",
        allowed: "Bash(npm test:*)\nRead",
        disallowed: "WebFetch",
      }),
    )
    expect(args).toEqual([
      "--max-budget-usd=2.5",
      "--add-dir=/a",
      "--add-dir=--evil",
      "--allowedTools=Bash(npm test:*),Read",
      "--disallowedTools=WebFetch",
    ])
  })

  it("is not sent with a folder that could be anywhere", () => {
    for (const cwd of ["w", "./w", "../w", "~w"]) expect(problemOf(fields({ cwd }))?.field).toBe("cwd")
    for (const cwd of ["/w", "~", "~/w", "C:\\w"]) expect(problemOf(fields({ cwd }))).toBeUndefined()
  })

  it("is not sent with a budget that is no amount", () => {
    expect(problemOf(fields({ budget: "much" }))?.field).toBe("budget")
    expect(problemOf(fields({ budget: "-1" }))?.field).toBe("budget")
    expect(problemOf(fields({ budget: "0.5" }))).toBeUndefined()
  })
})
