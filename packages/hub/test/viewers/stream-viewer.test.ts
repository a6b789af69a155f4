import { setImmediate as nextTurn } from "node:timers/promises"
import type { Session } from "@signalbox/protocol/hub-api"
import { expect, it } from "vitest"
import { ReplyRoom } from "../../src/http/reply.ts"
import { MessageInProgress } from "../../src/session/history.ts"
import { numberedEvent } from "../../src/testing/events.ts"
import { keptSession } from "../../src/testing/records.ts"
import { FanOut } from "../../src/viewers/fan-out.ts"
import { StreamViewer } from "../../src/viewers/stream-viewer.ts"

const PIECE_BYTES = 1024 * 1024

/** A socket that nobody reads at the other end. */
function deafSink() {
  let bufferedAmount = 0
  return {
    get bufferedAmount() {
      return bufferedAmount
    },
    send(frame: string | Buffer) {
      bufferedAmount += frame.length
    },
  }
}

/** Viewers of a log that never ends. Each piece that is read from it counts. */
function openHall() {
  const room = new ReplyRoom({ maxBytes: 8 * PIECE_BYTES, maxBytesPerToken: 4 * PIECE_BYTES, alwaysBytes: 1024 })
  const view: Session = { ...keptSession("s", { lastSeq: 1_000_000 }).record, pendingAsks: 0, viewers: 0 }
  const read: string[] = []
  async function* pieces(name: string, after: number) {
    for (let seq = after + 1; ; seq++) {
      read.push(name)
      const event = { ...numberedEvent(seq), seq, line: JSON.stringify({ type: "x", text: "x".repeat(PIECE_BYTES) }) }
      yield [event]
    }
  }
  const fanOut = new FanOut()
  const open = (name: string, token: string) => {
    const cut: string[] = []
    const viewer = new StreamViewer({
      sink: deafSink(),
      room,
      token,
      person: name,
      core: {
        readEvents: async (_id, { after = 0 }) => {
          const bounds = { firstSeq: 1, lastSeq: view.lastSeq, more: true }
          return { ...bounds, largestPieceBytes: PIECE_BYTES, pieces: pieces(name, after) }
        },
      },
      fanOuts: [fanOut],
      tellOpenAsks: async () => undefined,
      find: async () => ({
        session: { id: "s", record: view, view: () => view, inProgress: new MessageInProgress(), gone: undefined },
        fanOut,
      }),
      cutOff: () => cut.push(name),
    })
    viewer.take(JSON.stringify({ op: "subscribe", session: "s", after: 0 }))
    return { viewer, cut }
  }
  return { room, read, open }
}

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn()
}

it("[AB33] the log is read for viewers that do not read as far as their token has room, and others go on", async () => {
  const { room, read, open } = openHall()
  const deaf = Array.from({ length: 50 }, (_, index) => open(`deaf ${index}`, "one"))
  await quiet()
  expect(read.length).toBeLessThanOrEqual(4)
  expect(room.heldBytes).toBeLessThanOrEqual(4.1 * PIECE_BYTES)
  open("another", "two")
  await quiet()
  expect(read).toContain("another")
  const before = read.length
  for (const { viewer } of deaf.slice(0, 40)) viewer.close()
  await quiet()
  expect(read.length).toBeGreaterThan(before)
  for (const { viewer } of deaf) viewer.close()
})

it("[AB33] one that goes on asking without reading, or sends rubbish, is cut off", async () => {
  const { open } = openHall()
  const deaf = Array.from({ length: 5 }, () => open("deaf", "one"))
  await quiet()
  for (let asked = 0; asked < 500; asked++) {
    for (const { viewer } of deaf) viewer.take('{"op":"subscribe","session":"s"}')
    // One that is asked for again before it was found is answered once.
    await nextTurn()
  }
  await quiet()
  for (let asked = 0; asked < 500; asked++) for (const { viewer } of deaf) viewer.take('{"op":"ping"}')
  expect(deaf.flatMap(({ cut }) => cut)).not.toEqual([])
  const rubbish = open("rubbish", "two")
  for (let said = 0; said < 1_001; said++) rubbish.viewer.take("x")
  expect(rubbish.cut).toEqual(["rubbish"])
})
