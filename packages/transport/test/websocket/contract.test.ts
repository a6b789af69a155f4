import { type DialPresetName, dialWebSocket } from "../../src/index.ts"
import { type ContractLimits, type ContractSetup, describeTransportContract } from "../../src/testing/index.ts"
import { acceptOne, listenRaw, rawSocket, socketPeer } from "./support.ts"

describeTransportContract(
  "WebSocket, accepted",
  async (limits) => {
    const { connection, client, raw, dispose } = await acceptOne(limits)
    return { transport: connection, peer: socketPeer(client, raw), dispose }
  },
  { boundsLines: true },
)

async function openDialled(limits: ContractLimits, preset: DialPresetName): Promise<ContractSetup> {
  const server = await listenRaw()
  let onConnected: () => void = () => undefined
  const connected = new Promise<void>((resolve) => {
    onConnected = resolve
  })
  const transport = dialWebSocket({
    ...limits,
    url: server.url,
    preset,
    closeTimeoutMs: 300,
    onState: (state) => state.phase === "connected" && onConnected(),
  })
  const socket = await server.sockets.next()
  const raw = rawSocket(socket)
  await connected
  return {
    transport,
    peer: socketPeer(socket, raw),
    async dispose() {
      await transport.close("test over")
      await server.close()
    },
  }
}

for (const preset of ["patient", "cli2120", "cli2137"] as const) {
  describeTransportContract(`WebSocket, dialled, ${preset}`, (limits) => openDialled(limits, preset), {
    boundsLines: true,
    outlivesPeer: true,
  })
}

describeTransportContract("WebSocket, dialled once", (limits) => openDialled(limits, "once"), { boundsLines: true })
