import type { Session } from "@signalbox/client"
import { Dialog } from "../design/dialog.tsx"
import { lazyPart, PartBoundary } from "../design/lazy-part.tsx"
import { Skeleton } from "../design/notice.tsx"
import type { LimitUse } from "../fleet/limit-use.ts"
import type { ContextFill } from "./meters.tsx"

export type SessionDialogName = "rewind" | "export" | "about"

const RewindFiles = lazyPart(async () => (await import("./rewind-files.tsx")).RewindFiles)
const ExportSession = lazyPart(async () => (await import("./export-session.tsx")).ExportSession)
const AboutSession = lazyPart(async () => (await import("./about-session.tsx")).AboutSession)

const TITLES: Readonly<Record<SessionDialogName, string>> = {
  rewind: "Rewind files",
  export: "Export",
  about: "About this session",
}

interface SessionDialogProps {
  readonly name: SessionDialogName | "none"
  readonly session: Session
  readonly fill: ContextFill | undefined
  readonly use: LimitUse | undefined
  readonly onClose: () => void
}

/** What the session's menu opens; each is loaded when it is. */
export function SessionDialog({ name, session, fill, use, onClose }: SessionDialogProps) {
  return (
    <Dialog title={name === "none" ? "" : TITLES[name]} open={name !== "none"} onClose={onClose}>
      <div className="flex min-h-24 flex-col gap-4 overflow-y-auto px-4 pt-1 pb-4">
        <PartBoundary resetKey={name} waiting={<Skeleton rows={2} />}>
          {name === "rewind" && <RewindFiles session={session} onClose={onClose} />}
          {name === "export" && <ExportSession session={session} />}
          {name === "about" && <AboutSession session={session} fill={fill} use={use} />}
        </PartBoundary>
      </div>
    </Dialog>
  )
}
