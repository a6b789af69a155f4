import { describe, expect, it } from "vitest"
import { fourEyesWords, reasonsOf, verdictReason } from "../../src/asks/request-words.ts"

describe("why somebody is asked", () => {
  it("is told in facts that the CLI and the hub gave", () => {
    const request = {
      decision_reason: "This command writes.",
      blocked_path: "/etc/hosts",
      matched_ask_rule: { toolName: "Bash", ruleContent: "sudo:*" },
      mcp_server: { name: "files" },
    }
    const input = { url: "https://example.org/x", dangerouslyDisableSandbox: true }
    expect(reasonsOf({ kind: "tool", request, input, rule: "deploys" }, "/srv/api")).toEqual([
      "This command writes.",
      "Outside the folder: /etc/hosts",
      "Required by CLI rule Bash(sudo:*).",
      "Required by hub rule deploys.",
      "Runs outside the sandbox.",
      "Network: example.org",
      "From the MCP server files.",
    ])
    expect(reasonsOf({ kind: "tool", request: {}, input: {} })).toEqual([])
  })

  it("names a rule once, and none as the one that asked if it answered", () => {
    const asked = { kind: "tool", request: {}, input: {}, rule: "deploys" } as const
    expect(reasonsOf({ ...asked, via: "person" })).toEqual(["Required by hub rule deploys."])
    expect(reasonsOf({ ...asked, reason: 'Rule "deploys" wants a person to decide this.' })).toEqual([])
    expect(reasonsOf({ ...asked, via: "policy" })).toEqual([])
  })

  it("is the policy's only where a rule had a say, or a part of the command decided", () => {
    const reason = "No rule covers this."
    const why = { rules: [], change: "To allow it, add a rule that allows it." }
    expect(verdictReason({ reason, why })).toBeUndefined()
    expect(verdictReason({ reason, why: { ...why, rules: [{ id: "tests", place: 1 }] } })).toBe(reason)
    expect(verdictReason({ reason, why: { ...why, field: "command", span: { start: 0, end: 2 } } })).toBe(reason)
    expect(verdictReason({ reason, rule: "deploys" })).toBe(reason)
    expect(verdictReason({ rule: "deploys" })).toBeUndefined()
  })

  it("says who must not allow", () => {
    expect(fourEyesWords("ada", false)).toBe("Someone other than ada must allow this.")
    expect(fourEyesWords(undefined, false)).toBe("It isn't known who started this session, so this can only be denied.")
    expect(fourEyesWords("ada", true)).toMatch(/^You started this session, so someone else must allow this/)
  })

  it("[TR24] is a path outside the session's folder only where it is outside", () => {
    const reasons = (path: string, cwd: string | null) =>
      reasonsOf({ kind: "tool", request: { blocked_path: path }, input: {} }, cwd)
    expect(reasons("/srv/api/build", "/srv/api")).toEqual(["Path: /srv/api/build"])
    expect(reasons("/srv/api", "/srv/api/")).toEqual(["Path: /srv/api"])
    expect(reasons("/srv/api-old", "/srv/api")).toEqual(["Outside the folder: /srv/api-old"])
    expect(reasons("/etc/hosts", "/")).toEqual(["Path: /etc/hosts"])
    expect(reasons("C:\\work\\x", "C:\\work")).toEqual(["Path: C:\\work\\x"])
    // What cannot be told is not said.
    expect(reasons("/etc/hosts", null)).toEqual(["Path: /etc/hosts"])
    expect(reasons("~/x", "/srv/api")).toEqual(["Path: ~/x"])
    expect(reasons("../x", "/srv/api")).toEqual(["Outside the folder: ../x"])
  })

  it("is not what the request itself shows", () => {
    const reasons = (description: string, input: Readonly<Record<string, unknown>>) =>
      reasonsOf({ kind: "tool", request: { description }, input })
    expect(reasons("Make the file", { command: "touch x", description: "Make the file" })).toEqual([])
    expect(reasons("src/auth.ts", { file_path: "/srv/api/src/auth.ts" })).toEqual([])
    expect(reasons("uth.ts", { file_path: "/srv/api/src/auth.ts" })).toEqual(["uth.ts"])
  })
})
