import type { LaunchedSession } from "@signalbox/client"
import { navigate } from "../app/router.tsx"
import { Button } from "../design/button.tsx"
import { CopyButton } from "../design/copy-button.tsx"
import { Notice } from "../design/notice.tsx"

/** For an agent that is started by hand: the command is shown this once. */
export function BringAgent({ session, command }: { readonly session: LaunchedSession; readonly command: string }) {
  return (
    <div className="flex flex-col gap-3">
      <Notice tone="info">
        The session waits for its agent. Paste this into a terminal on any machine that reaches this hub.
      </Notice>
      <div className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-12 font-mono text-dense break-words whitespace-pre-wrap">
        {command}
        <CopyButton text={command} label="Copy command" className="absolute top-1 right-1" />
      </div>
      <p className="text-dense text-text-2">The command holds a token of this session and is not shown again.</p>
      <div className="flex justify-end">
        <Button look="primary" onClick={() => navigate(`/s/${session.id}`, { replace: true })}>
          To the session
        </Button>
      </div>
    </div>
  )
}
