import { describe, expect, it } from "vitest"
import { type Allowed, evaluate, proposalKey, proposeRule } from "../src/index.ts"

function allowed(tool: string, input: Record<string, unknown>, cwd: string | undefined = "/srv/app"): Allowed {
  return { request: { tool, input }, context: { session: "s", cwd, mode: "default" } }
}

const bash = (command: string, cwd?: string) => allowed("Bash", { command }, cwd)
const edit = (file_path: string, cwd?: string) => allowed("Edit", { file_path }, cwd)

describe("a rule from what people allowed", () => {
  it("[BT11] a few different values are listed one by one, in the folder where they were allowed", () => {
    expect(proposeRule("x", [bash("npm test")])).toEqual({
      id: "x",
      effect: "allow",
      tool: "Bash",
      input: { command: "npm test" },
      cwd: "/srv/app",
    })
    const two = proposeRule("x", [bash("npm run a"), bash("npm run b"), bash("npm run a")])
    expect(two?.input).toEqual({ command: ["npm run a", "npm run b"] })
    expect(proposeRule("x", [edit("/srv/app/a.ts")])?.input).toEqual({ file_path: "/srv/app/a.ts" })
  })

  it("[BT11] of many different values it says what they have in common, and a star only behind two words", () => {
    const commits = Array.from({ length: 9 }, (_, n) => bash(`git commit -m "${n} of them"`))
    expect(proposeRule("x", commits)?.input).toEqual({ command: ["git commit -m", "git commit -m *"] })
    expect(
      proposeRule(
        "x",
        Array.from({ length: 9 }, (_, n) => bash(`ls ${n}`)),
      ),
    ).toBeUndefined()
    const files = Array.from({ length: 9 }, (_, n) => edit(`/srv/app/src/parts/${n}.ts`))
    expect(proposeRule("x", files)?.input).toEqual({ file_path: "/srv/app/src/parts/**" })
    const urls = Array.from({ length: 9 }, (_, n) => allowed("WebFetch", { url: `https://example.org/${n}` }))
    expect(proposeRule("x", urls)?.input).toEqual({ url: "https://example.org/*" })
    const far = [...files, edit("/srv/other/x.ts")]
    expect(proposeRule("x", far)).toBeUndefined()
  })

  it("[BT11] programs that destroy, or run what they are told to, never get a star", () => {
    for (const program of ["rm -rf", "sudo apt", "/bin/bash -c", "node x.js", "ssh host", "curl -o", "docker run"]) {
      expect(
        proposeRule(
          "x",
          Array.from({ length: 9 }, (_, n) => bash(`${program} ${n}`)),
        ),
      ).toBeUndefined()
    }
    expect(proposeRule("x", [bash("rm -rf build")])?.input).toEqual({ command: "rm -rf build" })
  })

  it("[BT11] several folders become the one they are in, unless that is the root or a folder of everybody's", () => {
    expect(proposeRule("x", [bash("npm test", "/srv/trees/a"), bash("npm test", "/srv/trees/b")])?.cwd).toBe(
      "/srv/trees/**",
    )
    expect(proposeRule("x", [bash("npm test", "/home/ann"), bash("npm test", "/home/bob")])).toBeUndefined()
    expect(proposeRule("x", [bash("npm test", "/srv/a"), bash("npm test", "/opt/a")])).toBeUndefined()
  })

  it("[BT11] of another tool it says the fields that were the same each time", () => {
    const calls = [1, 2, 3].map((page) => allowed("mcp__wiki__read", { space: "docs", page, query: { deep: true } }))
    expect(proposeRule("x", calls)).toMatchObject({ tool: "mcp__wiki__read", input: { space: "docs" } })
    expect(Object.keys(proposeRule("x", calls)?.input ?? {})).toEqual(["space"])
  })

  it("[BT11] nothing is proposed for what rules cannot say, a person must see or runs outside the sandbox", () => {
    expect(proposeRule("x", [])).toBeUndefined()
    for (const command of ["echo $(id)", "a\nb", 'echo "*" \\*', "x".repeat(600), "echo \u202e", ""]) {
      expect(proposeRule("x", [bash(command)])).toBeUndefined()
    }
    expect(proposeRule("x", [edit("/srv/app/../x")])).toBeUndefined()
    for (const tool of ["ExitPlanMode", "AskUserQuestion", "elicitation", "dialog"]) {
      expect(proposeRule("x", [allowed(tool, { plan: "p" })])).toBeUndefined()
    }
    expect(proposeRule("x", [allowed("Bash", { command: 1 })])).toBeUndefined()
    expect(proposalKey({ tool: "Bash", input: { command: "ls", dangerouslyDisableSandbox: true } })).toBeUndefined()
    expect(proposalKey({ tool: "x", input: {}, needsPerson: true })).toBeUndefined()
  })

  it("[BT11] a star that a person saw as a star is none of the rule's", () => {
    const rule = proposeRule("x", [bash("ls *.ts")])
    const verdict = (command: string) => {
      const policy = { rules: rule === undefined ? [] : [rule], relayAutoApproval: false }
      return evaluate(policy, { tool: "Bash", input: { command } }, { session: "s", cwd: "/srv/app" }).effect
    }
    expect(verdict("ls -la /etc/x.ts")).toBe("ask")
  })
})
