import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads"

/** @typedef {{ readonly rows: readonly (readonly unknown[])[] } | { readonly failed: string }} Answer */

const TIMEOUT_MS = 60_000
const LOOK_MS = 100

/**
 * Reads rows as a connection to a file does: whoever asks stands still until they are there. So it is for threads that nobody else
 * needs. Another thread talks to the database. Somebody must close it.
 */
export class WaitingConnection {
  #answered = new Int32Array(new SharedArrayBuffer(4))
  #port
  #worker
  #stop

  /** @param {string} url @param {Int32Array} stop not 0 when nobody wants the answer any more */
  constructor(url, stop) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#stop = stop
    this.#worker = new Worker(new URL("./query-thread.js", import.meta.url), {
      workerData: { url, port: port2, answered: this.#answered },
      transferList: [port2],
      execArgv: [],
    })
  }

  /** Values stand for `?`, as in SQLite. @param {string} sql @param {readonly unknown[]} [values] */
  rows(sql, values = []) {
    let place = 0
    Atomics.store(this.#answered, 0, 0)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window: it has no origin
    this.#port.postMessage({ sql: sql.replaceAll("?", () => `$${++place}`), values })
    const deadline = performance.now() + TIMEOUT_MS
    while (Atomics.wait(this.#answered, 0, 0, LOOK_MS) === "timed-out") {
      if (Atomics.load(this.#stop, 0) !== 0) throw new Error("nobody waits for the answer any more")
      if (performance.now() > deadline) throw new Error("the database does not answer")
    }
    /** @type {Answer} */
    const answer = receiveMessageOnPort(this.#port)?.message ?? { failed: "the database's answer got lost" }
    if ("failed" in answer) throw new Error(answer.failed)
    return answer.rows
  }

  /** @param {string} sql @param {readonly unknown[]} [values] */
  first(sql, values) {
    return this.rows(sql, values)[0] ?? []
  }

  close() {
    void this.#worker.terminate()
  }
}
