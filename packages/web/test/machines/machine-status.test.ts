import { describe, expect, it } from "vitest"
import { moment } from "../../src/design/words.ts"
import { compatibilityNote, machineStatus, machineStatusWords } from "../../src/machines/machine-status.tsx"

const facts = { connected: true, draining: false, agents: 1, maxAgents: 4, version: "0.2.0" }

describe("the state of a machine", () => {
  it("is the first that holds: silent, draining, too old, full, online", () => {
    expect(machineStatus(facts, "0.2.0")).toBe("online")
    expect(machineStatus({ ...facts, agents: 4 }, "0.2.0")).toBe("full")
    expect(machineStatus({ ...facts, agents: 4, maxAgents: 0 }, "0.2.0")).toBe("online")
    expect(machineStatus({ ...facts, draining: true, version: "0.1.9" }, "0.2.0")).toBe("draining")
    expect(machineStatus({ ...facts, version: "0.1.9" }, "0.2.0")).toBe("old")
    expect(machineStatus({ ...facts, version: "0.10.0" }, "0.9.9")).toBe("online")
    expect(machineStatus({ ...facts, version: "a build of mine" }, "0.2.0")).toBe("online")
    expect(machineStatus({ ...facts, connected: false, version: "0.1.0" }, "0.2.0")).toBe("silent")
  })

  it("names the time since which nothing was heard, and the day when it is another", () => {
    const noon = new Date(2031, 4, 20, 12, 5).getTime()
    const seenAt = new Date(noon).toISOString()
    expect(machineStatusWords("silent", { seenAt }, noon + 60_000)).toBe("Offline since 12:05")
    expect(moment(noon, noon + 86_400_000)).toBe("May 20, 12:05")
    expect(moment(noon, noon + 400 * 86_400_000)).toBe("May 20 2031, 12:05")
  })

  it("says what cannot run there", () => {
    expect(compatibilityNote({ cliVersions: ["2.1.325"], hasSimulator: false })).toBeUndefined()
    expect(compatibilityNote({ cliVersions: [], hasSimulator: true })).toMatch(/only the simulator/)
    expect(compatibilityNote({ cliVersions: [], hasSimulator: false })).toMatch(/no simulator found/)
  })
})
