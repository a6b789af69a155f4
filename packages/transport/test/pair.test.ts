import { expect, it } from "vitest"
import { createLinkedPair } from "../src/index.ts"
import { describeTransportContract, readAll } from "../src/testing/index.ts"
import { readerPeer } from "./reader-peer.ts"

describeTransportContract(
  "linked pair",
  async (limits) => {
    const [transport, far] = createLinkedPair(limits)
    return { transport, peer: readerPeer(far), dispose: () => transport.close() }
  },
  { boundsLines: false },
)

it.each(["near", "far"] as const)(
  "[T5] a send whose line the peer has is never refused, when the %s end closes",
  async (end) => {
    const [near, far] = createLinkedPair({ highWaterChars: 10 })
    const lines = ['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}']
    const sends = lines.map((line) => near.send(line).then(() => "taken"))
    await (end === "near" ? near : far).close()
    expect(await Promise.all(sends)).toEqual(lines.map(() => "taken"))
    expect(await readAll(far)).toEqual(lines)
  },
)
