import { describe, expect, it } from "vitest"
import { claudeProcessEnvironment } from "../../src/process/environment.ts"

describe("claudeProcessEnvironment", () => {
  it("[P3] names its caller unless that is set, and drops what configures our own Node", () => {
    const base = { PATH: "/bin", NODE_OPTIONS: "--inspect", DEBUG: "*" }
    expect(claudeProcessEnvironment(base)).toEqual({ PATH: "/bin", CLAUDE_CODE_ENTRYPOINT: "signalbox" })
    const named = claudeProcessEnvironment({ CLAUDE_CODE_ENTRYPOINT: "theirs" }, { entrypoint: "ours" })
    expect(named).toEqual({ CLAUDE_CODE_ENTRYPOINT: "theirs" })
    expect(claudeProcessEnvironment({}, { entrypoint: "ours" })).toEqual({ CLAUDE_CODE_ENTRYPOINT: "ours" })
  })

  it("[P3] debugging and file checkpoints are asked for by their variables", () => {
    expect(claudeProcessEnvironment({ DEBUG: "*" }, { debug: true, enableFileCheckpointing: true })).toEqual({
      CLAUDE_CODE_ENTRYPOINT: "signalbox",
      DEBUG: "1",
      CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true",
    })
  })

  it("[P3] the caller's own variables come last, and undefined takes one away", () => {
    const env = { A: "theirs", B: undefined, NODE_OPTIONS: "--max-old-space-size=1", CLAUDE_CODE_ENTRYPOINT: undefined }
    expect(claudeProcessEnvironment({ A: "ours", B: "ours", C: "ours" }, { env })).toEqual({
      A: "theirs",
      C: "ours",
      NODE_OPTIONS: "--max-old-space-size=1",
    })
  })

  it("[P4] no variable of ours reaches the agent, not even by way of the caller's own", () => {
    const ours = {
      SIGNALBOX_TOKEN: "secret",
      signalbox_hub: "wss://h",
      SIGNALBOXES: "theirs",
      SIGNALBOX_SIM_PROFILE: "2.1.37",
    }
    expect(claudeProcessEnvironment(ours, { env: { ...ours } })).toEqual({
      CLAUDE_CODE_ENTRYPOINT: "signalbox",
      SIGNALBOXES: "theirs",
      SIGNALBOX_SIM_PROFILE: "2.1.37",
    })
  })

  it("[P3] the environment it was made from is left as it was", () => {
    const base = Object.freeze({ NODE_OPTIONS: "x", SIGNALBOX_A: "y" })
    claudeProcessEnvironment(base)
    expect(base).toEqual({ NODE_OPTIONS: "x", SIGNALBOX_A: "y" })
  })
})
