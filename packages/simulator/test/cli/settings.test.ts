import { describe, expect, it } from "vitest"
import { parseArguments } from "../../src/cli/launch-from-argv.ts"
import { settingsFrom } from "../../src/cli/settings.ts"

describe("the simulator's own flags", () => {
  it.each(["profile", "scenario", "speed", "seed", "simulate-tools", "model-url", "replay", "record", "fault"])(
    "--%s without its value is refused, not ignored",
    async (flag) => {
      await expect(settingsFrom(parseArguments([`--${flag}`]), {})).rejects.toThrow(`--${flag} needs a value`)
    },
  )

  it.each([
    ["--simulate-tools=yes", "--simulate-tools is real or pretend, not yes"],
    ["--speed=fast", "--speed takes a number above 0, or max, not fast"],
    ["--seed=one", "--seed takes a whole number, not one"],
  ])("%s is refused with what would be right", async (word, message) => {
    await expect(settingsFrom(parseArguments([word]), {})).rejects.toThrow(message)
  })

  it("a variable stands for a flag that the host did not write", async () => {
    const settings = await settingsFrom(parseArguments([]), { SIGNALBOX_SIM_TOOLS: "real", SIGNALBOX_SIM_SPEED: "2" })
    expect(settings).toMatchObject({ tools: "real", timeScale: 0.5 })
  })
})
