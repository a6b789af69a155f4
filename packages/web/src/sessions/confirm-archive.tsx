import type { Session } from "@signalbox/client"
import { Confirm } from "../design/dialog.tsx"
import { archiveConsequence, titleOf } from "../fleet/session-words.ts"

interface ConfirmArchiveProps {
  readonly session: Session
  readonly open: boolean
  readonly onClose: () => void
  readonly onConfirm: () => void
}

/** Somebody waits for an answer: it is not put away by one key. */
export function ConfirmArchive({ session, ...rest }: ConfirmArchiveProps) {
  return (
    <Confirm
      title={`Archive “${titleOf(session)}”?`}
      consequence={archiveConsequence(session)}
      action="Archive"
      {...rest}
    />
  )
}
