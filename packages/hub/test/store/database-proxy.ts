import { once } from "node:events"
import { createServer, connect as dial, type Socket } from "node:net"

/** When a connection is cut: before a commit reaches the database, or after it, so that its answer is lost. */
type Cut = "before" | "after"

/** How the journal's connection begins. Others, such as the search index's, commit too. */
const WRITER = /application_name\0signalbox [0-9a-f]{8}-/

/** Stands between a store and its database. Somebody must close it. */
export class DatabaseProxy {
  readonly #server = createServer((near) => this.#accept(near))
  readonly #sockets = new Set<Socket>()
  readonly #target: URL
  #isAway = false
  /** The journal's next commit is cut off so. */
  cut: Cut | undefined

  private constructor(target: string) {
    this.#target = new URL(target)
  }

  static async open(target: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(target)
    proxy.#server.listen(0, "127.0.0.1")
    await once(proxy.#server, "listening")
    return proxy
  }

  get url(): string {
    const address = this.#server.address()
    const url = new URL(this.#target)
    url.port = typeof address === "object" && address !== null ? String(address.port) : ""
    return url.href
  }

  /** Cuts all connections, and takes none until it is back. */
  set isAway(isAway: boolean) {
    this.#isAway = isAway
    if (isAway) for (const socket of this.#sockets) socket.destroy()
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, "close")
  }

  #accept(near: Socket): void {
    if (this.#isAway) return void near.destroy()
    const far = dial(Number(this.#target.port), this.#target.hostname)
    let isWriter = false
    let isDeaf = false
    const end = () => {
      near.destroy()
      far.destroy()
    }
    for (const socket of [near, far]) {
      this.#sockets.add(socket)
      socket.on("error", end)
      socket.on("close", () => {
        this.#sockets.delete(socket)
        end()
      })
    }
    near.on("data", (chunk) => {
      const { cut } = this
      isWriter ||= WRITER.test(chunk.toString("latin1"))
      if (cut !== undefined && isWriter && chunk.includes("COMMIT")) {
        this.cut = undefined
        if (cut === "before") return end()
        isDeaf = true
      }
      far.write(chunk)
    })
    far.on("data", (chunk) => {
      if (isDeaf) end()
      else near.write(chunk)
    })
  }
}
