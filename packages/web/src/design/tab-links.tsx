import { Link } from "../app/router.tsx"
import { classes } from "./classes.ts"

interface TabLinksProps {
  readonly label: string
  readonly tabs: readonly { readonly href: string; readonly title: string; readonly isHere: boolean }[]
}

/** The pages of one screen, along the lower edge of its header. */
export function TabLinks({ label, tabs }: TabLinksProps) {
  return (
    <nav aria-label={label} className="-mx-2 mt-1 flex flex-wrap gap-x-1">
      {tabs.map(({ href, title, isHere }) => (
        <Link
          key={href}
          href={href}
          aria-current={isHere ? "page" : undefined}
          className={classes(
            "-mb-px flex min-h-9 items-center justify-center border-b-2 px-2 font-medium coarse:min-h-11 coarse:min-w-11",
            isHere ? "border-accent text-text" : "border-transparent text-text-2 hover:border-rim hover:text-text",
          )}
        >
          {title}
        </Link>
      ))}
    </nav>
  )
}
