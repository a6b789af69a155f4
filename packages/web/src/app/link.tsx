import type { AnchorHTMLAttributes, MouseEvent } from "react"
import { address, closeAllLayers } from "./browser-history.ts"
import { navigate } from "./router.tsx"

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly href: string
}

/** A link within the cockpit: the page stays, unless the reader asks for another tab. */
export function Link({ href, onClick, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (event.defaultPrevented || !isPlain) return
    event.preventDefault()
    // Where one is already, what lies over it is all there is to leave.
    if (href === address()) closeAllLayers()
    else navigate(href)
  }
  return (
    <a href={href} onClick={follow} {...rest}>
      {children}
    </a>
  )
}
