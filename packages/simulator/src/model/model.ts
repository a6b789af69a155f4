import type { Fields } from "../profiles/profile.ts"
import type { ReplyAction } from "../scenario/reply-events.ts"
import type { ToolStep } from "../scenario/schema.ts"

/** A call of the model, as a CLI would make it. */
export interface ModelRequest {
  /** `said`: the user spoke. `results`: tools answered. `retry`: the same again. `continue`: go on from where it broke off. */
  readonly why: "said" | "results" | "retry" | "continue"
  /** The user's words, which are new. */
  readonly text: string
  readonly model: string
  readonly sessionId: string
  readonly messages: readonly Fields[]
  readonly tools: readonly string[]
  /** A sub-agent asks, not the conversation. */
  readonly agent?: { readonly id: string; readonly prompt: string; readonly toolUseId: string }
}

export type ModelAction =
  | ReplyAction
  /** An HTTP error instead of a reply. */
  | { do: "error"; status: number; type: string; message: string }

export type ModelActions = Iterator<ModelAction> | AsyncIterator<ModelAction>

/** Speaks for the model: a scenario, or a Messages API on this machine. */
export interface Model {
  /** Awaited before each turn, by a model that is not there from the beginning. */
  load?(): Promise<void>
  call(request: ModelRequest, signal: AbortSignal): ModelActions
  /** The scenario's step behind a tool call, for what it says of the tool's result. */
  stepOf?(toolUseId: string): ToolStep | undefined
  /** The cost of the last turn, by the scenario. */
  costOfTurn?(): number | undefined
  requestId(): string
  /** Holds a reply that hangs. */
  hang?(name: string | undefined, signal: AbortSignal): Promise<void>
}

/** A model that is loaded when the first turn begins: an agent answers its host without one. */
export function deferredModel(open: () => Promise<Model>): Model {
  let opening: Promise<Model> | undefined
  let model: Model | undefined
  const loaded = () => {
    if (model === undefined) throw new Error("the model is not loaded: await load() before the turn")
    return model
  }
  return {
    async load() {
      model = await (opening ??= open())
    },
    call: (request, signal) => loaded().call(request, signal),
    stepOf: (toolUseId) => loaded().stepOf?.(toolUseId),
    costOfTurn: () => loaded().costOfTurn?.(),
    requestId: () => loaded().requestId(),
    hang: async (name, signal) => loaded().hang?.(name, signal),
  }
}

/** The model's next step, or nothing once the signal aborts: a model that hangs holds up no interrupt. */
export function untilAborted(
  step: Promise<IteratorResult<ModelAction, unknown>>,
  signal: AbortSignal,
): Promise<{ value?: ModelAction; done?: boolean }> {
  if (signal.aborted) return Promise.resolve({})
  return new Promise((resolve, reject) => {
    const abort = () => resolve({})
    signal.addEventListener("abort", abort, { once: true })
    const release = () => signal.removeEventListener("abort", abort)
    step
      .then((result) => resolve(result.done === true ? { done: true } : { value: result.value }), reject)
      .finally(release)
  })
}
