import type { MouseEvent } from "react"
import { Link } from "../../app/link.tsx"

/** From what was asked to where it is answered. */
export function AnswerBelow() {
  return (
    <p className="text-dense text-caution">
      <Link href="#waiting" className="inline-flex min-h-6 items-center underline coarse:min-h-11" onClick={goToDock}>
        Answer below
      </Link>
    </p>
  )
}

function goToDock(event: MouseEvent): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('[data-region="waiting"] [data-region-focus]')?.focus()
}
