import { join } from "node:path"
import { isObject, textOf } from "@signalbox/protocol"
import type { ChildTransport } from "@signalbox/transport"
import { describe, expect, it } from "vitest"
import { describeFaults } from "../../src/faults/parse-fault.ts"
import { typeOfLine } from "../support/dialled-host.ts"
import { hello, makeFolder, type SimProcessOptions, startSim, stdioFlags } from "../support/sim-process.ts"

function start(faults: readonly string[], options: SimProcessOptions = {}): Promise<ChildTransport> {
  return startSim([...stdioFlags, ...faults.flatMap((fault) => ["--fault", fault])], options)
}

/** Says hello, ends the input, and gives all that comes. */
async function hear(child: ChildTransport, lines: readonly string[] = [hello]): Promise<string[]> {
  for (const line of lines) await child.send(line)
  child.endInput()
  return rest(child)
}

async function rest(child: ChildTransport): Promise<string[]> {
  const seen: string[] = []
  for await (const line of child.lines) seen.push(line)
  return seen
}

/** The types of the lines that are still to come, once `onType` was told of each. */
async function watch(child: ChildTransport, onType: (type: string) => void): Promise<string[]> {
  const types: string[] = []
  for await (const line of child.lines) {
    types.push(typeOfLine(line))
    onType(types.at(-1) ?? "")
  }
  return types
}

const request = (id: string, subtype: string) =>
  JSON.stringify({ type: "control_request", request_id: id, request: { subtype } })

describe("faults on stdio", () => {
  it("[SF6] exit: the line is not written, what came before it is, and the code is the one asked for", async () => {
    const child = await start(["exit=3@result"])
    expect((await hear(child)).map(typeOfLine)).toEqual(["system", "assistant"])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 3 } })
  })

  it("[SF6] kill: the process dies of the signal", async () => {
    const child = await start(["kill=SEGV@after:assistant"])
    expect((await hear(child)).map(typeOfLine)).toEqual(["system", "assistant"])
    expect((await child.closed).error).toMatchObject({ details: { signal: "SIGSEGV" } })
    const terminated = await start(["kill=TERM"])
    expect(await hear(terminated)).toEqual([])
    expect((await terminated.closed).error).toMatchObject({ details: { signal: "SIGTERM" } })
  })

  it("[SF7] hang: nothing more is written, the end of the input goes unnoticed, and TERM ends it", async () => {
    const child = await start(["hang@result"])
    await child.send(hello)
    const types = await watch(child, (type) => {
      if (type !== "assistant") return
      child.endInput()
      child.kill("SIGTERM")
    })
    expect(types).toEqual(["system", "assistant"])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 143 } })
  })

  it("[SF7] hang with a time: it goes on where it was", async () => {
    const child = await start(["hang=300ms@result"])
    const startedAt = performance.now()
    expect((await hear(child)).map(typeOfLine)).toEqual(["system", "assistant", "result"])
    expect(performance.now() - startedAt).toBeGreaterThan(290)
    expect((await child.closed).error).toBeUndefined()
  })

  it("[SF8] ignore-term: it lives on and works on, and only KILL ends it", async () => {
    const child = await start(["ignore-term"])
    await child.send(hello)
    let results = 0
    await watch(child, (type) => {
      if (type !== "result") return
      child.kill(results++ === 0 ? "SIGTERM" : "SIGKILL")
      void child.send(hello).catch(() => undefined)
    })
    expect(results).toBe(2)
    expect((await child.closed).error).toMatchObject({ details: { signal: "SIGKILL" } })
  })

  it("[SF9] close: the host finds the output ended while the process lives on to finish its work", async () => {
    const child = await start(["close@assistant"])
    await child.send(hello)
    const lines = child.lines[Symbol.asyncIterator]()
    expect(typeOfLine(String((await lines.next()).value))).toBe("system")
    child.endInput()
    expect((await lines.next()).done).toBe(true)
    expect((await child.closed).error).toBeUndefined()
  })

  it("[SF10] half: the end of the line never comes, and the next one is glued to it", async () => {
    const child = await start(["half@assistant"])
    const [init, glued, ...more] = await hear(child)
    expect(typeOfLine(init ?? "")).toBe("system")
    expect(glued).toMatch(/^\{"type":"assistant".*[^}]\{"duration_api_ms"/)
    expect(typeOfLine(glued ?? "")).toBe("no message")
    expect(more).toEqual([])
  })

  it("[SF10] half and exit at the same line: a process that dies in the middle of a word", async () => {
    const child = await start(["half@result", "exit=9@after:result"])
    const seen = await hear(child)
    expect(seen.map(typeOfLine)).toEqual(["system", "assistant", "no message"])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 9 } })
  })

  it("[SF10] rubbish: a line that is no message, and then all goes on", async () => {
    const child = await start(["rubbish=5KB@assistant"])
    const seen = await hear(child)
    expect(seen.map(typeOfLine)).toEqual(["system", "no message", "assistant", "result"])
    expect(seen[1]).toHaveLength(5 * 1024)
  })

  it("[SF10] long: a line of 64 MB", async () => {
    const child = await start(["long@assistant"], { maxLineBytes: 128 * 1024 * 1024 })
    const seen = await hear(child)
    expect(seen.map(typeOfLine)).toEqual(["system", "keep_alive", "assistant", "result"])
    expect(seen[1]?.length).toBe(64 * 1024 * 1024)
  })

  it("[SF10] duplicate: the same line again, to the last letter", async () => {
    const child = await start(["duplicate=3@assistant"])
    const [, ...seen] = await hear(child)
    expect(seen.map(typeOfLine)).toEqual(["assistant", "assistant", "assistant", "result"])
    expect(new Set(seen.slice(0, 3)).size).toBe(1)
  })

  it("[SF11] delay: an answer comes later, and so does all that follows it", async () => {
    const child = await start(["delay=400@control_response"])
    const startedAt = performance.now()
    const seen = await hear(child, [request("one", "initialize"), hello])
    expect(performance.now() - startedAt).toBeGreaterThan(390)
    expect(seen.map(typeOfLine)).toEqual(["control_response", "system", "assistant", "result"])
  })

  it("[SF11] late: an answer is overtaken, and comes before the end all the same", async () => {
    const child = await start(["late=400@control_response"])
    const seen = await hear(child, [request("one", "initialize"), request("two", "interrupt")])
    const ids = seen.map((line) => {
      const message: unknown = JSON.parse(line)
      return isObject(message) ? textOf(message["response"], "request_id") : undefined
    })
    expect(ids).toEqual(["two", "one"])
  })

  it("[SF12] flood: as many deltas as asked for, no faster than asked for, in a message that is whole", async () => {
    const child = await start(["flood@assistant"])
    const startedAt = performance.now()
    const seen = await hear(child)
    expect(performance.now() - startedAt).toBeGreaterThan(950)
    const deltas = seen.filter((line) => line.includes('"content_block_delta"'))
    expect(deltas).toHaveLength(100_000)
    expect(new Set(deltas).size).toBe(100_000)
    const [init, begin, , ...more] = seen
    expect(typeOfLine(init ?? "")).toBe("system")
    expect(begin).toContain('"message_start"')
    expect(more.slice(-3).join()).toMatch(/"message_stop".*"assistant".*"result"/s)
  })

  it("[SF4] a run can be repeated: the same seed gives the same bytes, faults and all", async () => {
    const faults = ["rubbish@assistant", "flood=2000@after:system", "half@result"]
    const run = async (seed: string) => {
      const child = await start(faults, { env: { SIGNALBOX_SIM_SEED: seed } })
      return (await hear(child)).map((line) =>
        line.replaceAll(/(_ms":|imestamp":")[^,}]*|"cwd":"[^"]*"|\/tmp[^"]*/g, ""),
      )
    }
    const [first, second, other] = [await run("5"), await run("5"), await run("6")]
    expect(first.slice(1, -1)).toEqual(second.slice(1, -1))
    expect(first.slice(1, -1)).not.toEqual(other.slice(1, -1))
  })

  it("[SF13] faults come from flags, the variable and the scenario together", async () => {
    const scenario = { turns: [{ steps: [{ say: "Hi." }] }], faults: ["duplicate@assistant"] }
    const env = { SIGNALBOX_SIM_FAULT: "rubbish@assistant duplicate@result" }
    const child = await start(["exit=6@after:result"], { env, scenario })
    const seen = await hear(child)
    expect(seen.map(typeOfLine)).toEqual(["system", "no message", "assistant", "assistant", "result", "result"])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 6 } })
  })

  it("[SF13] they happen in a replay as well", async () => {
    const folder = makeFolder()
    const file = join(folder, "recording.ndjson")
    const recorded = await start([], { folder, env: { SIGNALBOX_SIM_RECORD: file } })
    expect((await hear(recorded)).map(typeOfLine)).toEqual(["system", "assistant", "result"])
    await recorded.closed
    const replayed = await start(["duplicate@assistant", "exit=8@result"], { env: { SIGNALBOX_SIM_REPLAY: file } })
    expect((await hear(replayed)).map(typeOfLine)).toEqual(["system", "assistant", "assistant"])
    expect((await replayed.closed).error).toMatchObject({ details: { exitCode: 8 } })
  })

  it("[SF2] --fault help tells all there is", async () => {
    const child = await start(["help"])
    const told = (await rest(child)).join("\n")
    for (const line of describeFaults()) expect(told).toContain(line)
    expect((await child.closed).error).toBeUndefined()
  })

  it("[SF2] a wrong one is refused before anything is said", async () => {
    const child = await start(["explode"])
    expect(await rest(child)).toEqual([])
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 1 } })
    expect(child.stderrTail()).toContain('fault "explode": there is no such fault')
  })

  it("[SF5] one whose place never came is told at the end", async () => {
    const child = await start(["exit@result#2"])
    await hear(child)
    await child.closed
    expect(child.stderrTail()).toContain("the fault exit@result#2 never happened")
  })
})
