import { isObject } from "@signalbox/protocol/envelope"
import type { ModelAction } from "../model/model.ts"

type Step = IteratorResult<ModelAction, unknown>

/** The model's next step, or nothing once the signal aborts: a model that hangs holds up no interrupt. */
export async function untilAborted(
  step: Promise<Step>,
  signal: AbortSignal,
): Promise<{ value?: ModelAction; done?: boolean }> {
  if (signal.aborted) return {}
  let abort: () => void = () => undefined
  const aborted = new Promise<Record<string, never>>((resolve) => {
    abort = () => resolve({})
    signal.addEventListener("abort", abort, { once: true })
  })
  try {
    const result = await Promise.race([step, aborted])
    if (!isObject(result) || !("value" in result)) return {}
    return result.done === true ? { done: true } : { value: result.value }
  } finally {
    signal.removeEventListener("abort", abort)
  }
}
