import { Component, type ReactNode } from "react"

interface BoundaryProps {
  readonly children: ReactNode
  /** What stands in its place when a part fails. */
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
