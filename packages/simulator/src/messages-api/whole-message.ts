import type { StreamEvent } from "../scenario/reply-events.ts"

type Fields = Record<string, unknown>
interface Building {
  block: Fields
  json: string
}

/** Puts the events of a stream together into the message they describe, for a client that did not ask for a stream. */
export class WholeMessage {
  #message: Fields = {}
  readonly #blocks: Building[] = []

  add(event: StreamEvent): void {
    switch (event.type) {
      case "message_start":
        this.#message = fieldsOf(event["message"])
        break
      case "content_block_start":
        this.#blocks.push({ block: { ...fieldsOf(event["content_block"]) }, json: "" })
        break
      case "content_block_delta":
        this.#append(fieldsOf(event["delta"]))
        break
      case "message_delta":
        this.#message = { ...this.#message, ...fieldsOf(event["delta"]), usage: event["usage"] }
        break
    }
  }

  value(): Fields {
    const content = this.#blocks.map(({ block, json }) => (json === "" ? block : { ...block, input: JSON.parse(json) }))
    return { ...this.#message, content }
  }

  #append(delta: Fields): void {
    const building = this.#blocks.at(-1)
    if (building === undefined) return
    for (const [name, piece] of Object.entries(delta)) {
      if (name === "partial_json") building.json += textOf(piece)
      else if (name !== "type") building.block[name] = textOf(building.block[name]) + textOf(piece)
    }
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** The events are our own: where one of these fields is missing the message simply lacks it. */
function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? { ...value } : {}
}
