import { describe, expect, it } from "vitest"
import { TransportError } from "../errors.ts"
import type { Closed, LineLimits, Transport } from "../transport.ts"

/** The far end of the transport under test, driven by hand. */
export interface ContractPeer {
  /** Sends one line to the transport under test. */
  send(line: string): Promise<void>
  /** The next line that the transport under test has sent. */
  receive(): Promise<string>
  /** Ends the connection in good order. */
  end(): Promise<void>
  /** Stops reading, so that what is sent piles up; `resume` reads on. */
  pause(): void
  resume(): void
}

export interface ContractSetup {
  readonly transport: Transport
  readonly peer: ContractPeer
  /** Releases what the setup opened, whatever state the two ends are in. */
  dispose(): Promise<void>
}

export interface ContractOptions {
  /**
   * What a peer that goes away in good order means here. A transport that dials again by itself outlives its peer, so
   * there the rules about a peer's end are the implementation's own.
   */
  readonly outlivesPeer?: boolean
  /** This transport frames bytes, so that the length of a line can be bounded. A pair in memory hands over strings. */
  readonly boundsLines: boolean
}

const OPEN_LIMITS: LineLimits = {}

/** The rules of docs/spec/transport.md that hold for every transport. */
export function describeTransportContract(
  name: string,
  open: (limits: LineLimits) => Promise<ContractSetup>,
  options: ContractOptions,
): void {
  async function withSetup(run: (setup: ContractSetup) => Promise<void>, limits = OPEN_LIMITS): Promise<void> {
    const setup = await open(limits)
    try {
      await run(setup)
    } finally {
      await setup.dispose()
    }
  }

  describe(`transport contract: ${name}`, () => {
    it("[T1] the peer's lines arrive whole, in order, each once", () =>
      withSetup(async ({ transport, peer }) => {
        const sent = sampleLines(200)
        const sending = Promise.all(sent.map((line) => peer.send(line)))
        expect(await take(transport, sent.length)).toEqual(sent)
        await sending
      }))

    it("[T1] lines sent reach the peer whole, in the order of the calls, without waiting in between", () =>
      withSetup(async ({ transport, peer }) => {
        const sent = sampleLines(200)
        const sends = sent.map((line) => transport.send(line))
        const received: string[] = []
        for (const _ of sent) received.push(await peer.receive())
        expect(received).toEqual(sent)
        await Promise.all(sends)
      }))

    it("[T2] lines that arrive before anyone reads are kept", () =>
      withSetup(async ({ transport, peer }) => {
        await peer.send('{"early":1}')
        await transport.send('{"ping":1}')
        expect(await peer.receive()).toBe('{"ping":1}')
        await peer.send('{"early":2}')
        expect(await take(transport, 2)).toEqual(['{"early":1}', '{"early":2}'])
      }))

    it("[T3] close ends the lines without an error, and closed says it was us and why", () =>
      withSetup(async ({ transport }) => {
        const reading = collectAll(transport)
        await transport.close("enough")
        expect(await reading).toEqual([])
        const closed = await transport.closed
        expect(closed).toMatchObject({ by: "us", reason: "enough" })
        expect(closed.error).toBeUndefined()
      }))

    it("[T4] close may be called any number of times, at once and later, and changes nothing", () =>
      withSetup(async ({ transport }) => {
        await Promise.all([transport.close("first"), transport.close("second")])
        await transport.close("third")
        expect((await transport.closed).reason).toBe("first")
      }))

    it("[T5] a send after the end is refused with transport/closed", () =>
      withSetup(async ({ transport }) => {
        await transport.close()
        await expect(transport.send('{"late":1}')).rejects.toMatchObject({ code: "transport/closed" })
      }))

    it("[T5] sends that wait when the connection ends settle, all of them", () =>
      withSetup(async ({ transport, peer }) => {
        peer.pause()
        const line = JSON.stringify({ fill: "x".repeat(256 * 1024) })
        const sends = Array.from({ length: 64 }, () => transport.send(line).then(() => "taken", codeOf))
        await transport.close()
        for (const outcome of await Promise.all(sends)) expect(["taken", "transport/closed"]).toContain(outcome)
      }))

    it("[T6] a blank line or one with a newline is refused, and the connection goes on", () =>
      withSetup(async ({ transport, peer }) => {
        for (const bad of ["", "   ", '{"a":\n1}', "{}\n"]) {
          await expect(transport.send(bad)).rejects.toMatchObject({ code: "transport/bad-line" })
        }
        await transport.send('{"good":1}')
        expect(await peer.receive()).toBe('{"good":1}')
      }))

    it("[T7] a peer that does not read makes send wait; nothing is lost when it reads on", () =>
      withSetup(async ({ transport, peer }) => {
        peer.pause()
        const line = (n: number) => JSON.stringify({ n, fill: "x".repeat(64 * 1024) })
        const total = 400
        let taken = 0
        const sends = Array.from({ length: total }, (_, n) => transport.send(line(n)).then(() => taken++))
        await settleEvents()
        expect(taken).toBeLessThan(total)
        peer.resume()
        for (let n = 0; n < total; n++) expect(JSON.parse(await peer.receive())).toMatchObject({ n })
        await Promise.all(sends)
      }))

    it("[T8] the lines have one reader: a second one is a programmer's mistake and throws", () =>
      withSetup(async ({ transport, peer }) => {
        await peer.send('{"n":1}')
        await take(transport, 1)
        expect(() => transport.lines[Symbol.asyncIterator]()).toThrow(/one reader/)
      }))

    it("[T8] a reader that stops early does not hold up the end", () =>
      withSetup(async ({ transport, peer }) => {
        const line = (n: number) => JSON.stringify({ n, fill: "x".repeat(100_000) })
        const sending = Promise.all(Array.from({ length: 20 }, (_, n) => peer.send(line(n)).catch(codeOf)))
        for await (const first of transport.lines) {
          expect(JSON.parse(first)).toMatchObject({ n: 0 })
          break
        }
        await transport.close("done")
        expect((await transport.closed).by).toBe("us")
        await sending
      }))

    if (options.outlivesPeer !== true) {
      it("[T3] what the peer sent before it ended is still read, then the lines end", () =>
        withSetup(async ({ transport, peer }) => {
          for (let n = 0; n < 50; n++) await peer.send(JSON.stringify({ n }))
          await peer.end()
          const lines = await collectAll(transport)
          expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 50 }, (_, n) => n))
          expect((await transport.closed).by).toBe("peer")
        }))

      it("[T5] after the peer's end a send is refused with transport/closed", () =>
        withSetup(async ({ transport, peer }) => {
          await peer.end()
          await collectAll(transport)
          await transport.closed
          await expect(transport.send('{"late":1}')).rejects.toMatchObject({ code: "transport/closed" })
        }))

      it("[T4] close after the peer's end settles and keeps the peer's reason", () =>
        withSetup(async ({ transport, peer }) => {
          await peer.end()
          await collectAll(transport)
          const before: Closed = await transport.closed
          await transport.close("late")
          expect(await transport.closed).toBe(before)
        }))
    }

    if (options.boundsLines) {
      it("[T9] a line over the limit is dropped alone and reported with its number, length and limit", async () => {
        const reports: unknown[] = []
        const limits: LineLimits = { maxLineBytes: 1000, onDroppedLine: (dropped) => reports.push(dropped) }
        await withSetup(async ({ transport, peer }) => {
          const long = JSON.stringify({ fill: "x".repeat(5000) })
          for (const line of ['{"n":1}', long, '{"n":3}']) await peer.send(line)
          expect(await take(transport, 2)).toEqual(['{"n":1}', '{"n":3}'])
          expect(reports).toMatchObject([{ lineNumber: 2, bytes: long.length, maxLineBytes: 1000 }])
        }, limits)
      })
    }
  })
}

/** Lines that are awkward to frame: multi-byte characters, escaped newlines, carriage returns, one long one. */
function sampleLines(count: number): string[] {
  const awkward = ["é€😀", "a\nb", "\r\n", "\u2028\u2029", "x".repeat(70_000), '"quoted"', "\\"]
  return Array.from({ length: count }, (_, n) => JSON.stringify({ n, text: awkward[n % awkward.length] }))
}

async function take(transport: Transport, count: number): Promise<string[]> {
  const iterator = transport.lines[Symbol.asyncIterator]()
  const lines: string[] = []
  while (lines.length < count) {
    const next = await iterator.next()
    if (next.done === true) break
    lines.push(next.value)
  }
  return lines
}

async function collectAll(transport: Transport): Promise<string[]> {
  const lines: string[] = []
  for await (const line of transport.lines) lines.push(line)
  return lines
}

function codeOf(error: unknown): string {
  return error instanceof TransportError ? error.code : `not a TransportError: ${String(error)}`
}

/** Lets everything that can happen without the peer happen: a few rounds of the event loop, no clock. */
async function settleEvents(): Promise<void> {
  for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve))
}
