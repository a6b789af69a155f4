import { describe, expect, it } from "vitest"
import { claudeOn, firstMachine } from "../../src/fleet/claude-found.ts"
import type { Machine } from "../../src/fleet/machine-store.tsx"
import { recentFolders } from "../../src/fleet/recent-folders.ts"

const machine = (change: Partial<Machine> = {}): Machine => ({
  id: "r1",
  name: "atlas",
  connected: true,
  draining: false,
  seenAt: "2026-01-01T00:00:00.000Z",
  agents: 0,
  maxAgents: 0,
  labels: [],
  host: "atlas",
  platform: "linux-x64",
  version: "0.1.0",
  cliVersions: ["2.1.325"],
  hasSimulator: true,
  claudePath: "/usr/bin/claude",
  ...change,
})

describe("the claude that was found on a machine [S-143]", () => {
  it("is named with its version, and whether it is signed in", () => {
    expect(claudeOn(machine({ signIn: "by the variable ANTHROPIC_API_KEY" }))).toEqual({
      isFound: true,
      words: "Claude Code 2.1.325 on atlas, signed in.",
    })
    expect(claudeOn(machine({ signIn: null }))).toMatchObject({
      isFound: true,
      words: "Claude Code 2.1.325 on atlas, not signed in.",
      command: "claude",
    })
  })

  it("is not called signed out where the runner cannot tell", () => {
    expect(claudeOn(machine()).words).toContain("Couldn't check")
    expect(claudeOn(machine())).not.toHaveProperty("todo")
  })

  it("comes with the way to install it where there is none", () => {
    const { claudePath: _, ...none } = machine({ cliVersions: [], claudeProblem: "no claude on the PATH" })
    expect(claudeOn(none)).toMatchObject({ isFound: false, todo: "Install it:" })
  })

  it("decides which machine a first session goes to, among those that take agents", () => {
    const { claudePath: _, ...bare } = machine({ id: "bare", cliVersions: [] })
    const away = machine({ id: "away", connected: false })
    const draining = machine({ id: "draining", draining: true })
    expect(firstMachine([away, draining, bare, machine()])?.id).toBe("r1")
    expect(firstMachine([away, draining, bare])?.id).toBe("bare")
    expect(firstMachine([away, draining])).toBeUndefined()
  })
})

describe("recent folders [N-142]", () => {
  const worked = (runner: string | null, cwd: string | null, day: number) => ({
    runner,
    cwd,
    updatedAt: `2026-01-0${day}`,
  })

  it("are those of one machine, the latest first and each once, recorded ones among them", () => {
    const sessions = [
      worked("r1", "/a", 1),
      worked("r2", "/other", 9),
      worked(null, "/external", 9),
      worked("r1", "/b", 3),
    ]
    const recorded = [
      { cwd: "/c", updatedAt: "2026-01-02" },
      { cwd: "/a", updatedAt: "2026-01-04" },
      { cwd: null, updatedAt: "2026-01-05" },
    ]
    expect(recentFolders("r1", sessions, recorded)).toEqual(["/a", "/b", "/c"])
  })

  it("have neither worktrees nor the folders of demo agents", () => {
    const tree = { ...worked("r1", "/tree", 5), worktree: { path: "/tree", branch: "b" } }
    expect(
      recentFolders("r1", [tree, worked("r1", "/tmp/signalbox-simulator-Ab12", 4), worked("r1", "/a", 1)], []),
    ).toEqual(["/a"])
  })
})
