import { type DirectConnection, openDirect } from "@signalbox/client"
import { afterEach, describe, expect, it, vi } from "vitest"
import type { WebSocket } from "ws"
import { TOKEN } from "./fake-hub.ts"
import { messagesIn } from "./fake-viewer.ts"
import { setUp } from "./setup.ts"

const setup = setUp()
const open: DirectConnection[] = []
afterEach(() => {
  for (const direct of open.splice(0)) direct.disconnect()
})

interface Peer {
  readonly direct: DirectConnection
  readonly path: string
  readonly received: Record<string, unknown>[]
  readonly socket: WebSocket
  readonly say: (...messages: object[]) => void
}

async function connect(timeoutMs = 5000): Promise<Peer> {
  const received: Record<string, unknown>[] = []
  const accepted = new Promise<{ path: string; socket: WebSocket }>((resolve) => {
    setup.fake.onDirect = (path, socket) => {
      socket.on("message", (data) => received.push(...messagesIn(data)))
      resolve({ path, socket })
    }
  })
  const direct = await openDirect({ url: setup.fake.url, session: "s 1", token: TOKEN, timeoutMs })
  open.push(direct)
  const { path, socket } = await accepted
  const say = (...messages: object[]) => socket.send(messages.map((message) => `${JSON.stringify(message)}\n`).join(""))
  return { direct, path, received, socket, say }
}

const question = (id: string) => ({
  type: "control_request",
  request_id: id,
  request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: `t-${id}` },
})

describe("a direct connection", () => {
  it("[HC17] sends messages and yields everything that is said, however it is framed", async () => {
    const { direct, path, received, socket, say } = await connect()
    expect(path).toBe("/ws/session/s%201")
    expect(direct.isConnected).toBe(true)
    const uuid = direct.send("hello")
    await vi.waitFor(() => expect(received).toHaveLength(1))
    expect(received[0]).toEqual({
      type: "user",
      message: { role: "user", content: [{ type: "text", text: "hello" }] },
      parent_tool_use_id: null,
      session_id: "",
      uuid,
    })
    say({ type: "assistant", n: 1 }, { type: "brand_new", n: 2 })
    socket.send("rubbish\n")
    say({ type: "result", n: 3 })
    const read = [await direct.messages.next(), await direct.messages.next(), await direct.messages.next()]
    expect(read.map(({ value }) => value?.["n"])).toEqual([1, 2, 3])
  })

  it("[HC18] answers a permission, completed with its input; one that is not open is refused", async () => {
    const { direct, received, say } = await connect()
    say(question("q1"), question("q2"), question("q3"), { type: "control_cancel_request", request_id: "q3" })
    for (let n = 0; n < 4; n++) await direct.messages.next()
    direct.answer("q1", { behavior: "allow" })
    direct.answer("q2", { behavior: "deny", message: "no", interrupt: true })
    await vi.waitFor(() => expect(received).toHaveLength(2))
    expect(received.map((message) => message["response"])).toEqual([
      {
        subtype: "success",
        request_id: "q1",
        response: { behavior: "allow", updatedInput: { command: "ls" }, toolUseID: "t-q1" },
      },
      {
        subtype: "success",
        request_id: "q2",
        response: { behavior: "deny", message: "no", interrupt: true, toolUseID: "t-q2" },
      },
    ])
    for (const id of ["q1", "q3", "q9"]) {
      expect(() => direct.answer(id, { behavior: "allow" })).toThrow(
        expect.objectContaining({ code: "client/unknown-question" }),
      )
    }
  })

  it("[HC19] an interrupt settles: by the answer, by a refusal, by time, by the end", async () => {
    const { direct, received, say } = await connect(1000)
    const answer = async (count: number, response: object) => {
      await vi.waitFor(() => expect(received).toHaveLength(count))
      say({ type: "control_response", response: { ...response, request_id: received[count - 1]?.["request_id"] } })
    }
    const [, done] = await Promise.all([answer(1, { subtype: "success" }), direct.interrupt()])
    expect(done).toBeUndefined()
    const refusal = direct.interrupt().catch((error: unknown) => error)
    await answer(2, { subtype: "error", error: "not now" })
    expect(await refusal).toMatchObject({ code: "control/refused", message: "not now" })
    expect(received[0]?.["request"]).toEqual({ subtype: "interrupt" })
    await expect(direct.interrupt()).rejects.toMatchObject({ code: "client/timeout" })
    const last = direct.interrupt()
    direct.disconnect()
    await expect(last).rejects.toMatchObject({ code: "client/closed" })
  })

  it("[HC20] the end is told to all who wait, and afterwards nothing is sent", async () => {
    const { direct, socket } = await connect()
    const next = direct.messages.next()
    socket.close(1012, "come back")
    expect(await next).toEqual({ value: undefined, done: true })
    expect(await direct.closed).toEqual({ code: 1012, reason: "come back" })
    expect(direct.isConnected).toBe(false)
    expect(() => direct.send("x")).toThrow(expect.objectContaining({ code: "client/closed" }))
    direct.disconnect()
  })

  it("[HC20] a reader that stops disconnects", async () => {
    const { direct, say } = await connect()
    say({ type: "assistant" })
    for await (const _ of direct.messages) break
    expect((await direct.closed).code).toBe(1000)
  })

  it("[HC20] a connection that is not taken is an error that says what to check", async () => {
    const refusedToken = openDirect({ url: setup.fake.url, session: "s", token: "wrong" })
    await expect(refusedToken).rejects.toMatchObject({ code: "client/unreachable" })
    await expect(openDirect({ url: "ws://127.0.0.1:1/ws/session/s" })).rejects.toThrow(
      "check address, session and token",
    )
  })
})
