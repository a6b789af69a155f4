import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type Server, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { openChildProcess } from "../../src/process/child-process.ts"
import { type ContractPeer, describeTransportContract } from "../../src/testing/index.ts"
import { isGone } from "./processes.ts"

const PEER = fileURLToPath(new URL("peer.mjs", import.meta.url))

describeTransportContract(
  "child process",
  async (limits) => {
    const folder = await mkdtemp(join(tmpdir(), "signalbox-peer-"))
    const path = join(folder, "control")
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const connected = new Promise<Socket>((resolve) => server.once("connection", resolve))
    const transport = await openChildProcess({
      command: process.execPath,
      args: [PEER, path],
      killAfterMs: 2000,
      ...limits,
    })
    const control = await connected
    return {
      transport,
      peer: drivenPeer(control),
      async dispose() {
        await transport.close()
        control.destroy()
        await closeServer(server)
        await rm(folder, { recursive: true })
        if (!isGone(transport.pid)) throw new Error(`the peer ${transport.pid} was left behind`)
      },
    }
  },
  { boundsLines: true },
)

function drivenPeer(control: Socket): ContractPeer {
  let lastId = 0
  const waiting = new Map<number, { resolve: (line: string) => void; reject: (error: Error) => void }>()
  let held = ""
  // Not readline: since Node 24 it also ends a line at U+2028, which JSON may hold.
  control.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (held + chunk).split("\n")
    held = lines.pop() ?? ""
    for (const text of lines) {
      const { id, line = "" }: { id: number; line?: string } = JSON.parse(text)
      waiting.get(id)?.resolve(line)
      waiting.delete(id)
    }
  })
  control.on("error", () => undefined)
  control.on("close", () => {
    for (const { reject } of waiting.values()) reject(new Error("the peer is gone"))
    waiting.clear()
  })
  const ask = (op: string, line?: string) =>
    new Promise<string>((resolve, reject) => {
      const id = ++lastId
      waiting.set(id, { resolve, reject })
      control.write(`${JSON.stringify({ id, op, line })}\n`)
    })
  return {
    send: async (line) => void (await ask("send", line)),
    receive: () => ask("receive"),
    end: async () => void (await ask("end")),
    pause() {},
    resume() {},
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
