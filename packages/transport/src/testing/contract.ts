import { describe, expect, it } from "vitest"
import type { Closed } from "../transport.ts"
import { codeOf, numberedLine, readAll, readLines, sampleLines, settleEvents } from "./lines.ts"
import type { ContractLimits, ContractOptions, ContractSetup } from "./setup.ts"

/** The rules of docs/spec/transport.md that hold for every transport. */
export function describeTransportContract(
  name: string,
  open: (limits: ContractLimits) => Promise<ContractSetup>,
  options: ContractOptions,
): void {
  async function withSetup(run: (setup: ContractSetup) => Promise<void>, limits: ContractLimits = {}): Promise<void> {
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
        expect(await readLines(transport, sent.length)).toEqual(sent)
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
        expect(await readLines(transport, 2)).toEqual(['{"early":1}', '{"early":2}'])
      }))

    it("[T3] close ends the lines without an error, and closed says it was us and why", () =>
      withSetup(async ({ transport }) => {
        const reading = readAll(transport)
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
        const lines = Array.from({ length: 64 }, (_, n) => numberedLine(n, 256 * 1024))
        const sends = lines.map((line) => transport.send(line).then(() => "taken", codeOf))
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
        const total = 400
        let taken = 0
        const sends = Array.from({ length: total }, (_, n) =>
          transport.send(numberedLine(n, 64 * 1024)).then(() => taken++),
        )
        await settleEvents()
        expect(taken).toBeLessThan(total)
        peer.resume()
        for (let n = 0; n < total; n++) expect(JSON.parse(await peer.receive())).toMatchObject({ n })
        await Promise.all(sends)
      }))

    it("[T8] the lines have one reader: a second one is a programmer's mistake and throws", () =>
      withSetup(async ({ transport, peer }) => {
        await peer.send('{"n":1}')
        await readLines(transport, 1)
        expect(() => transport.lines[Symbol.asyncIterator]()).toThrow(/one reader/)
      }))

    it("[T8] a reader that stops early does not hold up the end", () =>
      withSetup(async ({ transport, peer }) => {
        const lines = Array.from({ length: 20 }, (_, n) => numberedLine(n, 100_000))
        const sending = Promise.all(lines.map((line) => peer.send(line).catch(codeOf)))
        for await (const first of transport.lines) {
          expect(JSON.parse(first)).toMatchObject({ n: 0 })
          break
        }
        await transport.close("done")
        expect((await transport.closed).by).toBe("us")
        await sending
      }))

    it("[T8] a reader that stops while it waits for a line is let go", () =>
      withSetup(async ({ transport }) => {
        const iterator = transport.lines[Symbol.asyncIterator]()
        const waiting = iterator.next()
        await iterator.return?.()
        expect(await waiting).toEqual({ value: undefined, done: true })
        expect(await iterator.next()).toEqual({ value: undefined, done: true })
      }))

    it("[T12] who does not wait for send is refused past the bound; what was taken arrives, and there is room again", () =>
      withSetup(
        async ({ transport, peer }) => {
          peer.pause()
          const total = 100
          const refusals: string[] = []
          const sends = Array.from({ length: total }, (_, n) =>
            transport.send(numberedLine(n, 64 * 1024)).catch((error: unknown) => refusals.push(codeOf(error))),
          )
          await settleEvents()
          const taken = total - refusals.length
          // The bound is 32 such lines; the last of them goes beyond it, and the system may have taken some already.
          expect(taken).toBeGreaterThanOrEqual(31)
          expect(new Set(refusals)).toEqual(new Set(["transport/overflow"]))
          peer.resume()
          for (let n = 0; n < taken; n++) expect(JSON.parse(await peer.receive())).toMatchObject({ n })
          await Promise.all(sends)
          await transport.send('{"again":1}')
          expect(await peer.receive()).toBe('{"again":1}')
        },
        { maxWaitingBytes: 2 * 1024 * 1024 },
      ))

    if (options.outlivesPeer !== true) {
      it("[T3] what the peer sent before it ended is still read, then the lines end", () =>
        withSetup(async ({ transport, peer }) => {
          for (let n = 0; n < 50; n++) await peer.send(JSON.stringify({ n }))
          await peer.end()
          const lines = await readAll(transport)
          expect(lines.map((line) => JSON.parse(line).n)).toEqual(Array.from({ length: 50 }, (_, n) => n))
          expect((await transport.closed).by).toBe("peer")
        }))

      it("[T5] after the peer's end a send is refused with transport/closed", () =>
        withSetup(async ({ transport, peer }) => {
          await peer.end()
          await readAll(transport)
          await transport.closed
          await expect(transport.send('{"late":1}')).rejects.toMatchObject({ code: "transport/closed" })
        }))

      it("[T4] close after the peer's end settles and keeps the peer's reason", () =>
        withSetup(async ({ transport, peer }) => {
          await peer.end()
          await readAll(transport)
          const before: Closed = await transport.closed
          await transport.close("late")
          expect(await transport.closed).toBe(before)
        }))
    }

    if (options.boundsLines) {
      it("[T9] a line over the limit is dropped alone and reported with its number, length and limit", async () => {
        const reports: unknown[] = []
        const limits: ContractLimits = { maxLineBytes: 1000, onDroppedLine: (dropped) => reports.push(dropped) }
        await withSetup(async ({ transport, peer }) => {
          const long = JSON.stringify({ fill: "x".repeat(5000) })
          for (const line of ['{"n":1}', long, '{"n":3}']) await peer.send(line)
          expect(await readLines(transport, 2)).toEqual(['{"n":1}', '{"n":3}'])
          expect(reports).toMatchObject([{ lineNumber: 2, bytes: long.length, maxLineBytes: 1000 }])
        }, limits)
      })

      it("[T11] a callback of the owner that throws or rejects harms nothing", async () => {
        let calls = 0
        const onDroppedLine = (): unknown => {
          if (++calls % 2 === 1) throw new Error("a callback's own problem")
          return Promise.reject(new Error("a callback's own problem, later"))
        }
        await withSetup(
          async ({ transport, peer }) => {
            const long = numberedLine(0, 5000)
            for (const line of [long, '{"n":1}', long, '{"n":2}', long, '{"n":3}']) await peer.send(line)
            expect(await readLines(transport, 3)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}'])
            expect(calls).toBe(3)
            await transport.send('{"on":1}')
            expect(await peer.receive()).toBe('{"on":1}')
            await transport.close("done")
            expect(await transport.closed).toEqual({ by: "us", reason: "done" })
          },
          { maxLineBytes: 1000, onDroppedLine },
        )
      })
    }
  })
}
