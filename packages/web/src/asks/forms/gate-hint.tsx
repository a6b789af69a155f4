import { Button } from "../../design/button.tsx"
import type { SeenGate } from "./seen-gate.ts"

/** Why it cannot be allowed yet, and what to do about it. */
export function GateHint({ id, gate }: { readonly id: string; readonly gate: SeenGate }) {
  if (gate.isOpen) return null
  return (
    <p className="flex items-center gap-2 text-dense text-caution">
      <span id={id}>Scroll to the end or show all.</span>
      <Button look="quiet" onClick={gate.showAll}>
        Show all
      </Button>
    </p>
  )
}
