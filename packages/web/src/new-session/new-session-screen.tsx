import { useCanOperate } from "../app/hub-context.ts"
import { useScreenTitle } from "../app/screen-title.ts"
import { Empty, Skeleton } from "../design/notice.tsx"
import { useMachines } from "../fleet/machine-store.ts"
import { LaunchForm } from "./launch-form.tsx"

export function NewSessionScreen() {
  useScreenTitle("New session")
  const canOperate = useCanOperate()
  if (!canOperate) return <Empty>Your role is viewer: operators can start sessions.</Empty>
  return (
    <div data-region="content" className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto flex max-w-2xl flex-col gap-4 px-4 py-4">
        <h1 className="text-page font-bold">New session</h1>
        <KnownMachines />
      </div>
    </div>
  )
}

function KnownMachines() {
  const { load, all } = useMachines()
  // Without an answer there is no machine to choose: an agent can still be brought by hand.
  return load === "loading" ? <Skeleton rows={4} /> : <LaunchForm machines={all} />
}
