import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { SIGNALBOX, Terminal, tmux } from "./terminal.ts"

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

const bash = (command: string, result: string) => ({ tool: "Bash", input: { command }, result })

interface Run {
  readonly scenario: Scenario
  readonly size?: readonly [number, number]
  readonly env?: Readonly<Record<string, string>>
}

async function run({ scenario, size = [80, 24], env = {} }: Run): Promise<Terminal> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-run-"))
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, "scenario.json")
  writeFileSync(file, JSON.stringify(scenario))
  const [width, height] = size
  const command = [process.execPath, SIGNALBOX, "run", "--sim", "--cwd", folder, "go"]
  const terminal = await Terminal.open({ width, height, command, env: { SIGNALBOX_SIM_SCENARIO: file, ...env } })
  cleanUps.push(() => terminal.close())
  return terminal
}

const oneCommand: Scenario = {
  turns: [{ steps: [{ say: "I run it." }, bash("npm test", "12 passed"), { say: "All is well." }], costUsd: 0.25 }],
}

async function processes(...args: readonly string[]): Promise<string[]> {
  const found = await promisify(execFile)("ps", [...args]).catch(() => ({ stdout: "" }))
  return found.stdout.split("\n").filter((line) => line.trim() !== "")
}

/** The agent of a run, once it is there. */
async function onlyChildOf(pid: number): Promise<number> {
  let children: number[] = []
  const look = async () => {
    children = (await processes("-o", "pid=", "--ppid", String(pid))).map(Number)
    return children.length
  }
  await expect.poll(look, { timeout: 30_000 }).toBe(1)
  return children[0] ?? 0
}

async function isRunning(pid: number): Promise<boolean> {
  const [state = "Z"] = await processes("-o", "stat=", "-p", String(pid))
  return !state.startsWith("Z")
}

describe.skipIf(tmux === undefined)("signalbox run, in a terminal", () => {
  it.each([
    [80, 24],
    [200, 60],
  ])("[RT1] at %i×%i tells what is said and done, asks, and ends with time and cost", async (width, height) => {
    const terminal = await run({ scenario: oneCommand, size: [width, height] })
    const asked = await terminal.shows(/Allow\? y/)
    expect(asked).toMatch(/I run it\.\n● \$ npm test\n\n\? Run a command\n {2}\$ npm test/)
    await terminal.type("y")
    await terminal.press("Enter")
    const ended = await terminal.shows("exit code 0")
    expect(ended).toMatch(/12 passed\nAll is well\.\nDone · .*\$0\.25/)
  })

  it("[RT2] n with a reason tells the agent why, and the tool does not run", async () => {
    const terminal = await run({ scenario: oneCommand })
    await terminal.shows(/Allow\? y/)
    await terminal.type("n not today")
    await terminal.press("Enter")
    const ended = await terminal.shows("exit code 0")
    expect(ended).toContain("denied: not today")
    expect(ended).not.toContain("12 passed")
  })

  it("[RT2] e changes what runs, shows it once more, and takes a yes only after that", async () => {
    const terminal = await run({ scenario: oneCommand })
    await terminal.shows(/Allow\? y/)
    await terminal.type("e")
    await terminal.press("Enter")
    await terminal.shows("command: npm test")
    await terminal.type(" --watch")
    await terminal.press("Enter")
    await terminal.shows(/"command": "npm test --watch"[^]*Allow this\?/)
    await terminal.type("y")
    await terminal.press("Enter")
    await terminal.shows("exit code 0")
  })

  it("[RT8] a keeps the grant that is marked; a number keeps another, and a mode is never marked", async () => {
    const scenario: Scenario = {
      turns: [
        {
          steps: [
            { tool: "Write", input: { file_path: "a.txt", content: "a" }, result: "ok" },
            { tool: "Write", input: { file_path: "b.txt", content: "b" }, result: "ok" },
            { say: "Written." },
          ],
        },
      ],
    }
    const terminal = await run({ scenario })
    await terminal.shows(/ {2}1\. switch to mode acceptEdits, for this session\n[^]*a\(lways\) \[numbers\]/)
    await terminal.type("a")
    await terminal.press("Enter")
    await terminal.shows("Choose one by its number")
    await terminal.type("a 1")
    await terminal.press("Enter")
    // The second write is not asked about: the mode was switched.
    await terminal.shows(/Written\.[^]*exit code 0/)
  })

  it("[RT2] questions are answered by number or in one's own words", async () => {
    const questions = [
      { question: "Which colour?", header: "Colour", options: [{ label: "Red" }, { label: "Blue" }] },
      { question: "Which size?", header: "Size", options: [{ label: "Small" }, { label: "Large" }] },
    ]
    const scenario: Scenario = {
      turns: [{ steps: [{ tool: "AskUserQuestion", input: { questions } }, { say: "Thanks." }] }],
    }
    const terminal = await run({ scenario })
    await terminal.shows(/Which colour\?[^]*2\. Blue[^]*own answer/)
    await terminal.type("2")
    await terminal.press("Enter")
    await terminal.shows(/Which size\?/)
    await terminal.type("Enormous")
    await terminal.press("Enter")
    const ended = await terminal.shows("exit code 0")
    expect(ended).toContain("Blue")
    expect(ended).toContain("Enormous")
  })

  it("[RT3] what was typed before the question is no answer to it", async () => {
    const scenario: Scenario = { turns: [{ steps: [{ pause: 1500 }, bash("rm everything", "gone")] }] }
    const terminal = await run({ scenario })
    await terminal.shows("before")
    await terminal.type("y")
    await terminal.press("Enter")
    await terminal.shows(/Allow\? y/)
    await terminal.type("n")
    await terminal.press("Enter")
    expect(await terminal.shows("exit code 0")).not.toContain("gone")
  })

  it("[RT5] Ctrl-C interrupts the turn, and a second one ends the agent", async () => {
    const scenario: Scenario = { turns: [{ steps: [{ say: "Wait for it." }, { hang: true }] }] }
    const terminal = await run({ scenario })
    await terminal.shows("Wait for it.")
    await terminal.press("C-c")
    await terminal.shows(/Interrupted[^]*exit code 1/)
  })

  it("[RT5] an agent that hears neither an interrupt nor a request to end is ended by the second, and nothing is left", async () => {
    const scenario: Scenario = { turns: [{ steps: [{ say: "Wait for it." }, { hang: true }] }] }
    const terminal = await run({ scenario })
    await terminal.shows("Wait for it.")
    const agent = await onlyChildOf(await terminal.pid())
    process.kill(agent, "SIGSTOP")
    await terminal.press("C-c")
    await terminal.shows("press Ctrl-C again to stop the agent")
    await terminal.press("C-c")
    await terminal.shows(/\nsignalbox: you stopped the agent before its turn ended\n/)
    // However often it is pressed: it is waited for the agent's end.
    for (let time = 0; time < 2; time++) await terminal.press("C-c")
    await terminal.shows(/\nexit code 1/)
    expect(await isRunning(agent)).toBe(false)
    expect(await terminal.flag("cursor_flag")).toBe("1")
  })

  it("[RT5] before a turn has begun the first Ctrl-C ends it", async () => {
    const terminal = await run({ scenario: oneCommand, env: { SIGNALBOX_SIM_FAULT: "hang" } })
    await terminal.shows("before")
    const agent = await onlyChildOf(await terminal.pid())
    await terminal.press("C-c")
    expect(await terminal.shows("exit code")).toMatch(
      /\nsignalbox: you stopped the agent before its turn ended\n[^]*exit code 1/,
    )
    expect(await isRunning(agent)).toBe(false)
  })

  it("[RT5] Ctrl-C at a question interrupts the turn, and the terminal is as it was", async () => {
    const terminal = await run({ scenario: oneCommand })
    await terminal.shows(/Allow\? y/)
    await terminal.press("C-c")
    const ended = await terminal.shows("exit code 1")
    expect(ended).not.toContain("12 passed")
    await terminal.type("echo seen")
    await terminal.shows("echo seen")
    expect(await terminal.flag("cursor_flag")).toBe("1")
  })

  it("[RT6] what an agent says cannot steer the terminal", async () => {
    const scenario: Scenario = { turns: [{ steps: [{ say: "a\u001b[2J\u001b]0;owned\u0007b\u202ec\u001b[31md" }] }] }
    const terminal = await run({ scenario })
    expect(await terminal.shows("exit code 0")).toContain("a<U+001B>[2J<U+001B>]0;owned<U+0007>b<U+202E>cd")
  })
})
