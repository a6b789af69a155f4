import { Component, type ComponentType, type FunctionComponent, type ReactNode, Suspense, use } from "react"
import { useConnection } from "../app/hub-context.ts"
import { OtherBuild } from "../app/part-files.ts"
import { createValueStore, useValue } from "../app/value-store.ts"
import { Button } from "./button.tsx"
import { Empty, Skeleton } from "./notice.tsx"

/** Counts the times that parts which could not be loaded are worth another try: the hub is back, or somebody asked. */
const returns = createValueStore(0)

export function tryPartsAgain(): void {
  returns.set(returns.get() + 1)
}

class NotLoaded extends Error {
  /** The hub has another build of the cockpit: this page's parts are gone. */
  readonly isGone: boolean
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause))
    this.isGone = cause instanceof OtherBuild
  }
}

interface Attempt<P> {
  readonly at: number
  hasFailed: boolean
  /** Set once it is here: it is then drawn at once, without a moment of waiting. */
  loaded?: ComponentType<P>
  readonly part: Promise<ComponentType<P>>
}

/** Parts that are fetched before somebody wants them. */
const ahead = new Set<() => Promise<unknown>>()

/** Fetches the parts that are wanted ahead, and those that they bring along: who goes offline has them. A repeat fetches only what failed. */
export async function preloadParts(): Promise<void> {
  for (const preload of ahead) await preload()
}

export type LazyPart<P> = FunctionComponent<P> & { readonly preload: () => Promise<unknown> }

/**
 * A part of the page that is loaded when it is wanted. React's own `lazy` keeps a failure for good: this one is asked for again
 * once the hub is back.
 */
export function lazyPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
  { isAhead = false }: { readonly isAhead?: boolean } = {},
): LazyPart<P> {
  let last: Attempt<P> | undefined
  function attempt(): Attempt<P> {
    const part = load().then(
      (loaded) => (made.loaded = loaded),
      (error: unknown) => {
        made.hasFailed = true
        throw new NotLoaded(error)
      },
    )
    const made: Attempt<P> = { at: returns.get(), hasFailed: false, part }
    return made
  }
  function current(): Promise<ComponentType<P>> {
    if (last === undefined || (last.hasFailed && last.at !== returns.get())) last = attempt()
    return last.part
  }
  /** Nobody has seen its failure: the part is asked for anew when it is wanted. */
  function preload(): Promise<unknown> {
    return current().catch(() => {
      last = undefined
    })
  }
  function Part(props: P) {
    const Loaded = last?.loaded ?? use(current())
    return <Loaded {...props} />
  }
  if (isAhead) ahead.add(preload)
  return Object.assign(Part, { preload })
}

interface PartBoundaryProps {
  readonly children: ReactNode
  /** Another key is another try. */
  readonly resetKey?: string
  /** Shown while the part is loaded. */
  readonly waiting?: ReactNode
  /** Around what is said when it failed. */
  readonly frame?: (words: ReactNode) => ReactNode
}

/** Around what may fail to load or to be drawn: its neighbours go on, and it is tried again when the hub is back. */
export function PartBoundary({ children, resetKey = "", waiting = <Skeleton />, frame }: PartBoundaryProps) {
  const count = useValue(returns)
  return (
    <ErrorBoundary
      resetKey={`${resetKey} ${count}`}
      fallback={(error) => (frame === undefined ? <Broken error={error} /> : frame(<Broken error={error} />))}
    >
      <Suspense fallback={waiting}>{children}</Suspense>
    </ErrorBoundary>
  )
}

function Broken({ error }: { readonly error: Error }) {
  const isAway = useConnection().name === "lost"
  const reload = <Button onClick={() => location.reload()}>Reload</Button>
  if (!(error instanceof NotLoaded))
    return <Empty action={reload}>Couldn't show this part of the page: {error.message}</Empty>
  if (error.isGone) return <Empty action={reload}>A new version is ready. Reload to open this; drafts are kept.</Empty>
  if (isAway) return <Empty>Hub offline. This part of the page loads when the hub reconnects.</Empty>
  return (
    <Empty action={<Button onClick={tryPartsAgain}>Try again</Button>}>
      Couldn't load this part of the page: {error.message}
    </Empty>
  )
}

interface BoundaryProps {
  readonly children: ReactNode
  /** Shown in the place of a part that fails. */
  readonly fallback: (error: Error) => ReactNode
  /** Another key is another try. */
  readonly resetKey?: unknown
}

interface BoundaryState {
  readonly error: Error | undefined
  readonly key: unknown
}

/** One part that fails leaves its neighbours alone. */
export class ErrorBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { error: undefined, key: this.props.resetKey }

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  static getDerivedStateFromProps(props: BoundaryProps, state: BoundaryState): Partial<BoundaryState> | null {
    return Object.is(props.resetKey, state.key) ? null : { error: undefined, key: props.resetKey }
  }

  override render(): ReactNode {
    return this.state.error === undefined ? this.props.children : this.props.fallback(this.state.error)
  }
}
