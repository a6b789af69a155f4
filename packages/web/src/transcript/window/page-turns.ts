/** Pages of a log are read one at a time. */
export class PageTurns {
  #running: Promise<void> | undefined
  #jumps = 0

  /** A wish for more, while a page is on its way, is that page. */
  async more(read: () => Promise<void>): Promise<void> {
    if (this.#running === undefined) await this.#start(read)
  }

  /** What is on its way has arrived. */
  async settled(): Promise<void> {
    await this.#running
  }

  /** A jump waits for what is on its way; of several that wait, the last is made. False: it was not this one. */
  async jump(read: () => Promise<void>): Promise<boolean> {
    const own = ++this.#jumps
    while (this.#running !== undefined) await this.#running
    if (own === this.#jumps) await this.#start(read)
    return own === this.#jumps
  }

  #start(read: () => Promise<void>): Promise<void> {
    this.#running = read().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }
}
