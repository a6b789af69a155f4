import type { Ask, PublicAsk } from "../model/ask.ts"

/** Without the parts that only the hub needs. */
export function publicAsk(ask: Ask): PublicAsk {
  const { incarnation: _incarnation, toolUseId: _toolUseId, answerId: _answerId, ...rest } = ask
  return rest
}
