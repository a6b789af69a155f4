import { createLinkedPair, ReadingTurns, type Transport } from "@signalbox/transport"
import type { ChildTransport } from "@signalbox/transport/process"
import { pino } from "pino"
import { expect, it } from "vitest"
import { Agent } from "../src/agents/agent.ts"
import { KeptLines } from "../src/lines/kept-lines.ts"
import { DEFAULT_LINK_TIMING } from "../src/link/hub-link.ts"

const LINES_SAID = Array.from({ length: 20_000 }, (_, n) => `{"type":"said","n":${n},"text":"${"x".repeat(100)}"}`)

/** Nothing happens by itself. */
const clock = { now: () => 0, after: () => () => undefined }

function processOf(near: Transport): ChildTransport {
  return {
    pid: 1,
    lines: near.lines,
    closed: near.closed,
    send: (line) => near.send(line),
    close: (reason) => near.close(reason),
    stderrTail: () => "",
    endInput: () => undefined,
    kill: () => undefined,
  }
}

/** An agent whose process is the other end of a pair, for a hub that is never there. */
function start(spawn: string, turns: ReadingTurns) {
  const [near, far] = createLinkedPair()
  const bounds = { memoryBytes: Number.POSITIVE_INFINITY, spoolBytes: Number.POSITIVE_INFINITY }
  const kept = new KeptLines({ folder: "/nowhere", ...bounds, clock, onDiskTrouble: () => undefined })
  let exited = () => undefined as void
  const over = new Promise<void>((resolve) => {
    exited = resolve
  })
  const record = { session: "s", startedAt: "", launched: { spawn, pid: 1, cwd: "/" } }
  const link = {
    address: () => undefined,
    onFailed: () => undefined,
    timing: DEFAULT_LINK_TIMING,
    clock,
    log: pino({ level: "silent" }),
  }
  const changes = { read: async () => undefined }
  const ends = { onExit: () => exited(), onOver: () => undefined }
  const lines = { record, kept, turns, changes, mayDial: () => false, spoolAfterMs: 1 }
  const agent = new Agent({ ...link, ...lines, ...ends }, processOf(near))
  const say = async (lines: readonly string[]) => {
    for (const line of lines) await far.send(line)
  }
  return { agent, kept, say, far, over }
}

async function turnsPass(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

it("[RU110] one agent that floods holds up another's line for the few hundred lines of a turn, and loses none of its own", async () => {
  const turns = new ReadingTurns()
  const [loud, quiet] = [start("loud", turns), start("quiet", turns)]
  const flood = loud.say(LINES_SAID)
  await turnsPass(10)
  const before = loud.kept.last
  expect(before).toBeGreaterThan(0)
  expect(before).toBeLessThan(5_000)
  await quiet.say(["{}"])
  while (quiet.kept.last === 0) await turnsPass(1)
  expect(loud.kept.last - before).toBeLessThan(1_000)
  await flood
  await Promise.all([loud.far.close(), quiet.far.close(), loud.over, quiet.over])
  const kept: string[] = []
  for (let frames = await loud.kept.next(0); frames.length > 0; frames = await loud.kept.next(kept.length))
    kept.push(...frames)
  // The last is the note of its end.
  expect(kept.pop()).toMatch(`N${LINES_SAID.length + 1} `)
  expect(kept).toEqual(LINES_SAID.map((line, at) => `L${at + 1} ${line}`))
})
