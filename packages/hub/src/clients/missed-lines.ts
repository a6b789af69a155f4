const MAX_LINES = 200
const MAX_CHARS = 1024 * 1024

/**
 * Lines without a number that a client may have missed. A stream can be dead long before anybody notices, so replies and
 * cancels are told again to a client that comes back, which ignores those it knows; notes only if it was known to be away.
 * Questions and calls are not here: those that still wait for an answer are asked again by whoever waits.
 */
export class MissedLines {
  readonly #repeatable: string[] = []
  #notes: string[] = []
  #chars = 0

  add(line: string, isHere: boolean): void {
    if (line.startsWith('{"type":"control_request"')) return
    if (line.startsWith('{"type":"control_')) this.#addRepeatable(line)
    else if (!isHere && this.#notes.length < MAX_LINES) this.#notes.push(line)
  }

  /** Notes are told once. */
  take(): readonly string[] {
    const notes = this.#notes
    this.#notes = []
    return [...this.#repeatable, ...notes]
  }

  #addRepeatable(line: string): void {
    this.#repeatable.push(line)
    this.#chars += line.length
    while (this.#repeatable.length > MAX_LINES || (this.#chars > MAX_CHARS && this.#repeatable.length > 1)) {
      this.#chars -= this.#repeatable.shift()?.length ?? 0
    }
  }
}
