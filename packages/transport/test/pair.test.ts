import { createLinkedPair } from "../src/index.ts"
import { describeTransportContract } from "../src/testing/index.ts"
import { readerPeer } from "./reader-peer.ts"

describeTransportContract(
  "linked pair",
  async () => {
    const [transport, far] = createLinkedPair()
    return { transport, peer: readerPeer(far), dispose: () => transport.close() }
  },
  { boundsLines: false },
)
