import type { ToolStep } from "../scenario/schema.ts"
import type { Model, ModelActions, ModelRequest } from "./model.ts"

/** A model that is loaded when the first turn begins: an agent answers its host without one. */
export class DeferredModel implements Model {
  readonly #open: () => Promise<Model>
  #loading: Promise<void> | undefined
  #model: Model | undefined

  constructor(open: () => Promise<Model>) {
    this.#open = open
  }

  load(): Promise<void> {
    this.#loading ??= this.#load()
    return this.#loading
  }

  async #load(): Promise<void> {
    this.#model = await this.#open()
  }

  call(request: ModelRequest, signal: AbortSignal): ModelActions {
    return this.#loaded().call(request, signal)
  }

  stepOf(toolUseId: string): ToolStep | undefined {
    return this.#loaded().stepOf(toolUseId)
  }

  costOfTurn(): number | undefined {
    return this.#loaded().costOfTurn()
  }

  requestId(): string {
    return this.#loaded().requestId()
  }

  hang(name: string | undefined, signal: AbortSignal): Promise<void> {
    return this.#loaded().hang(name, signal)
  }

  #loaded(): Model {
    if (this.#model === undefined) throw new Error("the model is not loaded: await load() before the turn")
    return this.#model
  }
}
