import { homedir } from "node:os"
import { describe, expect, it } from "vitest"
import { logLineForOthers, scrubber } from "../src/data/redaction.ts"

const line = (fields: object) => JSON.stringify({ level: 40, time: "2030-01-01T00:00:00.000Z", pid: 1, ...fields })

describe("what a support file says of logs", () => {
  it("[BU12] keeps our own words, numbers and codes, and nothing that somebody said", () => {
    const told = logLineForOthers(
      line({
        msg: "Launch refused: the prompt was 'rob the bank'",
        session: "0a1b2c3d-4e5f",
        text: "rob the bank",
        lastedMs: 12,
        code: "runner/no-folder",
        kind: "rob the bank",
        err: {
          type: "RunnerError",
          code: "ENOENT",
          message: "/home/ada/secret-plans: rob the bank",
          stack:
            "Error: rob the bank\n    at launch (file:///home/ada/clone/packages/runner/dist/a.js:1:2)\n    at /home/ada/x.js:3:4",
        },
      }),
    )
    expect(told).toBe(
      [
        "2030-01-01T00:00:00.000Z warn Launch refused session=0a1b2c3d lastedMs=12 code=runner/no-folder (RunnerError ENOENT)",
        "    at launch (packages/runner/dist/a.js:1:2)",
        "    at x.js:3:4",
      ].join("\n"),
    )
    expect(logLineForOthers(line({ msg: "/home/ada/plans/rob could not be removed; it may hold tokens" }))).toContain(
      "warn [path] could not be removed",
    )
    for (const text of [
      "an agent wrote this to stderr: rob the bank",
      "    at the bank",
      "    at rob (the bank:1:2)",
      `    at rob (/${"x".repeat(400)}.js:1:2)`,
      JSON.stringify({ level: 40, msg: "rob the bank" }),
    ])
      expect(logLineForOthers(text), text).toBeUndefined()
    expect(logLineForOthers("    at run (/home/ada/clone/node_modules/x/y.js:1:2)")).toBe(
      "    at run (node_modules/x/y.js:1:2)",
    )
  })

  it("[BU12] takes out secrets wherever they stand, and shortens the home folder", () => {
    const scrub = scrubber(
      { HOME: "/home/ada", MY_API_KEY: "hunter2hunter2", ANTHROPIC_API_KEY: "sk-ant-api03-abcdefghijkl" },
      ["plain-token-of-a-file"],
    )
    const text = scrub(
      "a hunter2hunter2 b sk-ant-api03-abcdefghijkl c plain-token-of-a-file d Bearer abcdefghijklmnop e /home/ada/x f ghp_abcdefghijklmnopqrst g http://me:pass@host/",
    )
    expect(text).toBe("a [redacted] b [redacted] c [redacted] d Bearer [redacted] e ~/x f [redacted] g http://host/")
    expect(scrubber({}, [])(`${homedir()}/y`)).toBe("~/y")
    const hide = scrubber(
      { SIGNALBOX_URL: "https://hub.ada.example:8443/x", CLAUDE_BIN: "/opt/ada/claude", CLAUDE_X: "runner" },
      [],
      new Map([["/srv/ada", "[data]"]]),
    )
    expect(hide("https://hub.ada.example:8443/x ENOTFOUND hub.ada.example /opt/ada/claude /srv/ada/y a runner")).toBe(
      "[SIGNALBOX_URL] ENOTFOUND [host] [CLAUDE_BIN] [data]/y a runner",
    )
  })
})
