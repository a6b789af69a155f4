import { navigate } from "../app/router.tsx"
import { Button } from "../design/button.tsx"
import { Empty, Notice, Skeleton } from "../design/notice.tsx"
import type { FoundAsk } from "./use-found-ask.ts"

/** In the place of a request that cannot be shown: not yet, not now, or not at all. */
export function AbsentAsk({ found }: { readonly found: Exclude<FoundAsk, { readonly name: "found" }> }) {
  switch (found.name) {
    case "looking":
      return <Skeleton rows={3} />
    case "missing":
      return (
        <Empty action={<Button onClick={() => navigate("/approvals")}>To the requests</Button>}>
          There is no such request.
        </Empty>
      )
    case "failed":
      return (
        <Notice tone="danger" alert>
          The request could not be read: {found.why}
          <Button onClick={found.retry}>Retry</Button>
        </Notice>
      )
  }
}
