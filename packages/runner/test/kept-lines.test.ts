import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { frameNumber } from "@signalbox/protocol/runner-wire"
import { systemClock } from "@signalbox/transport"
import fc from "fast-check"
import { expect, it } from "vitest"
import { KeptLines } from "../src/lines/kept-lines.ts"

type Step =
  | { readonly kind: "add"; readonly count: number; readonly size: number }
  | { readonly kind: "send"; readonly batches: number }
  | { readonly kind: "ack"; readonly share: number }
  | { readonly kind: "away"; readonly isAway: boolean }
  | { readonly kind: "reconnect" }
  /** The runner is stopped, and the next one takes over what it left. */
  | { readonly kind: "restart" }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), count: fc.nat(60), size: fc.nat(400) }),
  fc.record({ kind: fc.constant("send" as const), batches: fc.nat(4) }),
  fc.record({ kind: fc.constant("ack" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant("away" as const), isAway: fc.boolean() }),
  fc.constant({ kind: "reconnect" as const }),
  fc.constant({ kind: "restart" as const }),
)

/** What a hub makes of it: each number once, and none may be missing when a later one comes. */
class Log {
  readonly lines: string[] = []

  take(frames: readonly string[]): void {
    for (const frame of frames) {
      const number = frameNumber(frame)
      if (number <= this.lines.length) continue
      expect(number).toBe(this.lines.length + 1)
      this.lines.push(frame.slice(frame.indexOf(" ") + 1))
    }
  }
}

it("[RU3] whatever is added, sent, acknowledged, cut off and taken over, the hub has every line once and in order", async () => {
  const base = await mkdtemp(join(tmpdir(), "signalbox-kept-"))
  let run = 0
  const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
    const folder = join(base, String(run++))
    const troubles: unknown[] = []
    const options = {
      folder,
      memoryBytes: 2_000,
      spoolBytes: 1e9,
      segmentBytes: 3_000,
      clock: systemClock,
      onDiskTrouble: (error: unknown) => void troubles.push(error),
    }
    let kept = new KeptLines(options)
    const [log, added]: [Log, string[]] = [new Log(), []]
    let sent = 0
    const send = async () => {
      sent = Math.max(sent, kept.first - 1)
      const frames = await kept.next(sent)
      log.take(frames)
      sent = frames.length === 0 ? sent : frameNumber(frames.at(-1) ?? "")
      return frames.length
    }
    const restart = async () => {
      await kept.close()
      const isAllAcked = kept.first > kept.last
      const next = await KeptLines.recover(options)
      // A process whose every line is acknowledged is not taken over: it is over.
      if (!isAllAcked && next === undefined) throw new Error("what was kept is gone")
      if (next === undefined || isAllAcked) return false
      kept = next
      sent = kept.first - 1
      return true
    }
    for (const now of steps) {
      if (now.kind === "add") {
        for (let n = 0; n < now.count; n++) {
          const line = `${added.length} ${"é".repeat(now.size)}`
          added.push(line)
          kept.addLine(line)
        }
      } else if (now.kind === "send") for (let n = 0; n < now.batches; n++) await send()
      else if (now.kind === "ack") kept.ack(Math.floor(log.lines.length * now.share))
      else if (now.kind === "away") kept.isHubAway = now.isAway
      else if (now.kind === "reconnect") sent = kept.first - 1
      else if (!(await restart())) break
    }
    kept.isHubAway = false
    const wanted = kept.first > kept.last ? 0 : added.length
    for (let idle = 0; log.lines.length < wanted && idle < 500; ) {
      idle = (await send()) === 0 ? idle + 1 : 0
      // What is on its way to the disk arrives there by itself.
      if (idle > 0) await new Promise((resolve) => setTimeout(resolve, 2))
    }
    expect(log.lines).toEqual(added.slice(0, log.lines.length))
    expect(log.lines.length).toBe(added.length)
    await kept.remove()
    expect(existsSync(folder)).toBe(false)
    expect(troubles).toEqual([])
  })
  await fc.assert(property, { numRuns: 500 })
  await rm(base, { recursive: true, force: true })
})

it("[RU45] a disk that takes nothing is tried again, also when that cannot even be told, and nothing is lost", async () => {
  const base = await mkdtemp(join(tmpdir(), "signalbox-kept-"))
  const inTheWay = join(base, "spool")
  await writeFile(inTheWay, "")
  let tries = 0
  const kept = new KeptLines({
    folder: join(inTheWay, "one"),
    memoryBytes: 1_000,
    spoolBytes: 1e9,
    clock: systemClock,
    onDiskTrouble: () => {
      tries++
      throw new Error("the log is on the same disk")
    },
  })
  kept.isHubAway = true
  kept.addLine("one")
  kept.addLine("two")
  await expect.poll(() => tries, { timeout: 20_000 }).toBeGreaterThan(1)
  await rm(inTheWay)
  await expect.poll(async () => kept.next(0), { timeout: 20_000 }).toEqual(["L1 one", "L2 two"])
  await kept.remove()
  await rm(base, { recursive: true, force: true })
})
