import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { claudeSimPath } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { hello, makeFolder, stdioFlags } from "../support/sim-process.ts"

/** Tells every module that is loaded on stderr. */
const TELLS_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { register } from "node:module"
  const hook = 'import { writeSync } from "node:fs"; export async function load(url, context, next) { writeSync(2, url + "\\\\n"); return next(url, context) }'
  register("data:text/javascript," + encodeURIComponent(hook))
`)}`

const initialize = JSON.stringify({ type: "control_request", request_id: "1", request: { subtype: "initialize" } })
const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }

/** The modules that a run loads which is told this and then no more. */
function modulesOf(input: string, flags: readonly string[] = [], folder = makeFolder()): string[] {
  const ran = spawnSync(process.execPath, ["--import", TELLS_MODULES, claudeSimPath, ...stdioFlags, ...flags], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, SIGNALBOX_SIM_SPEED: "max" },
    input: `${input}\n`,
    encoding: "utf8",
  })
  expect(ran.status, ran.stderr).toBe(0)
  expect(ran.stdout).toContain(input === hello ? '"type":"result"' : '"type":"control_response"')
  return ran.stderr.split("\n").filter((line) => line !== "")
}

/** Modules for turns, transports and scenarios, which an agent does not need to answer its host. */
const LATER =
  /\/(?:zod|yaml|ws)\/|turn-course|tool-set|scripted-model|faulty-transport|profiles\/older|controls-newer|commands\.js/

describe("how claude-sim starts", () => {
  it("[A35] answers its host before it loads what only a turn needs", () => {
    const modules = modulesOf(initialize)
    expect(modules.filter((url) => LATER.test(url))).toEqual([])
    // Each module costs about half a millisecond: a start has the time of twice an empty Node.
    expect(modules.length).toBeLessThanOrEqual(60)
  })

  it("[A35] checks a good scenario of JSON without loading what explains a bad one, and the gallery not at all", () => {
    const folder = makeFolder()
    const file = join(folder, "good.json")
    writeFileSync(file, JSON.stringify(scenario))
    expect(modulesOf(initialize, ["--scenario", file], folder).filter((url) => LATER.test(url))).toEqual([])
    expect(modulesOf(initialize, ["--scenario", "bug-fix"], folder).filter((url) => LATER.test(url))).toEqual([])
  })

  it("[A35] loads the library for YAML where a file is YAML, and still not what explains a bad scenario", () => {
    const folder = makeFolder()
    writeFileSync(join(folder, "good.yaml"), "turns:\n  - steps:\n      - say: Hello.\n")
    const loaded = modulesOf(initialize, ["--scenario", "good.yaml"], folder)
    expect(loaded.some((url) => url.includes("/yaml/"))).toBe(true)
    expect(loaded.filter((url) => url.includes("/zod/"))).toEqual([])
  })

  it("[A35] loads a turn's part when there is one", () => {
    expect(modulesOf(hello).some((url) => url.includes("turn-course"))).toBe(true)
  })
})
