/** The agent's questions that wait for our answer, also beyond the connection that brought them. */
export class OpenQuestions {
  readonly #open = new Set<string>()
  /** Questions of a lost connection: the next one tells which of them are still open. */
  readonly #doubtful = new Set<string>()

  get size(): number {
    return this.#open.size + this.#doubtful.size
  }

  isDoubtful(id: string): boolean {
    return this.#doubtful.has(id)
  }

  add(id: string): void {
    this.#open.add(id)
  }

  /** False if it was not open. */
  settle(id: string): boolean {
    return this.#open.delete(id)
  }

  /** The connection is lost, and whether they are still open is not known. */
  doubtAll(): void {
    for (const id of this.#open) this.#doubtful.add(id)
    this.#open.clear()
  }

  /** These are open, says the next connection. Returns those that no longer are. */
  confirm(ids: readonly string[]): string[] {
    const over = [...this.#doubtful].filter((id) => !ids.includes(id))
    this.#doubtful.clear()
    for (const id of ids) this.#open.add(id)
    return over
  }
}
