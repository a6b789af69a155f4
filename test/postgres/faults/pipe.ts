import { once } from "node:events"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { quietPort } from "../../quiet-port.ts"

/** `refused`: whoever calls is told so. `silent`: nobody answers, and nobody says goodbye. */
export type Cut = "refused" | "silent"

/** An address that stays while the places behind it change, and the network in between, which a test can cut. */
export class Pipe {
  readonly port: number
  readonly #server = createServer((socket) => this.#take(socket))
  readonly #sockets = new Map<Socket, Socket>()
  /** The ports behind it, taken in turns. */
  #to: readonly number[] = []
  #turn = 0
  #cut: Cut | undefined
  /** Only what these processes send is cut. */
  #from: (() => readonly number[]) | undefined

  private constructor(port: number) {
    this.port = port
  }

  static async open(): Promise<Pipe> {
    const pipe = new Pipe(await quietPort())
    pipe.#server.listen(pipe.port, "127.0.0.1")
    await once(pipe.#server, "listening")
    return pipe
  }

  leadTo(...ports: readonly number[]): void {
    this.#to = ports
  }

  cut(how: Cut, from?: () => readonly number[]): void {
    this.#cut = how
    this.#from = from
    for (const [socket, other] of this.#sockets) {
      if (!this.#isCut(socket)) continue
      if (how === "refused") this.#drop(socket, other)
      else for (const end of [socket, other]) end.pause().unpipe()
    }
  }

  mend(): void {
    // What was silent has lost bytes, as far as its ends know.
    for (const [socket, other] of this.#sockets) if (this.#isCut(socket)) this.#drop(socket, other)
    this.#cut = undefined
  }

  async close(): Promise<void> {
    for (const [socket, other] of this.#sockets) this.#drop(socket, other)
    this.#server.close()
    await once(this.#server, "close")
  }

  #take(socket: Socket): void {
    socket.on("error", () => undefined)
    const isCut = this.#isCut(socket)
    if (isCut && this.#cut === "refused") return void socket.resetAndDestroy()
    this.#dial(socket, isCut, this.#to.length)
  }

  /** The next place is tried where nobody listens: a hub may be dead. */
  #dial(socket: Socket, isCut: boolean, tries: number): void {
    const port = this.#to[this.#turn++ % Math.max(1, this.#to.length)]
    if (port === undefined || tries === 0) return void socket.resetAndDestroy()
    const other = connect({ host: "127.0.0.1", port })
    let isThere = false
    other.on("error", () => {
      if (!isThere) this.#dial(socket, isCut, tries - 1)
    })
    other.once("connect", () => {
      isThere = true
      this.#sockets.set(socket, other)
      const end = () => this.#drop(socket, other)
      socket.once("close", end)
      other.once("close", end)
      if (!isCut) socket.pipe(other).pipe(socket)
    })
  }

  #drop(socket: Socket, other: Socket): void {
    this.#sockets.delete(socket)
    socket.destroy()
    other.destroy()
  }

  #isCut(socket: Socket): boolean {
    if (this.#cut === undefined) return false
    return this.#from === undefined || this.#from().some((pid) => holds(pid, socket.remotePort ?? 0))
  }
}

/** Whether the process has the connection that comes from this port of the machine. */
function holds(pid: number, port: number): boolean {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`
  const rows = readFileSync("/proc/net/tcp", "utf8").split("\n")
  const row = rows.map((text) => text.trim().split(/\s+/)).find((fields) => fields[1]?.endsWith(local))
  const inode = row?.[9]
  if (inode === undefined) return false
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`)
  } catch {
    return false
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ""
  }
}
