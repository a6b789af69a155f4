import type { Transport } from "../src/index.ts"
import type { ContractPeer } from "../src/testing/index.ts"

/** The far end of a contract test, when that end is a transport too. Reads only when asked to, so a pause is simply not asking. */
export function readerPeer(far: Transport): ContractPeer {
  const iterator = far.lines[Symbol.asyncIterator]()
  return {
    send: (line) => far.send(line),
    async receive() {
      const next = await iterator.next()
      if (next.done === true) throw new Error("the peer's connection ended while a line was expected")
      return next.value
    },
    end: () => far.close("peer ended"),
    pause() {},
    resume() {},
  }
}
