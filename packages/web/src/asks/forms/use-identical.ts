import type { Ask } from "@signalbox/client"
import { useMemo } from "react"
import { useFleet } from "../../app/hub-context.ts"
import { openAsks } from "../../fleet/open-asks.ts"
import { identicalTo } from "../inbox/inbox.ts"

const NONE: readonly Ask[] = []

/** Other open requests for the very same thing, in whatever session. `isHidden`: they are not offered here. */
export function useIdentical(ask: Ask, isHidden: boolean): readonly Ask[] {
  const { asks, sessions } = useFleet()
  return useMemo(() => (isHidden ? NONE : identicalTo(ask, openAsks(asks), sessions)), [ask, isHidden, asks, sessions])
}
