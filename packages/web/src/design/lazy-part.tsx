import { type ComponentType, type FunctionComponent, type ReactNode, Suspense, use } from "react"
import { ErrorBoundary } from "../app/error-boundary.tsx"
import { useConnection } from "../app/hub-context.ts"
import { createValueStore, useValue } from "../app/value-store.ts"
import { Button } from "./button.tsx"
import { Empty, Skeleton } from "./notice.tsx"

/** Counts the times that the hub was there again: what could not be had before may be had now. */
const returns = createValueStore(0)

export function tryPartsAgain(): void {
  returns.set(returns.get() + 1)
}

class NotLoaded extends Error {}

interface Attempt<P> {
  readonly at: number
  hasFailed: boolean
  readonly part: Promise<ComponentType<P>>
}

export type LazyPart<P> = FunctionComponent<P> & { readonly preload: () => Promise<unknown> }

/**
 * A part of the page that is loaded when it is wanted. React's own `lazy` keeps a failure for good: this one is asked for again
 * once the hub is back.
 */
export function lazyPart<P extends object>(load: () => Promise<ComponentType<P>>): LazyPart<P> {
  let last: Attempt<P> | undefined
  function attempt(): Attempt<P> {
    const part = load().catch((error: unknown) => {
      made.hasFailed = true
      throw new NotLoaded(error instanceof Error ? error.message : String(error))
    })
    const made: Attempt<P> = { at: returns.get(), hasFailed: false, part }
    return made
  }
  function preload(): Promise<ComponentType<P>> {
    if (last === undefined || (last.hasFailed && last.at !== returns.get())) last = attempt()
    return last.part
  }
  function Part(props: P) {
    const Loaded = use(preload())
    return <Loaded {...props} />
  }
  return Object.assign(Part, { preload })
}

interface PartBoundaryProps {
  readonly children: ReactNode
  /** Another key is another try. */
  readonly resetKey?: string
  /** What stands there while it is loaded. */
  readonly waiting?: ReactNode
  /** Around what is said when it failed. */
  readonly frame?: (words: ReactNode) => ReactNode
}

/** Around what may fail to load or to be drawn: its neighbours go on, and it is tried again when the hub is back. */
export function PartBoundary({ children, resetKey = "", waiting = <Skeleton />, frame = unframed }: PartBoundaryProps) {
  const count = useValue(returns)
  return (
    <ErrorBoundary resetKey={`${resetKey} ${count}`} fallback={(error) => frame(<Broken error={error} />)}>
      <Suspense fallback={waiting}>{children}</Suspense>
    </ErrorBoundary>
  )
}

function unframed(words: ReactNode): ReactNode {
  return words
}

function Broken({ error }: { readonly error: Error }) {
  const isAway = useConnection().name === "lost"
  if (error instanceof NotLoaded && isAway)
    return <Empty>The hub is away, and this part of the page was not loaded yet. It comes when the hub is back.</Empty>
  return (
    <Empty action={<Button onClick={() => location.reload()}>Reload</Button>}>
      This part of the page could not be shown: {error.message}
    </Empty>
  )
}
