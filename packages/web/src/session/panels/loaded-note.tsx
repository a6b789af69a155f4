import { useValue } from "../../app/value-store.ts"
import { Button } from "../../design/button.tsx"
import type { SessionFeed } from "../../transcript/window/session-feed.ts"

/** A panel tells of what is loaded; where that is not all, it says so. */
export function LoadedNote({ feed }: { readonly feed: SessionFeed }) {
  const { isAtHead, load } = useValue(feed.view)
  if (isAtHead || load !== "ready") return null
  return (
    <p className="flex flex-wrap items-center gap-2 text-meta text-text-3">
      Partial: the beginning of this session is not loaded.
      <Button look="quiet" onClick={() => void feed.loadBefore()}>
        Load earlier
      </Button>
    </p>
  )
}
