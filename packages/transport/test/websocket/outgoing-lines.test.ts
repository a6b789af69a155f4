import { expect, it } from "vitest"
import {
  type FrameSocket,
  type OutgoingLimits,
  OutgoingLines,
  settleOutgoingLimits,
} from "../../src/websocket/outgoing-lines.ts"
import { Inbox } from "./support.ts"

interface Handed {
  readonly frame: string
  readonly done: (error?: Error) => void
}

/** A socket that writes when the test says so. */
function fakeSocket(): FrameSocket & { handed: Inbox<Handed> } {
  const handed = new Inbox<Handed>()
  return { readyState: 1, handed, send: (frame, done) => handed.put({ frame, done }) }
}

function outgoing(limits: OutgoingLimits = {}) {
  const written: string[] = []
  return { queue: new OutgoingLines(settleOutgoingLimits(limits), (line) => written.push(line)), written }
}

const frames = (socket: { handed: Inbox<Handed> }) => socket.handed.all.map(({ frame }) => frame)

it("[D7] what a socket gave back unwritten goes to the next one, before what came later, and counts as written once", async () => {
  const { queue, written } = outgoing()
  const first = fakeSocket()
  queue.attach(first)
  await queue.send("a")
  ;(await first.handed.next()).done()
  await queue.send("b")
  const lost = await first.handed.next()
  await queue.send("c")
  lost.done(new Error("EPIPE"))
  queue.detach("keep")
  await queue.send("d")
  expect(written).toEqual(["a"])
  const second = fakeSocket()
  queue.attach(second)
  const { frame, done } = await second.handed.next()
  expect(frame).toBe("b\nc\nd\n")
  done()
  expect(written).toEqual(["a", "b", "c", "d"])
})

it("[D7] replayed lines go first, are not written anew, and are not kept when the socket breaks", async () => {
  const { queue, written } = outgoing()
  await queue.send("new")
  const first = fakeSocket()
  queue.attach(first, ["old"])
  const lost = await first.handed.next()
  expect(lost.frame).toBe("old\nnew\n")
  lost.done(new Error("EPIPE"))
  queue.detach("keep")
  const second = fakeSocket()
  queue.attach(second, ["old"])
  const { frame, done } = await second.handed.next()
  expect(frame).toBe("old\nnew\n")
  done()
  expect(written).toEqual(["new"])
})

it("[D7] no more is handed to a socket than it has written, beyond the high-water mark", async () => {
  const { queue } = outgoing({ highWaterChars: 100_000 })
  const socket = fakeSocket()
  queue.attach(socket)
  const line = "x".repeat(70_000)
  const sends = Array.from({ length: 5 }, () => queue.send(line))
  const first = await socket.handed.next()
  const second = await socket.handed.next()
  expect(frames(socket)).toHaveLength(2)
  first.done()
  second.done()
  const third = await socket.handed.next()
  third.done()
  ;(await socket.handed.next()).done()
  ;(await socket.handed.next()).done()
  await Promise.all(sends)
  expect(frames(socket)).toHaveLength(5)
})

it("[D7] dropping forgets what waits, and its senders go on", async () => {
  const { queue } = outgoing({ highWaterChars: 10 })
  const socket = fakeSocket()
  queue.attach(socket)
  const sends = Array.from({ length: 3 }, (_, n) => queue.send(`${n}`.repeat(20)))
  queue.detach("drop")
  await Promise.all(sends)
  const next = fakeSocket()
  queue.attach(next)
  await queue.send("later")
  expect((await next.handed.next()).frame).toBe("later\n")
})

it("[T5] at the end lines whose send resolved are handed over, and the others are refused and not sent", async () => {
  const { queue } = outgoing({ highWaterChars: 10 })
  const socket = fakeSocket()
  queue.attach(socket)
  const taken = queue.send("taken")
  const refused = queue.send("x".repeat(20))
  queue.finish({ by: "us", reason: "over" })
  await taken
  await expect(refused).rejects.toMatchObject({ code: "transport/closed" })
  expect(frames(socket)).toEqual(["taken\n"])
})
