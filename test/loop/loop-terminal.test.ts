import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { SIGNALBOX, Terminal, tmux } from "../terminal/terminal.ts"
import { LoopScene } from "./loop-scene.ts"

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

const asksOnce: Scenario = {
  turns: [
    { on: "ask", repeat: true, steps: [{ tool: "Bash", input: { command: "make" }, result: "ok" }, { say: "Done." }] },
    { repeat: true, steps: [{ say: "Done." }], costUsd: 0.25 },
  ],
}

async function open(
  size: readonly [number, number],
  tasks: readonly string[],
): Promise<{ scene: LoopScene; terminal: Terminal }> {
  const scene = new LoopScene()
  cleanUps.push(() => scene.dispose())
  await scene.startHub()
  const [width, height] = size
  const command = [
    process.execPath,
    SIGNALBOX,
    "loop",
    scene.list(...tasks),
    "--data",
    scene.data,
    "--cwd",
    scene.project,
  ]
  const terminal = await Terminal.open({ width, height, command: [...command, ...scene.playing(asksOnce)] })
  cleanUps.push(() => terminal.close())
  return { scene, terminal }
}

describe.skipIf(tmux === undefined)("signalbox loop, in a terminal", () => {
  it.each([
    [80, 24],
    [200, 60],
  ])("[LP20] at %i×%i a table is drawn in place, and a summary follows", async (width, height) => {
    const tasks = ["first", "ask first", ...Array.from({ length: 70 }, (_, index) => `more of it, ${index} of many`)]
    const { scene, terminal } = await open([width, height], tasks)
    const screen = await terminal.shows("Answer: signalbox asks --data ")
    expect(screen).toMatch(/^TASKS\.md run [0-9a-f]{8}\n░{20} 1 request waiting · 1 of 72 done · \$0\.25 · 2/)
    expect(screen).toMatch(/\n 2 {2}asks +1 +[0-9a-f]{8} {2}ask first\n/)
    expect(screen).toMatch(/\n… and \d+ more\n/)
    await terminal.press("C-c")
    const end = await terminal.shows("exit code 1")
    expect(end).toMatch(
      /\nStopped \(you stopped it\): 1 of 72 done · \$0\.25 · 2 turns · [\d.]+ s\nResume: signalbox loop --resume [0-9a-f]{8} --data [^]+\nexit code 1\n/,
    )
    expect(end.match(/more of it, 7 of many/g)).toHaveLength(1)
    expect(await terminal.flag("cursor_flag")).toBe("1")
    await scene.asks(0)
  })
})
