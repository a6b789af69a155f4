import type { Session } from "@signalbox/client"
import { lazy, Suspense } from "react"
import { Dialog } from "../design/dialog.tsx"
import { Skeleton } from "../design/notice.tsx"

export type SessionDialogName = "rewind" | "export"

const RewindFiles = lazy(async () => ({ default: (await import("./rewind-files.tsx")).RewindFiles }))
const ExportSession = lazy(async () => ({ default: (await import("./export-session.tsx")).ExportSession }))

const TITLES: Readonly<Record<SessionDialogName, string>> = { rewind: "Rewind files", export: "Export" }

interface SessionDialogProps {
  readonly name: SessionDialogName | "none"
  readonly session: Session
  readonly onClose: () => void
}

/** What the session's menu opens; each is loaded when it is. */
export function SessionDialog({ name, session, onClose }: SessionDialogProps) {
  return (
    <Dialog title={name === "none" ? "" : TITLES[name]} open={name !== "none"} onClose={onClose}>
      <div className="flex min-h-24 flex-col gap-4 overflow-y-auto px-4 pt-1 pb-4">
        <Suspense fallback={<Skeleton rows={2} />}>
          {name === "rewind" && <RewindFiles session={session} onClose={onClose} />}
          {name === "export" && <ExportSession session={session} />}
        </Suspense>
      </div>
    </Dialog>
  )
}
