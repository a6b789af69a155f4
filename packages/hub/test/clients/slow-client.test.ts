import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import { ClientSocket } from "../../src/clients/client-socket.ts"
import { openAgent, openClient, openStage } from "./stage.ts"

it("[RC38] a client that does not read is closed with 1012 at the bound, and nobody else notices", async () => {
  const stage = await openStage()
  const { agent, id } = await openAgent(stage)
  const [slow, quick] = [await openClient(stage, id), await openClient(stage, id)]
  slow.pause()
  const text = "x".repeat(512 * 1024)
  // The bound is 16 MiB, and what the sockets of both ends hold comes on top.
  const lines = 80
  for (let n = 0; n < lines; n++) agent.say({ type: "assistant", message: { content: [{ type: "text", text }] }, n })
  await quick.find((message) => message["n"] === lines - 1)
  slow.resume()
  expect(await slow.closed).toMatchObject({ code: 1012 })
  expect(quick.messages.map((message) => message["n"]).filter((n) => n !== undefined)).toEqual([...Array(lines).keys()])
})

it("[RC43] a client whose lines the hub cannot take yet is not read, and not taken for dead meanwhile", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
  onTestFinished(() => server.close())
  await once(server, "listening")
  const accepted = once(server, "connection") as Promise<[WebSocket]>
  const { port } = server.address() as AddressInfo
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  const [socket] = await accepted
  let letTake = (): void => undefined
  const room = new Promise<void>((resolve) => {
    letTake = resolve
  })
  const taken: string[] = []
  const served = new ClientSocket({
    socket,
    onLine: async (line) => {
      await room
      taken.push(line)
    },
    onClosed: () => undefined,
    metrics: { bytesSent: () => undefined, viewerLagged: () => undefined },
  })
  onTestFinished(() => served.end(1000, "the test is over"))
  await once(client, "open")
  const lines = Array.from({ length: 300 }, (_, n) => JSON.stringify({ type: "keep_alive", n }))
  for (const line of lines) client.send(`${line}\n`)
  await expect.poll(() => socket.isPaused).toBe(true)
  for (let checks = 0; checks < 3; checks++) served.checkAlive()
  expect(socket.readyState).toBe(WebSocket.OPEN)
  letTake()
  await expect.poll(() => taken).toEqual(lines)
})
